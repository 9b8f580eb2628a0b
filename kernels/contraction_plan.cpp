#include "kernels/contraction_plan.h"

#include <algorithm>
#include <utility>

namespace relay::kernels {

using loops::Contraction;
using loops::ContractionAxis;

std::int64_t count_of(const std::vector<ContractionAxis>& axes) {
  std::int64_t count = 1;
  for (const ContractionAxis& axis : axes) count *= axis.extent;
  return count;
}

ContractionAxis offsets_of(const std::vector<ContractionAxis>& axes, std::int64_t index) {
  ContractionAxis sum{1, 0, 0, 0};
  for (std::size_t i = axes.size(); i-- > 0;) {
    const std::int64_t at = index % axes[i].extent;
    index /= axes[i].extent;
    sum.a += at * axes[i].a;
    sum.b += at * axes[i].b;
    sum.c += at * axes[i].c;
  }
  return sum;
}

namespace {

// One axis of each kind as the matrices, or -1 for none.
struct Choice {
  int row = -1, column = -1, contracted = -1;
};

std::optional<ContractionPlan> plan_with(const Contraction& form, Choice choice) {
  const auto axis = [](const std::vector<ContractionAxis>& axes, int at) {
    return at < 0 ? ContractionAxis{1, 0, 0, 0} : axes[static_cast<std::size_t>(at)];
  };
  const ContractionAxis row = axis(form.rows, choice.row);
  const ContractionAxis column = axis(form.columns, choice.column);
  const ContractionAxis inner = axis(form.contracted, choice.contracted);
  // The transposed product is the product of the transposed, in the other order.
  const bool is_swapped = column.extent == 1 || column.c != 1;
  if (is_swapped && row.extent != 1 && row.c != 1) return std::nullopt;
  ContractionPlan plan;
  plan.k = inner.extent;
  plan.adds = form.adds;
  plan.is_swapped = is_swapped;
  plan.m = is_swapped ? column.extent : row.extent;
  plan.n = is_swapped ? row.extent : column.extent;
  plan.a = is_swapped ? MatrixStrides{column.b, inner.b} : MatrixStrides{row.a, inner.a};
  plan.b = is_swapped ? MatrixStrides{inner.a, row.a} : MatrixStrides{inner.b, column.b};
  plan.c_row = is_swapped ? column.c : row.c;
  const auto rest = [](const std::vector<ContractionAxis>& axes, int without,
                       std::vector<ContractionAxis>& to) {
    for (std::size_t i = 0; i < axes.size(); ++i) {
      if (static_cast<int>(i) != without) to.push_back(axes[i]);
    }
  };
  rest(form.batch, -1, plan.outer);
  rest(form.rows, choice.row, plan.outer);
  rest(form.columns, choice.column, plan.outer);
  rest(form.contracted, choice.contracted, plan.folded);
  if (plan.is_swapped) {
    for (auto* axes : {&plan.outer, &plan.folded}) {
      for (ContractionAxis& each : *axes) std::swap(each.a, each.b);
    }
  }
  return plan;
}

}  // namespace

std::optional<ContractionPlan> best_plan(const Contraction& form) {
  std::optional<ContractionPlan> best;
  const auto options = [](const std::vector<ContractionAxis>& axes) {
    return static_cast<int>(axes.size());
  };
  for (int row = -1; row < options(form.rows); ++row) {
    for (int column = -1; column < options(form.columns); ++column) {
      for (int contracted = -1; contracted < options(form.contracted); ++contracted) {
        auto plan = plan_with(form, {row, column, contracted});
        if (plan && (!best || plan->products() > best->products())) best = std::move(plan);
      }
    }
  }
  return best;
}

namespace {

// How an operand goes through the rows: those of one matrix are `row` apart, and a row reaches over
// `inner` products and the folded axes.
loops::RowWalk walk_of(const ContractionPlan& plan, std::int64_t row, std::int64_t inner,
                       std::int64_t ContractionAxis::*side) {
  loops::RowWalk walk{row, true, 1};
  std::int64_t apart = row * plan.m;
  for (std::size_t i = plan.outer.size(); i-- > 0;) {
    walk.is_in_row = walk.is_in_row && plan.outer[i].*side == apart;
    apart *= plan.outer[i].extent;
  }
  bool is_forward = inner >= 0;
  walk.extent += std::abs(inner) * (plan.k - 1);
  for (const ContractionAxis& axis : plan.folded) {
    is_forward = is_forward && axis.*side >= 0;
    walk.extent += std::abs(axis.*side) * (axis.extent - 1);
  }
  walk.is_in_row = walk.is_in_row && is_forward && walk.extent <= walk.stride;
  return walk;
}

}  // namespace

std::optional<loops::RowWise> rows_of(const ContractionPlan& plan) {
  loops::RowWise made;
  made.rows = plan.m * count_of(plan.outer);
  // Of an axis of one row nobody knows how far it goes.
  std::int64_t apart = plan.c_row;
  if (plan.m == 1 && !plan.outer.empty()) apart = plan.outer.back().c;
  made.result = {apart, true, plan.n};
  if (plan.n > apart && made.rows > 1) return std::nullopt;
  std::int64_t next = plan.m == 1 ? apart : apart * plan.m;
  for (std::size_t i = plan.outer.size(); i-- > 0;) {
    if (plan.outer[i].c != next) return std::nullopt;
    next *= plan.outer[i].extent;
  }
  const std::int64_t a_row = plan.m == 1 && !plan.outer.empty() ? plan.outer.back().a : plan.a.row;
  const loops::RowWalk a = walk_of(plan, a_row, plan.a.column, &ContractionAxis::a);
  const loops::RowWalk b{0, false, 1};
  made.left = plan.is_swapped ? b : a;
  made.right = plan.is_swapped ? a : b;
  return made;
}

}  // namespace relay::kernels
