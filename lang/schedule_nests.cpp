#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

#include "lang/schedule.h"
#include "lang/visit.h"

// The nests of a function as it was written.
namespace relay::lang {

namespace {

class NestFinder {
 public:
  std::vector<ScheduledNest> run(const Expr& body) {
    walk(body);
    return std::move(nests_);
  }

 private:
  // In the order of evaluation; not recursive, for `let` chains are long.
  void walk(const Expr& root) {
    std::vector<Expr> open = {root};
    while (!open.empty()) {
      const Expr expr = std::move(open.back());
      open.pop_back();
      if (!seen_.insert(expr.get()).second) continue;
      if (const auto* nest = as<Comprehension>(expr)) {
        add(*nest);
        continue;
      }
      const std::size_t first = open.size();
      for_each_child(expr, [&](const Expr& child) { open.push_back(child); });
      std::reverse(open.begin() + static_cast<std::ptrdiff_t>(first), open.end());
    }
  }

  // A comprehension whose body is another is one nest with it.
  void add(const Comprehension& outermost) {
    std::vector<std::string> domain;
    const Comprehension* nest = &outermost;
    for (;;) {
      for (const IndexBinder& binder : nest->binders) {
        domain.push_back(binder.variable->name);
        if (binder.extent) walk(binder.extent);
      }
      const auto* inner = as<Comprehension>(nest->body);
      if (!inner) break;
      nest = inner;
    }
    std::vector<std::string> reduced;
    std::size_t reductions = 0;
    std::vector<std::string> tensors;
    visit_post_order(nest->body, [&](const Expr& node) {
      if (const auto* reduction = as<Reduction>(node)) {
        ++reductions;
        for (const IndexBinder& binder : reduction->binders)
          reduced.push_back(binder.variable->name);
      }
      const auto* index = as<Index>(node);
      const auto* tensor = index ? as<Var>(index->tensor) : nullptr;
      if (tensor &&
          std::find(tensors.begin(), tensors.end(), tensor->variable->name) == tensors.end())
        tensors.push_back(tensor->variable->name);
    });
    // Indices of several reductions have no order among them: each is a loop inside the nest.
    if (reductions > 1) reduced.clear();
    nests_.emplace_back(std::move(domain), std::move(reduced), reductions, std::move(tensors));
  }

  std::vector<ScheduledNest> nests_;
  std::unordered_set<const ExprNode*> seen_;
};

}  // namespace

std::vector<ScheduledNest> nests_of(const Function& function) {
  return NestFinder().run(function.body);
}

std::optional<Diagnostic> apply_schedule(const ScheduleSteps& steps,
                                         std::vector<ScheduledNest>& nests, std::string_view who) {
  if (nests.empty() && !steps.empty()) {
    return Diagnostic(
        DiagnosticKind::BadSchedule,
        fmt::format("`{}` has no `for i {{ .. }}` whose loops a schedule could be of", who),
        steps.front().span);
  }
  for (const ScheduleStep& step : steps) {
    std::vector<ScheduledNest*> fitting;
    for (ScheduledNest& nest : nests) {
      if (!step.args.empty() && nest.has(step.args[0].text)) fitting.push_back(&nest);
    }
    if (fitting.size() > 1) {
      return Diagnostic(DiagnosticKind::BadSchedule,
                        fmt::format("`{}` stands for something in {} nests of `{}`",
                                    step.args[0].text, fitting.size(), who),
                        step.args[0].span)
          .note("help: give the indices names of their own");
    }
    ScheduledNest& nest = fitting.empty() ? nests.front() : *fitting.front();
    if (auto refusal = nest.apply(step, who)) return refusal;
  }
  for (const ScheduledNest& nest : nests) {
    if (auto refusal = nest.check()) return refusal;
  }
  return std::nullopt;
}

}  // namespace relay::lang
