#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "lang/op.h"
#include "lang/schedule.h"

namespace relay::lang {

namespace {

Diagnostic refused(std::string why, Span span) {
  return {DiagnosticKind::BadSchedule, std::move(why), span};
}

Diagnostic not_supported(std::string what, Span span) {
  return {DiagnosticKind::Unsupported, "not supported: " + std::move(what), span};
}

void suggest_name(Diagnostic& diagnostic, std::string_view name,
                  const std::vector<std::string>& candidates) {
  const auto close = closest_names(name, candidates);
  if (!close.empty()) diagnostic.note(fmt::format("help: did you mean `{}`?", close.front()));
}

// Does it say where a tensor is computed, and not how?
bool is_placement(const ScheduleStep& step) {
  return step.word == "inline" || step.word == "compute_at";
}

constexpr const char* kOrderOfReduction =
    "note: the order of a reduction's elements decides its bits, so it stays as it is";

}  // namespace

ScheduledNest::ScheduledNest(std::vector<std::string> domain, std::vector<std::string> reduced,
                             std::size_t reductions, std::vector<std::string> tensors,
                             std::string made)
    : domain_(std::move(domain)),
      reductions_(reductions),
      tensors_(std::move(tensors)),
      made_(std::move(made)) {
  for (const std::string& name : domain_) loops_.push_back({name, false, true, {}, {}});
  for (std::string& name : reduced) loops_.push_back({std::move(name), true, true, {}, {}});
}

ScheduledLoop* ScheduledNest::find(std::string_view name) {
  const std::size_t place = place_of(name);
  return place == loops_.size() ? nullptr : &loops_[place];
}

std::size_t ScheduledNest::place_of(std::string_view name) const {
  const auto found = std::find_if(loops_.begin(), loops_.end(),
                                  [&](const ScheduledLoop& loop) { return loop.name == name; });
  return static_cast<std::size_t>(found - loops_.begin());
}

bool ScheduledNest::has_loop(std::string_view name) const { return place_of(name) < loops_.size(); }

bool ScheduledNest::concerns(const ScheduleStep& step) const {
  if (step.args.empty()) return false;
  const std::string& first = step.args[0].text;
  return is_placement(step) ? first == made_ : has(first);
}

bool ScheduledNest::has(std::string_view name) const {
  const auto holds = [&](const std::vector<std::string>& list) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  return has_loop(name) || holds(gone_) || holds(tensors_);
}

std::vector<std::string> ScheduledNest::names() const {
  std::vector<std::string> names;
  for (const ScheduledLoop& loop : loops_) names.push_back(loop.name);
  return names;
}

std::size_t ScheduledNest::tile_rank() const {
  const auto first_reduction =
      std::find_if(loops_.begin(), loops_.end(),
                   [](const ScheduledLoop& loop) { return loop.is_reduction; }) -
      loops_.begin();
  std::size_t rank = 0;
  for (std::size_t i = loops_.size(); i-- > 0;) {
    if (loops_[i].is_reduction) continue;
    const bool is_within = static_cast<std::ptrdiff_t>(i) > first_reduction;
    const bool is_joined =
        loops_[i].run == LoopRun::Unrolled || loops_[i].run == LoopRun::Vectorized;
    if (!is_within && !is_joined) break;
    ++rank;
  }
  return rank;
}

ScheduledNest::Refusal ScheduledNest::unknown(const ScheduleArg& arg, std::string_view who) const {
  if (std::find(gone_.begin(), gone_.end(), arg.text) != gone_.end()) {
    Diagnostic gone =
        refused(fmt::format("`{}` is no loop any more: it was split or fused", arg.text), arg.span);
    gone.note(fmt::format("note: the loops are {}", fmt::join(names(), ", ")));
    return gone;
  }
  Diagnostic diagnostic(DiagnosticKind::UnknownName,
                        fmt::format("`{}` has no index `{}`", who, arg.text), arg.span);
  suggest_name(diagnostic, arg.text, names());
  diagnostic.note(fmt::format("note: the loops are {}", fmt::join(names(), ", ")));
  return diagnostic;
}

ScheduledNest::Refusal ScheduledNest::split(const ScheduleStep& step, std::size_t index,
                                            std::size_t size) {
  const ScheduleArg& what = step.args[index];
  const ScheduleArg& how = step.args[size];
  const std::size_t place = place_of(what.text);
  const ScheduledLoop loop = loops_[place];
  if (loop.is_reduction) {
    return not_supported(fmt::format("a split of `{}`, the index of a reduction", what.text),
                         what.span)
        .note(kOrderOfReduction);
  }
  const std::int64_t number = how.number().value_or(0);
  if (number < 1 || number > kMostSplit)
    return refused(fmt::format("a size is a number from 1 to {}, not `{}`", kMostSplit, how.text),
                   how.span);
  if (loop.extent && *loop.extent % number != 0)
    return refused(
        fmt::format("`{}` has {} steps, which {} does not divide", what.text, *loop.extent, number),
        how.span);
  if (loop.run != LoopRun::Serial)
    return refused(fmt::format("`{}` is split after what was said of how it runs", what.text),
                   what.span)
        .note("help: put the split before it");
  const Split made{what.text, what.text + "_o", what.text + "_i", number};
  for (const std::string* name : {&made.outer, &made.inner}) {
    if (has(*name))
      return refused(fmt::format("the parts of `{0}` would be called `{0}_o` and `{0}_i`, but "
                                 "there is `{1}` already",
                                 what.text, *name),
                     what.span);
  }
  std::optional<std::int64_t> outer;
  if (loop.extent) outer = *loop.extent / number;
  gone_.push_back(what.text);
  loops_[place] = {made.outer, false, false, outer, {}};
  loops_.insert(loops_.begin() + static_cast<std::ptrdiff_t>(place) + 1,
                {made.inner, false, false, number, {}});
  splits_.push_back(made);
  return std::nullopt;
}

// The loops named take, in the order given, the places that they have between them.
ScheduledNest::Refusal ScheduledNest::reorder(const ScheduleStep& step) {
  std::vector<std::size_t> places;
  for (const ScheduleArg& arg : step.args) {
    const std::size_t place = place_of(arg.text);
    if (std::find(places.begin(), places.end(), place) != places.end())
      return refused(fmt::format("`{}` stands twice in one order", arg.text), arg.span);
    places.push_back(place);
  }
  std::vector<std::size_t> sorted = places;
  std::sort(sorted.begin(), sorted.end());
  const std::vector<ScheduledLoop> before = loops_;
  for (std::size_t i = 0; i < places.size(); ++i) loops_[sorted[i]] = before[places[i]];
  const auto reduced = [](const std::vector<ScheduledLoop>& loops) {
    std::vector<std::string> names;
    for (const ScheduledLoop& loop : loops) {
      if (loop.is_reduction) names.push_back(loop.name);
    }
    return names;
  };
  if (reduced(loops_) == reduced(before)) return std::nullopt;
  loops_ = before;
  const auto first = std::find_if(step.args.begin(), step.args.end(), [&](const ScheduleArg& arg) {
    return find(arg.text)->is_reduction;
  });
  return refused(fmt::format("`{}` and the other indices of its reduction cannot change places",
                             first->text),
                 first->span)
      .note(kOrderOfReduction);
}

ScheduledNest::Refusal ScheduledNest::fuse(const ScheduleStep& step) {
  const ScheduledLoop& outer = *find(step.args[0].text);
  const ScheduledLoop& inner = *find(step.args[1].text);
  for (std::size_t i = 0; i < 2; ++i) {
    const ScheduledLoop& loop = i == 0 ? outer : inner;
    if (loop.is_reduction)
      return refused(
          fmt::format("`{}` is the index of a reduction, which is folded for each element",
                      loop.name),
          step.args[i].span);
    if (!loop.is_whole)
      return not_supported(fmt::format("fusing `{}`, a part of a loop", loop.name),
                           step.args[i].span)
          .note("help: fuse the loops first, and split what comes of it");
  }
  const auto place = [&](const std::string& name) {
    return std::find(domain_.begin(), domain_.end(), name) - domain_.begin();
  };
  if (place(outer.name) + 1 != place(inner.name) ||
      place_of(outer.name) + 1 != place_of(inner.name)) {
    return refused(fmt::format("`{}` does not stand right inside `{}`", inner.name, outer.name),
                   step.args[1].span)
        .note(fmt::format("note: the loops are {}", fmt::join(names(), ", ")));
  }
  const Fuse made{outer.name, inner.name, outer.name + "_" + inner.name};
  if (has(made.result))
    return refused(fmt::format("there is a `{}` already", made.result), step.args[0].span);
  const std::size_t at = place_of(outer.name);
  domain_[static_cast<std::size_t>(place(made.outer))] = made.result;
  domain_.erase(domain_.begin() + place(made.inner));
  gone_.push_back(made.outer);
  gone_.push_back(made.inner);
  loops_[at] = {made.result, false, true, {}, {}};
  loops_.erase(loops_.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  fuses_.push_back(made);
  return std::nullopt;
}

ScheduledNest::Refusal ScheduledNest::run(const ScheduleStep& step, LoopRun run) {
  const ScheduleArg& arg = step.args[0];
  ScheduledLoop& loop = *find(arg.text);
  if (loop.is_reduction) {
    const char* const how = run == LoopRun::Parallel     ? "be parallel"
                            : run == LoopRun::Vectorized ? "be vectorized"
                                                         : "be unrolled by a schedule";
    return refused(fmt::format("`{}` is the index of a reduction and cannot {}", arg.text, how),
                   arg.span)
        .note(kOrderOfReduction);
  }
  if (loop.run != LoopRun::Serial)
    return refused(fmt::format("how `{}` runs is said twice", arg.text), arg.span);
  if (run == LoopRun::Parallel) {
    if (loop.extent)
      return refused(fmt::format("`{}` has {} steps, too few to be dealt to threads", arg.text,
                                 *loop.extent),
                     arg.span)
          .note("help: the outer part of a split can be parallel");
  } else if (!loop.extent) {
    return refused(
               fmt::format("`{}` is a whole index, and a schedule is for every extent of it: only "
                           "what a split makes can be {}",
                           arg.text, run == LoopRun::Unrolled ? "unrolled" : "vectorized"),
               arg.span)
        .note(fmt::format(
            "help: `split {0} 8` makes `{0}_i`, which has 8 steps; where the extent is 8, "
            "that is all of it",
            arg.text));
  }
  loop.run = run;
  return std::nullopt;
}

ScheduledNest::Refusal ScheduledNest::cache(const ScheduleStep& step) {
  const ScheduleArg& arg = step.args[0];
  if (std::find(tensors_.begin(), tensors_.end(), arg.text) == tensors_.end()) {
    Diagnostic diagnostic(DiagnosticKind::UnknownName,
                          fmt::format("no tensor `{}` is read at indices here", arg.text),
                          arg.span);
    suggest_name(diagnostic, arg.text, tensors_);
    return diagnostic;
  }
  if (std::find(cached_.begin(), cached_.end(), arg.text) != cached_.end())
    return refused(fmt::format("`{}` is cached twice", arg.text), arg.span);
  cached_.push_back(arg.text);
  return std::nullopt;
}

ScheduledNest::Refusal ScheduledNest::place(const ScheduleStep& step, std::string_view who) {
  const ScheduleArg& what = step.args[0];
  if (made_.empty() || what.text != made_)
    return Diagnostic(DiagnosticKind::UnknownName,
                      fmt::format("`{}` has no `let {} = for ..`", who, what.text), what.span);
  if (is_inlined_ || computed_at_)
    return refused(fmt::format("where `{}` is computed is said twice", made_), what.span);
  if (step.word == "inline") {
    is_inlined_ = true;
    return std::nullopt;
  }
  const ScheduleArg& loop = step.args[1];
  if (has_loop(loop.text))
    return refused(fmt::format("`{}` is a loop of `{}` itself", loop.text, made_), loop.span)
        .note("help: name the outermost loop of the nest that reads it");
  computed_at_ = loop;
  return std::nullopt;
}

std::optional<Diagnostic> ScheduledNest::apply(const ScheduleStep& step, std::string_view who) {
  const std::string_view form = step_form(step.word);
  if (form.empty()) {
    Diagnostic diagnostic(DiagnosticKind::UnknownName,
                          fmt::format("`{}` is no step of a schedule", step.word), step.span);
    suggest_name(diagnostic, step.word, schedule_words());
    diagnostic.note(fmt::format("note: the steps are {}", fmt::join(schedule_words(), ", ")));
    return diagnostic;
  }
  const auto wanted = static_cast<std::size_t>(std::count(form.begin(), form.end(), ' '));
  const bool takes_more = form.ends_with("...");
  if (takes_more ? step.args.size() < 2 : step.args.size() != wanted)
    return refused(fmt::format("a step `{}` is written `{}`", step.word, form), step.span);
  if (step.word == "cache" || is_placement(step)) {
    if (Refusal refusal = step.word == "cache" ? cache(step) : place(step, who)) return refusal;
    steps_.push_back(step);
    return std::nullopt;
  }
  const std::size_t indices = step.word == "split" ? 1 : step.word == "tile" ? 2 : step.args.size();
  for (std::size_t i = 0; i < indices; ++i) {
    if (!find(step.args[i].text)) return unknown(step.args[i], who);
  }
  Refusal refusal;
  if (step.word == "split") refusal = split(step, 0, 1);
  if (step.word == "tile") {
    if (step.args[0].text == step.args[1].text)
      return refused(fmt::format("`{}` stands twice in one tile", step.args[0].text),
                     step.args[1].span);
    refusal = split(step, 0, 2);
    if (!refusal) refusal = split(step, 1, 3);
    const auto part = [&](std::size_t arg, const char* suffix) {
      return ScheduleArg{step.args[arg].text + suffix, step.args[arg].span};
    };
    if (!refusal)
      refusal = reorder(
          {"reorder", {part(0, "_o"), part(1, "_o"), part(0, "_i"), part(1, "_i")}, step.span});
  }
  if (step.word == "reorder") refusal = reorder(step);
  if (step.word == "fuse") refusal = fuse(step);
  if (step.word == "vectorize") refusal = run(step, LoopRun::Vectorized);
  if (step.word == "unroll") refusal = run(step, LoopRun::Unrolled);
  if (step.word == "parallel") refusal = run(step, LoopRun::Parallel);
  if (!refusal) steps_.push_back(step);
  return refusal;
}

ScheduledNest::Refusal ScheduledNest::check_parallel() const {
  const Span span = steps_.back().span;
  for (std::size_t i = 1; i < loops_.size(); ++i) {
    if (loops_[i].run != LoopRun::Parallel) continue;
    return refused(fmt::format("`{}` is parallel and stands inside `{}`: only the outermost loop "
                               "is dealt to threads",
                               loops_[i].name, loops_[0].name),
                   span)
        .note(fmt::format("help: `reorder {} {}` before it", loops_[i].name, loops_[0].name));
  }
  return std::nullopt;
}

ScheduledNest::Refusal ScheduledNest::check_tile() const {
  const Span span = steps_.back().span;
  const std::size_t rank = tile_rank();
  std::vector<const ScheduledLoop*> domain;
  for (const ScheduledLoop& loop : loops_) {
    if (!loop.is_reduction) domain.push_back(&loop);
  }
  std::int64_t points = 1;
  for (std::size_t i = 0; i < domain.size(); ++i) {
    const ScheduledLoop& loop = *domain[i];
    const bool is_in_tile = i + rank >= domain.size();
    const bool is_joined = loop.run == LoopRun::Unrolled || loop.run == LoopRun::Vectorized;
    if (!is_in_tile && is_joined)
      return refused(fmt::format("`{}` is {}, but the loop `{}` inside it is not", loop.name,
                                 loop.run == LoopRun::Unrolled ? "unrolled" : "vectorized",
                                 domain[i + 1]->name),
                     span)
          .note(fmt::format("help: take `{}` outside, or unroll it, too", domain[i + 1]->name));
    if (loop.run == LoopRun::Vectorized && i + 1 < domain.size())
      return refused(
          fmt::format("`{}` is vectorized, and `{}` stands inside it: the innermost loop "
                      "is the one whose steps are lanes",
                      loop.name, domain[i + 1]->name),
          span);
    if (!is_in_tile) continue;
    if (!loop.extent)
      return refused(fmt::format(
                         "`{}` stands inside a reduction, with a partial result for each of "
                         "its steps, and is a whole index: a schedule is for every extent of it",
                         loop.name),
                     span)
          .note(fmt::format("help: split `{0}`, and leave `{0}_o` outside", loop.name));
    points *= *loop.extent;
    if (points > kMostTilePoints)
      return refused(fmt::format("the loops that run together have more than {} steps between them",
                                 kMostTilePoints),
                     span);
  }
  const auto reduced = std::count_if(loops_.begin(), loops_.end(),
                                     [](const ScheduledLoop& loop) { return loop.is_reduction; });
  if (rank > 0 && (reductions_ > 1 || reduced > 1))
    return not_supported(
        "loops that run together around several reductions, or one of several indices", span);
  return std::nullopt;
}

// A tensor that is computed where it is read, or as far as it is needed, has its loops as they are.
ScheduledNest::Refusal ScheduledNest::check_place() const {
  if (!is_inlined_ && !computed_at_) return std::nullopt;
  for (const ScheduleStep& step : steps_) {
    if (is_placement(step)) continue;
    const std::string where = is_inlined_ ? "computed where it is read"
                                          : fmt::format("computed at `{}`", computed_at_->text);
    return not_supported(
        fmt::format("`{}` for the loops of `{}`, which is {}", step.word, made_, where), step.span);
  }
  return std::nullopt;
}

std::optional<Diagnostic> ScheduledNest::check() const {
  if (steps_.empty()) return std::nullopt;
  if (Refusal refusal = check_place()) return refusal;
  if (Refusal refusal = check_tile()) return refusal;
  return check_parallel();
}

}  // namespace relay::lang
