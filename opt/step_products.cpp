#include "opt/step_products.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "lang/build.h"
#include "lang/comparison.h"
#include "lang/extents.h"
#include "lang/op.h"
#include "lang/record.h"
#include "lang/visit.h"
#include "opt/definitions.h"
#include "opt/own_calls.h"
#include "opt/passes.h"

namespace relay::opt {

using lang::as;
using lang::Binding;
using lang::Expr;
using lang::ExprKind;
using lang::Type;
using lang::Variable;
using lang::VariableRef;
namespace build = lang::build;

namespace {

constexpr std::int64_t kMostElements = 1 << 22;  // of all rows of a product
constexpr std::int64_t kMostRows = 32;           // in one step: more are a product of their own
constexpr std::int64_t kFewestSteps = 4;
constexpr std::int64_t kFewestProducts = 256;  // of two numbers, in one step

using Extents = std::vector<std::int64_t>;

std::int64_t count_of(const Extents& extents) {
  return lang::product_of(extents).value_or(std::numeric_limits<std::int64_t>::max());
}

}  // namespace

// What is known of a function.
struct StepProducts::Loop {
  Expr function;            // keeps the key alive
  std::string name;         // of the copy; empty: there is none
  Type type;                // of the copy
  std::size_t counter = 0;  // which parameter
  std::int64_t step = 0;    // 1 or -1
  std::int64_t end = 0;     // the number that it ends at
  std::int64_t fewest = 0;  // rows of a product
  std::int64_t most = 0;
  std::vector<VariableRef> params;
  std::vector<std::size_t> passed;  // parameters that the copy has, too
  std::vector<Binding> code;        // of what does not change, and the products, over `params`
  std::vector<Expr> products;

  Expr call_of_copy(const lang::Call& call, const std::vector<Expr>& made) const {
    std::vector<Expr> args;
    for (const std::size_t i : passed) args.push_back(call.args[i]);
    args.insert(args.end(), made.begin(), made.end());
    return lang::make_call(lang::make_global_var(name, call.callee->span, type), std::move(args),
                           call.attrs, call.span, call.type, call.algebra);
  }

  // Is that call one that goes over all or most of the rows?
  bool begins_well(const lang::Call& call) const {
    const auto start = integer(call.args[counter]);
    return start && begins_well(*start);
  }
  bool begins_well(std::int64_t start) const {
    const std::int64_t first = step > 0 ? start : end + 1;
    const std::int64_t last = step > 0 ? end - 1 : start;
    if (first < 0 || last >= fewest) return false;
    const std::int64_t count = last - first + 1;
    return count >= kFewestSteps && 2 * count >= most;
  }
};

class StepProducts::Analysis {
 public:
  Analysis(Self self, const lang::Function& fn) : self_(std::move(self)), fn_(fn) {}

  // Does a look at the function as it was written say that there may be something?
  bool is_promising() const {
    const auto calls = own_calls_in(fn_.body, self_);
    if (!calls || calls->empty() || fn_.attrs || !fn_.type_params.empty()) return false;
    if (self_.variable) return true;
    std::size_t same = 0;
    for (std::size_t i = 0; i < fn_.params.size(); ++i)
      same += !lang::is_scalar(fn_.params[i]->type) && is_passed_on(*calls, i) ? 1 : 0;
    return same > 0;
  }

  // Finds the products, in terms of the parameters that each call hands on; of a local function, in
  // terms of what is around it.
  bool run(Loop& loop) {
    const auto calls = own_calls_in(fn_.body, self_);
    if (!calls) return false;
    collect(fn_.body);
    for (std::size_t i = 0; i < fn_.params.size() && !self_.variable; ++i) {
      if (is_passed_on(*calls, i)) same_.insert(fn_.params[i].get());
    }
    std::size_t tail_calls = 0;
    const lang::Block body = lang::open_block(fn_.body);
    const auto* choice = as<lang::If>(body.result);
    if (!choice || !find_counter(*choice, *calls, loop)) return false;
    const Expr& on = goes_on_ ? choice->then_branch : choice->else_branch;
    if (!ends_in_calls(on, tail_calls) || tail_calls != calls->size()) return false;
    loop.params = fn_.params;
    loop.fewest = kMostElements;
    for (const Binding& binding : lang::open_block(on).bindings) find_product(binding, loop);
    loop.code = std::move(outside_);
    return !loop.products.empty();
  }

