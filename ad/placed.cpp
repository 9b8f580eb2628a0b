#include "ad/placed.h"

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <utility>

#include "lang/build.h"
#include "lang/op.h"
#include "lang/visit.h"

namespace relay::ad {

using lang::as;
using lang::Dim;
using lang::Expr;
using lang::IndexBinder;
using lang::Prim;
using lang::Variable;
namespace build = lang::build;

namespace {

using Variables = std::unordered_set<const Variable*>;

// The index is `binder + offset`, or `offset - binder`; without a binder, it is `offset`, the same
// at all points. A null offset is 0.
struct Shift {
  const IndexBinder* binder = nullptr;
  bool is_reversed = false;
  Expr offset;
};

Shift negated(Shift shift) {
  const Expr zero = build::index_constant(0);
  if (shift.binder) shift.is_reversed = !shift.is_reversed;
  if (shift.offset) shift.offset = build::sub(zero, shift.offset);
  return shift;
}

Shift moved(Shift shift, const Expr& by) {
  shift.offset = shift.offset ? build::add(shift.offset, by) : by;
  return shift;
}

// Reads indices at the points of a domain.
class Shifts {
 public:
  explicit Shifts(const std::vector<IndexBinder>& domain) {
    for (const IndexBinder& binder : domain) binders_.emplace(binder.variable.get(), &binder);
  }

  // Nothing where the index is more than that.
  std::optional<Shift> of(const Expr& index) {
    lang::visit_post_order(index, [&](const Expr& node) {
      const auto* var = as<lang::Var>(node);
      bool varies = var && binders_.contains(var->variable.get());
      lang::for_each_child(node,
                           [&](const Expr& child) { varies = varies || this->varies(child); });
      if (varies) varying_.insert(node.get());
    });
    return shift(index);
  }

  // Does it mention a binder?
  bool mentions_any(const Expr& expr) const {
    const auto free = lang::free_variables(expr);
    return std::any_of(free.begin(), free.end(),
                       [&](const auto& variable) { return binders_.contains(variable.get()); });
  }

 private:
  bool varies(const Expr& node) const { return varying_.contains(node.get()); }

  std::optional<Shift> shift(const Expr& index) const {
    if (!varies(index)) return Shift{nullptr, false, index};
    if (const auto* var = as<lang::Var>(index))
      return Shift{binders_.at(var->variable.get()), false, nullptr};
    const auto step = lang::arithmetic_step(index);
    const bool is_one = step && step->prim == Prim::Neg;
    if (!step || (!is_one && step->prim != Prim::Add && step->prim != Prim::Sub))
      return std::nullopt;
    const bool is_first = varies(step->args[0]);
    if (!is_one && is_first == varies(step->args[1])) return std::nullopt;
    auto inner = shift(step->args[is_first ? 0 : 1]);
    if (!inner) return std::nullopt;
    if (is_one) return negated(*inner);
    const Expr& rest = step->args[is_first ? 1 : 0];
    if (step->prim == Prim::Add) return moved(*inner, rest);
    if (is_first) return moved(*inner, build::sub(build::index_constant(0), rest));
    return moved(negated(*inner), rest);
  }

  std::unordered_map<const Variable*, const IndexBinder*> binders_;
  std::unordered_set<const lang::ExprNode*> varying_;
};

// As a dim, if that is known.
std::optional<Dim> dim_of(const Expr& extent, const Extents& extents) {
  if (const auto* term = as<lang::DimTerm>(extent)) return term->dim;
  if (const auto* constant = as<lang::Constant>(extent))
    return Dim(static_cast<std::int64_t>(constant->value->number_at(0)));
  const auto* var = as<lang::Var>(extent);
  const auto found = var ? extents.find(var->variable.get()) : extents.end();
  if (found == extents.end()) return std::nullopt;
  const auto& [tensor, axis] = found->second;
  const Dim& dim = as<lang::TensorType>(tensor->type)->shape[axis];
  return dim.is_any() ? std::nullopt : std::optional(dim);
}

bool is_int64(const Expr& index) {
  return as<lang::TensorType>(index->type)->dtype == lang::DType::Int64;
}

Expr is_between(const Expr& index, const Expr& extent) {
  return build::prim(Prim::And, {build::prim(Prim::Ge, {index, build::index_constant(0)}),
                                 build::prim(Prim::Lt, {index, extent})});
}

std::optional<std::int64_t> number_in(const std::optional<Dim>& dim) {
  return dim && dim->is_constant() ? std::optional(dim->constant()) : std::nullopt;
}

// An axis of the variable, whose index can be inverted, or is the same at all points.
struct Axis {
  Shift index;
  Dim length;
  IndexBinder own;         // over the axis
  Expr point = nullptr;    // where the binder is for element `own`
  bool is_direct = false;  // the binder of the domain runs over just that axis, and is `own`

  // What is the same at all points is only known to be right if there are any.
  Expr place() const {
    if (index.binder) return lang::make_var(own.variable);
    const auto number = number_in(dim_of(index.offset, {}));
    const auto extent = number_in(length);
    if (number && extent && *number >= 0 && *number < *extent) return index.offset;
    return build::select(is_between(index.offset, own.extent), index.offset,
                         build::index_constant(0));
  }

