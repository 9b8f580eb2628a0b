#include "ad/saved_slices.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "index/binder_use.h"
#include "index/conditions.h"
#include "index/linear_index.h"
#include "index/needed_where.h"
#include "lang/alpha_equal.h"
#include "lang/binders.h"
#include "lang/build.h"
#include "lang/lowerable.h"
#include "lang/visit.h"

namespace relay::ad {

using index::both;
using index::extent_of_axis;
using index::is_between;
using index::NeededWhere;
using lang::as;
using lang::Binding;
using lang::Dim;
using lang::Expr;
using lang::ExprKind;
using lang::Prim;
using lang::Variable;
using lang::VariableRef;
namespace build = lang::build;

namespace {

constexpr std::size_t kMostSlices = 4;  // of one tensor
constexpr std::size_t kMostNodes = 24;  // of an index that is the same for all reads
constexpr int kMostDefinitions = 8;     // in one another, of an index

bool is_zero(const Expr& expr) {
  const auto* constant = as<lang::Constant>(expr);
  return constant && lang::is_scalar(expr->type) && constant->value->number_at(0) == 0;
}

// An index of a read. Where a condition holds at each point, the index is there, else 0.
struct Place {
  std::vector<Expr> conditions;
  Expr index;  // where they hold
};

// Slice [places] of a tensor; an axis without a place is there as a whole.
struct Slice {
  std::vector<Expr> places;
  VariableRef variable;
};

bool are_equal(const Expr& a, const Expr& b) {
  return a == b || (a && b && lang::alpha_equal(a, b));
}
bool are_equal(const std::vector<Expr>& a, const std::vector<Expr>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Expr& x, const Expr& y) { return are_equal(x, y); });
}

// A whole number made of others by arithmetic.
bool is_index_arithmetic(const Expr& index) {
  std::size_t nodes = 0;
  bool found = true;
  lang::visit_post_order(index, [&](const Expr& node) {
    ++nodes;
    switch (node->kind) {
      case ExprKind::Var:
      case ExprKind::Constant:
      case ExprKind::DimTerm:
        break;
      case ExprKind::Primitive:
        // Where it is made nobody asks whether it divides by 0.
        found = found && lang::is_cheap(lang::cast<lang::Primitive>(node).prim);
        break;
      default:
        found = false;
    }
  });
  return found && nodes <= kMostNodes;
}

class SliceSearch {
 public:
  SliceSearch(const std::vector<VariableRef>& saved, const Expr& code,
              const std::function<bool(const VariableRef&)>& is_at_hand)
      : is_at_hand_(is_at_hand) {
    for (const VariableRef& variable : saved) {
      saved_.insert(variable.get());
      const auto* type = as<lang::TensorType>(variable->type);
      if (!type || !type->shape.has_rank() || type->shape.rank() == 0) continue;
      const auto& dims = type->shape.dims();
      if (std::none_of(dims.begin(), dims.end(), [](const Dim& dim) { return dim.is_any(); }))
        slices_.emplace(variable.get(), std::vector<Slice>());
    }
    if (slices_.empty()) return;
    code_ = code;
    lang::visit_post_order(code, [&](const Expr& node) { note(node); });
  }

  bool has_candidates() const { return !slices_.empty(); }
  void drop(const VariableRef& variable) { slices_.erase(variable.get()); }
  bool has(const VariableRef& variable) const { return slices_.contains(variable.get()); }

  // The read of a slice, or null where it is none of such a tensor.
  Expr read_of_slice(const Expr& expr) {
    const auto* read = as<lang::Index>(expr);
    const auto* tensor = read ? as<lang::Var>(read->tensor) : nullptr;
    if (!tensor) return nullptr;
    const auto found = slices_.find(tensor->variable.get());
    if (found == slices_.end()) return nullptr;
    const auto& dims = as<lang::TensorType>(tensor->variable->type)->shape.dims();
    std::vector<Expr> places(dims.size());
    std::vector<Expr> kept;
    bool in_bounds = true;
    for (std::size_t axis = 0; axis < read->indices.size(); ++axis) {
      places[axis] = outside(read->indices[axis]);
      if (places[axis]) continue;
      const Place place = place_of(read->indices[axis]);
      places[axis] = outside(place.index);
      if (places[axis]) continue;
      const bool is_whole = is_over(place.index, dims[axis]);
      kept.push_back(is_whole ? place.index : read->indices[axis]);
      in_bounds = in_bounds && (is_whole || read->in_bounds);
    }
    const auto fixed =
        std::count_if(places.begin(), places.end(), [](const Expr& e) { return bool(e); });
    const auto conditions = conditions_of(expr, *read);
    if (fixed == 0 || !conditions) return nullptr;
    const Expr slice = slice_of(tensor->variable, found->second, places);
    if (!slice) return nullptr;
    const Expr element =
        kept.empty() ? slice
                     : lang::make_index(slice, std::move(kept), in_bounds, expr->span, expr->type);
    if (conditions->empty()) return element;
    // Where they do not hold, it is element 0 of all axes.
    const std::vector<Expr> first(dims.size(), build::index_constant(0));
    const Expr other = slice_of(tensor->variable, found->second, first);
    if (!other) return nullptr;
    Expr all;
    for (const Expr& each : *conditions) all = both(all, each);
    return build::select(all, element, other);
  }

