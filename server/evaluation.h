#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "server/analysis.h"
#include "server/protocol.h"

namespace relay::server {

// What running a text gives, found by a process of its own, so that whatever the text does, the
// server goes on: it has little time, reads files and writes none.
//
// The outcome is a list of what the items of the text have given, in their order:
// {"begin": byte, "end": byte, "lines": [what was shown]}, with "error" in place of lines for one
// that has failed; or {"refused": why} for a text that is not run.
class Evaluations {
 public:
  static constexpr double kSeconds = 2;

  using Done = std::function<void(const Json& outcome)>;
  // Begins, unless the same text is being run, or has been run last. `done` is called from here or
  // from `look`; never, if `forget` comes first.
  void start(const std::string& path, const std::string& text, const AnalysisOptions& looking,
             Done done);
  // The texts at that path, or what they import, have changed, or are closed: tells those who wait
  // `null`.
  void forget(const std::string& path);

  // What to wait for, and at most how long, in milliseconds; -1 for ever.
  std::vector<int> descriptors() const;
  int patience() const;
  // Reads what has come, and ends what has had its time.
  void look();
  // Waits until all is done.
  void finish();

  ~Evaluations();

 private:
  struct Run {
    std::string path;
    std::string text;
    std::vector<Done> waiting;
    pid_t child = -1;
    int output = -1;
    std::string read = {};
    std::chrono::steady_clock::time_point deadline = {};
    std::optional<Json> outcome = {};
  };
  static void end(Run& run, Json outcome);
  static void stop_child(Run& run);

  std::vector<Run> runs_;  // one of each path
};

}  // namespace relay::server
