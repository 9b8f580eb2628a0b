#include "typecheck/core_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lang/module.h"
#include "lang/record.h"
#include "typecheck/derivative_rule.h"

namespace relay::typecheck {

using namespace lang;

namespace {

OpDef make_rule(std::string name, std::vector<InputSpec> inputs, TypeRule rule) {
  OpDef op;
  op.name = std::move(name);
  op.inputs = std::move(inputs);
  op.type_rule = std::move(rule);
  return op;
}

RuleOutcome project(TypeCall& call) {
  const Type& operand = call.args[0];
  std::int64_t index = call.attrs->get_int("index");
  if (const auto* tuple = as<TupleType>(operand)) {
    auto count = static_cast<std::int64_t>(tuple->fields.size());
    if (index >= count) {
      call.fail(DiagnosticKind::TypeMismatch, fmt::format("a tuple of {} field{} has no field {}",
                                                          count, count == 1 ? "" : "s", index));
    }
    call.returns(tuple->fields[static_cast<std::size_t>(index)]);
    return RuleOutcome::Solved;
  }
  if (operand->kind == TypeKind::Var) return RuleOutcome::Stuck;
  call.fail(DiagnosticKind::TypeMismatch, fmt::format("`.{}` needs a tuple", index));
}

RuleOutcome index(TypeCall& call) {
  call.tensor(0);
  const TensorType tensor = call.tensor_node(0);
  const std::vector<Dim> axes = as<TensorType>(call.args[1])->shape.dims();
  if (!tensor.shape.has_rank()) {
    const auto* element = as<TensorType>(call.result);
    if (!element) return RuleOutcome::Stuck;
    call.solver.unify(element->dtype, tensor.dtype);
    if (!element->shape.has_rank()) return RuleOutcome::Stuck;
    std::vector<Dim> dims = axes;
    dims.insert(dims.end(), element->shape.dims().begin(), element->shape.dims().end());
    call.solver.unify(tensor.shape, Shape(std::move(dims)));
    return RuleOutcome::Solved;
  }
  const std::vector<Dim>& dims = tensor.shape.dims();
  if (dims.size() < axes.size()) {
    call.fail(DiagnosticKind::RankMismatch,
              fmt::format("{} {} for a tensor of rank {}", axes.size(),
                          axes.size() == 1 ? "index" : "indices", dims.size()));
  }
  for (std::size_t i = 0; i < axes.size(); ++i) call.solver.unify(axes[i], dims[i]);
  std::vector<Dim> rest(dims.begin() + static_cast<std::ptrdiff_t>(axes.size()), dims.end());
  call.returns(tensor_type(Shape(std::move(rest)), tensor.dtype));
  return RuleOutcome::Solved;
}

// `body` with `extents` in front of each tensor's shape; null while that cannot be told.
Type stack(TypeCall& call, const std::vector<Dim>& extents, const Type& body) {
  if (const auto* tensor = as<TensorType>(body)) {
    if (!tensor->shape.has_rank()) return nullptr;
    std::vector<Dim> dims = extents;
    dims.insert(dims.end(), tensor->shape.dims().begin(), tensor->shape.dims().end());
    return tensor_type(Shape(std::move(dims)), tensor->dtype);
  }
  if (const auto* tuple = as<TupleType>(body)) {
    std::vector<Type> fields;
    for (const Type& field : tuple->fields) {
      fields.push_back(stack(call, extents, field));
      if (!fields.back()) return nullptr;
    }
    return tuple_type(std::move(fields));
  }
  if (body->kind == TypeKind::Var) return nullptr;
  throw Failure(  // the label is the caller's affair: the arguments are extents and body
      Diagnostic(DiagnosticKind::TypeMismatch,
                 "the body of a `for` over indices must be a tensor or a tuple of tensors",
                 call.span));
}

// The inverse of `stack` for a result that is known first.
Type unstack(const std::vector<Dim>& extents, const Type& result) {
  if (const auto* tensor = as<TensorType>(result)) {
    if (!tensor->shape.has_rank() || tensor->shape.rank() < extents.size()) return nullptr;
    const std::vector<Dim>& dims = tensor->shape.dims();
    return tensor_type(Shape(std::vector<Dim>(
                           dims.begin() + static_cast<std::ptrdiff_t>(extents.size()), dims.end())),
                       tensor->dtype);
  }
  if (const auto* tuple = as<TupleType>(result)) {
    std::vector<Type> fields;
    for (const Type& field : tuple->fields) {
      fields.push_back(unstack(extents, field));
      if (!fields.back()) return nullptr;
    }
    return tuple_type(std::move(fields));
  }
  return nullptr;
}

RuleOutcome comprehend(TypeCall& call) {
  const std::vector<Dim> extents = as<TensorType>(call.args[0])->shape.dims();
  if (Type result = stack(call, extents, call.args[1])) {
    call.returns(result);
    return RuleOutcome::Solved;
  }
  if (Type body = unstack(extents, call.result)) {
    call.solver.unify(call.args[1], body);
    call.returns(stack(call, extents, body));
    return RuleOutcome::Solved;
  }
  return RuleOutcome::Stuck;
}

}  // namespace

const OpDef& projection_rule() {
  static const OpDef kRule = make_rule("projection", {{"tuple", ""}}, project);
  return kRule;
}
const OpDef& index_rule() {
  static const OpDef kRule = make_rule("index", {{"tensor", ""}, {"axes", ""}}, index);
  return kRule;
}
const OpDef& comprehension_rule() {
  static const OpDef kRule = make_rule("for", {{"extents", ""}, {"body", ""}}, comprehend);
  return kRule;
}
bool is_core_rule(const OpDef& op) {
  return is_record_form(op) || &op == &projection_rule() || &op == &index_rule() ||
         &op == &comprehension_rule() || is_differentiate_rule(op);
}

std::string core_rule_text(const OpDef& op, const std::vector<std::string>& args,
                           const AttrsRef& attrs) {
  // An extents type prints as `Tensor[(n, m), int64]`; only the dims matter.
  auto extents = [](const std::string& text) {
    std::size_t begin = text.find('(');
    std::size_t end = text.rfind("), ");
    if (begin == std::string::npos || end == std::string::npos) return text;
    return text.substr(begin + 1, end - begin - 1);
  };
  if (&op == &projection_rule()) return fmt::format("{}.{}", args[0], attrs->get_int("index"));
  if (&op == &record_get()) return fmt::format("{}.{}", args[0], record_fields(attrs)[0]);
  if (&op == &record_with()) {
    std::string values;
    const std::vector<std::string> fields = record_fields(attrs);
    for (std::size_t i = 0; i < fields.size(); ++i)
      values += fmt::format("{}{} = {}", i == 0 ? "" : ", ", fields[i], args[i + 1]);
    return fmt::format("{} with {{ {} }}", args[0], values);
  }
  if (&op == &index_rule()) return fmt::format("{}[{}]", args[0], extents(args[1]));
  if (&op == &comprehension_rule())
    return fmt::format("for ({}) {{ {} }}", extents(args[0]), args[1]);
  return fmt::format("{}({})", op.name, fmt::join(args, ", "));
}

}  // namespace relay::typecheck
