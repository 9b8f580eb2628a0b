// `tree_map` and `tree_fold` wait for the types of their trees: then their function is inferred for
// each type of leaf.

#include <fmt/format.h>

#include "lang/tree_form.h"
#include "typecheck/inference.h"

namespace relay::typecheck {

using namespace lang;

Type Inference::infer_tree_form(const Call& call, const OpDef& form) {
  const std::size_t first = first_tree(form);
  if (call.args.size() <= first) {
    Diagnostic diagnostic(DiagnosticKind::WrongArity,
                          fmt::format("`{}` takes {} or more, found {}", form.name,
                                      count_of(first + 1, "argument"), call.args.size()),
                          call.span);
    diagnostic.note(first == 1 ? "note: `tree_map(f, tree, ...)`"
                               : "note: `tree_fold(f, start, tree, ...)`");
    report(Failure(std::move(diagnostic)));
    return solver_.error_type();
  }
  TreeUse use{&call, &form};
  use.result = first == 2 ? infer(call.args[1]) : nullptr;
  use.tree = infer(call.args[first]);
  if (!use.result) use.result = use.tree;
  for (std::size_t i = first + 1; i < call.args.size(); ++i) {
    Mismatch mismatch{infer(call.args[i]), use.tree, tail_of(call.args[i])->span,
                      fmt::format("argument {} of `{}`", i + 1, form.name)};
    mismatch.labels.push_back(
        {tail_of(call.args[first])->span, fmt::format("`{}`", solver_.show(use.tree))});
    mismatch.other = tail_of(call.args[first])->span;
    expect(mismatch);
  }
  const Type result = use.result;
  if (!settle_tree(use)) waiting_trees_.push_back(std::move(use));
  return result;
}

// Infers the function for each type of leaf, if these are known.
bool Inference::settle_tree(TreeUse& use) {
  const Type tree = solver_.resolve(use.tree);
  if (solver_.mentions_error(tree)) return true;
  const auto leaves = leaves_of(tree);
  if (!leaves) return false;
  const Expr& function = use.call->args[0];
  const std::size_t first = first_tree(*use.form);
  std::vector<LeafFunction> functions;
  for (const Type& leaf : *leaves) {
    const std::size_t errors_before = errors_.size();
    functions.push_back({leaf, function_for_leaf(function)});
    std::vector<Type> params(use.call->args.size() - first, leaf);
    if (first == 2) params.insert(params.begin(), use.result);
    infer_leaf_function(functions.back().function, params, first == 2 ? use.result : leaf,
                        use.form->name, leaf);
    if (errors_.size() != errors_before) break;  // it would be the same for the others
  }
  if (purpose_ == Purpose::kCode) trees_[use.call] = std::move(functions);
  return true;
}

void Inference::infer_leaf_function(const Expr& function, const std::vector<Type>& params,
                                    const Type& result, const std::string& form, const Type& leaf) {
  const std::string subject =
      fmt::format("the function of `{}` for leaves of type `{}`", form, solver_.show(leaf));
  const auto* literal = as<Function>(function);
  const Type own = solver_.head(literal ? declare_local(*literal) : infer(function));
  const auto* known = as<FunctionType>(own);
  if (known && known->params.size() != params.size()) {
    report(
        Failure(Diagnostic(DiagnosticKind::WrongArity,
                           fmt::format("the function of `{}` takes {}, and is given {}", form,
                                       count_of(known->params.size(), "argument"), params.size()),
                           function->span)));
    return;
  }
  const Type made = solver_.fresh_type();
  Mismatch mismatch{own, function_type(params, made), function->span, subject};
  if (function->kind == ExprKind::Var)
    mismatch.notes.emplace_back(
        "help: a value has one type; a function that is written in its place, or as a `def`, is "
        "typed for each leaf");
  if (!expect(mismatch)) return;
  Span tail = function->span;
  if (literal) {
    infer_function(function, own);
    tail = tail_of(literal->body)->span;
  }
  expect({made, result, tail, "the result of " + subject});
}

// Those that had to wait for what came behind them.
bool Inference::settle_trees() {
  bool settled = false;
  for (std::size_t i = 0; i < waiting_trees_.size();) {
    TreeUse use = waiting_trees_[i];
    if (settle_tree(use)) {
      waiting_trees_.erase(waiting_trees_.begin() + static_cast<std::ptrdiff_t>(i));
      settled = true;
    } else {
      ++i;
    }
  }
  return settled;
}

void Inference::check_trees() {
  if (waiting_trees_.empty()) return;
  const TreeUse& use = waiting_trees_.front();
  const Span tree = use.call->args[first_tree(*use.form)]->span;
  Diagnostic diagnostic(DiagnosticKind::AmbiguousType, "cannot tell what this tree holds", tree);
  diagnostic.label(tree, fmt::format("`{}`", solver_.show(use.tree)));
  diagnostic.note("help: a type annotation settles it");
  throw Failure(std::move(diagnostic));
}

}  // namespace relay::typecheck
