#include "index/distribute.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

#include "index/flatten.h"
#include "index/scalar_form.h"
#include "lang/any_dim.h"
#include "lang/binders.h"
#include "lang/build.h"
#include "lang/lowerable.h"
#include "lang/op.h"
#include "lang/visit.h"

namespace relay::index {

using lang::as;
using lang::Binding;
using lang::Expr;
using lang::ExprKind;
using lang::IndexBinder;
using lang::Variable;
using lang::VariableRef;
namespace build = lang::build;

namespace {

// Some step cannot be distributed.
struct Refused {};

// What a local value is at all points: `tensor` with its leading axes at `prefix`, which is in
// terms of the binders, or a tuple of such.
struct Spread {
  Expr tensor;
  std::vector<Expr> prefix;
  bool in_bounds = true;
  std::vector<Spread> fields = {};
};

// A sum of one term is that term: rows that an operator takes as matrices make such sums.
class UnitSums final : public lang::Rewriter {
 protected:
  Expr post(const Expr& expr) override {
    const auto* node = as<lang::Reduction>(expr);
    if (!node || node->op == lang::ReduceOp::ArgMax || node->op == lang::ReduceOp::ArgMin)
      return expr;
    std::vector<IndexBinder> binders;
    lang::Substitution first;
    for (const IndexBinder& binder : node->binders) {
      const auto* extent = as<lang::Constant>(binder.extent);
      if (extent && extent->value->number_at(0) == 1) {
        first.emplace(binder.variable.get(), build::index_constant(0));
      } else {
        binders.push_back(binder);
      }
    }
    if (first.empty()) return expr;
    Expr body = lang::substitute(node->body, first);
    return binders.empty() ? body
                           : lang::make_reduction(node->op, std::move(binders), std::move(body),
                                                  expr->span, expr->type);
  }
};

class Distributor {
 public:
  explicit Distributor(const std::vector<IndexBinder>& binders) : binders_(binders) {}

  Distributed run(const lang::Block& block) {
    for (const Binding& binding : block.bindings) step(binding);
    std::vector<Expr> values;
    for (const Expr& value : lang::cast<lang::Tuple>(block.result).fields)
      values.push_back(table(value));
    return {std::move(code_), std::move(values)};
  }

 private:
  void step(const Binding& binding) {
    const Expr& value = binding.value;
    if (!lang::has_constant_extents(value->type)) throw Refused{};
    if (!depends(value)) {
      code_.push_back(binding);
      return;
    }
    const Variable* variable = binding.variable.get();
    keep_alive_.push_back(binding.variable);
    switch (value->kind) {
      case ExprKind::Var:
        spread_[variable] = of(value);
        return;
      case ExprKind::Tuple: {
        Spread tuple;
        for (const Expr& field : lang::cast<lang::Tuple>(value).fields)
          tuple.fields.push_back(of(field));
        spread_[variable] = std::move(tuple);
        return;
      }
      case ExprKind::Projection: {
        const auto& projection = lang::cast<lang::Projection>(value);
        spread_[variable] = of(projection.tuple).fields.at(projection.index);
        return;
      }
      case ExprKind::Index:
        if (as_view(lang::cast<lang::Index>(value), variable)) return;
        return tabulate(binding, {}, value);
      case ExprKind::Comprehension: {
        const auto& comprehension = lang::cast<lang::Comprehension>(value);
        return tabulate(binding, comprehension.binders, comprehension.body);
      }
      case ExprKind::ScatterReduce:
        return scatter(binding, lang::cast<lang::ScatterReduce>(value));
      case ExprKind::Call:
        if (!lang::is_scalar(value->type) || !is_arithmetic(value)) return call(binding);
        return tabulate(binding, {}, value);
      case ExprKind::Primitive:
      case ExprKind::Reduction:
      case ExprKind::If:
        return tabulate(binding, {}, value);
      default:
        throw Refused{};
    }
  }

  bool depends(const Expr& expr) const {
    const auto free = lang::free_variables(expr);
    return std::any_of(free.begin(), free.end(), [&](const VariableRef& each) {
      return spread_.count(each.get()) ||
             std::any_of(binders_.begin(), binders_.end(),
                         [&](const IndexBinder& binder) { return binder.variable == each; });
    });
  }

  // A row of something outside, or of what is spread, is read where it is.
  bool as_view(const lang::Index& index, const Variable* variable) {
    if (!lang::build::is_atom(index.tensor)) throw Refused{};
    Spread view = of(index.tensor);
    for (const Expr& each : index.indices) view.prefix.push_back(at_points(each));
    view.in_bounds = view.in_bounds && index.in_bounds;
    const bool is_plain = std::all_of(view.prefix.begin(), view.prefix.end(), build::is_atom);
    if (!is_plain) return false;
    spread_[variable] = std::move(view);
    return true;
  }