  // The body, which reads the products of all rows. The reads are checked, as those of the rows
  // are: a counter of few bits may wrap.
  Expr reading(const Loop& loop, const std::vector<Expr>& products) const {
    const Expr counter = lang::make_var(fn_.params[loop.counter]);
    Read read;
    for (std::size_t i = 0; i < joined_.size(); ++i) {
      read[joined_[i].get()] =
          lang::make_index(products[i], {counter}, /*in_bounds=*/false,
                           definitions_.of(lang::make_var(joined_[i]))->span, joined_[i]->type);
    }
    return Reader(read).rewrite(fn_.body);
  }

  // The copy of a global function, which is added to the program.
  void add_copy(Loop& loop, lang::Program& program) const {
    std::vector<VariableRef> products;
    std::vector<Expr> extra;
    for (const Expr& product : loop.products) {
      products.push_back(lang::make_variable("products", product->type));
      extra.push_back(lang::make_var(products.back()));
    }
    const Expr plain = reading(loop, extra);
    loop.name = program.reserve_name(self_.name);
    // Which parameters it still needs shows once the products have gone.
    const auto copied = [&] {
      std::vector<Type> types;
      for (const std::size_t i : loop.passed) types.push_back(fn_.params[i]->type);
      for (const VariableRef& each : products) types.push_back(each->type);
      loop.type = lang::function_type(std::move(types), fn_.result);
      return eliminate_dead_code(Redirected(self_, loop, extra).rewrite(plain), &program);
    };
    for (std::size_t i = 0; i < fn_.params.size(); ++i) {
      if (!same_.contains(fn_.params[i].get())) loop.passed.push_back(i);
    }
    const auto used = lang::free_variables(copied());
    for (std::size_t i = 0; i < fn_.params.size(); ++i) {
      const bool is_used = std::find(used.begin(), used.end(), fn_.params[i]) != used.end();
      if (same_.contains(fn_.params[i].get()) && is_used) loop.passed.push_back(i);
    }
    std::sort(loop.passed.begin(), loop.passed.end());
    const Expr body = copied();
    std::vector<VariableRef> params;
    for (const std::size_t i : loop.passed) params.push_back(fn_.params[i]);
    params.insert(params.end(), products.begin(), products.end());
    program.add_function(
        loop.name, lang::rename_bound(lang::make_function(params, fn_.result, body, {}, nullptr,
                                                          loop.function->span, loop.type)));
  }

 private:
  using Read = std::unordered_map<const Variable*, Expr>;

  // Puts other values in the place of bindings.
  class Reader final : public lang::Rewriter {
   public:
    explicit Reader(const Read& read) : read_(read) {}

   protected:
    Expr post(const Expr& expr) override {
      const auto* let = as<lang::Let>(expr);
      const auto found = let ? read_.find(let->variable.get()) : read_.end();
      if (found == read_.end()) return expr;
      return lang::make_let(let->variable, found->second, let->body, expr->span, expr->type);
    }

   private:
    const Read& read_;
  };

  // Calls of the copy, with those of the arguments that it takes and the products.
  class Redirected final : public lang::Rewriter {
   public:
    Redirected(const Self& self, const Loop& loop, const std::vector<Expr>& products)
        : self_(self), loop_(loop), products_(products) {}

   protected:
    Expr post(const Expr& expr) override {
      const lang::Call* const call = own_call(expr, self_);
      return call ? loop_.call_of_copy(*call, products_) : expr;
    }

   private:
    const Self& self_;
    const Loop& loop_;
    const std::vector<Expr>& products_;
  };

  bool is_passed_on(const OwnCalls& calls, std::size_t param) const {
    return std::all_of(calls.begin(), calls.end(), [&](const lang::Call* call) {
      return variable_of(call->args[param]) == fn_.params[param].get();
    });
  }

  void collect(const Expr& body) {
    for (const VariableRef& param : fn_.params) inside_.insert(param.get());
    lang::visit_post_order(body, [&](const Expr& node) {
      if (const auto* let = as<lang::Let>(node)) definitions_.add(let->variable, let->value);
      lang::for_each_binder(node,
                            [&](const VariableRef& variable) { inside_.insert(variable.get()); });
    });
  }

  // --- The counter ---

  // By how much the argument differs from the parameter; 0: by something else.
  std::int64_t step_of(const Expr& arg, const Variable* param) const {
    const lang::Call* const sum = definitions_.call_of(arg, known::add);
    const lang::Call* const difference = sum ? nullptr : definitions_.call_of(arg, known::subtract);
    const lang::Call* const call = sum ? sum : difference;
    if (!call) return 0;
    const bool is_second = sum && variable_of(call->args[1]) == param;
    if (variable_of(call->args[is_second ? 1 : 0]) != param) return 0;
    const auto number = integer(call->args[is_second ? 0 : 1]);
    if (!number || (*number != 1 && *number != -1)) return 0;
    return sum ? *number : -*number;
  }

