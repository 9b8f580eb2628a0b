// Lines into a session: whatever they were, it still answers `1 + 1` after.

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "interp/eval.h"
#include "lang/diagnostic.h"
#include "lang/stop.h"
#include "repl/display.h"
#include "repl/driver.h"
#include "repl/session.h"

namespace {

using namespace relay;  // NOLINT: the program's own file

constexpr auto kPatience = std::chrono::milliseconds(300);

// Ends what runs for too long: generated programs may loop for ever.
class Watchdog {
 public:
  Watchdog() : thread_([this] { run(); }) {}
  ~Watchdog() {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, kPatience, [&] { return done_; }))
      lang::request_stop(lang::Stop::Interrupted);
  }
  std::mutex mutex_;
  std::condition_variable wake_;
  bool done_ = false;
  std::thread thread_;
};

[[noreturn]] void die(const char* what) {
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

// Commands that take long by design, read or write files, or start an editor, and what these may be
// abbreviated to.
bool is_allowed(std::string_view line) {
  for (const std::string_view part : {":ti", ":b", "lo", "save", ":sa", ":r", ":ed"}) {
    if (line.find(part) != std::string_view::npos) return false;
  }
  return true;
}

void feed_lines(repl::Session& session, std::string_view text) {
  const auto render_all = [](const std::vector<lang::Diagnostic>& errors) {
    if (errors.empty()) die("a failure without an error");
    for (const auto& error : errors) (void)lang::render(error);
  };
  repl::Driver driver(session,
                      {[](const repl::ItemResult& result) { (void)repl::describe(result); },
                       render_all, [](std::string_view) {}},
                      1);
  const Watchdog watchdog;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (is_allowed(line)) driver.feed(line);
  }
  driver.finish();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  repl::SessionOptions options;
  options.jit = interp::JitMode::Off;
  options.threads = 1;
  options.verify = true;
  options.write = [](std::string_view) {};
  repl::Session session(options);
  feed_lines(session, {reinterpret_cast<const char*>(data), size});
  lang::clear_stop();  // one that came when all was done
  const auto two = session.evaluate("1 + 1");
  if (!two) die("the session does not answer 1 + 1 any more");
  if (lang::to_string(*two) != "2") die("1 + 1 is not 2 any more");
  return 0;
}
