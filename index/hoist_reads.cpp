#include "index/hoist_reads.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "index/scalar_form.h"
#include "lang/build.h"
#include "lang/op.h"
#include "lang/visit.h"

namespace relay::index {

using lang::as;
using lang::Binding;
using lang::Block;
using lang::Expr;
using lang::ExprKind;
using lang::Variable;
using lang::VariableRef;
namespace build = lang::build;

namespace {

bool is_whole_number(const lang::Type& type) {
  const auto* tensor = as<lang::TensorType>(type);
  return tensor && lang::is_scalar(type) && !lang::is_float(tensor->dtype.known());
}

// May be computed where an index is, instead of where it stands?
bool is_simple(const Expr& value) {
  switch (value->kind) {
    case ExprKind::Primitive:
    case ExprKind::Index:
    case ExprKind::If:
    case ExprKind::Match:
    case ExprKind::Projection:
      return true;
    case ExprKind::Call: {
      const auto* op = as<lang::Operator>(lang::cast<lang::Call>(value).callee);
      return op && op->op->effect == lang::Effect::None;
    }
    default:
      return false;
  }
}

class Hoister {
 public:
  explicit Hoister(const Block& body) {
    const auto note = [&](const VariableRef& variable) { inside_.insert(variable.get()); };
    for (const Binding& binding : body.bindings) {
      note(binding.variable);
      lang::visit_post_order(binding.value,
                             [&](const Expr& node) { lang::for_each_binder(node, note); });
    }
    lang::visit_post_order(body.result,
                           [&](const Expr& node) { lang::for_each_binder(node, note); });
  }

  Block run(const Block& block) {
    Block result;
    for (const Binding& binding : block.bindings) {
      const Expr value = branching(binding.value, result.bindings);
      result.bindings.push_back({binding.variable, value, binding.span});
    }
    result.result = branching(block.result, result.bindings);
    return result;
  }

 private:
  // One way through a branching, and what is bound in it.
  struct Way {
    Block block;
    std::unordered_map<const Variable*, const Binding*> bindings;
    std::unordered_set<const Variable*> own;  // those, and the pattern's
  };

  // The branching without the reads that could be moved in front of it, to `front`.
  Expr branching(const Expr& expr, std::vector<Binding>& front) {
    const auto* branch = as<lang::If>(expr);
    const auto* match = as<lang::Match>(expr);
    std::vector<Expr> bodies;
    if (branch) bodies = {branch->then_branch, branch->else_branch};
    if (match) {
      for (const auto& clause : match->clauses) bodies.push_back(clause.body);
    }
    bool changed = false;
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      Way way{run(with_named_read(lang::open_block(bodies[i]))), {}, {}};
      for (const Binding& binding : way.block.bindings) {
        way.bindings.emplace(binding.variable.get(), &binding);
        way.own.insert(binding.variable.get());
      }
      if (match) {
        lang::for_each_variable(match->clauses[i].pattern, [&](const VariableRef& variable) {
          way.own.insert(variable.get());
        });
      }
      std::vector<Binding> kept;
      for (const Binding& binding : way.block.bindings) {
        if (!moves(binding, way, expr, i, front)) kept.push_back(binding);
      }
      changed = changed || kept.size() < way.block.bindings.size();
      bodies[i] = lang::close_block({std::move(kept), way.block.result});
    }
    return changed ? with_bodies(expr, bodies, expr->type) : expr;
  }

  // A read that is a result becomes a step.
  Block with_named_read(Block block) const {
    if (!is_read(block.result)) return block;
    const VariableRef variable =
        lang::make_variable("read", block.result->type, block.result->span);
    block.bindings.push_back({variable, block.result, block.result->span});
    block.result = lang::make_var(variable);
    return block;
  }

  bool is_read(const Expr& value) const {
    const auto* index = as<lang::Index>(value);
    const auto* tensor = index ? as<lang::Var>(index->tensor) : nullptr;
    return tensor && !inside_.count(tensor->variable.get()) &&
           lang::is_float(as<lang::TensorType>(value->type)->dtype.known());
  }

  // Moves the read `binding` of way `number` through `branching` to `front`, if it can.
  bool moves(const Binding& binding, const Way& way, const Expr& branching, std::size_t number,
             std::vector<Binding>& front) {
    if (!is_read(binding.value)) return false;
    const auto& index = lang::cast<lang::Index>(binding.value);
    if (has_no_elements(index.tensor->type)) {
      front.push_back({binding.variable, build::zeros_of(binding.value->type), binding.span});
      return true;
    }
    std::vector<Expr> indices;
    std::vector<Binding> made;
    bool is_direct = index.in_bounds;
    for (const Expr& each : index.indices) is_direct = is_direct && !is_own(each, way);
    for (const Expr& each : index.indices) {
      if (is_direct) {
        indices.push_back(each);
        continue;
      }
      std::vector<Binding> needed;
      std::unordered_set<const Variable*> seen;
      if (!collect(each, way, needed, seen)) return false;
      const VariableRef place = lang::make_variable("place", each->type);
      made.push_back(
          {place, place_of(lang::close_block({std::move(needed), each}), branching, number)});
      indices.push_back(lang::make_var(place));
    }
    front.insert(front.end(), made.begin(), made.end());
    front.push_back({binding.variable,
                     lang::make_index(index.tensor, std::move(indices), is_direct,
                                      binding.value->span, binding.value->type),
                     binding.span});
    return true;
  }

  static bool is_own(const Expr& atom, const Way& way) {
    const auto* var = as<lang::Var>(atom);
    return var && way.own.count(var->variable.get());
  }

  // The bindings of the way that `expr` needs, in order; false where one is not simple.
  static bool collect(const Expr& expr, const Way& way, std::vector<Binding>& needed,
                      std::unordered_set<const Variable*>& seen) {
    for (const VariableRef& variable : lang::free_variables(expr)) {
      const auto found = way.bindings.find(variable.get());
      if (found == way.bindings.end() || !seen.insert(variable.get()).second) continue;
      const Binding& binding = *found->second;
      if (!is_whole_number(variable->type) || !is_simple(binding.value)) return false;
      if (!collect(binding.value, way, needed, seen)) return false;
      needed.push_back(binding);
    }
    return true;
  }

  // The index where that way is taken, else 0.
  static Expr place_of(const Expr& index, const Expr& branching, std::size_t number) {
    const auto dtype = as<lang::TensorType>(index->type)->dtype.known();
    const auto* match = as<lang::Match>(branching);
    std::vector<Expr> bodies(match ? match->clauses.size() : 2, build::constant_int(dtype, 0));
    bodies[number] = index;
    return lang::rename_bound(with_bodies(branching, bodies, index->type));
  }

  static Expr with_bodies(const Expr& expr, const std::vector<Expr>& bodies,
                          const lang::Type& type) {
    if (const auto* branch = as<lang::If>(expr))
      return lang::make_if(branch->condition, bodies[0], bodies[1], expr->span, type);
    const auto& match = lang::cast<lang::Match>(expr);
    std::vector<lang::Clause> clauses;
    for (std::size_t i = 0; i < bodies.size(); ++i)
      clauses.push_back({match.clauses[i].pattern, bodies[i]});
    return lang::make_match(match.scrutinee, std::move(clauses), match.is_complete, expr->span,
                            type);
  }

  std::unordered_set<const Variable*> inside_;
};

}  // namespace

Block hoist_reads(const Block& body) { return Hoister(body).run(body); }

}  // namespace relay::index
