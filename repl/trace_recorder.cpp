#include "repl/trace_recorder.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "repl/columns.h"
#include "repl/shown_derivative.h"
#include "repl/trace_operators.h"
#include "repl/value_line.h"

namespace relay::repl {

using lang::Value;

namespace {

constexpr int kDeepest = 6;             // calls inside calls that are shown
constexpr std::size_t kSteps = 5;       // of a loop, else its first and last two
constexpr std::size_t kHalf = 100'000;  // events that are kept, at the beginning and at the end
constexpr std::size_t kGap = ~(~std::size_t{0} >> 1U);

}  // namespace

void TraceRecorder::add(Event event) {
  if (first_.size() < kHalf) {
    first_.push_back(std::move(event));
    return;
  }
  last_.push_back(std::move(event));
  if (last_.size() <= kHalf) return;
  last_.pop_front();
  ++left_out_;
}

// Null if it was left out.
TraceRecorder::Event* TraceRecorder::find(std::size_t number) {
  if (number < first_.size()) return &first_[number];
  const std::size_t behind = number - first_.size();
  if (behind < left_out_ || behind - left_out_ >= last_.size()) return nullptr;
  return &last_[behind - left_out_];
}

lang::Result<Value> TraceRecorder::hear(const std::string& name, std::size_t place,
                                        const std::vector<Value>& values) {
  if (name == kTraceBegin) {
    begun_.push_back({place, depth_, count()});
    return Value::unit();
  }
  if (name == kTraceMark) {
    pass_mark(place);
    return Value::unit();
  }
  if (name == kTraceStep) {
    const TracePlace::Kind kind = places_[place].kind;
    const std::size_t number = count();
    if (places_[place].is_entry) end_all(depth_);
    if (kind != TracePlace::Kind::Parameter) end(place);
    add({place, depth_, values[0], {}, kind != TracePlace::Kind::Choice && holds_float(values[0])});
    return Value::scalar(lang::DType::Int64, number);
  }
  if (name != kTraceValue) {
    const auto number =
        static_cast<std::size_t>(lang::int_from_bits(lang::DType::Int64, values[1].bits()));
    if (Event* const event = find(number)) add_derivative(*event, name == kTraceTangent, values[0]);
  }
  return values[0];
}

void TraceRecorder::pass_mark(std::size_t place) {
  switch (places_[place].kind) {
    case TracePlace::Kind::Leave:
      end_all(depth_);
      --depth_;
      return;
    case TracePlace::Kind::Done:
      return end(places_[place].begun);
    case TracePlace::Kind::Enter:
      add({place, depth_});
      ++depth_;
      return;
    default:
      return add({place, depth_});
  }
}

// That has been done, and what began inside.
void TraceRecorder::end(std::size_t place) {
  for (std::size_t i = begun_.size(); i-- > 0 && begun_[i].depth >= depth_;) {
    if (begun_[i].place != place || begun_[i].depth != depth_) continue;
    begun_.resize(i);
    return;
  }
}

void TraceRecorder::end_all(int depth) {
  while (!begun_.empty() && begun_.back().depth >= depth) begun_.pop_back();
}

void TraceRecorder::fail(const std::string& what) {
  const bool is_known = !begun_.empty() && begun_.back().depth == depth_;
  // The line stands there already if it is one without a value.
  Event* const event = is_known ? find(begun_.back().number) : find(count() - 1);
  if (event && (!is_known || event->place == begun_.back().place)) {
    event->failure = what;
  } else if (is_known) {
    add({begun_.back().place, depth_, {}, {}, false, what});
  }
}

// As deep as that a line is shown only where the run has failed.
bool TraceRecorder::is_kept(const Event& event) {
  return event.depth <= kDeepest || !event.failure.empty();
}

std::vector<std::size_t> TraceRecorder::kept() const {
  std::vector<std::size_t> result;
  std::size_t i = 0;
  while (i < size()) {
    const Event& event = at(i);
    if (event.depth > kDeepest) {
      const bool is_shown = !event.failure.empty();
      std::size_t end = i;
      while (!is_shown && end < size() && at(end).depth > kDeepest && at(end).failure.empty())
        ++end;
      result.push_back(is_shown ? i : (end - i) | kGap);
      i = is_shown ? i + 1 : end;
      continue;
    }
    // The steps of a loop begin at one place, at one depth.
    std::vector<std::size_t> starts;
    if (places_[event.place].is_entry) {
      for (std::size_t j = i; j < size() && at(j).depth >= event.depth; ++j) {
        if (at(j).depth == event.depth && at(j).place == event.place) starts.push_back(j);
      }
    }
    if (starts.size() <= kSteps) {
      result.push_back(i++);
      continue;
    }
    const std::size_t first_out = starts[2];
    const std::size_t last_in = starts[starts.size() - 2];
    for (std::size_t j = i; j < first_out; ++j) {
      if (is_kept(at(j))) result.push_back(j);
    }
    result.push_back((last_in - first_out) | kGap);
    for (i = last_in; i < size() && at(i).depth >= event.depth; ++i) {
      if (at(i).depth <= kDeepest) result.push_back(i);
    }
  }
  return result;
}

// Two of a kind come one after the other: the inner derivative runs first.
void TraceRecorder::add_derivative(Event& event, bool is_tangent, const Value& value) const {
  event.derivatives.resize(columns_.size());
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const bool is_last = i + 1 == columns_.size();
    if (columns_[i].ends_with("tangent") != is_tangent) continue;
    const bool comes_again = !is_last && columns_[i + 1].ends_with(columns_[i]);
    if (event.derivatives[i] && comes_again) continue;
    event.derivatives[i] = value;
    return;
  }
}

Table TraceRecorder::table() const {
  std::vector<Table::Line> lines;
  int depth = 0;
  const auto gap = [&](std::size_t left_out) {
    lines.push_back(
        {depth, {fmt::format("… {} more lines", grouped(static_cast<std::int64_t>(left_out)))}});
  };
  bool is_behind = false;
  for (const std::size_t number : kept()) {
    if ((number & kGap) != 0) {
      gap(number & ~kGap);
      continue;
    }
    if (number >= first_.size() && left_out_ > 0 && !std::exchange(is_behind, true)) gap(left_out_);
    const Event& event = at(number);
    depth = event.depth;
    std::vector<std::string> cells = {places_[event.place].label,
                                      !event.failure.empty() ? "failed: " + event.failure
                                      : event.value          ? value_line(*event.value)
                                                             : ""};
    for (std::size_t i = 0; i < columns_.size() && event.has_derivative; ++i) {
      const bool has_come = i < event.derivatives.size() && event.derivatives[i];
      cells.push_back(
          has_come ? value_line(ShownDerivative().of(*event.derivatives[i], *event.value)) : "-");
    }
    lines.push_back({event.depth, std::move(cells)});
  }
  std::vector<std::string> headings = {"source", "value"};
  headings.insert(headings.end(), columns_.begin(), columns_.end());
  return {std::move(headings), std::move(lines)};
}

}  // namespace relay::repl