  // What the slices of a tensor are bound to; false where they are no less than the tensor.
  bool bind_slices(const VariableRef& tensor, std::vector<Binding>& bindings) const {
    const auto& dims = as<lang::TensorType>(tensor->type)->shape.dims();
    std::vector<Binding> made;
    std::int64_t elements = 0;
    bool is_known = true;
    for (const Slice& slice : slices_.at(tensor.get())) {
      std::int64_t own = 1;
      for (std::size_t axis = 0; axis < dims.size(); ++axis) {
        if (slice.places[axis]) continue;
        is_known = is_known && dims[axis].is_constant();
        if (is_known) own *= dims[axis].constant();
      }
      elements += own;
      made.push_back({slice.variable, value_of(tensor, slice)});
    }
    std::int64_t all = 1;
    for (const Dim& dim : dims) {
      is_known = is_known && dim.is_constant();
      if (is_known) all *= dim.constant();
    }
    if (is_known && 2 * elements >= all) return false;
    bindings.insert(bindings.end(), made.begin(), made.end());
    return true;
  }

 private:
  void note(const Expr& node) {
    lang::for_each_binder(node,
                          [&](const VariableRef& variable) { inside_.insert(variable.get()); });
    if (const auto* let = as<lang::Let>(node))
      definitions_.emplace(let->variable.get(), let->value);
    const auto* binders = binders_of(node);
    if (!binders) return;
    for (const lang::IndexBinder& binder : *binders)
      extents_.emplace(binder.variable.get(), binder.extent);
  }

  // What it is bound to in the code, or itself.
  Expr defined(const Expr& expr) const {
    const auto* var = as<lang::Var>(expr);
    const auto found = var ? definitions_.find(var->variable.get()) : definitions_.end();
    return found == definitions_.end() ? expr : found->second;
  }

  Place place_of(const Expr& index) const {
    Place place{{}, index};
    for (int i = 0; i < kMostDefinitions; ++i) {
      const Expr value = defined(place.index);
      const auto* branch = as<lang::If>(value);
      const auto* select = as<lang::Primitive>(value);
      if (branch && is_zero(branch->else_branch)) {
        place.conditions.push_back(branch->condition);
        place.index = branch->then_branch;
      } else if (select && select->prim == Prim::Select && is_zero(select->args[2])) {
        place.conditions.push_back(select->args[0]);
        place.index = select->args[1];
      } else {
        break;
      }
    }
    return place;
  }

  // Where each axis of the read, which `expr` is, has its index, and where one condition does not
  // hold 0. Empty where nothing needs it elsewhere; nothing where that is not so.
  std::optional<std::vector<Expr>> conditions_of(const Expr& expr, const lang::Index& read) {
    const auto is_implied = [&](const Expr& each) {
      if (!needed_) needed_.emplace(code_);
      return needed_->implies(expr, each);
    };
    std::vector<Expr> all;
    for (const Expr& index : read.indices) {
      if (outside(index)) continue;  // whatever holds
      auto own = place_of(index).conditions;
      if (!std::all_of(own.begin(), own.end(), is_implied)) all = std::move(own);
    }
    const auto is_same = [&](const Expr& index) {
      return is_zero(index) || are_equal(place_of(index).conditions, all);
    };
    if (all.empty() || (lang::is_scalar(expr->type) &&
                        std::all_of(read.indices.begin(), read.indices.end(), is_same)))
      return all;
    return std::nullopt;
  }

  // The same number in terms of what is at hand outside of the code; null where it is no such.
  Expr outside(const Expr& index) const {
    const Expr result = outside(index, kMostDefinitions);
    return result && is_index_arithmetic(result) ? result : nullptr;
  }
  Expr outside(const Expr& expr, int definitions) const {
    lang::Substitution made;
    for (const VariableRef& variable : lang::free_variables(expr)) {
      const auto found = definitions_.find(variable.get());
      if (found != definitions_.end()) {
        if (definitions == 0 || !lang::is_scalar(variable->type)) return nullptr;
        const Expr value = outside(found->second, definitions - 1);
        if (!value || !is_index_arithmetic(value)) return nullptr;
        made.emplace(variable.get(), value);
      } else if (inside_.contains(variable.get()) ||
                 (!saved_.contains(variable.get()) && !is_at_hand_(variable))) {
        return nullptr;
      }
    }
    return made.empty() ? expr : lang::substitute(expr, made);
  }

