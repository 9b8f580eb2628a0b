#include <algorithm>

#include <fmt/format.h>

#include "lang/build.h"
#include "lang/function_fact.h"
#include "parser/resolver.h"

// Schedules. One of a function becomes a fact at it, after each step has been found to keep what
// the function computes. One with parameters is kept as a function that gives `()` and has its
// steps as a fact, so it is imported, and found, as functions are.
namespace relay::parser {

using lang::Diagnostic;
using lang::FunctionFact;
using lang::ScheduleStep;
using lang::ScheduleSteps;

namespace {

// The function with these steps as its schedule, and no other.
lang::Expr with_schedule(const lang::Expr& function, const ScheduleSteps& steps) {
  const lang::Expr bare = lang::without_facts(function, {FunctionFact::Schedule});
  if (steps.empty()) return bare;
  const auto& plain = lang::cast<lang::Function>(bare);
  return lang::with_attrs(
      plain, lang::with_fact(FunctionFact::Schedule, lang::to_string(steps), plain.attrs));
}

}  // namespace

void Resolver::declare_schedule(const Node& node) {
  if (!node.find(Syntax::ScheduleParams)) return;
  declare_global(*node.child(0), false);
  named_schedules_.emplace(name_text(*node.child(0)), &node);
}

ScheduleSteps Resolver::written_steps(const Node& node) {
  ScheduleSteps steps;
  for (const Node* child : node.children()) {
    if (child->kind != Syntax::ScheduleStep) continue;
    ScheduleStep& step = steps.emplace_back();
    step.word = std::string(tree_.text(*child->child(0)));
    step.span = span(*child);
    for (const Node* arg : child->children().subspan(1))
      step.args.push_back({std::string(tree_.text(*arg)), span(*arg)});
  }
  return steps;
}

std::optional<lang::NamedSchedule> Resolver::schedule_called(std::string_view word) {
  if (const auto own = named_schedules_.find(word); own != named_schedules_.end()) {
    lang::NamedSchedule schedule;
    for (const Node* param : own->second->find(Syntax::ScheduleParams)->children())
      schedule.params.emplace_back(tree_.text(*param));
    schedule.steps = written_steps(*own->second);
    return schedule;
  }
  const lang::Definition* outer = scope_.lookup(word);  // which may be gone before the names are
  const auto* function = outer ? lang::as<lang::Function>(outer->function) : nullptr;
  if (!function) return std::nullopt;
  const std::string* text = lang::find_text(*function, FunctionFact::StepSchedule);
  return text ? lang::read_named_schedule(*text) : std::nullopt;
}

// What steps of one's own come to. `made`: how many steps the schedules that are called have had so
// far. They may call one another twice each, so it is that which is bounded, and not the depth
// alone.
ScheduleSteps Resolver::basic_steps(const ScheduleSteps& steps, int depth, std::size_t& made) {
  constexpr int kMostDepth = 32;
  constexpr std::size_t kMostMade = 1000;
  ScheduleSteps basic;
  for (const ScheduleStep& step : steps) {
    const auto called =
        lang::step_form(step.word).empty() ? schedule_called(step.word) : std::nullopt;
    if (!called) {
      basic.push_back(step);
      continue;
    }
    if (depth == kMostDepth) {
      report(Kind::BadSchedule, fmt::format("the schedule `{}` is made of itself", step.word),
             step.span);
      return {};
    }
    if (called->params.size() != step.args.size()) {
      Diagnostic diagnostic(Kind::WrongArity,
                            fmt::format("the schedule `{}` takes {} arguments, but {} are given",
                                        step.word, called->params.size(), step.args.size()),
                            step.span);
      report(std::move(diagnostic.note(
          fmt::format("note: it is `{}({})`", step.word, fmt::join(called->params, ", ")))));
      return {};
    }
    made += called->steps.size();
    if (made > kMostMade) {
      report(Kind::BadSchedule,
             fmt::format("with `{}` the schedules that are called here have more than {} steps",
                         step.word, kMostMade),
             step.span);
      return {};
    }
    for (ScheduleStep& each : basic_steps(lang::expand(*called, step), depth + 1, made))
      basic.push_back(std::move(each));
    if (item_is_broken_) return {};
  }
  return basic;
}

void Resolver::named_schedule(const Node& node, Item& item, Parsed& parsed) {
  const std::string_view name = name_text(*node.child(0));
  const auto schedule = schedule_called(name);
  if (!schedule || item_is_broken_) return;
  for (const ScheduleStep& step : schedule->steps) {
    if (!lang::step_form(step.word).empty() || named_schedules_.contains(step.word) ||
        schedule_called(step.word))
      continue;
    Diagnostic diagnostic(Kind::UnknownName,
                          fmt::format("`{}` is no step of a schedule", step.word), step.span);
    suggest(diagnostic, step.word, lang::schedule_words());
    report(std::move(diagnostic));
    return;
  }
  item.kind = ItemKind::Def;
  item.name = prefix_ + std::string(name);
  item.expr = lang::make_function(
      {}, nullptr, lang::make_tuple({}), {},
      lang::with_fact(FunctionFact::StepSchedule, lang::to_string(*schedule)), span(node));
  parsed.items.push_back(std::move(item));
}

// Reports, at the step or else at the name, why the function cannot have these steps.
bool Resolver::is_refused(const ScheduleSteps& steps, const Expr& function, const Node& name) {
  std::vector<lang::ScheduledNest> nests = lang::nests_of(lang::cast<lang::Function>(function));
  auto refusal = lang::apply_schedule(steps, nests, name_text(name));
  if (!refusal) return false;
  if (!refusal->span) refusal->span = span(name);
  report(std::move(*refusal));
  return true;
}

// The same of a schedule that is written at the function, as printed text has it.
bool Resolver::has_bad_schedule(const Expr& function, const Node& name) {
  const auto& fn = lang::cast<lang::Function>(function);
  const std::string* text = lang::find_text(fn, FunctionFact::Schedule);
  return text && is_refused(lang::read_schedule(*text), function, name);
}

void Resolver::schedule(const Node& node, Parsed& parsed) {
  if (node.find(Syntax::ScheduleParams)) return;
  item_is_broken_ = false;
  const Node& name = *node.child(0);
  Symbol& symbol = symbols_.intern(name_text(name));
  const std::string own_name = prefix_ + std::string(symbol.text);
  if (symbol.broken) return;
  if (!scheduled_.insert(own_name).second) {
    report(Kind::DuplicateDefinition, fmt::format("`{}` has a schedule already", symbol.text),
           span(name));
    return;
  }
  std::size_t made = 0;
  const ScheduleSteps steps = basic_steps(written_steps(node), 0, made);
  if (item_is_broken_) return;
  const auto own = std::find_if(parsed.items.begin(), parsed.items.end(), [&](const Item& item) {
    return item.kind == ItemKind::Def && item.name == own_name;
  });
  if (own != parsed.items.end()) {
    if (own->parameters && own->parameters->has_attributes()) {
      report(Kind::Unsupported,
             fmt::format("not supported: a schedule of `{}`, a parameter of which is an attribute",
                         symbol.text),
             span(name));
      return;
    }
    if (!is_refused(steps, own->expr, name)) own->expr = with_schedule(own->expr, steps);
    return;
  }
  const lang::Definition* outer = symbol.own_global ? nullptr : symbol.outer_global;
  if (!outer || !outer->function) {
    if (symbol.own_global) return;  // it has errors, or is a `let`
    Diagnostic diagnostic(Kind::UnknownName,
                          fmt::format("there is no function `{}` to schedule", symbol.text),
                          span(name));
    suggest(diagnostic, symbol.text, visible_names());
    report(std::move(diagnostic));
    return;
  }
  if (outer->origin != lang::Origin::Own || !outer->instance_of.empty() ||
      (outer->parameters && outer->parameters->has_attributes())) {
    report(Kind::Unsupported,
           fmt::format("not supported: a schedule of `{}`, which {}", symbol.text,
                       outer->origin != lang::Origin::Own ? "is defined in another file"
                                                          : "has a parameter that is an attribute"),
           span(name));
    return;
  }
  if (is_refused(steps, outer->function, name)) return;
  // As if it were defined anew.
  Item item{};
  item.kind = ItemKind::Def;
  item.name = outer->name;
  item.expr = with_schedule(outer->function, steps);
  item.doc = outer->doc;
  item.span = outer->span;
  item.parameters = outer->parameters;
  parsed.items.push_back(std::move(item));
}

}  // namespace relay::parser
