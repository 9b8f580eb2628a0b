#include "opt/step_sums.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "lang/build.h"
#include "lang/visit.h"
#include "opt/definitions.h"
#include "opt/effect.h"
#include "opt/own_calls.h"
#include "opt/passes.h"

namespace relay::opt {

using lang::as;
using lang::Expr;
using lang::ExprKind;
using lang::Variable;
using lang::VariableRef;
namespace build = lang::build;

namespace {

constexpr std::int64_t kRows = 16;           // of a product
constexpr std::int64_t kMostRowsOfStep = 4;  // more are a product that is worth its memory
// Of the sum. Fewer are added as quickly row by row; loops of a few steps, where a product of as
// many rows as may be kept is the longer way, lose less the larger it is.
constexpr std::int64_t kFewestElements = 1 << 15;

// Element (row, column) of what is kept of one step.
using Rows = std::function<Expr(const build::Indices& at)>;

// The product of `left`, transposed, with `right`.
struct Product {
  std::int64_t rows = 0;
  Rows left, right;
};

// A sum that calls of the function hand on.
struct Sum {
  std::size_t param = 0;
  std::int64_t rows = 0;  // of a step
  std::unordered_map<const lang::Call*, Product> terms;
  std::unordered_set<const Variable*> adds;  // to which additions are bound
  VariableRef lefts, rights;                 // what is kept: (steps, rows, m) and (steps, rows, n)

  std::int64_t steps() const { return kRows / rows; }
};

using Uses = std::unordered_map<const Variable*, std::size_t>;

// Adds how often each variable is used in it.
void count_uses(const Expr& expr, Uses& uses) {
  const auto count = [&](const Expr& used) {
    if (const Variable* const variable = variable_of(used)) ++uses[variable];
  };
  count(expr);
  lang::visit_post_order(expr, [&](const Expr& node) { lang::for_each_child(node, count); });
}

// `kept` with the rows of one more step.
Expr with_rows(const VariableRef& kept, const Rows& rows, const Expr& place) {
  const auto extents = *constant_extents(kept->type);
  const std::vector<lang::Dim> dims{lang::Dim(extents[1]), lang::Dim(extents[2])};
  return build::scatter(lang::ReduceOp::Set, lang::make_var(kept), dims,
                        [&](const build::Indices& at) {
                          build::Indices all = at;
                          all.insert(all.begin(), place);
                          return std::pair(std::move(all), rows(at));
                        });
}

// `matmul(left, right)` of a few rows.
std::optional<Product> product_of(const lang::Call& call) {
  const Expr &left = call.args[0], &right = call.args[1];
  const auto extents = constant_extents(right->type);
  if (!extents || extents->size() != 2 || rank_of(left) != 2) return {};
  return Product{
      extents->front(),
      [left](const build::Indices& at) {
        return build::at(left, {at[1], at[0]});
      },
      [right](const build::Indices& at) { return build::at(right, at); },
  };
}

// `for i, j { a[i] * b[j] }`, where each factor depends on one of the indices, or the sum of such
// over a few rows, `for i, j { sum r < 2 { a[r, i] * b[r, j] } }`.
class OuterProduct {
 public:
  explicit OuterProduct(const lang::Comprehension& loop) : loop_(loop) {}

  std::optional<Product> run() {
    // It is computed elsewhere, and as often as there are rows and columns.
    if (loop_.binders.size() != 2 || Effects().has_effect(loop_.body)) return {};
    for (std::size_t axis = 0; axis < 2; ++axis)
      depends_[loop_.binders[axis].variable.get()] = std::uint8_t{1} << axis;
    Expr term = opened(loop_.body);
    std::int64_t count = 1;
    if (const auto* sum = as<lang::Reduction>(values_.of(term))) {
      const auto extent = sum->binders.size() == 1 ? integer(sum->binders[0].extent) : std::nullopt;
      if (sum->op != lang::ReduceOp::Sum || !extent) return {};
      count = *extent;
      row_ = sum->binders[0].variable;
      term = opened(sum->body);
    }
    if (!split(term) || !sides_[0] || !sides_[1]) return {};
    return Product{count, rows(0), rows(1)};
  }

 private:
  static constexpr std::size_t kMostFactors = 16;

  // What a body gives, with the bindings in front of it.
  Expr opened(const Expr& body) {
    const lang::Block block = lang::open_block(body);
    for (const lang::Binding& each : block.bindings) {
      depends_[each.variable.get()] = dependence(each.value);
      values_.add(each.variable, each.value);
      bindings_.push_back(each);
    }
    return block.result;
  }