  // Does this index go over the whole of such an axis?
  bool is_over(const Expr& index, const Dim& dim) const {
    const auto* var = as<lang::Var>(index);
    const auto found = var ? extents_.find(var->variable.get()) : extents_.end();
    if (found == extents_.end()) return false;
    const Expr extent = defined(found->second);
    if (const auto* term = as<lang::DimTerm>(extent)) return term->dim == dim;
    const auto* constant = as<lang::Constant>(extent);
    return constant && dim.is_constant(static_cast<std::int64_t>(constant->value->number_at(0)));
  }

  static Expr slice_of(const VariableRef& tensor, std::vector<Slice>& known,
                       const std::vector<Expr>& places) {
    const auto found = std::find_if(known.begin(), known.end(), [&](const Slice& slice) {
      return are_equal(slice.places, places);
    });
    if (found != known.end()) return lang::make_var(found->variable);
    if (known.size() == kMostSlices) return nullptr;
    const auto* type = as<lang::TensorType>(tensor->type);
    std::vector<Dim> dims;
    for (std::size_t axis = 0; axis < places.size(); ++axis) {
      if (!places[axis]) dims.push_back(type->shape[axis]);
    }
    known.push_back(
        {places, lang::make_variable(tensor->name + "_part",
                                     lang::tensor_type(lang::Shape(dims), type->dtype.known()))});
    return lang::make_var(known.back().variable);
  }

  static Expr value_of(const VariableRef& tensor, const Slice& slice) {
    const auto* type = as<lang::TensorType>(tensor->type);
    std::vector<Dim> dims;
    Expr is_there;
    for (std::size_t axis = 0; axis < slice.places.size(); ++axis) {
      const Dim& dim = type->shape[axis];
      if (!slice.places[axis]) {
        dims.push_back(dim);
        continue;
      }
      const Expr place = build::cast_to(lang::DType::Int64, slice.places[axis]);
      const auto* number = as<lang::Constant>(place);
      if (number && dim.is_constant() && number->value->number_at(0) >= 0 &&
          number->value->number_at(0) < static_cast<double>(dim.constant()))
        continue;
      is_there = both(is_there, is_between(place, extent_of_axis(dim)));
    }
    return lang::rename_bound(build::comprehension(dims, [&](const build::Indices& own) {
      std::vector<Expr> indices;
      std::size_t next = 0;
      for (const Expr& place : slice.places) indices.push_back(place ? place : own[next++]);
      const Expr element = build::at(lang::make_var(tensor), indices);
      return is_there ? build::if_(is_there, element, build::zeros_of(element->type)) : element;
    }));
  }

  const std::function<bool(const VariableRef&)>& is_at_hand_;
  std::unordered_set<const Variable*> saved_;
  std::unordered_map<const Variable*, std::vector<Slice>> slices_;  // of the candidates
  Expr code_;
  std::unordered_set<const Variable*> inside_;
  std::unordered_map<const Variable*, Expr> definitions_;
  std::unordered_map<const Variable*, Expr> extents_;
  std::optional<NeededWhere> needed_;  // once a read has conditions
};

class SliceReads final : public lang::Rewriter {
 public:
  explicit SliceReads(SliceSearch& search) : search_(search) {}

 protected:
  Expr pre(const Expr& expr) override { return search_.read_of_slice(expr); }

 private:
  SliceSearch& search_;
};

}  // namespace

std::vector<Binding> save_slices(std::vector<VariableRef>& saved, Expr& code,
                                 const std::function<bool(const VariableRef&)>& is_at_hand) {
  SliceSearch search(saved, code, is_at_hand);
  const auto rewritten = [&] { return SliceReads(search).rewrite(code); };
  std::vector<Binding> slices;
  if (search.has_candidates()) {
    std::unordered_set<const Variable*> read;
    for (const VariableRef& variable : lang::free_variables(rewritten()))
      read.insert(variable.get());
    for (const VariableRef& variable : saved) {
      if (!search.has(variable)) continue;
      if (read.contains(variable.get()) || !search.bind_slices(variable, slices))
        search.drop(variable);
    }
  }
  if (slices.empty()) return slices;
  code = rewritten();
  std::erase_if(saved, [&](const VariableRef& variable) { return search.has(variable); });
  for (const Binding& slice : slices) saved.push_back(slice.variable);
  return slices;
}

std::vector<Binding> bound_early(const std::vector<Binding>& code,
                                 const std::vector<Binding>& bindings) {
  std::unordered_map<const Variable*, std::size_t> numbers;  // from 1
  for (const Binding& binding : code) numbers.emplace(binding.variable.get(), numbers.size() + 1);
  std::vector<std::vector<Binding>> behind(code.size() + 1);
  for (const Binding& binding : bindings) {
    std::size_t last = 0;
    for (const VariableRef& used : lang::free_variables(binding.value)) {
      const auto found = numbers.find(used.get());
      if (found != numbers.end()) last = std::max(last, found->second);
    }
    behind[last].push_back(binding);
  }
  std::vector<Binding> result = behind[0];
  for (std::size_t i = 0; i < code.size(); ++i) {
    result.push_back(code[i]);
    result.insert(result.end(), behind[i + 1].begin(), behind[i + 1].end());
  }
  return result;
}

}  // namespace relay::ad
