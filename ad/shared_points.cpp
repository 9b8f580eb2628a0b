#include "ad/shared_points.h"

#include <algorithm>
#include <unordered_map>

#include "ad/primal.h"
#include "ad/reduce_adjoint.h"
#include "index/scalar_work.h"
#include "lang/binders.h"
#include "lang/build.h"
#include "lang/visit.h"

namespace relay::ad {

using index::kKeptWork;
using index::scalar_work;
using index::ScalarWork;
using lang::Expr;
using lang::ExprNode;
using lang::IndexBinder;
namespace build = lang::build;

namespace {

constexpr double kMostPoints = 1 << 20;    // of a reduction
constexpr double kMostElements = 1 << 26;  // of a table

// What is done in several of the values, and would be done once together.
double shared_work(const std::vector<Expr>& values) {
  std::vector<Expr> order;
  lang::visit_post_order(lang::make_tuple(values),
                         [&](const Expr& node) { order.push_back(node); });
  order.pop_back();  // the tuple
  std::unordered_map<const ExprNode*, std::size_t> first_in;
  ScalarWork work;
  double shared = 0;
  std::size_t number = 0;
  for (const Expr& node : order) {
    while (first_in.contains(values[number].get())) shared += work.at(values[number++].get());
    lang::for_each_child(node, [&](const Expr& child) {
      if (first_in.at(child.get()) != number) shared += work.at(child.get());
    });
    first_in.emplace(node.get(), number);
    work.emplace(node.get(), scalar_work(node, work));
  }
  for (++number; number < values.size(); ++number) shared += work.at(values[number].get());
  return shared;
}

void compute_together(const std::vector<Contribution*>& group, Emitter& code) {
  const std::vector<IndexBinder>& points = group.front()->domain;
  std::vector<Expr> all, values;
  std::unordered_map<const ExprNode*, std::size_t> places;
  for (const Contribution* each : group) {
    all.push_back(without_sign(each->value).value);
    if (places.emplace(all.back().get(), values.size()).second) values.push_back(all.back());
  }
  if (number_of_points(points).value_or(0) * static_cast<double>(values.size()) > kMostElements)
    return;
  if (shared_work(all) < kKeptWork * static_cast<double>(values.size())) return;
  const bool is_one = values.size() == 1;
  const Expr parts =
      tabulated("parts", points, is_one ? values[0] : lang::make_tuple(values), code);
  std::vector<Expr> reads;
  for (std::uint32_t i = 0; i < values.size(); ++i) {
    const Expr part = is_one ? parts : code.emit("part", build::project(parts, i));
    reads.push_back(build::at(part, uses_of(points)));
  }
  for (Contribution* each : group) {
    const auto [value, is_negative] = without_sign(each->value);
    const Expr& read = reads[places.at(value.get())];
    each->value = is_negative ? build::prim(lang::Prim::Neg, {read}) : read;
  }
}

}  // namespace

void compute_shared_once(std::vector<Contribution>& contributions,
                         const std::vector<IndexBinder>& domain, Emitter& code) {
  std::vector<std::vector<Contribution*>> groups;
  for (Contribution& each : contributions) {
    if (each.is_whole() || each.domain.empty() || is_read(each.value)) continue;
    const auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& others) {
      return are_same_points(others.front()->domain, each.domain);
    });
    if (group == groups.end()) {
      groups.push_back({&each});
    } else {
      group->push_back(&each);
    }
  }
  for (const auto& group : groups) {
    const std::vector<IndexBinder>& points = group.front()->domain;
    const bool may_be_kept = are_same_points(points, domain) ||
                             number_of_points(points).value_or(kMostPoints + 1) <= kMostPoints;
    if (group.size() > 1 && may_be_kept) compute_together(group, code);
  }
}

}  // namespace relay::ad
