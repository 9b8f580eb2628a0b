#include "ad/placed.h"

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <utility>

#include "index/conditions.h"
#include "index/linear_index.h"
#include "lang/binders.h"
#include "lang/build.h"
#include "lang/op.h"
#include "lang/visit.h"

namespace relay::ad {

using index::both;
using index::extent_of_axis;
using index::is_between;
using index::LinearIndex;
using index::LinearIndices;
using index::number_in;
using index::times;
using lang::as;
using lang::Dim;
using lang::Expr;
using lang::IndexBinder;
using lang::Prim;
using lang::Variable;
namespace build = lang::build;

namespace {

using Variables = std::unordered_set<const Variable*>;

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

// Over an axis of that length.
IndexBinder binder_over(const Dim& length) {
  return {lang::make_variable("r", lang::scalar_type(lang::DType::Int64)), extent_of_axis(length)};
}

// An int64.
Expr steps_of(const IndexBinder& binder) {
  return build::cast_to(lang::DType::Int64, binder.extent);
}

std::optional<std::int64_t> constant_of(const std::optional<Dim>& dim) {
  return dim && dim->is_constant() ? std::optional(dim->constant()) : std::nullopt;
}

// An axis of the variable: of its index a binder is inverted, or the index is the same at all
// points.
struct Axis {
  LinearIndex index;
  Dim length;
  IndexBinder own;                      // over the axis
  bool is_direct = false;               // the binder is `own`
  const IndexBinder* binder = nullptr;  // null: the same at all points
  Expr point;                           // where the binder is for element `own`
  // Where the digit is, of `binder * n + digit` with digits below n.
  const IndexBinder* digit = nullptr;
  Expr digit_point;
  std::vector<Expr> conditions;  // what holds where these are points
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

// As sums over windows are, in which a library may know a convolution.
bool is_product_of_reads(const Expr& value) {
  const auto step = lang::arithmetic_step(value);
  return step && step->prim == Prim::Mul &&
         std::all_of(step->args.begin(), step->args.end(),
                     [](const Expr& arg) { return arg->kind == lang::ExprKind::Index; });
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

// Each point adds its value at its place, into zeros.
Expr scattered(const Contribution& read) {
  return lang::rename_bound(lang::make_scatter_reduce(
      lang::ReduceOp::Sum, build::zeros_like(lang::make_var(read.variable)), read.domain,
      read.indices, read.value, read.span, read.variable->type));
}

class Placing {
 public:
  Placing(const Contribution& read, const Extents& extents)
      : read_(read), extents_(extents), indices_(read.domain) {}

  // Nothing where the indices cannot be inverted.
  std::optional<Expr> inverted() {
    if (std::any_of(read_.domain.begin(), read_.domain.end(),
                    [&](const IndexBinder& binder) { return indices_.vary(binder.extent); }))
      return std::nullopt;
    is_read_ = condition_of_reading();
    for (std::size_t axis = 0; axis < read_.indices.size(); ++axis) {
      if (!add_axis(axis)) return std::nullopt;
    }
    for (const IndexBinder& binder : read_.domain) {
      if (!used_.contains(binder.variable.get())) rest_.push_back(binder);
    }
    const bool is_apart = std::none_of(others_.begin(), others_.end(), [&](const Variable* other) {
      return used_.contains(other);
    });
    if (!is_apart || (!others_.empty() && is_product_of_reads(read_.value))) return std::nullopt;
    return is_gather() ? std::optional(gather()) : scatter();
  }

 private:
  bool add_axis(std::size_t number) {
    const Dim& length = as<lang::TensorType>(read_.variable->type)->shape[number];
    auto index = indices_.of(read_.indices[number]);
    if (!index) return false;
    if (!read_.guard && !index->terms.empty() && is_int64(read_.indices[number]))
      check_ends(*index, length);
    Axis axis;
    axis.index = *index;
    axis.length = length;
    const auto& terms = index->terms;
    axis.is_direct = terms.size() == 1 && terms[0].factor == 1 && !index->offset &&
                     is_whole_axis(read_, number, *terms[0].binder, extents_);
    if (axis.is_direct) {
      axis.binder = terms[0].binder;
      axis.own = *axis.binder;
    } else {
      if (length.is_any() || !is_int64(read_.indices[number])) return false;
      axis.own = binder_over(length);
      if (!terms.empty() && !invert_step(axis) && !invert_digits(axis)) return false;
    }
    for (const IndexBinder* binder : {axis.binder, axis.digit}) {
      if (binder && !used_.insert(binder->variable.get()).second) return false;
    }
    axes_.push_back(std::move(axis));
    return true;
  }

  // Whether anything is read at all, if that is not known; null: something is. Where the guard
  // varies over the points, it says nothing of all of them.
  Expr condition_of_reading() const {
    Expr all = read_.guard && !indices_.vary(read_.guard) ? read_.guard : nullptr;
    for (const IndexBinder& binder : read_.domain) {
      const auto extent = constant_of(dim_of(binder.extent, extents_));
      if (extent && *extent > 0) continue;
      const Expr has_points = build::prim(Prim::Gt, {steps_of(binder), build::index_constant(0)});
      all = both(all, has_points);
    }
    return all;
  }

  // Nothing else reads at these indices once the value is not needed, so it is for the adjoint to
  // fail where one is outside of the axis: the offset is taken through a read at the first and at
  // the last one, as far as these are not known to be inside.
  void check_ends(LinearIndex& index, const Dim& length) const {
    if (length.is_any()) return;
    const auto offset = index.offset ? number_in(index.offset) : 0;
    for (const bool is_low : {true, false}) {
      std::optional<Dim> end = offset ? std::optional(Dim(*offset)) : std::nullopt;
      Expr way;  // from the offset to there
      for (const auto& [binder, factor] : index.terms) {
        if ((factor < 0) != is_low) continue;
        const auto extent = dim_of(binder->extent, extents_);
        end = end && extent && !extent->is_any()
                  ? std::optional(*end + (*extent - Dim(1)) * Dim(factor))
                  : std::nullopt;
        const Expr steps = times(factor, build::sub(steps_of(*binder), build::index_constant(1)));
        way = way ? build::add(way, steps) : steps;
      }
      if (end && !is_low) end = length - Dim(1) - *end;
      const auto room = constant_of(end);
      if (room && *room >= 0) continue;
      const Expr at = index.offset ? index.offset : build::index_constant(0);
      Expr checked = inside_axis(way ? build::add(at, way) : at, length);
      if (way) checked = build::sub(checked, way);
      index.offset = is_read_ ? build::if_(is_read_, checked, at) : checked;
    }
  }

  // The index, which is an error if the axis has none such.
  Expr inside_axis(const Expr& index, const Dim& length) const {
    const IndexBinder along = binder_over(length);
    const Expr all = lang::make_comprehension({along}, lang::make_var(along.variable), read_.span,
                                              lang::tensor_type({length}, lang::DType::Int64));
    return lang::make_index(all, {index}, false, read_.span, lang::scalar_type(lang::DType::Int64));
  }

  // Where a scatter adds what an axis is given. One that is the same at all points need only be
  // right if something is read.
  Expr place_of(const Axis& axis) const {
    if (axis.binder) return lang::make_var(axis.own.variable);
    const Expr& offset = axis.index.offset;
    const auto number = number_in(offset);
    const auto extent = constant_of(std::optional(axis.length));
    if (number && extent && *number >= 0 && *number < *extent) return offset;
    const bool may_be_any = read_.guard && indices_.vary(read_.guard);
    if (may_be_any)
      return build::select(is_between(offset, axis.own.extent), offset, build::index_constant(0));
    return is_read_ ? build::if_(is_read_, offset, build::index_constant(0)) : offset;
  }

  // `binder + rest` and `rest - binder`; the rest may have other binders, which are summed over.
  bool invert_step(Axis& axis) {
    for (const auto& [binder, factor] : axis.index.terms) {
      const auto extent = dim_of(binder->extent, extents_);
      if ((factor != 1 && factor != -1) || used_.contains(binder->variable.get()) || !extent ||
          !is_about(axis.length, *extent))
        continue;
      Expr rest = axis.index.offset;
      for (const auto& [other, times_other] : axis.index.terms) {
        if (other == binder) continue;
        others_.insert(other->variable.get());
        const Expr part = times(times_other, lang::make_var(other->variable));
        rest = rest ? build::add(rest, part) : part;
      }
      const Expr own = lang::make_var(axis.own.variable);
      axis.binder = binder;
      axis.point = !rest         ? times(factor, own)
                   : factor == 1 ? build::sub(own, rest)
                                 : build::sub(rest, own);
      add_bounds(axis, rest, factor == -1, *extent);
      return true;
    }
    return false;
  }

  // That the point is one of the binder's, as far as it is not known.
  static void add_bounds(Axis& axis, const Expr& rest, bool is_reversed, const Dim& extent) {
    const auto offset = rest ? number_in(rest) : 0;
    const auto size = constant_of(std::optional(axis.length));
    const auto points = constant_of(std::optional(extent));
    const auto more = constant_of(std::optional(axis.length - extent));
    const bool is_low_known = offset && (is_reversed ? size && *offset >= *size - 1 : *offset <= 0);
    const bool is_high_known =
        offset && (is_reversed ? points && *offset < *points : more && *more <= *offset);
    if (!is_low_known)
      axis.conditions.push_back(build::prim(Prim::Ge, {axis.point, build::index_constant(0)}));
    if (!is_high_known)
      axis.conditions.push_back(build::prim(Prim::Lt, {axis.point, axis.binder->extent}));
  }

  // `binder * n + digit + offset`, with digits below n.
  bool invert_digits(Axis& axis) {
    const auto& terms = axis.index.terms;
    if (terms.size() != 2) return false;
    const std::size_t first = terms[0].factor > terms[1].factor ? 0 : 1;
    const auto& [binder, factor] = terms[first];
    const auto& [digit, digit_factor] = terms[1 - first];
    const auto extent = dim_of(binder->extent, extents_);
    const auto digits = constant_of(dim_of(digit->extent, extents_));
    if (!extent || !digits || digit_factor != 1 || *digits < 1 || *digits > factor ||
        !is_about(axis.length, *extent * Dim(factor)))
      return false;
    const Expr step = build::index_constant(factor);
    const Expr own = lang::make_var(axis.own.variable);
    const Expr place = axis.index.offset ? build::sub(own, axis.index.offset) : own;
    axis.binder = binder;
    axis.point = build::prim(Prim::FloorDiv, {place, step});
    axis.digit = digit;
    axis.digit_point = build::prim(Prim::FloorMod, {place, step});
    const auto offset = axis.index.offset ? number_in(axis.index.offset) : 0;
    const auto more = constant_of(std::optional(axis.length - *extent * Dim(factor)));
    if (!offset || *offset > 0)
      axis.conditions.push_back(build::prim(Prim::Ge, {place, build::index_constant(0)}));
    if (!offset || !more || *more > *offset)
      axis.conditions.push_back(build::prim(Prim::Lt, {axis.point, binder->extent}));
    if (*digits < factor)
      axis.conditions.push_back(
          build::prim(Prim::Lt, {axis.digit_point, build::index_constant(*digits)}));
    return true;
  }

  bool is_gather() const {
    return std::all_of(axes_.begin(), axes_.end(), [](const Axis& axis) { return axis.binder; });
  }

  // What the elements at `own` of the axes are given, without those of `rest_` that are kept.
  Expr value(const Variables& kept) const {
    lang::Substitution moved;
    std::vector<Expr> outside, inside;  // conditions, of which the latter vary in what is summed
    for (const Axis& axis : axes_) {
      if (!axis.binder || axis.is_direct) continue;
      moved.emplace(axis.binder->variable.get(), axis.point);
      if (axis.digit) moved.emplace(axis.digit->variable.get(), axis.digit_point);
      for (const Expr& each : axis.conditions)
        (indices_.vary(each) ? inside : outside).push_back(each);
    }
    Expr value = lang::substitute(read_.value, moved);
    if (!inside.empty() || !outside.empty()) value = with_checked_reads(value);
    value = where(inside, value);
    std::vector<IndexBinder> summed;
    for (const IndexBinder& binder : rest_) {
      if (!kept.contains(binder.variable.get())) summed.push_back(binder);
    }
    if (!summed.empty())
      value = lang::make_reduction(lang::ReduceOp::Sum, std::move(summed), value);
    return where(outside, value);
  }

  static Expr where(const std::vector<Expr>& conditions, const Expr& value) {
    if (conditions.empty()) return value;
    Expr all;
    for (const Expr& each : conditions) all = both(all, each);
    const Expr zero = build::constant(as<lang::TensorType>(value->type)->dtype.known(), 0);
    return build::if_(all, value, zero);
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
      if (!axis.binder) continue;
      binders.push_back(axis.own);
      lengths.push_back(axis.length);
    }
    Variables kept;
    for (const Axis& axis : axes_) {
      if (axis.binder) continue;
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
    for (const Axis& axis : axes_) places.push_back(place_of(axis));
    return scattered({read_.variable, places, value(kept), binders, read_.span});
  }

  const Contribution& read_;
  const Extents& extents_;
  LinearIndices indices_;
  std::vector<Axis> axes_;
  Variables used_;                 // binders of the domain that are inverted
  Variables others_;               // those that stand beside one
  std::vector<IndexBinder> rest_;  // those that are not inverted
  Expr is_read_;                   // null: something is read
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
        return used.contains(binder.variable.get()) ||
               lang::number_of_points({binder}).value_or(0) <= 0;
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
  return scattered(summed(without_guard(contribution)));
}

}  // namespace relay::ad
