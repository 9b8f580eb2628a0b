#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lang/function_fact.h"
#include "lang/op.h"
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
      if (const auto* let = as<Let>(expr); let && as<Comprehension>(let->value))
        names_.emplace(let->value.get(), let->variable->name);
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
    const auto name = names_.find(&outermost);
    nests_.emplace_back(std::move(domain), std::move(reduced), reductions, std::move(tensors),
                        name == names_.end() ? std::string() : name->second);
  }

  std::vector<ScheduledNest> nests_;
  std::unordered_set<const ExprNode*> seen_;
  std::unordered_map<const ExprNode*, std::string> names_;  // of what a `let` binds
};

}  // namespace

namespace {

// The tensor of a nest that an unknown name may stand for.
void help_with_tensor(Diagnostic& unknown, const ScheduleStep& step,
                      const std::vector<ScheduledNest>& nests) {
  std::vector<std::string> names;
  for (const ScheduledNest& nest : nests) {
    if (!nest.made().empty()) names.push_back(nest.made());
  }
  const auto close =
      step.args.empty() ? std::vector<std::string>() : closest_names(step.args[0].text, names);
  if (!close.empty()) unknown.note(fmt::format("help: did you mean `{}`?", close.front()));
}

// Where a nest is computed in the steps of a loop: has another nest that as its outermost one?
std::optional<Diagnostic> check_place(const ScheduledNest& nest,
                                      const std::vector<ScheduledNest>& nests,
                                      std::string_view who) {
  if (!nest.computed_at()) return std::nullopt;
  const ScheduleArg& loop = *nest.computed_at();
  std::vector<std::string> outermost;
  for (const ScheduledNest& other : nests) {
    if (&other == &nest || other.loops().empty()) continue;
    const std::string& first = other.loops().front().name;
    if (first == loop.text) return std::nullopt;
    if (other.has_loop(loop.text))
      return Diagnostic(DiagnosticKind::Unsupported,
                        fmt::format("not supported: computing `{}` at `{}`, which is not the "
                                    "outermost loop of its nest",
                                    nest.made(), loop.text),
                        loop.span)
          .note(fmt::format("help: `compute_at {} {}`", nest.made(), first));
    outermost.push_back(first);
  }
  Diagnostic diagnostic(DiagnosticKind::UnknownName,
                        fmt::format("no other nest of `{}` has a loop `{}`", who, loop.text),
                        loop.span);
  if (!outermost.empty())
    diagnostic.note(fmt::format("note: the outermost loops are {}", fmt::join(outermost, ", ")));
  return diagnostic;
}

}  // namespace

std::vector<ScheduledNest> nests_of(const Function& function) {
  return NestFinder().run(function.body);
}

const std::string* schedule_of(const Function& function) {
  const std::string* own = find_text(function, FunctionFact::Schedule);
  return own ? own : find_text(function, FunctionFact::InheritedSchedule);
}

bool inherits_schedule(const Function& function) {
  return has_fact(function, FunctionFact::InheritedSchedule);
}

bool take_over(const ScheduleSteps& steps, ScheduledNest& nest) {
  ScheduledNest made = nest;
  for (const ScheduleStep& step : steps) {
    if (made.concerns(step) && made.apply(step, "")) return false;
  }
  if (!made.is_changed() || made.check()) return false;
  nest = std::move(made);
  return true;
}

AttrsRef with_inherited_schedule(const Function& function, const Expr& body, AttrsRef others) {
  const std::string* text = schedule_of(function);
  if (!text) return others;
  const ScheduleSteps steps = read_schedule(*text);
  std::vector<ScheduledNest> nests = NestFinder().run(body);
  const bool is_taken = std::any_of(nests.begin(), nests.end(),
                                    [&](ScheduledNest& nest) { return take_over(steps, nest); });
  return is_taken ? with_fact(FunctionFact::InheritedSchedule, *text, others) : others;
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
      if (nest.concerns(step)) fitting.push_back(&nest);
    }
    if (fitting.size() > 1) {
      return Diagnostic(DiagnosticKind::BadSchedule,
                        fmt::format("`{}` stands for something in {} nests of `{}`",
                                    step.args[0].text, fitting.size(), who),
                        step.args[0].span)
          .note("help: give the indices names of their own");
    }
    ScheduledNest& nest = fitting.empty() ? nests.front() : *fitting.front();
    if (auto refusal = nest.apply(step, who)) {
      const bool is_unknown = refusal->kind == DiagnosticKind::UnknownName && fitting.empty();
      if (is_unknown && refusal->notes.empty()) help_with_tensor(*refusal, step, nests);
      return refusal;
    }
  }
  for (const ScheduledNest& nest : nests) {
    if (auto refusal = nest.check()) return refusal;
    if (auto refusal = check_place(nest, nests, who)) return refusal;
  }
  return std::nullopt;
}

}  // namespace relay::lang