  Spread of(const Expr& atom) {
    const auto* var = as<lang::Var>(atom);
    const auto found = var ? spread_.find(var->variable.get()) : spread_.end();
    if (found != spread_.end()) return found->second;
    if (as<lang::TupleType>(atom->type)) throw Refused{};
    if (var || lang::is_scalar(atom->type)) return {atom, {}};
    const VariableRef named =
        lang::make_variable("constant", atom->type);  // kernels read variables
    code_.push_back({named, atom});
    return {lang::make_var(named), {}};
  }

  // Those of the points, and others inside, which run as far at every point.
  std::vector<IndexBinder> joined(const std::vector<IndexBinder>& inner) const {
    std::vector<IndexBinder> all = binders_;
    for (const IndexBinder& binder : inner) {
      if (depends(binder.extent)) throw Refused{};
      all.push_back(binder);
    }
    return all;
  }

  // `body`, with what is spread read at the point, for all points and values of `own`.
  void tabulate(const Binding& binding, const std::vector<IndexBinder>& own, const Expr& body) {
    std::vector<IndexBinder> all = joined(own);
    Expr element = body;
    if (!lang::is_scalar(body->type)) {
      const auto* index = as<lang::Index>(body);
      if (!index) throw Refused{};
      std::vector<Expr> indices = index->indices;
      for (const lang::Dim& dim : as<lang::TensorType>(body->type)->shape.dims()) {
        all.push_back({lang::make_variable("r", lang::scalar_type(lang::DType::Int64)),
                       build::index_constant(dim.constant())});
        indices.push_back(lang::make_var(all.back().variable));
      }
      element = lang::make_index(index->tensor, std::move(indices), index->in_bounds, body->span);
    }
    const Expr form = UnitSums().rewrite(scalar_form(element));
    if (!is_arithmetic(form)) throw Refused{};
    spread_[binding.variable.get()] =
        emitted(binding.variable->name, lang::make_comprehension(all, at_points(form)));
  }

  Spread emitted(const std::string& name, const Expr& value) {
    if (!lang::is_lowerable(value)) throw Refused{};
    const VariableRef variable = lang::make_variable(name, value->type);
    code_.push_back({variable, lang::rename_bound(value)});
    tables_.insert(variable.get());
    return {lang::make_var(variable), uses_of(binders_)};
  }

  void scatter(const Binding& binding, const lang::ScatterReduce& node) {
    const Expr init = table(node.init);
    std::vector<IndexBinder> all = joined(node.binders);
    std::vector<Expr> indices = uses_of(binders_);
    for (const Expr& index : node.indices) indices.push_back(at_points(scalar_form(index)));
    const Expr value = at_points(scalar_form(node.value));
    spread_[binding.variable.get()] =
        emitted(binding.variable->name,
                lang::make_scatter_reduce(node.op, init, all, indices, value, binding.value->span,
                                          init->type, node.algebra));
  }

  // By its definition.
  void call(const Binding& binding) {
    const auto& node = lang::cast<lang::Call>(binding.value);
    const auto* op = as<lang::Operator>(node.callee);
    if (!op || !op->op->definition || op->op->effect != lang::Effect::None) throw Refused{};
    for (const Expr& arg : node.args) {
      if (!build::is_atom(arg) || !lang::has_constant_extents(arg->type)) throw Refused{};
    }
    const lang::Block block =
        flatten(op->op->definition({node.args, node.attrs, binding.value->type}));
    for (const Binding& inner : block.bindings) step(inner);
    if (!depends(block.result)) {
      code_.push_back({binding.variable, block.result, binding.span});
      return;
    }
    step({binding.variable, block.result, binding.span});
  }

  // Reads of what is spread, at the point.
  class AtPoints final : public lang::Rewriter {
   public:
    explicit AtPoints(const Distributor& owner) : owner_(owner) {}

   protected:
    Expr pre(const Expr& expr) override {
      if (const auto* var = as<lang::Var>(expr)) {
        const auto found = owner_.spread_.find(var->variable.get());
        if (found == owner_.spread_.end()) return expr;
        if (!lang::is_scalar(expr->type)) throw Refused{};
        return read(found->second, {}, true, expr->span);
      }
      const auto* index = as<lang::Index>(expr);
      const auto* var = index ? as<lang::Var>(index->tensor) : nullptr;
      const auto found = var ? owner_.spread_.find(var->variable.get()) : owner_.spread_.end();
      if (found == owner_.spread_.end()) return nullptr;
      std::vector<Expr> indices;
      for (const Expr& each : index->indices) indices.push_back(rewrite(each));
      return read(found->second, indices, index->in_bounds, expr->span);
    }

