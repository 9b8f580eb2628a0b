#include <algorithm>

#include "lang/mistaken.h"
#include "lang/module.h"
#include "lang/op.h"
#include "lang/tree_mend.h"

namespace relay::lang {
namespace {

std::string in_ticks(const std::string& text) { return "`" + text + "`"; }

// Solves over ground types: what is unknown are only the variables that a rule itself asks for, so
// a substitution that is applied before each step is all there is to it. Dims may be symbolic; `?`
// agrees with anything.
class GroundSolver final : public TypeSolver {
 public:
  Type resolve(const Type& type) override { return settle(type); }

  void unify(const Type& left, const Type& right) override {
    const Type a = settle(left);
    const Type b = settle(right);
    if (a == b) return;
    if (bind_type(a, b) || bind_type(b, a)) return;
    if (!a || !b || a->kind != b->kind) disagree(a, b);
    switch (a->kind) {
      case TypeKind::Tensor: {
        const auto& x = static_cast<const TensorType&>(*a);
        const auto& y = static_cast<const TensorType&>(*b);
        unify(x.shape, y.shape);
        unify(x.dtype, y.dtype);
        return;
      }
      case TypeKind::Tuple:
        unify_all(static_cast<const TupleType&>(*a).fields,
                  static_cast<const TupleType&>(*b).fields, a, b);
        return;
      case TypeKind::Function: {
        const auto& x = static_cast<const FunctionType&>(*a);
        const auto& y = static_cast<const FunctionType&>(*b);
        unify_all(x.params, y.params, a, b);
        unify(x.result, y.result);
        return;
      }
      case TypeKind::Adt: {
        const auto& x = static_cast<const AdtType&>(*a);
        const auto& y = static_cast<const AdtType&>(*b);
        if (x.def != y.def) disagree(a, b);
        unify_all(x.args, y.args, a, b);
        return;
      }
      case TypeKind::Reference:
        unify(static_cast<const ReferenceType&>(*a).content,
              static_cast<const ReferenceType&>(*b).content);
        return;
      case TypeKind::Dimension:
        unify(static_cast<const DimensionType&>(*a).dim, static_cast<const DimensionType&>(*b).dim);
        return;
      case TypeKind::Var:
      case TypeKind::Incomplete:
        if (!equal(a, b)) disagree(a, b);
        return;
    }
  }

  void unify(const Shape& left, const Shape& right) override {
    const Shape a = settle(left);
    const Shape b = settle(right);
    if (a == b) return;
    if (is_unknown(a.var())) {
      known_.shapes.insert_or_assign(a.var().get(), b);
    } else if (is_unknown(b.var())) {
      known_.shapes.insert_or_assign(b.var().get(), a);
    } else if (!a.has_rank() || !b.has_rank() || a.rank() != b.rank()) {
      fail(DiagnosticKind::RankMismatch, "shapes " + in_ticks(to_string(a)) + " and " +
                                             in_ticks(to_string(b)) + " have different ranks");
    } else {
      for (std::size_t axis = 0; axis < a.rank(); ++axis) {
        if (unify_dims(a[axis], b[axis])) continue;
        fail(DiagnosticKind::ShapeMismatch,
             "shapes " + in_ticks(to_string(a)) + " and " + in_ticks(to_string(b)) +
                 " differ: axis " + std::to_string(axis) + " is " + in_ticks(a[axis].to_string()) +
                 " and " + in_ticks(b[axis].to_string()));
      }
    }
  }

  void unify(const DTypeTerm& left, const DTypeTerm& right) override {
    const DTypeTerm a = settle(left);
    const DTypeTerm b = settle(right);
    if (a == b) return;
    if (!a.is_known() && is_unknown(a.var())) {
      known_.dtypes.insert_or_assign(a.var().get(), b);
    } else if (!b.is_known() && is_unknown(b.var())) {
      known_.dtypes.insert_or_assign(b.var().get(), a);
    } else {
      fail(DiagnosticKind::DTypeMismatch,
           "dtypes " + in_ticks(to_string(a)) + " and " + in_ticks(to_string(b)) + " differ");
    }
  }

  void unify(const Dim& a, const Dim& b) override {
    if (unify_dims(a, b)) return;
    fail(DiagnosticKind::ShapeMismatch, "dimensions " + in_ticks(settle(a).to_string()) + " and " +
                                            in_ticks(settle(b).to_string()) + " differ");
  }

