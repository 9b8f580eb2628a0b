// Index notation: binders, their extents, and indexing.

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "lang/named_op.h"
#include "lang/op.h"
#include "lang/stop.h"
#include "lang/visit.h"
#include "typecheck/core_rules.h"
#include "typecheck/inference.h"

namespace relay::typecheck {

using namespace lang;

namespace {

// The integer that an extent expression plainly states.
std::optional<std::int64_t> stated_integer(const Expr& expr) {
  if (const auto* literal = as<Literal>(expr); literal && !literal->is_float && !literal->elements)
    return literal->integer;
  if (const auto* constant = as<Constant>(expr)) {
    const Tensor& tensor = *constant->value;
    if (tensor.rank() == 0 && is_int(tensor.dtype()))
      return int_from_bits(tensor.dtype(), tensor.bits_at(0));
  }
  return std::nullopt;
}

// `xs[[0, 2]]` and `xs[xs > 1.0]` of another language. `type` is the index's.
void help_with_selection(Diagnostic& diagnostic, const Index& node, const Type& type) {
  const auto* tensor = as<TensorType>(type);
  if (node.indices.size() != 1 || !tensor || !tensor->shape.has_rank()) return;
  const auto* literal = as<Literal>(node.indices[0]);
  const std::optional<DType> dtype =
      tensor->dtype.is_known() ? std::optional(tensor->dtype.known()) : std::nullopt;
  const bool is_integer = dtype ? is_int(*dtype) : literal && !literal->is_float;
  const std::string from = quote(node.tensor->span, "…");
  const std::string index = quote(node.indices[0]->span, "…");
  if (is_integer && tensor->shape.rank() > 0) {
    diagnostic.note(fmt::format("help: several are `take({}, {}, axis=0)`", from, index));
  } else if (dtype == DType::Bool && tensor->shape.rank() == 1) {
    diagnostic.note(
        fmt::format("help: those where it holds are `take({}, squeeze(argwhere({}), "
                    "axis=[1]), axis=0)`",
                    from, index));
  }
}

}  // namespace

Dim Inference::extent_dim(const Expr& extent, const Type& type) {
  const auto* tensor = as<TensorType>(solver_.resolve(type));
  const bool is_int64 = tensor && tensor->dtype == DTypeTerm(DType::Int64);
  int steps = is_int64 ? 100 : 0;  // what is named is read again where it is used
  Dim dim = stated_dim(extent, steps);
  return dim.is_constant() && dim.constant() < 0 ? Dim::any() : dim;
}

// Of numbers, extents, and sums, differences and products of such in so many steps; else `?`. What
// is added and multiplied has one dtype: others than int64 wrap around where extents do not.
Dim Inference::stated_dim(const Expr& expr, int& steps) const {
  if (std::optional<std::int64_t> value = stated_integer(expr)) return Dim(*value);
  if (const auto* term = as<DimTerm>(expr)) return substitute(term->dim, written_);
  if (const auto* var = as<Var>(expr)) {
    if (const Expr* found = let_values_.find(var->variable.get())) return stated_dim(*found, steps);
  }
  const std::optional<ArithmeticStep> step = arithmetic_step(expr);
  if (!step || step->args.size() != 2 || --steps < 0) return Dim::any();
  const Dim a = stated_dim(step->args[0], steps), b = stated_dim(step->args[1], steps);
  switch (step->prim) {
    case Prim::Add:
      return a + b;
    case Prim::Sub:
      return a - b;
    case Prim::Mul:
      return a * b;
    default:
      return Dim::any();
  }
}

// An index or an extent: an integer scalar; an undecorated number is an int64.
Type Inference::infer_position(const Expr& index, const Index* element) {
  Type type = infer(index);
  bool negated = false;
  if (as_literal(index, negated)) {
    expect({type, scalar_type(DType::Int64), index->span, "an index"});
    return type;
  }
  DTypeTerm dtype = solver_.fresh_dtype();
  solver_.require(dtype, PrimOperands::kInt);
  try {
    solver_.unify(type, tensor_type(Shape(), dtype));
  } catch (Failure& failure) {
    Diagnostic diagnostic(
        failure.diagnostics.front().kind,
        fmt::format("an index must be an integer scalar, found `{}`", solver_.show(type)),
        index->span);
    diagnostic.label(index->span, describe_type(type, solver_));
    if (element) help_with_selection(diagnostic, *element, solver_.resolve(type));
    throw Failure(std::move(diagnostic));
  }
  if (solver_.has_woken()) relations_.drain();
  return type;
}

std::vector<Dim> Inference::enter_binders(const std::vector<IndexBinder>& binders) {
  std::vector<Dim> dims;
  for (const IndexBinder& binder : binders) {
    dims.push_back(binder.extent ? extent_dim(binder.extent, infer_position(binder.extent))
                                 : solver_.fresh_dim());
  }
  std::uint64_t order = next_order_;
  for (std::size_t i = 0; i < binders.size(); ++i) {
    const IndexBinder& binder = binders[i];
    introduce(binder.variable, scalar_type(DType::Int64));
    binders_[binder.variable.get()] = {binder.variable, dims[i], !binder.extent, order, {}};
  }
  return dims;
}

// After the body: an inferred extent that only has axes of unknown extent is unknown too.
void Inference::leave_binders(const std::vector<IndexBinder>& binders) {
  for (const IndexBinder& binder : binders) {
    BinderInfo& info = binders_.at(binder.variable.get());
    if (!info.is_inferred) continue;
    if (info.uses.empty()) continue;  // what is said of the result may tell (check_extents)
    bool all_any = true;
    for (const BareUse& use : info.uses) all_any &= solver_.resolve(use.dim).is_any();
    if (all_any) solver_.unify(info.dim, Dim::any());
  }
  if (solver_.has_woken()) relations_.drain();
}

// An extent that nothing in the body tells must be known from what is said of the result. `inputs`:
// what callers will tell.
void Inference::check_extents(const std::vector<Type>& inputs) {
  if (!errors_.empty()) return;  // what is wrong may have been what tells
  std::unordered_set<const TypeVar*> told;
  for (const Type& input : inputs) {
    for (const TypeVarRef& var : solver_.unknowns_of(input)) told.insert(var.get());
  }
  for (const auto& [variable, info] : binders_) {
    if (!info.is_inferred || !info.uses.empty()) continue;
    const Dim dim = solver_.resolve(info.dim);
    bool is_known = !dim.is_any();
    dim.for_each_variable([&](const TypeVarRef& var) {
      is_known &= !solver_.find(*var) || told.count(var.get()) || generic_.count(var.get());
    });
    if (is_known) continue;
    Diagnostic diagnostic(
        DiagnosticKind::AmbiguousType,
        fmt::format("`{0}` has no extent: nothing is indexed by a bare `[{0}]`", variable->name),
        variable->span);
    diagnostic.label(variable->span, "runs to where?");
    diagnostic.note(fmt::format("help: write its extent, as in `{} < 10`", variable->name));
    report(Failure(std::move(diagnostic)));
  }
}

void Inference::link_bare_use(BinderInfo& binder, BareUse use) {
  Dim dim = solver_.resolve(use.dim);
  if (binder.is_inferred && !dim.is_any()) {
    try {
      solver_.unify(binder.dim, dim);
    } catch (const Failure& failure) {
      if (lang::is_stop(failure.diagnostics.front().kind)) throw;
      std::string name = binder.variable->name;
      std::string known = solver_.show(binder.dim);
      Diagnostic diagnostic(
          DiagnosticKind::ExtentMismatch,
          fmt::format("`{}` runs over an axis of extent {} and over one of extent {}", name, known,
                      solver_.show(dim)),
          use.span);
      diagnostic.label(use.span, fmt::format("extent {}", solver_.show(dim)));
      for (const BareUse& other : binder.uses) {
        if (solver_.resolve(other.dim).is_any()) continue;
        diagnostic.label(other.span, fmt::format("extent {}", known));
        break;
      }
      throw Failure(std::move(diagnostic));
    }
  }
  binder.uses.push_back(std::move(use));
}

Type Inference::infer_comprehension(const Comprehension& node) {
  std::vector<Dim> dims = enter_binders(node.binders);
  Relation relation;
  relation.op = &comprehension_rule();
  Type body = infer(node.body);
  leave_binders(node.binders);
  relation.args = {tensor_type(Shape(std::move(dims)), DType::Int64), body};
  relation.span = node.span;
  relation.arg_spans = {tail_of(node.body)->span};
  relation.node = &node;
  return relations_.add(std::move(relation));
}

namespace {

// What is meant by a reduction of numbers whose body is a boolean.
std::string help_for_booleans(ReduceOp op, Span body) {
  if (op == ReduceOp::Max) return "help: `any` is for booleans";
  if (op == ReduceOp::Min || op == ReduceOp::Prod) return "help: `all` is for booleans";
  return fmt::format("help: `cast({}, dtype=\"int64\")` {}", quote(body, "…"),
                     op == ReduceOp::Sum ? "counts those that hold" : "is a number");
}

// `sum i { a[i] }` of a matrix.
std::optional<std::string> with_all_indices(const Reduction& node, const Type& body) {
  const ExprNode* tail = tail_of(node.body);
  const auto* tensor = as<TensorType>(body);
  if (tail->kind != ExprKind::Index || !tail->span || !tensor || !tensor->shape.has_rank())
    return std::nullopt;
  std::string read(tail->span.text());
  if (tensor->shape.rank() == 0 || !read.ends_with(']') || read.find('\n') != std::string::npos)
    return std::nullopt;
  read.pop_back();
  std::vector<std::string> names;
  for (const IndexBinder& binder : node.binders) names.push_back(binder.variable->name);
  std::size_t missing = tensor->shape.rank();
  for (char c = names.back().size() == 1 ? names.back()[0] : 'i'; c <= 'z' && missing > 0; ++c) {
    const std::string name(1, c);
    if (std::ranges::find(names, name) != names.end()) continue;
    names.push_back(name);
    read += ", " + name;
    --missing;
  }
  if (missing > 0) return std::nullopt;
  return fmt::format("help: each axis has an index: `{} {} {{ {}] }}`", name_of(node.op),
                     fmt::join(names, ", "), read);
}

}  // namespace

Type Inference::infer_reduction(const Reduction& node) {
  (void)enter_binders(node.binders);
  Type body = infer(node.body);
  leave_binders(node.binders);
  if (node.op == ReduceOp::Dot) return infer_dot(node, body);
  bool is_logical = node.op == ReduceOp::All || node.op == ReduceOp::Any;
  DTypeTerm dtype = is_logical ? DTypeTerm(DType::Bool) : solver_.fresh_dtype();
  if (!is_logical) solver_.require(dtype, PrimOperands::kNumeric);
  Type element = tensor_type(Shape(), dtype);
  Span span = tail_of(node.body)->span;
  try {
    solver_.unify(body, element);
  } catch (Failure& failure) {
    Diagnostic diagnostic(
        failure.diagnostics.front().kind,
        fmt::format("the body of `{}` must be {}, found `{}`", name_of(node.op),
                    is_logical ? "a `bool` scalar" : "a scalar number", solver_.show(body)),
        span);
    diagnostic.label(span, describe_type(body, solver_));
    if (equal(solver_.resolve(body), scalar_type(DType::Bool)))
      diagnostic.note(help_for_booleans(node.op, span));
    auto help = is_logical ? std::nullopt : with_all_indices(node, solver_.resolve(body));
    if (help) diagnostic.note(std::move(*help));
    throw Failure(std::move(diagnostic));
  }
  if (solver_.has_woken()) relations_.drain();
  if (node.op == ReduceOp::ArgMax || node.op == ReduceOp::ArgMin) return scalar_type(DType::Int64);
  return element;
}

namespace {

const lang::NamedOp kMultiply("multiply");

bool is_pair_of_integers(const Type& type) {
  const auto* pair = as<TupleType>(type);
  if (!pair || pair->fields.size() != 2) return false;
  return std::all_of(pair->fields.begin(), pair->fields.end(), [](const Type& field) {
    const auto* tensor = as<TensorType>(field);
    return tensor && tensor->dtype.is_known() && is_int(tensor->dtype.known());
  });
}

}  // namespace

// The body of a dot is no pair of floats of one dtype.
Diagnostic Inference::no_pair(const Expr& tail, const Type& body, lang::DiagnosticKind kind) {
  Diagnostic diagnostic(kind,
                        fmt::format("the body of `dot` must be a pair of scalar floats of one "
                                    "dtype, found `{}`",
                                    solver_.show(body)),
                        tail->span);
  diagnostic.label(tail->span, describe_type(body, solver_));
  const Type found = solver_.resolve(body);
  const auto* call = as<Call>(tail);
  const auto* op = call ? as<Operator>(call->callee) : nullptr;
  if (op && kMultiply.is(*op->op) && call->args.size() == 2) {
    diagnostic.note(
        fmt::format("help: `({}, {})`: both factors, whose product is added with one rounding",
                    quote(call->args[0]->span, "…"), quote(call->args[1]->span, "…")));
  } else if (is_pair_of_integers(found)) {
    diagnostic.note("help: products of integers are exact: `sum` adds those");
  } else if (found->kind == TypeKind::Tensor || tail->kind == ExprKind::Index) {
    diagnostic.note("help: `sum` adds numbers; `dot` adds the products of pairs `(x, y)`");
  }
  return diagnostic;
}

// A pair of floats of one dtype, which is what comes out.
Type Inference::infer_dot(const Reduction& node, const Type& body) {
  const DTypeTerm dtype = solver_.fresh_dtype();
  solver_.require(dtype, PrimOperands::kFloat);
  Type element = tensor_type(Shape(), dtype);
  const Expr tail(tail_of(node.body));
  // Of what is indexed nothing may be known yet, but that an element is no tuple.
  if (tail->kind == ExprKind::Index)
    throw Failure(no_pair(tail, body, lang::DiagnosticKind::TypeMismatch));
  try {
    solver_.unify(body, tuple_type({element, element}));
  } catch (Failure& failure) {
    throw Failure(no_pair(tail, body, failure.diagnostics.front().kind));
  }
  if (solver_.has_woken()) relations_.drain();
  return element;
}

// `a with { [i] = row }`: as many indices as `a[i]` may have, and what it is there.
Type Inference::infer_element_set(const ScatterReduce& node) {
  Type init = infer(node.init);
  std::vector<Dim> axes;
  for (const Expr& index : node.indices) {
    infer_position(index);
    axes.push_back(solver_.fresh_dim());
  }
  indices_[&node] = {node.init, &node.indices, init, axes};
  if (!expect({init, tensor_type(solver_.fresh_shape(), solver_.fresh_dtype()), node.init->span,
               "the tensor of which an element is set"})) {
    infer(node.value);
    return solver_.error_type();
  }
  Relation relation;
  relation.op = &index_rule();
  relation.args = {init, tensor_type(Shape(std::move(axes)), DType::Int64)};
  relation.span = node.span;
  relation.arg_spans = {node.init->span};
  const Type element = relations_.add(std::move(relation));
  Type value = infer(node.value);
  value = coerce(&node, 0, value, element, "the element that is set");
  Mismatch mismatch{value, element, tail_of(node.value)->span, "the element"};
  mismatch.labels.push_back({node.init->span, describe_type(init, solver_)});
  mismatch.other = node.init->span;
  const Type target = solver_.resolve(init);
  const auto* whole = as<TensorType>(target);
  const Type scalar = solver_.resolve(value);
  if (whole && whole->shape.has_rank() && whole->shape.rank() > node.indices.size() &&
      scalar->kind == TypeKind::Tensor && as<TensorType>(scalar)->shape == Shape())
    mismatch.notes.push_back(
        fmt::format("help: `{}` has {} axes, and a single element an index for each",
                    quote(node.init->span, "the tensor"), whole->shape.rank()));
  expect(mismatch);
  return init;
}

Type Inference::infer_scatter(const ScatterReduce& node) {
  if (node.op == ReduceOp::Set && node.binders.empty()) return infer_element_set(node);
  Type init = infer(node.init);
  (void)enter_binders(node.binders);
  std::vector<Dim> axes;
  for (const Expr& index : node.indices) {
    infer_position(index);
    axes.push_back(solver_.fresh_dim());
  }
  indices_[&node] = {node.init, &node.indices, init, axes};
  DTypeTerm dtype = solver_.fresh_dtype();
  if (node.op != ReduceOp::Set) solver_.require(dtype, PrimOperands::kNumeric);
  expect({init, tensor_type(Shape(axes), dtype), node.init->span,
          "the tensor that is scattered into"});
  Mismatch value{infer(node.value), tensor_type(Shape(), dtype), tail_of(node.value)->span,
                 "the value scattered"};
  value.labels.push_back({node.init->span, describe_type(init, solver_)});
  value.other = node.init->span;
  expect(value);
  leave_binders(node.binders);
  return init;
}

// `t[0]` would be taken for the first field; `t[i]` is the element of each.
void Inference::refuse_index_of_tuple(const Index& node, const Type& tuple) {
  bool negated = false;
  const Literal* place = node.indices.size() == 1 ? as_literal(node.indices[0], negated) : nullptr;
  if (!place) return;
  Diagnostic diagnostic(DiagnosticKind::TypeMismatch, "a tuple has fields, and is not indexed",
                        node.span);
  diagnostic.label(node.tensor->span, describe_type(tuple, solver_));
  const auto count = static_cast<std::int64_t>(as<TupleType>(solver_.head(tuple))->fields.size());
  if (!place->is_float && !negated && place->integer < count)
    diagnostic.note(
        fmt::format("help: `{}.{}`", quote(node.tensor->span, "(...)"), place->integer));
  throw Failure(std::move(diagnostic));
}

Type Inference::infer_index(const Expr& expr) {
  const Index& node = cast<Index>(expr);
  Type tensor = infer(node.tensor);
  if (solver_.head(tensor)->kind == TypeKind::Tuple) refuse_index_of_tuple(node, tensor);
  std::vector<Dim> axes;
  for (const Expr& index : node.indices) {
    axes.push_back(solver_.fresh_dim());
    const auto* var = as<Var>(index);
    if (var && binders_.find(var->variable.get())) {
      infer(index);
    } else {
      infer_position(index, &node);
    }
  }
  indices_[&node] = {node.tensor, &node.indices, tensor, axes};
  Relation relation;
  relation.op = &index_rule();
  relation.args = {tensor, tensor_type(Shape(axes), DType::Int64)};
  relation.span = node.span;
  relation.arg_spans = {node.tensor->span};
  Type result = relations_.add(std::move(relation));
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto* var = as<Var>(node.indices[i]);
    BinderInfo* binder = var ? binders_.find(var->variable.get()) : nullptr;
    if (!binder) continue;
    link_bare_use(*binder, {node.tensor, static_cast<std::uint32_t>(i), axes[i], expr->span});
  }
  if (solver_.has_woken()) relations_.drain();
  return result;
}

