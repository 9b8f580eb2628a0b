#include "typecheck/core_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lang/module.h"
#include "lang/record.h"
#include "lang/stop.h"
#include "typecheck/derivative_rule.h"
#include "typecheck/trees_of_tensors.h"

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

// A result of which only the ranks are not known yet is a tree of tensors already, as `like` is.
void return_outline(TypeCall& call, const Type& like) {
  if (call.result && call.result->kind != TypeKind::Var) {
    const auto outline = [](const Type& type) {
      return map_tensors(type, [](const Type&) { return scalar_type(DType::Bool); });
    };
    const Type wanted = outline(like);
    const Type result = no_tree_of_tensors(call.result) ? nullptr : outline(call.result);
    if (!wanted || (result && equal(wanted, result))) return;  // else the types disagree
  }
  const Type outline = map_tensors(like, [&](const Type& type) {
    return tensor_type(call.solver.fresh_shape(), as<TensorType>(type)->dtype);
  });
  if (outline) call.returns(outline);
}

// The element of a tensor at `axes`, or the tensor that has such an element, if one of them has a
// rank.
bool index_tensor(TypeCall& call, const Type& whole, const Type& part,
                  const std::vector<Dim>& axes) {
  const auto& tensor = *as<TensorType>(whole);
  const auto& element = *as<TensorType>(part);
  call.solver.unify(element.dtype, tensor.dtype);
  if (tensor.shape.has_rank()) {
    const std::vector<Dim>& dims = tensor.shape.dims();
    if (dims.size() < axes.size()) {
      call.fail(DiagnosticKind::RankMismatch,
                fmt::format("{} {} for a `{}`", axes.size(), axes.size() == 1 ? "index" : "indices",
                            to_string(whole)));
    }
    const auto rest = dims.begin() + static_cast<std::ptrdiff_t>(axes.size());
    for (std::size_t i = 0; i < axes.size(); ++i) {
      try {
        call.solver.unify(axes[i], dims[i]);
      } catch (const Failure& failure) {
        if (lang::is_stop(failure.diagnostics.front().kind)) throw;
        call.fail(DiagnosticKind::ShapeMismatch,
                  fmt::format("the tensors of what is indexed differ on axis {}", i));
      }
    }
    call.solver.unify(element.shape, Shape(std::vector<Dim>(rest, dims.end())));
    return true;
  }
  if (!element.shape.has_rank()) return false;
  std::vector<Dim> dims = axes;
  dims.insert(dims.end(), element.shape.dims().begin(), element.shape.dims().end());
  call.solver.unify(tensor.shape, Shape(std::move(dims)));
  return true;
}

// Of a tuple or a record: its tensors have these axes in front, and are indexed one by one.
RuleOutcome index_tensors(TypeCall& call, const std::vector<Dim>& axes) {
  if (call.args[0]->has_unknowns &&
      !map_tensors(call.args[0], [](const Type& type) { return type; }))
    return RuleOutcome::Stuck;
  const std::vector<Type> tensors = tensor_types_of(call.args[0]);
  if (tensors.empty())
    call.fail(DiagnosticKind::TypeMismatch,
              fmt::format("`{}` has no tensor to index", to_string(call.args[0])));
  return_outline(call, call.args[0]);
  const std::vector<Type> elements =
      call.result ? tensor_types_of(call.solver.resolve(call.result)) : std::vector<Type>();
  if (elements.size() != tensors.size()) return RuleOutcome::Stuck;
  bool is_solved = true;
  for (std::size_t k = 0; k < tensors.size(); ++k)
    is_solved &= index_tensor(call, tensors[k], elements[k], axes);
  return is_solved ? RuleOutcome::Solved : RuleOutcome::Stuck;
}

RuleOutcome index(TypeCall& call) {
  const TypeKind kind = call.args[0]->kind;
  if ((kind == TypeKind::Tuple || kind == TypeKind::Adt) && !no_tree_of_tensors(call.args[0]))
    return index_tensors(call, as<TensorType>(call.args[1])->shape.dims());
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
  if (const Type part = no_tree_of_tensors(body)) {
    Diagnostic diagnostic(  // the label is the caller's affair: the arguments are extents and body
        DiagnosticKind::TypeMismatch,
        "the body of a `for` over indices must be a tensor, or a tuple or record of tensors",
        call.span);
    const auto* adt = as<AdtType>(part);
    if (adt && adt->def->constructors.size() > 1)
      diagnostic.note(fmt::format("note: `{}` has {} constructors, and a record has one",
                                  adt->def->name, adt->def->constructors.size()));
    else if (adt && adt->def->constructors.size() == 1)
      diagnostic.note(fmt::format("note: a `{}` holds another", adt->def->name));
    else if (!equal(part, body))
      diagnostic.note(fmt::format("note: it holds a `{}`", to_string(part)));
    throw Failure(std::move(diagnostic));
  }
  return map_tensors(body, [&](const Type& type) -> Type {
    const auto& tensor = *as<TensorType>(type);
    if (!tensor.shape.has_rank()) return nullptr;
    std::vector<Dim> dims = extents;
    dims.insert(dims.end(), tensor.shape.dims().begin(), tensor.shape.dims().end());
    return tensor_type(Shape(std::move(dims)), tensor.dtype);
  });
}

// The inverse of `stack` for a result that is known first. A record whose type `stack` does not
// keep is no such result.
Type unstack(const std::vector<Dim>& extents, const Type& result) {
  if (!result || no_tree_of_tensors(result)) return nullptr;
  return map_tensors(result, [&](const Type& type) -> Type {
    const auto& tensor = *as<TensorType>(type);
    if (!tensor.shape.has_rank() || tensor.shape.rank() < extents.size()) return nullptr;
    const std::vector<Dim>& dims = tensor.shape.dims();
    return tensor_type(Shape(std::vector<Dim>(
                           dims.begin() + static_cast<std::ptrdiff_t>(extents.size()), dims.end())),
                       tensor.dtype);
  });
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
  if (call.args[1]->kind != TypeKind::Tensor) return_outline(call, call.args[1]);
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