  // Is the point one of the binder's? Null: it always is.
  Expr is_inside(const Extents& extents) const {
    const auto extent = dim_of(index.binder->extent, extents);
    const auto offset = index.offset ? number_in(dim_of(index.offset, {})) : 0;
    const auto size = number_in(length);
    const auto points = number_in(extent);
    const auto more = extent ? number_in(length - *extent) : std::nullopt;
    const bool is_low_known =
        offset && (index.is_reversed ? size && *offset >= *size - 1 : *offset <= 0);
    const bool is_high_known =
        offset && (index.is_reversed ? points && *offset < *points : more && *more <= *offset);
    if (is_low_known && is_high_known) return nullptr;
    if (is_low_known) return build::prim(Prim::Lt, {point, index.binder->extent});
    if (is_high_known) return build::prim(Prim::Ge, {point, build::index_constant(0)});
    return is_between(point, index.binder->extent);
  }
};

// One that is read at every index from 0 to its extent - 1, whatever those are.
bool is_whole_axis(const Contribution& read, std::size_t axis, const IndexBinder& binder,
                   const Extents& extents) {
  const Dim& dim = as<lang::TensorType>(read.variable->type)->shape[axis];
  if (const auto known = dim_of(binder.extent, extents)) return !dim.is_any() && *known == dim;
  const auto* var = as<lang::Var>(binder.extent);
  const auto found = var ? extents.find(var->variable.get()) : extents.end();
  return found != extents.end() && found->second.tensor == read.variable &&
         found->second.axis == axis;
}

// Going over all of the axis is no more than about twice the work of going over the binder.
bool is_about(const Dim& dim, const Dim& extent) {
  if (dim.is_constant() && extent.is_constant()) return extent.constant() >= dim.constant() / 2;
  return (dim - extent).is_constant();
}

// At points of which some are outside, what is read is checked.
Expr with_checked_reads(const Expr& value) {
  class Checked final : public lang::Rewriter {
   protected:
    Expr post(const Expr& expr) override {
      const auto* index = as<lang::Index>(expr);
      if (!index || !index->in_bounds) return expr;
      return lang::make_index(index->tensor, index->indices, false, expr->span, expr->type);
    }
  };
  return Checked().rewrite(value);
}

class Placing {
 public:
  Placing(const Contribution& read, const Extents& extents)
      : read_(read), extents_(extents), shifts_(read.domain) {}

  // Nothing where the indices cannot be inverted.
  std::optional<Expr> inverted() {
    if (std::any_of(read_.domain.begin(), read_.domain.end(),
                    [&](const IndexBinder& binder) { return shifts_.mentions_any(binder.extent); }))
      return std::nullopt;
    for (std::size_t axis = 0; axis < read_.indices.size(); ++axis) {
      if (!add_axis(axis)) return std::nullopt;
    }
    for (const IndexBinder& binder : read_.domain) {
      if (!used_.contains(binder.variable.get())) rest_.push_back(binder);
    }
    return is_gather() ? std::optional(gather()) : scatter();
  }

 private:
  bool add_axis(std::size_t number) {
    const Dim& length = as<lang::TensorType>(read_.variable->type)->shape[number];
    const auto shift = shifts_.of(read_.indices[number]);
    if (!shift) return false;
    Axis axis{*shift, length, {}};
    if (const IndexBinder* binder = shift->binder) {
      if (!used_.insert(binder->variable.get()).second) return false;
      axis.is_direct =
          !shift->offset && !shift->is_reversed && is_whole_axis(read_, number, *binder, extents_);
    }
    if (axis.is_direct) {
      axis.own = *shift->binder;
    } else {
      if (length.is_any() || !is_int64(read_.indices[number])) return false;
      const auto extent = shift->binder ? dim_of(shift->binder->extent, extents_) : length;
      if (!extent || !is_about(length, *extent)) return false;
      axis.own = {lang::make_variable("r", lang::scalar_type(lang::DType::Int64)),
                  length.is_constant() ? build::index_constant(length.constant())
                                       : lang::make_dim_term(length)};
    }
    const Expr own = lang::make_var(axis.own.variable);
    axis.point = !shift->offset       ? own
                 : shift->is_reversed ? build::sub(shift->offset, own)
                                      : build::sub(own, shift->offset);
    axes_.push_back(std::move(axis));
    return true;
  }

  bool is_gather() const {
    return std::all_of(axes_.begin(), axes_.end(),
                       [](const Axis& axis) { return axis.index.binder; });
  }

