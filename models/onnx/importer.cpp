#include "models/onnx/importer.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lang/letters.h"
#include "models/onnx/call.h"
#include "models/onnx/onnx.h"
#include "models/onnx/operators.h"
#include "models/repeats.h"

namespace relay::models::onnx {

namespace {

using lang::DiagnosticKind;
using lang::Dim;
using lang::Type;

constexpr std::int64_t kLongestLiteral = 16;  // elements of a constant that is written out
constexpr std::int64_t kMostFolded = 4096;    // elements of constants that are computed with
constexpr int kMostDepth = 8;  // of graphs in one another: a loop is read several times

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    const bool is_whole = at == 0 || (!lang::is_word_byte(text[at - 1]) && text[at - 1] != '.');
    if (is_whole) text.replace(at, from.size(), to);
  }
  return text;
}

}  // namespace

Importer::Importer(const Model& model, std::map<std::string, std::vector<Extent>> shapes)
    : model_(model),
      shapes_(std::move(shapes)),
      opset_(1),
      program_(fmt::format("The model `{}`{}, imported from ONNX.", model.graph.name,
                           model.producer.empty() ? "" : fmt::format(" of {}", model.producer))) {
  const auto found = model.opsets.find("");
  if (found != model.opsets.end()) opset_ = found->second;
  scopes_.emplace_back();
}

Dim Importer::extent(const Extent& extent, const std::string& port) {
  if (extent.number) return *extent.number;
  const std::string key =
      extent.name.empty() ? fmt::format("\n{}{}", port, dimensions_.size()) : extent.name;
  auto found = dimensions_.find(key);
  if (found == dimensions_.end()) {
    const std::string name = program_.names().unique(extent.name.empty() ? "n" : extent.name, "n");
    found = dimensions_.emplace(key, lang::TypeVar::rigid(lang::VarKind::Dim, name)).first;
    variables_.push_back(found->second);
  }
  return Dim::variable(found->second);
}

void Importer::add_input(const Port& port, std::vector<Parameter>& parameters) {
  const auto given = shapes_.find(port.name);
  const auto* shape = given != shapes_.end() ? &given->second : port.shape ? &*port.shape : nullptr;
  if (!port.dtype || !shape) {
    errors_.emplace_back(DiagnosticKind::Unsupported,
                         fmt::format("not supported: the input `{}` without a {}", port.name,
                                     port.dtype ? "shape: give one, --shape" : "type"));
    scopes_.back().values[port.name] = {.name = port.name, .text = {}, .type = nullptr};
    return;
  }
  std::vector<Dim> dims;
  for (const Extent& each : *shape) dims.push_back(extent(each, port.name));
  const std::string name = program_.names().unique(port.name, "x");
  const Type type = lang::tensor_type(lang::Shape(std::move(dims)), *port.dtype);
  parameters.push_back({name, type});
  declare(name, type);
  scopes_.back().values[port.name] = {.name = port.name, .text = name, .type = type};
}

void Importer::declare(const std::string& name, const Type& type) { locals_[name] = type; }

void Importer::add_weights(const Graph& graph) {
  for (const Weight& each : graph.weights) {
    Value value = constant_value(each.name, each.tensor);
    value.is_weight =
        lang::is_float(value.dtype()) || each.tensor->element_count() > kLongestLiteral * 4;
    scopes_.back().values[each.name] = std::move(value);
  }
}

Value& Importer::find(const std::string& name) {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    const auto found = scope->values.find(name);
    if (found != scope->values.end()) return found->second;
  }
  lang::fail(DiagnosticKind::BadData, fmt::format("`{}` is made by no node before it", name));
}

std::string Importer::text_of(Value& value) {
  if (!value.text.empty()) return value.text;
  RELAY_CHECK(value.constant, "a value without an expression");
  const std::int64_t count = value.constant->element_count();
  if (writes_literals_) return literal(*value.constant);
  if (count == 0 || (!value.is_weight && count <= kLongestLiteral))
    return value.text = literal(*value.constant);
  value.text = program_.weight(value.name, value.constant);
  declare(value.text, value.type);
  return value.text;
}

Type Importer::type_of(const std::string& expression) {
  Typer::Named named;
  std::set<std::string> seen;
  std::string text = expression;
  std::set<std::string> shown;  // dimensions that parameters show
  const auto add = [&](const std::string& name, const Type& type) {
    if (!seen.insert(name).second) return;
    if (name.starts_with("w.")) {
      const std::string own = "weight_" + name.substr(2);
      text = replaced(std::move(text), name, own);
      named.emplace_back(own, type);
    } else {
      named.emplace_back(name, type);
    }
  };
  std::vector<std::string> dimensions;
  for (const std::string& word : words_of(expression)) {
    std::string name = word;
    if (!name.starts_with("w.")) name = name.substr(0, name.find('.'));
    const auto found = locals_.find(name);
    if (found != locals_.end()) add(name, found->second);
    const auto is_it = [&](const lang::TypeVarRef& var) { return var->name == name; };
    const auto var = std::find_if(variables_.begin(), variables_.end(), is_it);
    if (var != variables_.end()) {
      add("shows_" + name,
          lang::tensor_type(lang::Shape({Dim::variable(*var)}), lang::DType::Bool));
    }
  }
  return typer_.type_of(text, named);
}