  Type fresh_type() override { return var_type(fresh(VarKind::Type)); }
  Shape fresh_shape() override { return Shape(fresh(VarKind::Shape)); }
  Dim fresh_dim() override { return Dim::variable(fresh(VarKind::Dim)); }
  DTypeTerm fresh_dtype() override { return DTypeTerm(fresh(VarKind::DType)); }

  void prefer_float(const DTypeTerm&) override {}
  void require(const DTypeTerm& dtype, PrimOperands operands) override {
    const DTypeTerm term = settle(dtype);
    if (!term.is_known() || accepts(operands, term.known())) return;
    fail(DiagnosticKind::DTypeMismatch,
         "dtype " + in_ticks(to_string(term)) + " is not " + std::string(describe(operands)));
  }

 private:
  static std::string_view describe(PrimOperands operands) {
    switch (operands) {
      case PrimOperands::kNumeric:
        return "a number";
      case PrimOperands::kFloat:
        return "a float";
      case PrimOperands::kInt:
        return "an integer";
      case PrimOperands::kBool:
        return "bool";
      case PrimOperands::kBits:
        return "an integer or bool";
      case PrimOperands::kAnyDType:
        return "a dtype";
    }
    return "a dtype";
  }

  static bool is_unknown(const TypeVarRef& var) { return var && var->flexible; }

  [[noreturn]] static void disagree(const Type& a, const Type& b) {
    fail(DiagnosticKind::TypeMismatch,
         "types " + in_ticks(to_string(a)) + " and " + in_ticks(to_string(b)) + " differ");
  }

  // A variable may stand for something that mentions another one that is bound later.
  template <class T>
  T settle(const T& given) {
    T current = given;
    for (;;) {
      T next = substitute(current, known_);
      if (next == current) return next;
      current = std::move(next);
    }
  }
  DTypeTerm settle(const DTypeTerm& given) {
    DTypeTerm current = given;
    while (!current.is_known()) {
      const auto found = known_.dtypes.find(current.var().get());
      if (found == known_.dtypes.end()) break;
      current = found->second;
    }
    return current;
  }

  bool bind_type(const Type& unknown, const Type& type) {
    const auto* var = as<VarType>(unknown);
    if (!var || !is_unknown(var->var)) return false;
    known_.types.insert_or_assign(var->var.get(), type);
    return true;
  }

  void unify_all(const std::vector<Type>& a, const std::vector<Type>& b, const Type& whole_a,
                 const Type& whole_b) {
    if (a.size() != b.size()) disagree(whole_a, whole_b);
    for (std::size_t i = 0; i < a.size(); ++i) unify(a[i], b[i]);
  }

  // False when they differ. An equation with an unknown of coefficient 1 or -1 is solved for it.
  bool unify_dims(const Dim& left, const Dim& right) {
    const Dim a = settle(left);
    const Dim b = settle(right);
    if (a == b) return true;
    for (const auto& [var, dim] : {std::pair(a.as_variable(), b), std::pair(b.as_variable(), a)}) {
      if (!is_unknown(var)) continue;
      known_.dims.insert_or_assign(var.get(), dim);
      return true;
    }
    if (a.is_any() || b.is_any()) return true;
    const Dim difference = a - b;
    for (const Dim::Term& term : difference.terms()) {
      const TypeVarRef var = term.atoms.front()->variable;
      if (term.atoms.size() != 1 || !is_unknown(var) || std::abs(term.coefficient) != 1) continue;
      const Dim rest = difference - Dim(term.coefficient) * Dim::variable(var);
      bool occurs = false;
      rest.for_each_variable([&](const TypeVarRef& other) { occurs = occurs || other == var; });
      if (occurs) continue;
      known_.dims.insert_or_assign(var.get(), Dim(-term.coefficient) * rest);
      return true;
    }
    return false;
  }

  TypeVarRef fresh(VarKind kind) { return made_.emplace_back(TypeVar::unknown(kind)); }

