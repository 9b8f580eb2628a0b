// Index notation as nodes over whole tensors: an index becomes an axis.
#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lang/dot.h"
#include "models/exporter/choose.h"
#include "models/exporter/exporter.h"
#include "models/exporter/reduce.h"

namespace relay::models::exporter {

using lang::Expr;

namespace {

[[noreturn]] void no_support(const std::string& what) {
  lang::fail(lang::DiagnosticKind::Unsupported, "not supported in ONNX: " + what);
}

bool has_lost(const Value& value) {
  return value.is_lost() || std::any_of(value.fields.begin(), value.fields.end(), &has_lost);
}

lang::Type type_over(const std::vector<lang::Dim>& extents, const Value& value) {
  std::vector<lang::Dim> dims = extents;
  dims.insert(dims.end(), value.dims().begin(), value.dims().end());
  return lang::tensor_type(lang::Shape(std::move(dims)), value.dtype());
}

// The factors of a product.
void add_factors(const Expr& expr, std::vector<Expr>& factors) {
  const auto step = lang::arithmetic_step(expr);
  if (!step || step->prim != lang::Prim::Mul) {
    factors.push_back(expr);
    return;
  }
  for (const Expr& each : step->args) add_factors(each, factors);
}

}  // namespace

ScopeRef Exporter::open_indices(const std::vector<lang::IndexBinder>& binders, ScopeRef outer) {
  std::vector<lang::Dim> extents;
  for (const lang::IndexBinder& each : binders) {
    const Value extent = value_of(each.extent, outer);
    if (extent.is_lost() || !extent.affine || extent.affine->lane)
      no_support(fmt::format("index notation whose extent of `{}` is computed of data",
                             each.variable->name));
    extents.push_back(extent.affine->offset);
  }
  Scope* const inner = scope(outer);
  for (std::size_t k = 0; k < binders.size(); ++k) {
    Value value = tensor_value("", lang::scalar_type(lang::DType::Int64));
    value.affine = Affine{lanes_.size(), 1, 0};
    value.depth = lanes_.size() + 1;
    value.full.assign(value.depth, false);
    value.full.back() = true;
    lanes_.push_back({extents[k], std::nullopt});
    inner->variables[binders[k].variable.get()] = std::move(value);
  }
  return inner;
}

void Exporter::close_indices(std::size_t count) { lanes_.resize(lanes_.size() - count); }

Value Exporter::comprehension(const lang::Comprehension& code, const lang::Type& type,
                              ScopeRef outer) {
  const std::size_t depth = lanes_.size();
  Scope* const inner = open_indices(code.binders, outer);
  const std::size_t all = lanes_.size();
  Value value = value_of(code.body, inner);
  std::vector<Value> tensors;
  if (!has_lost(value)) collect_tensors(value, tensors);
  std::vector<lang::Dim> extents;
  for (std::size_t k = depth; k < all; ++k) extents.push_back(lanes_[k].extent);
  for (Value& each : tensors) {
    lift(each, all);
    widen(each, depth, all);
    each.type = type_over(extents, each);
    each.depth = depth;
    each.full.resize(depth);
    each.affine.reset();
    each.constant = nullptr;
  }
  close_indices(code.binders.size());
  if (has_lost(value)) return lost_value();
  std::size_t next = 0;
  Value result = with_tensors(value, tensors, next);
  if (!result.is_tensor()) result.type = type;
  return result;
}

Value Exporter::reduction(const lang::Reduction& code, const lang::Type& type, ScopeRef outer) {
  if (code.op == lang::ReduceOp::Dot) {
    const Expr sum = lang::dots_as_sums(Expr(&code));
    return reduction(lang::cast<lang::Reduction>(sum), type, outer);
  }
  const std::size_t depth = lanes_.size();
  Scope* const inner = open_indices(code.binders, outer);
  const std::size_t all = lanes_.size();
  Value value = contraction(code, type, inner);
  if (value.is_lost()) {
    value = value_of(code.body, inner);
    if (value.is_lost()) {
      close_indices(code.binders.size());
      return lost_value();
    }
    lift(value, all);
    widen(value, depth, all);
    std::vector<std::int64_t> axes;
    for (std::size_t k = depth; k < all; ++k) axes.push_back(static_cast<std::int64_t>(k));
    const bool is_place = code.op == lang::ReduceOp::ArgMax || code.op == lang::ReduceOp::ArgMin;
    if (is_place && axes.size() > 1) no_support("the place of an extreme over several indices");
    const std::string name =
        reduced(graph_, code.op, graph_.name_of(value), value.dtype(), axes, false);
    std::vector<bool> full(value.full.begin(),
                           value.full.begin() + static_cast<std::ptrdiff_t>(depth));
    value = tensor_value(name, type);
    value.depth = depth;
    value.full = std::move(full);
  }
  close_indices(code.binders.size());
  return value;
}

Value Exporter::contraction(const lang::Reduction& code, const lang::Type& type, ScopeRef inner) {
  const std::size_t all = lanes_.size();
  const std::size_t depth = all - code.binders.size();
  const auto* tensor = lang::as<lang::TensorType>(type);
  if (code.op != lang::ReduceOp::Sum || !tensor || tensor->shape.rank() > 0 ||
      !lang::is_float(tensor->dtype.known()))
    return lost_value();
  const lang::Block block = lang::open_block(code.body);
  std::vector<Expr> factors;
  add_factors(block.result, factors);
  if (factors.size() < 2) return lost_value();
  add_bindings(block, inner);
  std::vector<Value> values;
  std::vector<bool> summed(all, false);
  for (const Expr& each : factors) {
    values.push_back(value_of(each, inner));
    Value& value = values.back();
    if (value.is_lost()) return lost_value();
    materialise(value);
    for (std::size_t k = 0; k < value.depth; ++k) summed[k] = summed[k] || value.full[k];
  }
  for (std::size_t k = depth; k < all; ++k) {
    if (!summed[k]) return lost_value();  // no factor depends on it
  }
  // `ac,cb->ab`, a letter for each index.
  const auto letter = [](std::size_t lane) { return static_cast<char>('a' + lane); };
  std::vector<std::string> terms;
  std::vector<std::string> inputs;
  std::vector<bool> full(depth, false);
  for (Value& value : values) {
    std::string term;
    std::vector<std::int64_t> narrow;
    for (std::size_t k = 0; k < value.depth; ++k) {
      if (value.full[k]) {
        term += letter(k);
        if (k < depth) full[k] = true;
      } else {
        narrow.push_back(static_cast<std::int64_t>(k));
      }
    }
    inputs.push_back(graph_.squeeze(graph_.name_of(value), narrow));
    terms.push_back(term);
  }
  std::string result;
  std::vector<std::int64_t> missing;
  for (std::size_t k = 0; k < depth; ++k) {
    if (full[k]) {
      result += letter(k);
    } else {
      missing.push_back(static_cast<std::int64_t>(k));
    }
  }
  const std::string product = graph_.node(
      "Einsum", inputs, {{"equation", fmt::format("{}->{}", fmt::join(terms, ","), result)}});
  Value value = tensor_value(graph_.unsqueeze(product, missing), type);
  value.depth = depth;
  value.full = full;
  return value;
}

Value Exporter::choose(const Value& condition, const Value& a, const Value& b) {
  if (condition.is_lost() || a.is_lost() || b.is_lost()) return lost_value();
  if (!same_form(a, b)) no_support("an `if` whose branches give data of different constructors");
  if (!a.is_tensor()) {
    Value result = a;
    for (std::size_t k = 0; k < a.fields.size(); ++k)
      result.fields[k] = choose(condition, a.fields[k], b.fields[k]);
    return result;
  }
  std::vector<Value> values = {condition, a, b};
  for (Value& each : values) materialise(each);
  const std::vector<bool> full = align(values);
  Value result = tensor_value(chosen(graph_, graph_.name_of(values[0]), graph_.name_of(values[1]),
                                     graph_.name_of(values[2]), a.dtype()),
                              a.type);
  result.depth = full.size();
  result.full = full;
  return result;
}

}  // namespace relay::models::exporter