std::vector<ExtentSource> Inference::extent_sources(const BinderInfo& binder) const {
  std::vector<ExtentSource> sources;
  for (const BareUse& use : binder.uses) {
    ExtentSource source{use.tensor, use.axis, &use};
    while (const Index* inner = as<Index>(source.tensor)) {
      source.axis += static_cast<std::uint32_t>(inner->indices.size());
      source.tensor = inner->tensor;
    }
    bool outside = true;
    for (const VariableRef& variable : free_variables(source.tensor)) {
      outside &= variables_.at(variable.get()).order < binder.order;
    }
    if (outside) sources.push_back(std::move(source));
  }
  return sources;
}

void Inference::check_literal_indices() {
  for (const auto& [index, use] : indices_) {
    const std::vector<Dim>& axes = use.axes;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      bool negated = false;
      const Literal* literal = as_literal((*use.indices)[i], negated);
      Dim extent = solver_.resolve(axes[i]);
      if (!literal || literal->is_float || !extent.is_constant()) continue;
      std::int64_t value = negated ? -literal->integer : literal->integer;
      if (value >= -extent.constant() && value < extent.constant()) continue;
      // Behind `...` the axis has another number in the text; what is indexed is made of that text.
      const bool is_moved = index->span && use.tensor->span == index->span;
      Diagnostic diagnostic(
          DiagnosticKind::IndexOutOfRange,
          fmt::format("index {} is out of range for {} of extent {}", value,
                      is_moved ? "an axis" : fmt::format("axis {}", i), extent.constant()),
          (*use.indices)[i]->span);
      if (is_moved) {
        diagnostic.label((*use.indices)[i]->span, fmt::format("extent {}", extent.constant()));
      } else {
        diagnostic.label(use.tensor->span, describe_type(use.type, solver_));
      }
      report(Failure(std::move(diagnostic)));
    }
  }
}

}  // namespace relay::typecheck