  // On which of the two indices: bits.
  std::uint8_t dependence(const Expr& expr) const {
    std::uint8_t axes = 0;
    for (const VariableRef& each : lang::free_variables(expr)) {
      const auto found = depends_.find(each.get());
      if (found != depends_.end()) axes |= found->second;
    }
    return axes;
  }

  bool split(const Expr& factor) {
    const std::uint8_t axes = dependence(factor);
    if (axes == 3) {
      const auto product = lang::arithmetic_step(values_.of(factor));
      return product && product->prim == lang::Prim::Mul &&
             std::all_of(product->args.begin(), product->args.end(),
                         [&](const Expr& arg) { return split(arg); });
    }
    Expr& side = sides_[axes == 2 ? 1 : 0];
    side = side ? build::mul(side, factor) : factor;
    return ++factors_ <= kMostFactors;
  }

  Rows rows(std::size_t axis) const {
    lang::Block block{{}, sides_[axis]};
    for (const lang::Binding& each : bindings_) {
      if ((depends_.at(each.variable.get()) & ~(1 << axis)) == 0) block.bindings.push_back(each);
    }
    return [body = lang::close_block(block), index = loop_.binders[axis].variable,
            row = row_](const build::Indices& at) {
      lang::Substitution place{{index.get(), at[1]}};
      if (row) place[row.get()] = at[0];
      return lang::rename_bound(lang::substitute(body, place));
    };
  }

  const lang::Comprehension& loop_;
  VariableRef row_;  // the index of rows; null: there is one
  std::vector<lang::Binding> bindings_;
  std::unordered_map<const Variable*, std::uint8_t> depends_;
  Definitions values_;
  std::array<Expr, 2> sides_;
  std::size_t factors_ = 0;
};

class Collector {
 public:
  Collector(Self self, const Expr& function, StepSums which)
      : self_(std::move(self)),
        function_(function),
        fn_(lang::cast<lang::Function>(function)),
        which_(which) {}

  // Null where there is nothing to keep rows of.
  Expr run() {
    if (fn_.attrs || !fn_.type_params.empty() ||
        std::none_of(fn_.params.begin(), fn_.params.end(),
                     [](const VariableRef& each) { return is_large(each->type); }))
      return nullptr;
    auto calls = own_calls_in(fn_.body, self_);
    if (!calls || calls->empty()) return nullptr;
    calls_ = *std::move(calls);
    look_at(fn_.body);
    if (tail_calls_ != calls_.size()) return nullptr;
    count_uses(fn_.body, uses_);
    for (const Expr& exit : exits_) count_uses(exit, uses_in_exits_);
    for (std::size_t i = 0; i < fn_.params.size(); ++i) {
      if (is_large(fn_.params[i]->type)) find_sum(i);
    }
    return sums_.empty() ? Expr() : collecting();
  }

 private:
  static lang::DType dtype_of(const lang::Type& type) {
    return as<lang::TensorType>(type)->dtype.known();
  }
  static bool is_large(const lang::Type& type) {
    const auto extents = constant_extents(type);
    return extents && extents->size() == 2 && lang::is_float(dtype_of(type)) &&
           (*extents)[0] >= kRows && (*extents)[1] >= kRows &&
           (*extents)[0] >= kFewestElements / (*extents)[1];
  }

  // --- What there is ---

  // Does the function call itself in it? Every such branch ends in a call, or in a choice of
  // branches.
  bool look_at(const Expr& expr) {
    const lang::Block block = lang::open_block(expr);
    for (const lang::Binding& each : block.bindings) definitions_.add(each.variable, each.value);
    if (const lang::Call* const call = own_call(block.result, self_)) {
      ++tail_calls_;
      return true;
    }
    bool calls = false;
    if (const auto* choice = as<lang::If>(block.result)) {
      const bool first = look_at(choice->then_branch);
      const bool second = look_at(choice->else_branch);
      calls = first || second;
    } else if (const auto* match = as<lang::Match>(block.result)) {
      for (const lang::Clause& clause : match->clauses) calls = look_at(clause.body) || calls;
    }
    if (calls) {
      goes_on_.insert(block.result.get());
    } else {
      exits_.push_back(expr);
    }
    return calls;
  }