  // `if n == 100 { ... } else { ... }` and the like, of a number that each call counts by one.
  bool find_counter(const lang::If& choice, const OwnCalls& calls, Loop& loop) {
    const Expr& condition = definitions_.of(choice.condition);
    const lang::OpDef* const op = operator_of(condition);
    const auto* test = op ? as<lang::Call>(condition) : nullptr;
    if (!test || test->args.size() != 2 || calls.empty()) return false;
    const bool is_second = integer(test->args[0]).has_value();
    const auto limit = integer(test->args[is_second ? 0 : 1]);
    const Variable* const number = variable_of(test->args[is_second ? 1 : 0]);
    if (!limit || !number || *limit > kMostElements || *limit < -kMostElements) return false;
    const auto param = std::find_if(fn_.params.begin(), fn_.params.end(),
                                    [&](const VariableRef& each) { return each.get() == number; });
    if (param == fn_.params.end() || !lang::is_integer_scalar(number->type)) return false;
    loop.counter = static_cast<std::size_t>(param - fn_.params.begin());
    for (const lang::Call* call : calls) {
      const std::int64_t step = step_of(call->args[loop.counter], number);
      if (step == 0 || (loop.step != 0 && step != loop.step)) return false;
      loop.step = step;
    }
    if (!op->elementwise) return false;
    const lang::Prim comparison = *op->elementwise;
    return find_end(is_second ? lang::mirrored(comparison) : comparison, *limit, loop);
  }

  // Where it ends, and which branch goes on: the test says until when, or as long as what.
  bool find_end(lang::Prim comparison, std::int64_t limit, Loop& loop) {
    const bool is_up = loop.step > 0;
    if (comparison == lang::Prim::Eq || comparison == lang::Prim::Ne) {
      goes_on_ = comparison == lang::Prim::Ne;
      loop.end = limit;
      return true;
    }
    const bool is_less = comparison == lang::Prim::Lt || comparison == lang::Prim::Le;
    const bool takes_limit = comparison == lang::Prim::Le || comparison == lang::Prim::Ge;
    if (!is_less && comparison != lang::Prim::Gt && comparison != lang::Prim::Ge) return false;
    goes_on_ = is_less == is_up;
    // The first number for which it does not go on.
    const std::int64_t past = takes_limit == goes_on_ ? loop.step : 0;
    loop.end = limit + past;
    return true;
  }

  // Whatever happens, the function is called again.
  bool ends_in_calls(const Expr& expr, std::size_t& calls) const {
    const Expr& result = lang::open_block(expr).result;
    if (own_call(result, self_)) {
      ++calls;
      return true;
    }
    if (const auto* choice = as<lang::If>(result))
      return ends_in_calls(choice->then_branch, calls) && ends_in_calls(choice->else_branch, calls);
    const auto* match = as<lang::Match>(result);
    return match && match->is_complete &&
           std::all_of(match->clauses.begin(), match->clauses.end(),
                       [&](const auto& clause) { return ends_in_calls(clause.body, calls); });
  }

  // --- What does not change ---

  // The same value in front of the loop; null where there is none.
  Expr outside(const Expr& expr) {
    if (expr->kind == ExprKind::Constant || expr->kind == ExprKind::GlobalVar) return expr;
    const Variable* const variable = variable_of(expr);
    if (variable && (same_.contains(variable) || !inside_.contains(variable))) return expr;
    const auto known = moved_.find(variable);
    if (known != moved_.end()) return known->second;
    const Expr& value = definitions_.of(expr);
    Expr moved;
    if (const auto* projection = as<lang::Projection>(value)) {
      if (const Expr tuple = outside(projection->tuple))
        moved = build::project(tuple, projection->index);
    } else if (const auto* match = as<lang::Match>(value); match && match->is_complete) {
      const auto field = lang::as_field_read(*match);
      const Expr record = field ? outside(match->scrutinee) : Expr();
      if (record) moved = lang::read_field(record, *field->constructor, field->place, value->span);
    } else if (const lang::Call* call = definitions_.call_of(value, known::transpose)) {
      if (const Expr from = outside(call->args[0]))
        moved = lang::make_call(call->callee, {from}, call->attrs, value->span, value->type,
                                call->algebra);
    }
    if (!moved) return nullptr;
    return moved_[variable] = named("same", std::move(moved));
  }

