#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lang/diagnostic.h"
#include "lang/expr.h"
#include "lang/source.h"

// Schedules: how the index notation of a function runs, by the names of its indices. What it
// computes is the function's own affair. A schedule is a list of steps, each a word and what it is
// about, `tile i j 32 64; vectorize j_i`; it travels at the function as FunctionFact::Schedule.
//
// What a derivative computes, it computes over the same indices for a good part. So the functions
// that it is made of inherit the schedule, as FunctionFact::InheritedSchedule: each of their nests
// takes the steps that are about it, if it can do all of them, and runs by a generic schedule else.
namespace relay::lang {

struct ScheduleArg {
  std::string text;
  Span span = {};
  // Of digits only.
  std::optional<std::int64_t> number() const;
};
struct ScheduleStep {
  std::string word;
  std::vector<ScheduleArg> args;
  Span span = {};
};
using ScheduleSteps = std::vector<ScheduleStep>;

std::string to_string(const ScheduleSteps& steps);
// The reverse. Anything is read: a nest says what is wrong with it.
ScheduleSteps read_schedule(std::string_view text);

// A schedule with parameters, as it is kept: `(i, n) split i n; unroll i_i`.
struct NamedSchedule {
  std::vector<std::string> params;
  ScheduleSteps steps;
};
std::string to_string(const NamedSchedule& schedule);
std::optional<NamedSchedule> read_named_schedule(std::string_view text);
// Its steps for these arguments. Where `i` stands for `r`, `i_o` stands for `r_o`. The steps have
// the place of the call.
ScheduleSteps expand(const NamedSchedule& schedule, const ScheduleStep& call);

// The words of the steps that there are, and of one how it is written.
std::vector<std::string> schedule_words();
std::string_view step_form(std::string_view word);  // "split INDEX SIZE"; empty: unknown

enum class LoopRun : std::uint8_t { Serial, Unrolled, Vectorized, Parallel };

// A loop of a nest.
struct ScheduledLoop {
  std::string name;
  bool is_reduction = false;
  bool is_whole = true;                // an index as it was written, or several of them fused
  std::optional<std::int64_t> extent;  // where the schedule says it
  LoopRun run = LoopRun::Serial;
};

// Most points of a tile (see below), and most elements that one split may make of a loop.
inline constexpr std::int64_t kMostTilePoints = 256;
inline constexpr std::int64_t kMostSplit = 4096;

// The loops of one comprehension and of the reduction in it, outermost first, as a schedule changes
// them. Each step keeps the value of every element, or is refused. Loops of the comprehension are
// independent of one another, so they may be split, fused and taken in any order. Those of a
// reduction keep their order, which the bits depend on.
//
// Loops of the comprehension that stand within the reduction, or that are unrolled or vectorized,
// are its tile: its points are computed together, with one walk over the reduction's elements.
class ScheduledNest {
 public:
  struct Split {
    std::string of, outer, inner;
    std::int64_t size;
  };
  struct Fuse {
    std::string outer, inner, result;
  };

  // Indices of the comprehension, outermost first, those of the reduction, and the names of
  // tensors that it reads at indices. `reductions`: how many there are. `made`: the name of the
  // tensor that a `let` binds to it; empty: there is none.
  ScheduledNest(std::vector<std::string> domain, std::vector<std::string> reduced,
                std::size_t reductions, std::vector<std::string> tensors, std::string made = {});

  // Why the step is refused, at its place; nothing where it is done. `who`: the function's name.
  std::optional<Diagnostic> apply(const ScheduleStep& step, std::string_view who);
  // The same of the nest that all steps have made, at the last step.
  std::optional<Diagnostic> check() const;

  // Is the step about this nest: its first word a loop, or one that was, or a tensor that it reads,
  // or makes?
  bool concerns(const ScheduleStep& step) const;
  bool has_loop(std::string_view name) const;
  bool is_changed() const { return !steps_.empty(); }
  const std::vector<ScheduledLoop>& loops() const { return loops_; }
  // In order.
  const std::vector<Fuse>& fuses() const { return fuses_; }
  const std::vector<Split>& splits() const { return splits_; }
  const std::vector<std::string>& cached() const { return cached_; }
  const std::vector<std::string>& domain() const { return domain_; }
  const std::vector<std::string>& tensors() const { return tensors_; }
  const std::string& made() const { return made_; }
  // Are its elements computed where they are read?
  bool is_inlined() const { return is_inlined_; }
  // The loop of another nest in whose steps it is computed, as far as that reads it.
  const std::optional<ScheduleArg>& computed_at() const { return computed_at_; }
  const ScheduleSteps& steps() const { return steps_; }
  // How many loops of the comprehension, the last ones, are the tile.
  std::size_t tile_rank() const;
  std::vector<std::string> names() const;  // of the loops

 private:
  using Refusal = std::optional<Diagnostic>;
  ScheduledLoop* find(std::string_view name);
  std::size_t place_of(std::string_view name) const;
  Refusal unknown(const ScheduleArg& arg, std::string_view who) const;
  Refusal split(const ScheduleStep& step, std::size_t index, std::size_t size);
  Refusal reorder(const ScheduleStep& step);
  Refusal fuse(const ScheduleStep& step);
  Refusal run(const ScheduleStep& step, LoopRun run);
  Refusal cache(const ScheduleStep& step);
  Refusal place(const ScheduleStep& step, std::string_view who);
  bool has(std::string_view name) const;
  Refusal check_tile() const;
  Refusal check_parallel() const;
  Refusal check_place() const;

  std::vector<std::string> domain_;
  std::size_t reductions_;
  std::vector<std::string> tensors_;
  std::string made_;
  bool is_inlined_ = false;
  std::optional<ScheduleArg> computed_at_;
  std::vector<ScheduledLoop> loops_;
  std::vector<Fuse> fuses_;
  std::vector<Split> splits_;
  std::vector<std::string> cached_;
  std::vector<std::string> gone_;  // names of loops that were split or fused
  ScheduleSteps steps_;
};

// The nests of a function: its comprehensions with the reductions in them. Needs no types.
std::vector<ScheduledNest> nests_of(const Function& function);

// Of a function or a group: its own schedule or the inherited one; null: it has none.
const std::string* schedule_of(const Function& function);
bool inherits_schedule(const Function& function);
// Attributes of a function with that body, which is part of the derivative of `function`: with the
// schedule of that, if one of its nests can take it over.
AttrsRef with_inherited_schedule(const Function& function, const Expr& body, AttrsRef others);
// Does a nest that inherits the steps run by them? Done to it are then all that are about it.
bool take_over(const ScheduleSteps& steps, ScheduledNest& nest);

// Applies each step to the nest that it is about. Why one is refused, or nothing.
std::optional<Diagnostic> apply_schedule(const ScheduleSteps& steps,
                                         std::vector<ScheduledNest>& nests, std::string_view who);

}  // namespace relay::lang