  void find_sum(std::size_t param) {
    const Variable* const variable = fn_.params[param].get();
    Sum sum;
    sum.param = param;
    Uses handed;
    for (const lang::Call* call : calls_) ++handed[variable_of(call->args[param])];
    std::size_t uses = handed[variable];
    for (const lang::Call* call : calls_) {
      const Expr& arg = call->args[param];
      if (variable_of(arg) == variable) continue;
      const auto term = term_of(arg, variable, handed[variable_of(arg)]);
      if (!term) return;
      if (sum.adds.insert(variable_of(arg)).second) ++uses;
      if (sum.rows != 0 && term->rows != sum.rows) return;
      sum.rows = term->rows;
      sum.terms.emplace(call, *term);
    }
    uses += uses_in_exits_[variable];
    if (sum.terms.empty() || uses != uses_[variable]) return;
    const auto extents = *constant_extents(variable->type);
    const auto rows = [&](const char* name, std::int64_t columns) {
      lang::Shape shape{lang::Dim(sum.steps()), lang::Dim(sum.rows), lang::Dim(columns)};
      return lang::make_variable(name,
                                 lang::tensor_type(std::move(shape), dtype_of(variable->type)));
    };
    sum.lefts = rows("lefts", extents[0]);
    sum.rights = rows("rights", extents[1]);
    sums_.push_back(std::move(sum));
  }

  // Of `variable + product`, where nothing else needs these. `handed`: to so many calls.
  std::optional<Product> term_of(const Expr& arg, const Variable* variable, std::size_t handed) {
    const lang::Call* const add = definitions_.call_of(arg, known::add);
    if (!add || (which_ == StepSums::Real && add->algebra != lang::Algebra::Real) ||
        uses_[variable_of(arg)] != handed)
      return {};
    const bool is_second = variable_of(add->args[1]) == variable;
    if (variable_of(add->args[is_second ? 1 : 0]) != variable) return {};
    const Expr& product = add->args[is_second ? 0 : 1];
    if (!variable_of(product) || uses_[variable_of(product)] != 1 ||
        !lang::equal(product->type, arg->type))
      return {};
    const lang::Call* const call = definitions_.call_of(product, known::matmul);
    const auto* loop = as<lang::Comprehension>(definitions_.of(product));
    const auto term = call ? product_of(*call) : loop ? OuterProduct(*loop).run() : std::nullopt;
    const bool has_few = term && term->rows >= 1 && term->rows <= kMostRowsOfStep;
    return has_few ? term : std::nullopt;
  }

  // --- What becomes of it ---

  Expr collecting() {
    const lang::AlgebraScope scope(lang::Algebra::Real);
    std::vector<VariableRef> params = fn_.params;
    std::vector<Expr> start;
    std::vector<VariableRef> outer;
    for (const VariableRef& param : fn_.params) {
      outer.push_back(lang::make_variable(param->name, param->type));
      start.push_back(lang::make_var(outer.back()));
    }
    for (const Sum& sum : sums_) {
      for (const VariableRef& each : {sum.lefts, sum.rights}) {
        params.push_back(each);
        start.push_back(build::zeros_of(each->type));
      }
    }
    params.push_back(kept_);
    start.push_back(build::index_constant(0));
    std::vector<lang::Type> types;
    for (const VariableRef& each : params) types.push_back(each->type);
    go_ = lang::make_variable("collecting", lang::function_type(std::move(types), fn_.result));
    const Expr body = lang::make_function(std::move(params), fn_.result, rebuilt(fn_.body), {},
                                          nullptr, function_->span, go_->type);
    const Expr called = build::call(lang::make_var(go_), std::move(start));
    return lang::make_function(std::move(outer), fn_.result,
                               lang::make_let(go_, body, called, function_->span, called->type), {},
                               nullptr, function_->span, function_->type);
  }

  Expr rebuilt(const Expr& expr) {
    lang::Block block = lang::open_block(expr);
    const Expr& result = block.result;
    if (const lang::Call* const call = own_call(result, self_)) {
      block.result = next(*call, block.bindings);
    } else if (!goes_on_.contains(result.get())) {
      return at_the_end(expr);
    } else if (const auto* choice = as<lang::If>(result)) {
      block.result = lang::make_if(choice->condition, rebuilt(choice->then_branch),
                                   rebuilt(choice->else_branch), result->span, result->type);
    } else {
      const auto& match = lang::cast<lang::Match>(result);
      std::vector<lang::Clause> clauses = match.clauses;
      for (lang::Clause& clause : clauses) clause.body = rebuilt(clause.body);
      block.result = lang::make_match(match.scrutinee, std::move(clauses), match.is_complete,
                                      result->span, result->type);
    }
    return lang::close_block(block);
  }

  // The sum with the product of the rows.
  Expr added(const Sum& sum, const Expr& lefts, const Expr& rights) const {
    const auto flat = [&](const Expr& rows) {
      const auto extents = *constant_extents(rows->type);
      return build::op(
          "reshape", {rows},
          {{"newshape", lang::AttrValue::ints({extents[0] * extents[1], extents[2]})}});
    };
    const Expr turned = build::op("transpose", {flat(lefts)});
    const Expr product = build::op("matmul", {turned, flat(rights)});
    return build::op("add", {lang::make_var(fn_.params[sum.param]), product});
  }