  Expr named(const char* name, Expr value) {
    const VariableRef variable = lang::make_variable(name, value->type);
    outside_.push_back({variable, std::move(value)});
    return lang::make_var(variable);
  }

  // --- Products ---

  // Rows of what does not change: `row` is element n of axis 0 of it, in another shape maybe.
  struct Rows {
    Expr all;
    Extents row;  // of one
  };

  std::optional<Rows> rows_of(const Expr& expr, const Variable* counter) {
    const Expr& value = definitions_.of(expr);
    Expr tensor;
    if (const auto* index = as<lang::Index>(value)) {
      if (index->indices.size() == 1 && variable_of(index->indices[0]) == counter)
        tensor = index->tensor;
    } else if (const lang::Call* take = definitions_.call_of(value, known::take)) {
      const std::int64_t* const axis = take->attrs ? take->attrs->find("axis")->as_int() : nullptr;
      if (axis && *axis == 0 && variable_of(take->args[1]) == counter) tensor = take->args[0];
    } else {
      for (const lang::NamedOp* op : {&known::reshape, &known::expand_dims, &known::squeeze}) {
        const lang::Call* const call = definitions_.call_of(value, *op);
        auto rows = call ? rows_of(call->args[0], counter) : std::nullopt;
        const auto extents = rows ? constant_extents(value->type) : std::nullopt;
        if (extents) return Rows{rows->all, *extents};
      }
      return std::nullopt;
    }
    const auto extents = tensor ? constant_extents(tensor->type) : std::nullopt;
    if (!extents || extents->empty()) return std::nullopt;
    const Expr all = outside(tensor);
    if (!all) return std::nullopt;
    return Rows{all, {extents->begin() + 1, extents->end()}};
  }

  Expr in_shape(const char* name, const Expr& value, const Extents& shape) {
    if (constant_extents(value->type) == shape) return value;
    return named(name, build::op("reshape", {value}, {{"newshape", lang::AttrValue::ints(shape)}}));
  }

  // `rows` is a matrix.
  static Expr product_of_all(const Expr& rows, const Expr& matrix, const lang::Call& call,
                             bool is_turned) {
    const auto extents = constant_extents(matrix->type);
    if (is_turned) return build::op("nn.dense", {rows, matrix}, {{"units", extents->front()}});
    return build::op(lang::cast<lang::Operator>(call.callee).op->name, {rows, matrix},
                     call.attrs ? call.attrs->list : std::vector<lang::Attr>());
  }

  // Names the product of all rows, where the binding is one of a row by what does not change.
  void find_product(const Binding& binding, Loop& loop) {
    const Variable* const counter = fn_.params[loop.counter].get();
    const lang::Call* const dense = definitions_.call_of(binding.value, known::dense);
    const lang::Call* const matmul =
        dense ? nullptr : definitions_.call_of(binding.value, known::matmul);
    const lang::Call* const call = dense ? dense : matmul;
    if (!call) return;
    // `w @ x` of a vector is a row by the transposed matrix.
    const bool is_turned = matmul && rank_of(call->args[0]) == 2 && rank_of(call->args[1]) == 1 &&
                           !rows_of(call->args[0], counter);
    const auto rows = rows_of(call->args[is_turned ? 1 : 0], counter);
    if (!rows || rows->row.empty() || rank_of(call->args[is_turned ? 0 : 1]) != 2) return;
    const auto made = constant_extents(binding.value->type);
    const std::int64_t in_row = count_of({rows->row.begin(), rows->row.end() - 1});
    const std::int64_t steps = constant_extents(rows->all->type)->front();
    if (!made || in_row > kMostRows || steps < kFewestSteps ||
        count_of(*made) > kMostElements / steps ||
        count_of(*made) * rows->row.back() < kFewestProducts)
      return;
    if (loop.step > 0 ? loop.end > steps : loop.end < -1) return;
    const Expr matrix = outside(call->args[is_turned ? 0 : 1]);
    if (!matrix) return;
    loop.fewest = std::min(loop.fewest, steps);
    loop.most = std::max(loop.most, steps);
    const Expr product = product_of_all(
        in_shape("rows", rows->all, {steps * in_row, rows->row.back()}), matrix, *call, is_turned);
    Extents all = *made;
    all.insert(all.begin(), steps);
    loop.products.push_back(in_shape("products", named("products", product), all));
    joined_.push_back(binding.variable);
  }

  static std::size_t rank_of(const Expr& expr) {
    const auto extents = constant_extents(expr->type);
    return extents ? extents->size() : 0;
  }

