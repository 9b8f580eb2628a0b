#include "repl/frame_watcher.h"

#include <algorithm>
#include <utility>

namespace relay::repl {

using lang::Value;
using Kind = FramePlace::Kind;

lang::Result<Value> FrameWatcher::hear(const std::string&, std::size_t number,
                                       const std::vector<Value>& values) {
  const FramePlace& place = places_[number];
  switch (place.kind) {
    case Kind::Body:
      enter(number);
      break;
    case Kind::Local:
      set_local(place, values[0]);
      return Value::scalar(lang::DType::Int64, 0);
    case Kind::Call: {
      Entry called;
      called.frame.function = place.name;
      called.frame.has_text = place.name.empty();
      called.is_open = place.name.empty();
      called.is_call = true;
      if (!stack_.empty()) put_at(stack_.back(), place.span);
      stack_.push_back(std::move(called));
      break;
    }
    case Kind::Return:
      leave();
      break;
    case Kind::Tail:
      is_tail_ = true;
      break;
    case Kind::Entered:
    case Kind::Line:
      if (stack_.empty() || stack_.back().body != place.body) break;
      if (place.kind == Kind::Line && !begins_line(place.span)) break;
      if (stops_.is_one && stops_.is_one(place, stack_.back().frame.function))
        return stops_.at_stop();
      break;
  }
  return Value::unit();
}

void FrameWatcher::put_at(Entry& entry, lang::Span span) {
  entry.frame.place = span;
  entry.frame.is_at_entry = false;
}

// Is it another line than that where the function stood?
bool FrameWatcher::begins_line(lang::Span span) {
  Entry& entry = stack_.back();
  const std::uint32_t line = span.source->position(span.begin).line;
  const std::uint32_t before = std::exchange(entry.line, line);
  put_at(entry, span);
  return line != before;
}

// What called it has said so, or it stands in the place of a function that is done with, or it is
// called by one that tells nothing.
void FrameWatcher::enter(std::size_t place) {
  const bool is_tail = std::exchange(is_tail_, false);
  const bool takes_place =
      !stack_.empty() && (stack_.back().is_open || is_tail || stack_.back().is_callback);
  Entry entry;
  if (takes_place) {
    const Entry& before = stack_.back();
    entry.is_call = before.is_call;
    entry.is_callback = before.is_callback;
    if (!before.is_open && is_tail) entry.frame.tail_calls = before.frame.tail_calls + 1;
    stack_.pop_back();
  } else {
    entry.is_callback = !stack_.empty();
  }
  entry.body = place;
  entry.frame.function = places_[place].name;
  entry.frame.place = places_[place].span;
  entry.frame.is_at_entry = true;
  stack_.push_back(std::move(entry));
}

void FrameWatcher::leave() {
  is_tail_ = false;
  while (!stack_.empty()) {
    const bool is_it = stack_.back().is_call;
    stack_.pop_back();
    if (is_it) return;
  }
}

// What a derivative computes again tells of functions that are not under way.
void FrameWatcher::set_local(const FramePlace& place, const Value& value) {
  if (stack_.empty() || stack_.back().body != place.body) return;
  std::vector<CallFrame::Local>& locals = stack_.back().frame.locals;
  const auto same = std::find_if(locals.begin(), locals.end(), [&](const CallFrame::Local& local) {
    return local.name == place.name;
  });
  if (same == locals.end()) {
    locals.push_back({place.name, place.type, value});
  } else {
    *same = {place.name, place.type, value};
  }
}

CallFrames FrameWatcher::frames() const {
  CallFrames frames;
  for (auto entry = stack_.rbegin(); entry != stack_.rend(); ++entry) {
    if (!entry->is_open) frames.push_back(entry->frame);
  }
  return frames;
}

}  // namespace relay::repl
