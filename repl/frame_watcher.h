#pragma once

#include <functional>
#include <vector>

#include "repl/call_frames.h"
#include "repl/frame_marks.h"
#include "repl/watcher.h"

namespace relay::repl {

// Keeps the call chain of what runs with FrameMarks. What has failed has left its frames behind.
class FrameWatcher final : public Watcher {
 public:
  // `stops`: is there a reason to stop at this place, which is an Entered or a Line of `function`?
  // Then `at_stop` says whether the evaluation goes on, or why not.
  struct Stops {
    std::function<bool(const FramePlace& place, const std::string& function)> is_one;
    std::function<lang::Result<lang::Value>()> at_stop;
  };
  explicit FrameWatcher(const FrameMarks& code, Stops stops = {})
      : Watcher(code.watch()), places_(code.places()), stops_(std::move(stops)) {}

  CallFrames frames() const;

  lang::Result<lang::Value> hear(const std::string& name, std::size_t place,
                                 const std::vector<lang::Value>& values) override;

 private:
  struct Entry {
    CallFrame frame;
    std::size_t body = 0;
    std::uint32_t line = 0;    // on which it stands; 0: it has not come to one
    bool is_open = false;      // called, and nobody has said that he is entered
    bool is_call = false;      // a Return ends it
    bool is_callback = false;  // of a function that tells nothing itself
  };
  void enter(std::size_t place);
  void leave();
  static void put_at(Entry& entry, lang::Span span);
  bool begins_line(lang::Span span);
  void set_local(const FramePlace& place, const lang::Value& value);

  const std::vector<FramePlace>& places_;
  Stops stops_;
  std::vector<Entry> stack_;
  bool is_tail_ = false;  // a call in tail position comes
};

}  // namespace relay::repl
