#include "models/exporter/exporter.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "lang/record.h"

namespace relay::models::exporter {

namespace {

constexpr std::int64_t kOpset = 17;

// A parameter as inputs of the model: a tensor is one, a tuple and a record one for each field.
class Inputs {
 public:
  explicit Inputs(GraphWriter& graph) : graph_(graph) {}

  Value add(const std::string& name, const lang::Type& type) {
    if (lang::as<lang::TensorType>(type)) return tensor_value(graph_.input(name, type), type);
    if (const auto* tuple = lang::as<lang::TupleType>(type)) {
      std::vector<Value> fields;
      for (std::size_t k = 0; k < tuple->fields.size(); ++k)
        fields.push_back(add(fmt::format("{}.{}", name, k), tuple->fields[k]));
      return fields_value(std::move(fields), type);
    }
    const auto* adt = lang::as<lang::AdtType>(type);
    if (adt && adt->def->constructors.size() == 1) {
      const lang::Constructor& constructor = adt->def->constructors.front();
      const auto types = lang::field_types(*adt, constructor);
      std::vector<Value> fields;
      for (std::size_t k = 0; k < types.size(); ++k) {
        const std::string field =
            constructor.field_names.empty() ? std::to_string(k) : constructor.field_names[k];
        fields.push_back(add(fmt::format("{}.{}", name, field), types[k]));
      }
      return fields_value(std::move(fields), type, &constructor);
    }
    lang::fail(lang::DiagnosticKind::Unsupported,
               fmt::format("not supported in ONNX: a parameter of type `{}`: {}",
                           lang::to_string(type), what_fits()));
  }
  static std::string what_fits() { return "inputs are tensors, and tuples and records of them"; }

 private:
  GraphWriter& graph_;
};

}  // namespace

void Exporter::report(const lang::Failure& failure, lang::Span span) {
  for (lang::Diagnostic each : failure.diagnostics) {
    if (!each.span) each.span = span;
    const bool is_known = std::any_of(errors_.begin(), errors_.end(), [&](const auto& other) {
      return other.message == each.message && other.span.begin == each.span.begin &&
             other.span.source == each.span.source;
    });
    if (!is_known) errors_.push_back(std::move(each));
  }
}

Model Exporter::run(const std::string& function, const std::string& path) {
  const lang::Expr code = program_.function(function, path);
  kept_.push_back(code);
  const auto& main = lang::cast<lang::Function>(code);
  Inputs inputs(graph_);
  std::vector<Value> args;
  for (const lang::VariableRef& param : main.params) {
    try {
      args.push_back(inputs.add(param->name, param->type));
    } catch (const lang::Failure& failure) {
      report(failure, param->span);
      args.push_back(lost_value());
    }
  }
  const Value self = function_value(lang::make_global_var(function, {}, code->type), nullptr);
  kept_.push_back(self.function);
  Value result = lost_value();
  try {
    result = apply_function(self, code, nullptr, std::move(args));
  } catch (const lang::Failure& failure) {
    report(failure, code->span);
  }
  std::vector<Value> outputs;
  try {
    collect_tensors(result, outputs);
  } catch (const lang::Failure& failure) {
    report(failure, main.body->span);
  }
  if (!errors_.empty()) throw lang::Failure(errors_);
  if (outputs.empty())
    lang::fail(lang::DiagnosticKind::Unsupported, "not supported in ONNX: a result without tensors",
               main.body->span);
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const std::string name = outputs.size() == 1 ? "output" : fmt::format("output_{}", k);
    materialise(outputs[k]);
    graph_.rename(outputs[k], name);
    graph_.output(outputs[k], name);
  }
  Model model;
  model.producer = "relay";
  model.opsets[""] = kOpset;
  model.graph = graph_.finish();
  model.graph.name = function;
  return model;
}

lang::Result<Model> export_function(repl::Session& session, const std::string& function,
                                    const std::string& path) {
  std::optional<Model> model;
  auto errors = session.within_limits([&] {
    ProgramSource program(session);
    model = Exporter(program).run(function, path);
  });
  if (!errors.empty()) return errors;
  return *std::move(model);
}

}  // namespace relay::models::exporter