namespace {

// An extent that nothing tells is asked of the value where it is needed.
Type with_extents(const Type& type, const std::string& text) {
  const auto* tensor = lang::as<lang::TensorType>(type);
  if (!tensor || !tensor->shape.has_rank()) return type;
  std::vector<Dim> dims = tensor->shape.dims();
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    if (!dims[axis].is_any()) continue;
    dims[axis] = Dim::variable(
        lang::TypeVar::rigid(lang::VarKind::Dim, fmt::format("dim_of({}, axis={})", text, axis)));
  }
  return lang::tensor_type(lang::Shape(std::move(dims)), tensor->dtype);
}

}  // namespace

Value Importer::line(std::string_view hint, const std::string& expression) {
  Type type = type_of(expression);
  const std::string name = program_.names().unique(hint, "y");
  type = with_extents(type, name);
  block_->lines.push_back({name, expression});
  declare(name, type);
  return {.name = std::string(hint), .text = name, .type = type};
}

Value Importer::field(const Value& tuple, std::size_t k, std::string name) {
  const std::string text = fmt::format("{}.{}", tuple.text, k);
  const Type type = lang::as<lang::TupleType>(tuple.type)->fields.at(k);
  return {.name = std::move(name), .text = text, .type = with_extents(type, text)};
}

void Importer::define(const std::string& name, const std::string& text) {
  if (program_.is_defined(name)) return;
  typer_.define(text);
  program_.define(name, text);
}

std::string Importer::definition(const std::string& base,
                                 const std::function<std::string(const std::string& name)>& text) {
  const std::string key = text(base);
  const auto found = definitions_.find(key);
  if (found != definitions_.end()) return found->second;
  std::string name = base;
  for (int number = 2; program_.is_defined(name); ++number)
    name = fmt::format("{}_{}", base, number);
  define(name, text(name));
  definitions_.emplace(key, name);
  return name;
}

bool Importer::is_lost(const Node& node) {
  bool result = false;
  for (const std::string& name : node.inputs)
    result = (!name.empty() && find(name).is_lost()) || result;
  return result;
}

void Importer::report(const Node& node, std::vector<lang::Diagnostic> errors) {
  for (lang::Diagnostic& each : errors) {
    const std::string where = node.name.empty() ? fmt::format("`{}`, which makes `{}`", node.op,
                                                              fmt::join(node.outputs, "`, `"))
                                                : fmt::format("`{}` (`{}`)", node.name, node.op);
    lang::Diagnostic error(each.kind, fmt::format("node {}: {}", where, each.message));
    error.notes = each.notes;
    errors_.push_back(std::move(error));
    break;  // one for each node
  }
  for (const std::string& output : node.outputs) {
    if (!output.empty())
      scopes_.back().values[output] = {.name = output, .text = {}, .type = nullptr};
  }
}

void Importer::build(const Node& node, std::vector<Value>& outputs) {
  const Operator* op = find_operator(node.domain, node.op);
  if (!op) {
    lang::fail(DiagnosticKind::Unsupported,
               fmt::format("not supported: the operator `{}`{}", node.op,
                           node.domain.empty() ? "" : fmt::format(" of `{}`", node.domain)));
  }
  std::vector<Value*> inputs;
  for (const std::string& name : node.inputs)
    inputs.push_back(name.empty() ? nullptr : &find(name));
  Call call(*this, node, std::move(inputs), outputs);
  op->build(call);
}

void Importer::remember(const Node& node, std::vector<Value>& outputs) {
  for (std::size_t k = 0; k < node.outputs.size(); ++k) {
    if (node.outputs[k].empty()) continue;
    if (k >= outputs.size() || !outputs[k].type)
      lang::fail(DiagnosticKind::Unsupported,
                 fmt::format("not supported: its output {}, `{}`", k, node.outputs[k]));
    scopes_.back().values[node.outputs[k]] = std::move(outputs[k]);
  }
}

