#include "tests/support/conformance_eval.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "lang/base64.h"
#include "repl/session.h"
#include "tests/support/first_line.h"

namespace relay::tests {
namespace {

using Json = nlohmann::json;
using lang::DType;
using lang::Expr;
using lang::Value;

// --- The record's values as ours ---

lang::TensorRef tensor_of(const Json& json) {
  const std::string name = json.at("dtype").get<std::string>();
  const auto dtype = lang::parse_dtype(name);
  if (!dtype) throw std::runtime_error("a tensor of dtype " + name);
  const auto shape = json.at("shape").get<std::vector<std::int64_t>>();
  lang::TensorRef tensor = lang::Tensor::make(*dtype, shape);
  const auto bytes = lang::from_base64(json.at("data").get<std::string>());
  const std::size_t size =
      static_cast<std::size_t>(tensor->element_count()) * lang::size_of(*dtype);
  if (!bytes || bytes->size() != size) throw std::runtime_error("a tensor whose data is broken");
  if (size > 0) std::memcpy(tensor->data(), bytes->data(), size);
  return tensor;
}

// An input as the expression that makes it.
Expr expression_of(const Json& json, const lang::Module& module) {
  const auto all = [&](const Json& list) {
    std::vector<Expr> exprs;
    for (const Json& element : list) exprs.push_back(expression_of(element, module));
    return exprs;
  };
  if (json.contains("tuple")) return lang::make_tuple(all(json.at("tuple")));
  if (json.contains("ref")) return lang::make_ref_create(expression_of(json.at("ref"), module));
  if (json.contains("ctor")) {
    const std::string name = json.at("ctor").get<std::string>();
    const lang::Constructor* constructor = module.find_constructor(name);
    if (!constructor) throw std::runtime_error("an input made by `" + name + "`");
    const Expr maker = lang::make_constructor_ref(constructor);
    std::vector<Expr> fields = all(json.at("fields"));
    return fields.empty() ? maker : lang::make_call(maker, std::move(fields));
  }
  return lang::make_constant(tensor_of(json));
}

// --- Comparing ---

struct Tolerance {
  double relative;
  double of_largest = 1e-6;
};

Tolerance tolerance_of(DType dtype, const std::string& program) {
  const bool is_approximate = program.find("fast_") != std::string::npos;
  switch (dtype) {
    case DType::Float16:
    case DType::BFloat16:
      return {1e-2};
    case DType::Float64:
      return {1e-12};
    default:
      return {is_approximate ? 1e-3 : 1e-5};
  }
}

std::string compare(const lang::Tensor& ours, const lang::Tensor& theirs,
                    const std::string& program) {
  if (ours.dtype() != theirs.dtype()) {
    return fmt::format("dtype {}, Relay has {}", lang::name_of(ours.dtype()),
                       lang::name_of(theirs.dtype()));
  }
  if (ours.shape() != theirs.shape()) {
    return fmt::format("shape {}, Relay has {}", lang::to_string(lang::type_of_tensor(ours)),
                       lang::to_string(lang::type_of_tensor(theirs)));
  }
  const std::int64_t count = ours.element_count();
  const Tolerance tolerance = tolerance_of(ours.dtype(), program);
  double largest = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const double x = std::abs(theirs.number_at(i));
    if (std::isfinite(x)) largest = std::max(largest, x);
  }
  for (std::int64_t i = 0; i < count; ++i) {
    if (ours.bits_at(i) == theirs.bits_at(i)) continue;
    const double x = ours.number_at(i);
    const double y = theirs.number_at(i);
    if (lang::is_float(ours.dtype())) {
      if (x == y || (std::isnan(x) && std::isnan(y))) continue;
      const double allowed = tolerance.relative * std::abs(y) + tolerance.of_largest * largest;
      if (std::abs(x - y) <= allowed) continue;
    }
    return fmt::format("element {} of {} is {}, Relay has {}", i, count, x, y);
  }
  return {};
}

std::string compare(const Value& ours, const Json& theirs, const std::string& program);

std::string compare_all(std::span<Value> ours, const Json& theirs, const std::string& program) {
  if (ours.size() != theirs.size())
    return fmt::format("{} fields, Relay has {}", ours.size(), theirs.size());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const std::string difference = compare(ours[i], theirs[i], program);
    if (!difference.empty()) return fmt::format("field {}: {}", i, difference);
  }
  return {};
}

std::string compare(const Value& ours, const Json& theirs, const std::string& program) {
  if (theirs.contains("opaque")) return {};
  if (theirs.contains("tuple")) {
    if (ours.kind() != lang::ValueKind::Tuple) return "no tuple";
    return compare_all(ours.as_tuple().fields(), theirs.at("tuple"), program);
  }
  if (theirs.contains("ref")) {
    if (ours.kind() != lang::ValueKind::Reference) return "no reference";
    return compare(ours.as_reference().content, theirs.at("ref"), program);
  }
  if (theirs.contains("ctor")) {
    if (ours.kind() != lang::ValueKind::Adt) return "no constructor";
    const lang::AdtCell& cell = ours.as_adt();
    const Json& name = theirs.at("ctor");
    if (name.is_string() && name.get<std::string>() != cell.constructor().name)
      return fmt::format("made by {}, Relay has {}", cell.constructor().name,
                         name.get<std::string>());
    return compare_all(cell.fields(), theirs.at("fields"), program);
  }
  if (!ours.is_scalar() && !ours.is_tensor()) return "no tensor";
  return compare(*ours.to_tensor(), *tensor_of(theirs), program);
}

}  // namespace

std::string evaluate_record(const Record& record) {
  const Json json = Json::parse(record.evaluation);
  repl::SessionOptions options;
  options.jit = interp::JitMode::Off;
  options.write = [](std::string_view) {};
  repl::Session session(options);
  const auto errors = session.run(
      "record", record.source, [](const repl::ItemResult&) {}, parser::Notation::Strict);
  if (!errors.empty()) return first_line(errors.front());
  std::vector<Expr> inputs;
  for (const Json& input : json.at("inputs"))
    inputs.push_back(expression_of(input, session.module()));
  const Expr entry = lang::make_global_var(json.at("entry").get<std::string>());
  const auto value = session.evaluate(lang::make_call(entry, std::move(inputs)));
  if (!value) return first_line(value.errors().front());
  return compare(*value, json.at("output"), record.source);
}

}  // namespace relay::tests