   private:
    static Expr read(const Spread& spread, const std::vector<Expr>& indices, bool in_bounds,
                     lang::Span span) {
      if (!spread.tensor) throw Refused{};
      std::vector<Expr> all = spread.prefix;
      all.insert(all.end(), indices.begin(), indices.end());
      if (all.empty()) return spread.tensor;
      return lang::make_index(spread.tensor, std::move(all), in_bounds && spread.in_bounds, span);
    }
    const Distributor& owner_;
  };
  Expr at_points(const Expr& expr) const { return AtPoints(*this).rewrite(expr); }

  // A value at all points, as a variable.
  Expr table(const Expr& value) {
    const Spread spread = of(value);
    if (!spread.tensor) throw Refused{};
    const std::vector<Expr> points = uses_of(binders_);
    const auto* var = as<lang::Var>(spread.tensor);
    const bool is_table =
        var && tables_.count(var->variable.get()) && spread.prefix.size() == binders_.size() &&
        std::equal(spread.prefix.begin(), spread.prefix.end(), points.begin(), is_same_variable);
    if (is_table) return spread.tensor;
    std::vector<IndexBinder> all = binders_;
    std::vector<Expr> indices = spread.prefix;
    for (const lang::Dim& dim : as<lang::TensorType>(value->type)->shape.dims()) {
      all.push_back({lang::make_variable("r", lang::scalar_type(lang::DType::Int64)),
                     build::index_constant(dim.constant())});
      indices.push_back(lang::make_var(all.back().variable));
    }
    const Expr element = indices.empty() ? spread.tensor
                                         : lang::make_index(spread.tensor, std::move(indices),
                                                            spread.in_bounds, value->span);
    return emitted("all", lang::make_comprehension(all, element)).tensor;
  }

  static bool is_same_variable(const Expr& a, const Expr& b) {
    const auto* x = as<lang::Var>(a);
    const auto* y = as<lang::Var>(b);
    return x && y && x->variable == y->variable;
  }

  const std::vector<IndexBinder>& binders_;
  std::unordered_map<const Variable*, Spread> spread_;
  std::unordered_set<const Variable*> tables_;  // over all points
  std::vector<VariableRef> keep_alive_;
  std::vector<Binding> code_;
};

}  // namespace

std::optional<Distributed> distributed(const std::vector<IndexBinder>& binders,
                                       const std::vector<Binding>& code,
                                       const std::vector<Expr>& values) {
  const auto is_constant = [](const IndexBinder& binder) {
    return binder.extent->kind == ExprKind::Constant;
  };
  if (!std::all_of(binders.begin(), binders.end(), is_constant)) return std::nullopt;
  const Expr block = lang::rename_bound(lang::close_block({code, build::tuple(values)}));
  try {
    return Distributor(binders).run(flatten(block));
  } catch (const Refused&) {
    return std::nullopt;
  }
}

Expr summed_over_points(Distributed& points, std::size_t number,
                        const std::vector<IndexBinder>& binders) {
  const VariableRef& all = lang::cast<lang::Var>(points.values[number]).variable;
  const auto made = std::find_if(points.code.begin(), points.code.end(),
                                 [&](const Binding& each) { return each.variable == all; });
  const auto* table = made == points.code.end() ? nullptr : as<lang::Comprehension>(made->value);
  std::size_t uses = 0;
  for (const Expr& value : points.values) uses += lang::cast<lang::Var>(value).variable == all;
  for (const Binding& each : points.code) {
    const auto free = lang::free_variables(each.value);
    uses += std::find(free.begin(), free.end(), all) != free.end();
  }
  if (!table || uses > 1) {
    std::vector<std::int64_t> axes(binders.size());
    std::iota(axes.begin(), axes.end(), 0);
    return build::op("sum", {points.values[number]}, {{"axis", lang::AttrValue::ints(axes)}});
  }
  const auto own = table->binders.begin() + static_cast<std::ptrdiff_t>(binders.size());
  Expr total =
      lang::make_reduction(lang::ReduceOp::Sum, {table->binders.begin(), own}, table->body);
  if (own != table->binders.end())
    total = lang::make_comprehension({own, table->binders.end()}, std::move(total));
  points.code.erase(made);
  return total;
}

}  // namespace relay::index