// What is known before the program runs is computed here, so that shapes are numbers.
bool Importer::fold(const Node& node) {
  const Operator* op = find_operator(node.domain, node.op);
  if (!op || !op->folds || node.inputs.empty() || node.outputs.size() != 1) return false;
  std::int64_t count = 0;
  for (const std::string& name : node.inputs) {
    if (name.empty()) continue;
    const Value& value = find(name);
    if (!value.constant || value.is_weight) return false;
    count += value.constant->element_count();
  }
  if (count > kMostFolded) return false;
  Block block;
  Block* outer = exchange_block(&block);
  const bool wrote = std::exchange(writes_literals_, true);
  auto result = lang::capture([&]() -> Value {
    std::vector<Value> outputs;
    build(node, outputs);
    if (outputs.size() != 1) return {};
    if (outputs[0].constant) return outputs[0];
    const auto* type = lang::as<lang::TensorType>(outputs[0].type);
    if (!type || !type->shape.has_rank()) return {};
    std::int64_t size = 1;
    for (const Dim& dim : type->shape.dims()) {
      if (!dim.is_constant() || __builtin_mul_overflow(size, dim.constant(), &size)) return {};
    }
    if (size > kMostFolded) return {};
    block.result = text_of(outputs[0]);
    const lang::Value value = typer_.evaluate(block_text(block));
    return constant_value(node.outputs[0], lang::contiguous(value.to_tensor()));
  });
  writes_literals_ = wrote;
  exchange_block(outer);
  if (!result.ok() || !result.value().type) return false;
  result.value().name = node.outputs[0];
  scopes_.back().values[node.outputs[0]] = std::move(result).value();
  return true;
}

void Importer::add_node(const Node& node) {
  auto done = lang::capture([&] {
    if (is_lost(node)) {
      report(node, {});
    } else if (!fold(node)) {
      std::vector<Value> outputs;
      build(node, outputs);
      remember(node, outputs);
    }
    return true;
  });
  if (!done.ok()) report(node, done.errors());
}

void Importer::add_nodes(const Graph& graph) {
  for (const Node& each : graph.nodes) add_node(each);
}

Importer::Inner Importer::inner(const Graph& graph, const std::vector<Value>& parameters) {
  if (++depth_ > kMostDepth)
    lang::fail(DiagnosticKind::Unsupported, "not supported: graphs nested so deeply");
  Inner result;
  scopes_.emplace_back();
  Block* outer = exchange_block(&result.block);
  const std::size_t errors = errors_.size();
  add_weights(graph);
  for (std::size_t k = 0; k < parameters.size() && k < graph.inputs.size(); ++k)
    scopes_.back().values[graph.inputs[k].name] = parameters[k];
  add_nodes(graph);
  auto done = lang::capture([&] {
    for (const Port& port : graph.outputs) {
      Value value = find(port.name);
      if (!value.is_lost()) text_of(value);
      result.outputs.push_back(std::move(value));
    }
    return true;
  });
  exchange_block(outer);
  scopes_.pop_back();
  --depth_;
  if (!done.ok()) throw lang::Failure(done.errors());
  if (errors_.size() > errors) {
    std::vector<lang::Diagnostic> found(errors_.begin() + static_cast<std::ptrdiff_t>(errors),
                                        errors_.end());
    errors_.resize(errors);
    throw lang::Failure(std::move(found));
  }
  return result;
}

void Importer::append(Block block) {
  block_->lines.insert(block_->lines.end(), std::make_move_iterator(block.lines.begin()),
                       std::make_move_iterator(block.lines.end()));
}

Program Importer::run() {
  if (opset_ < kFirstOpset || opset_ > kLastOpset)
    lang::fail(DiagnosticKind::Unsupported,
               fmt::format("not supported: opset {} of ONNX; those from {} to {} are", opset_,
                           kFirstOpset, kLastOpset));
  Block body;
  block_ = &body;
  std::vector<Parameter> parameters;
  const Graph& graph = model_.graph;
  for (const Port& port : graph.inputs) add_input(port, parameters);
  add_weights(graph);
  add_nodes(graph);
  std::vector<std::string> results;
  const auto done = lang::capture([&] {
    for (const Port& port : graph.outputs) {
      Value& value = find(port.name);
      if (!value.is_lost()) results.push_back(text_of(value));
    }
    return true;
  });
  if (!done.ok()) errors_.insert(errors_.end(), done.errors().begin(), done.errors().end());
  if (results.empty() && errors_.empty())
    errors_.emplace_back(DiagnosticKind::BadData, "the model has no outputs");
  if (!errors_.empty()) throw lang::Failure(std::move(errors_));
  body.result = results.size() == 1 ? results[0] : fmt::format("({})", fmt::join(results, ", "));
  remove_unused(body);
  name_repeats(body, {.type_of =
                          [&](const std::string& name) {
                            const auto found = locals_.find(name);
                            return found == locals_.end() ? nullptr : found->second;
                          },
                      .define =
                          [&](const std::string& name, const std::string& text) {
                            return lang::capture([&] {
                                     define(name, text);
                                     return true;
                                   })
                                .ok();
                          },
                      .names = program_.names()});
  shorten(body);
  std::vector<std::string> names;
  for (const Port& port : graph.outputs) names.push_back(port.name);
  program_.set_model(names.size() == 1 ? fmt::format("Gives `{}`.", names[0])
                                       : fmt::format("Gives ({}).", fmt::join(names, ", ")),
                     std::move(parameters), std::move(body));
  block_ = nullptr;
  return std::move(program_);
}

}  // namespace relay::models::onnx