  Expr at_the_end(const Expr& exit) const {
    std::vector<lang::Binding> bindings;
    lang::Substitution whole;
    for (const Sum& sum : sums_) {
      const Expr value = added(sum, lang::make_var(sum.lefts), lang::make_var(sum.rights));
      const VariableRef& param = fn_.params[sum.param];
      const VariableRef variable = lang::make_variable(param->name, param->type);
      whole[param.get()] = lang::make_var(variable);
      bindings.push_back({variable, value});
    }
    return lang::close_block(
        {std::move(bindings), lang::rename_bound(lang::substitute(exit, whole))});
  }

  // The next step. Adds what it needs to the bindings in front of it.
  Expr next(const lang::Call& call, std::vector<lang::Binding>& bindings) {
    const auto named = [&](const char* name, Expr value) {
      const VariableRef variable = lang::make_variable(name, value->type);
      bindings.push_back({variable, std::move(value)});
      return lang::make_var(variable);
    };
    // Does this step add anything?
    bool adds = false;
    std::vector<Expr> kept_args = call.args, full_args = call.args, kept_rows, full_rows;
    const Expr place = lang::make_var(kept_);
    for (const Sum& sum : sums_) {
      Expr lefts = lang::make_var(sum.lefts), rights = lang::make_var(sum.rights);
      kept_args[sum.param] = lang::make_var(fn_.params[sum.param]);
      if (const auto term = sum.terms.find(&call); term != sum.terms.end()) {
        adds = true;
        lefts = named("lefts", with_rows(sum.lefts, term->second.left, place));
        rights = named("rights", with_rows(sum.rights, term->second.right, place));
      }
      kept_rows.insert(kept_rows.end(), {lefts, rights});
      full_rows.insert(full_rows.end(),
                       {build::zeros_of(sum.lefts->type), build::zeros_of(sum.rights->type)});
      full_args[sum.param] = added(sum, lefts, rights);
    }
    const auto call_of = [&](std::vector<Expr> args, const std::vector<Expr>& rows, Expr kept) {
      args.insert(args.end(), rows.begin(), rows.end());
      args.push_back(std::move(kept));
      return lang::make_call(lang::make_var(go_), std::move(args), nullptr, call.span, call.type);
    };
    if (!adds) return call_of(std::move(kept_args), kept_rows, place);
    const Expr kept = named("kept", build::add(place, build::index_constant(1)));
    const Expr is_full = named(
        "is_full", build::prim(lang::Prim::Ge, {kept, build::index_constant(fewest_steps())}));
    return build::if_(is_full, call_of(std::move(full_args), full_rows, build::index_constant(0)),
                      call_of(std::move(kept_args), kept_rows, kept));
  }

  std::int64_t fewest_steps() const {
    std::int64_t fewest = kRows;
    for (const Sum& sum : sums_) fewest = std::min(fewest, sum.steps());
    return fewest;
  }

  const Self self_;
  const Expr function_;
  const lang::Function& fn_;
  const StepSums which_;
  OwnCalls calls_;
  std::size_t tail_calls_ = 0;
  std::unordered_set<const lang::ExprNode*> goes_on_;  // choices with calls in their branches
  std::vector<Expr> exits_;                            // branches without calls
  Definitions definitions_;
  Uses uses_, uses_in_exits_;
  std::vector<Sum> sums_;
  const VariableRef kept_ = lang::make_variable("kept", lang::scalar_type(lang::DType::Int64));
  VariableRef go_;
};

class LocalFunctions final : public lang::Rewriter {
 public:
  explicit LocalFunctions(StepSums which) : which_(which) {}

 protected:
  Expr post(const Expr& expr) override {
    const auto* let = as<lang::Let>(expr);
    if (!let || let->value->kind != ExprKind::Function) return expr;
    const Expr collected = Collector({{}, let->variable.get()}, let->value, which_).run();
    if (!collected) return expr;
    return lang::make_let(let->variable, collected, let->body, expr->span, expr->type);
  }

 private:
  const StepSums which_;
};

}  // namespace

Expr collect_step_sums(const Expr& expr, const std::string& name, StepSums which) {
  const Expr inner = LocalFunctions(which).rewrite(expr);
  if (inner->kind != ExprKind::Function) return inner;
  const Expr outer = Collector({name}, inner, which).run();
  return outer ? outer : inner;
}

}  // namespace relay::opt