  const Self self_;
  const lang::Function& fn_;
  bool goes_on_ = false;                        // where the first test holds
  std::unordered_set<const Variable*> same_;    // parameters that each call hands on
  std::unordered_set<const Variable*> inside_;  // what the function binds
  Definitions definitions_;                     // of what it binds
  std::unordered_map<const Variable*, Expr> moved_;
  std::vector<Binding> outside_;
  std::vector<VariableRef> joined_;  // what products are bound to
};

class StepProducts::Joiner final : public lang::Rewriter {
 public:
  Joiner(StepProducts& products, lang::Program& program) : products_(products), program_(program) {}

  Expr run(const Expr& root) {
    lang::visit_post_order(root, [&](const Expr& node) {
      const auto* call = as<lang::Call>(node);
      const Variable* const callee = call ? variable_of(call->callee) : nullptr;
      if (callee && begins(*call)) begun_.insert(callee);
    });
    return rewrite(root);
  }

 protected:
  Expr post(const Expr& expr) override {
    const auto* let = as<lang::Let>(expr);
    if (let && begun_.contains(let->variable.get())) return local(expr, *let);
    const auto* call = as<lang::Call>(expr);
    if (!call || call->callee->kind != ExprKind::GlobalVar || !begins(*call)) return expr;
    const Loop* const loop = products_.loop_of(*call, program_);
    if (!loop || !loop->begins_well(*call)) return expr;
    lang::Substitution known;
    for (std::size_t i = 0; i < call->args.size(); ++i)
      known[loop->params[i].get()] = call->args[i];
    const Expr products = build::tuple(loop->products);
    const lang::Block code = lang::open_block(
        lang::substitute(lang::rename_bound(lang::close_block({loop->code, products})), known));
    const Expr copy = loop->call_of_copy(*call, lang::cast<lang::Tuple>(code.result).fields);
    return lang::close_block({code.bindings, copy});
  }

 private:
  // A call with a number that is written out, to begin at.
  static bool begins(const lang::Call& call) {
    return std::any_of(call.args.begin(), call.args.end(),
                       [](const Expr& arg) { return integer(arg).has_value(); });
  }

  // `let run = fn (n, h) { ... xs[n] ... run(n + 1, ...) ... }; ... run(0, h) ...`: the products
  // stand in front of the function.
  static Expr local(const Expr& expr, const lang::Let& let) {
    const auto* fn = as<lang::Function>(let.value);
    const Self self{{}, let.variable.get()};
    if (!fn) return expr;
    Analysis analysis(self, *fn);
    Loop loop;
    if (!analysis.is_promising() || !analysis.run(loop)) return expr;
    const auto calls = own_calls_in(let.body, self);
    const bool is_joined = calls && !calls->empty() &&
                           std::all_of(calls->begin(), calls->end(), [&](const lang::Call* call) {
                             return loop.begins_well(*call);
                           });
    if (!is_joined) return expr;
    const Expr joined =
        lang::make_function(fn->params, fn->result, analysis.reading(loop, loop.products), {},
                            nullptr, let.value->span, let.value->type);
    loop.code.push_back({let.variable, joined, expr->span});
    return lang::close_block({loop.code, let.body});
  }

  StepProducts& products_;
  lang::Program& program_;
  std::unordered_set<const Variable*> begun_;  // function values that are called so
};

StepProducts::StepProducts() = default;
StepProducts::~StepProducts() = default;
void StepProducts::forget() { known_.clear(); }

lang::Expr StepProducts::join(const Expr& expr, lang::Program& program) {
  return Joiner(*this, program).run(expr);
}

// Null where there is no product to take out, or while that is being found out.
const StepProducts::Loop* StepProducts::loop_of(const lang::Call& call, lang::Program& program) {
  const std::string& name = lang::cast<lang::GlobalVar>(call.callee).name;
  if (!program.is_function(name)) return nullptr;
  const Expr function = program.function(name, call.callee->type);
  const auto found = known_.find(function.get());
  if (found != known_.end()) return found->second->name.empty() ? nullptr : found->second.get();
  Loop& loop = *known_.emplace(function.get(), std::make_unique<Loop>()).first->second;
  loop.function = function;
  if (!Analysis({name}, lang::cast<lang::Function>(function)).is_promising()) return nullptr;
  try {
    const Expr plain = program.inlined(function);
    Loop made = loop;
    Analysis analysis({name}, lang::cast<lang::Function>(plain));
    if (!analysis.run(made)) return nullptr;
    analysis.add_copy(made, program);
    loop = std::move(made);
    return &loop;
  } catch (...) {  // told to stop: it is not known yet
    known_.erase(function.get());
    throw;
  }
}

}  // namespace relay::opt