  TypeSubstitution known_;        // by address
  std::vector<TypeVarRef> made_;  // so that no address is used twice
};

}  // namespace

Type TypeCall::tensor(std::size_t i) {
  RELAY_CHECK(i < args.size(), "`" + op.name + "` has no argument " + std::to_string(i));
  Type type = solver.resolve(args[i]);
  if (const auto* var = as<VarType>(type); var && var->var->flexible) {
    solver.unify(type, tensor_type(solver.fresh_shape(), solver.fresh_dtype()));
    type = solver.resolve(type);
  }
  args[i] = type;
  if (!as<TensorType>(type)) {
    const std::string name = i < op.inputs.size() ? op.inputs[i].name : std::to_string(i);
    // `x[0]` and `x[1:2]` do not name the operator.
    const std::string_view text = span ? span.text() : "";
    const bool is_indexed =
        i == 0 && text.ends_with(']') && text.find(op.name) == std::string_view::npos;
    const auto* data = as<AdtType>(type);
    const bool is_list = data && data->def->name == "List" && data->def->origin == Origin::Prelude;
    const std::string value(i < arg_spans.size() && arg_spans[i] ? arg_spans[i].text() : "xs");
    try {
      fail(DiagnosticKind::TypeMismatch,
           (is_indexed ? "what is indexed" : "argument `" + name + "` of `" + op.name + "`") +
               " must be a tensor, not `" + to_string(type) + "`");
    } catch (Failure& failure) {
      if (is_indexed && is_list)
        failure.diagnostics.front().note("help: an element of a list is `nth(" + value + ", n)`");
      if (const auto help = mend_by_tree_map(*this)) failure.diagnostics.front().note(*help);
      throw;
    }
  }
  return type;
}

const TensorType& TypeCall::tensor_node(std::size_t i) {
  tensor(i);
  return *as<TensorType>(args[i]);
}

std::optional<double> TypeCall::number(std::size_t i) const {
  if (!call || i >= call->args.size()) return std::nullopt;
  if (const auto* constant = as<Constant>(call->args[i])) {
    if (constant->value->rank() == 0) return constant->value->number_at(0);
  }
  if (const auto* literal = as<Literal>(call->args[i]); literal && !literal->elements)
    return literal->is_float ? literal->real : static_cast<double>(literal->integer);
  return std::nullopt;
}

void TypeCall::fail(DiagnosticKind kind, std::string message) const {
  Diagnostic diagnostic(kind, std::move(message), span);
  for (std::size_t i = 0; i < arg_spans.size() && i < args.size(); ++i) {
    if (arg_spans[i])
      diagnostic.label(arg_spans[i], "`" + to_string(solver.resolve(args[i])) + "`");
  }
  for (std::size_t i = 0; i < args.size() && diagnostic.notes.empty(); ++i) {
    std::string help =
        help_for_mistaken(solver.resolve(args[i]), i < arg_spans.size() ? arg_spans[i] : Span());
    if (!help.empty()) diagnostic.note(std::move(help));
  }
  throw Failure(std::move(diagnostic));
}

const TensorType& DefinitionCall::tensor(std::size_t i) const {
  RELAY_CHECK(i < args.size(), "a definition asks for an argument that is not there");
  const auto* type = as<TensorType>(args[i]->type);
  RELAY_CHECK(type, "a definition asks for a tensor where there is none");
  return *type;
}

Type ground_result_type(const OpDef& op, const std::vector<Type>& args, const AttrsRef& attrs,
                        Span span, const std::vector<Span>& arg_spans) {
  RELAY_CHECK(op.type_rule, "operator `" + op.name + "` has no type rule");
  if (args.size() != op.inputs.size()) {
    fail(DiagnosticKind::WrongArity,
         "`" + op.name + "` takes " + std::to_string(op.inputs.size()) +
             (op.inputs.size() == 1 ? " argument" : " arguments") + ", not " +
             std::to_string(args.size()),
         span);
  }
  GroundSolver solver;
  TypeCall call{solver, op, args, attrs, nullptr, arg_spans, span};
  try {
    const RuleOutcome outcome = op.type_rule(call);
    Type result = solver.resolve(call.result);
    if (outcome == RuleOutcome::Solved && is_ground(result)) return result;
  } catch (Failure& failure) {
    // The solver does not know the place; whoever called the rule does.
    Diagnostic& first = failure.diagnostics.front();
    if (!first.span) first.span = span;
    throw;
  }
  call.fail(DiagnosticKind::AmbiguousType,
            "the type of `" + op.name + "` does not follow from its arguments");
}

}  // namespace relay::lang
