#include "repl/call_frames.h"

#include <algorithm>

#include <fmt/format.h>

#include "repl/columns.h"
#include "repl/value_line.h"

namespace relay::repl {

namespace {

constexpr std::size_t kInner = 8;  // frames that are shown
constexpr std::size_t kOuter = 4;
constexpr std::size_t kText = 60;  // characters of the text at a place

std::string name_of(const CallFrame& frame) {
  return frame.function.empty() ? "the entry" : "`" + frame.function + "`";
}

std::string place_of(const CallFrame& frame) {
  if (!frame.place) return "";
  const std::string place = fmt::format(", {}, line {}", frame.place.source->name(),
                                        frame.place.source->position(frame.place.begin).line);
  if (frame.is_at_entry) return place;
  const std::string_view text = frame.place.text();
  const std::string_view line = text.substr(0, text.find('\n'));
  return fmt::format("{}: `{}`", place,
                     line.size() < text.size() ? std::string(line) + " …" : shortened(line, kText));
}

}  // namespace

std::string describe_frame(const CallFrames& frames, std::size_t number) {
  const CallFrame& frame = frames[number];
  std::string text = fmt::format("#{} {}{}\n", number, name_of(frame), place_of(frame));
  if (!frame.has_text) text += "     (its locals are not known)\n";
  for (const CallFrame::Local& local : frame.locals) {
    text += fmt::format("     {} = {} : {}\n", local.name, value_line(local.value),
                        shortened(lang::to_string(local.type), kText));
  }
  if (frame.tail_calls > 0) {
    text += fmt::format("     … came by {} in tail position, of which no frame is left\n",
                        frame.tail_calls == 1 ? "a call" : grouped(frame.tail_calls) + " calls");
  }
  return text;
}

std::string describe_frames(const CallFrames& frames, std::size_t chosen) {
  std::string text;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const bool is_shown = i < kInner || i + kOuter >= frames.size() || i == chosen;
    if (is_shown) {
      std::string frame = describe_frame(frames, i);
      if (i == chosen && chosen > 0) frame.insert(frame.find('\n'), "  (chosen)");
      text += frame;
    } else if (i == kInner) {
      text += fmt::format("… {} more frames …\n",
                          grouped(static_cast<std::int64_t>(frames.size() - kInner - kOuter)));
    }
  }
  return text;
}

}  // namespace relay::repl