  // What the elements at `own` of the axes are given, without those of `rest_` that are kept.
  Expr value(const Variables& kept) const {
    lang::Substitution moved;
    Expr is_inside;
    for (const Axis& axis : axes_) {
      if (!axis.index.binder || axis.is_direct) continue;
      moved.emplace(axis.index.binder->variable.get(), axis.point);
      const Expr is_within = axis.is_inside(extents_);
      if (!is_within) continue;
      is_inside = is_inside ? build::prim(Prim::And, {is_inside, is_within}) : is_within;
    }
    Expr value = lang::substitute(read_.value, moved);
    if (is_inside) value = with_checked_reads(value);
    std::vector<IndexBinder> summed;
    for (const IndexBinder& binder : rest_) {
      if (!kept.contains(binder.variable.get())) summed.push_back(binder);
    }
    if (!summed.empty())
      value = lang::make_reduction(lang::ReduceOp::Sum, std::move(summed), value);
    if (!is_inside) return value;
    const Expr zero = build::constant(as<lang::TensorType>(value->type)->dtype.known(), 0);
    return build::if_(is_inside, value, zero);
  }

  Expr gather() const {
    std::vector<IndexBinder> own;
    for (const Axis& axis : axes_) own.push_back(axis.own);
    Expr body = value({});
    // Its type says what the extents may not: that it is as large as the variable.
    if (!own.empty()) body = lang::make_comprehension(own, body, {}, read_.variable->type);
    return lang::rename_bound(body);
  }

  // Into the places that are the same at all points. An element at such a place has to exist where
  // there are points to scatter: points of another axis as long as this one, or of a binder.
  std::optional<Expr> scatter() const {
    std::vector<IndexBinder> binders;
    std::vector<Dim> lengths;
    for (const Axis& axis : axes_) {
      if (!axis.index.binder) continue;
      binders.push_back(axis.own);
      lengths.push_back(axis.length);
    }
    Variables kept;
    for (const Axis& axis : axes_) {
      if (axis.index.binder) continue;
      const Dim& length = axis.length;
      const bool has_elements =
          length.is_constant() ? length.constant() > 0
                               : std::find(lengths.begin(), lengths.end(), length) != lengths.end();
      if (has_elements) continue;
      const auto binder = std::find_if(rest_.begin(), rest_.end(), [&](const IndexBinder& each) {
        return dim_of(each.extent, extents_) == length;
      });
      if (binder == rest_.end()) return std::nullopt;
      lengths.push_back(length);
      if (kept.insert(binder->variable.get()).second) binders.push_back(*binder);
    }
    std::vector<Expr> places;
    for (const Axis& axis : axes_) places.push_back(axis.place());
    return lang::rename_bound(lang::make_scatter_reduce(
        lang::ReduceOp::Sum, build::zeros_like(lang::make_var(read_.variable)), binders, places,
        value(kept), read_.span, read_.variable->type));
  }

  const Contribution& read_;
  const Extents& extents_;
  Shifts shifts_;
  std::vector<Axis> axes_;
  Variables used_;                 // binders of the domain that an index has
  std::vector<IndexBinder> rest_;  // those that none has
};

// What is read from a table is summed over the binders that do not occur in the indices before it
// is scattered; a scatter of products may be one that a library knows. A binder that may have no
// points stays: an element that it does not read need not exist.
Contribution summed(Contribution read) {
  if (without_sign(read.value).value->kind != lang::ExprKind::Index) return read;
  Variables used;
  const auto note = [&](const Expr& expr) {
    for (const lang::VariableRef& variable : lang::free_variables(expr))
      used.insert(variable.get());
  };
  for (const Expr& index : read.indices) note(index);
  for (const IndexBinder& binder : read.domain) note(binder.extent);
  const auto rest =
      std::stable_partition(read.domain.begin(), read.domain.end(), [&](const IndexBinder& binder) {
        return used.contains(binder.variable.get()) || number_of_points({binder}).value_or(0) <= 0;
      });
  std::vector<IndexBinder> unused(rest, read.domain.end());
  read.domain.erase(rest, read.domain.end());
  if (!unused.empty())
    read.value = lang::make_reduction(lang::ReduceOp::Sum, std::move(unused), read.value);
  return read;
}

}  // namespace

void note_extent(const lang::Binding& binding, Extents& extents) {
  const auto* call = as<lang::Call>(binding.value);
  const auto* op = call ? as<lang::Operator>(call->callee) : nullptr;
  if (!op || op->op->name != "dim_of") return;
  const auto* tensor = as<lang::Var>(call->args[0]);
  const auto* type = as<lang::TensorType>(call->args[0]->type);
  if (!tensor || !type || !type->shape.has_rank()) return;
  std::int64_t axis = call->attrs->get_int("axis");
  if (axis < 0) axis += static_cast<std::int64_t>(type->shape.rank());
  extents[binding.variable.get()] = {tensor->variable, static_cast<std::size_t>(axis)};
}

Expr placed(const Contribution& contribution, const Extents& extents) {
  if (contribution.is_whole()) return contribution.value;
  const auto* tensor = as<lang::TensorType>(contribution.variable->type);
  RELAY_CHECK(tensor && tensor->shape.has_rank(), "what is indexed is a tensor");
  if (const auto inverted = Placing(contribution, extents).inverted()) return *inverted;
  const Contribution read = summed(without_guard(contribution));
  const Expr init = build::zeros_like(lang::make_var(read.variable));
  return lang::rename_bound(lang::make_scatter_reduce(lang::ReduceOp::Sum, init, read.domain,
                                                      read.indices, read.value, read.span,
                                                      read.variable->type));
}

}  // namespace relay::ad
