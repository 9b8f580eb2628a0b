#include "server/evaluation.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include <fmt/format.h>

#include "server/run_text.h"

namespace relay::server {

using Clock = std::chrono::steady_clock;

namespace {

// Never returns.
[[noreturn]] void be_child(const std::string& path, const std::string& text,
                           AnalysisOptions looking, int output) {
  // It is nobody's to talk to, and what it writes is not for files.
  const int nowhere = open("/dev/null", O_RDWR);
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(nowhere, standard);
  signal(SIGXFSZ, SIG_IGN);
  const rlimit no_bytes{0, 0};
  setrlimit(RLIMIT_FSIZE, &no_bytes);
  const auto seconds = static_cast<rlim_t>(Evaluations::kSeconds) + 1;
  const rlimit time{seconds, seconds};
  setrlimit(RLIMIT_CPU, &time);
  looking.seconds = Evaluations::kSeconds;
  const std::string outcome =
      run_text(path, text, looking).dump(-1, ' ', false, Json::error_handler_t::replace);
  std::size_t written = 0;
  while (written < outcome.size()) {
    const ssize_t count = write(output, outcome.data() + written, outcome.size() - written);
    if (count <= 0) _exit(1);
    written += static_cast<std::size_t>(count);
  }
  _exit(0);
}

}  // namespace

void Evaluations::start(const std::string& path, const std::string& text,
                        const AnalysisOptions& looking, Done done) {
  for (Run& run : runs_) {
    if (run.path != path || run.text != text) continue;
    if (run.outcome) return done(*run.outcome);
    run.waiting.push_back(std::move(done));
    return;
  }
  forget(path);
  Run& run = runs_.emplace_back(Run{path, text, {}});
  run.waiting.push_back(std::move(done));
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return end(run, {{"refused", "there is no pipe"}});
  run.child = fork();
  if (run.child == 0) {
    close(ends[0]);
    be_child(path, text, looking, ends[1]);
  }
  close(ends[1]);
  run.output = ends[0];
  if (run.child < 0) {
    stop_child(run);
    return end(run, {{"refused", "there is no process"}});
  }
  const std::chrono::duration<double> time(kSeconds + 1);
  run.deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(time);
}

void Evaluations::stop_child(Run& run) {
  if (run.child > 0) {
    kill(run.child, SIGKILL);
    waitpid(run.child, nullptr, 0);
  }
  if (run.output >= 0) close(run.output);
  run.child = run.output = -1;
}

void Evaluations::end(Run& run, Json outcome) {
  stop_child(run);
  run.outcome = std::move(outcome);
  for (const Done& done : std::exchange(run.waiting, {})) done(*run.outcome);
}

void Evaluations::forget(const std::string& path) {
  const auto found =
      std::find_if(runs_.begin(), runs_.end(), [&](const Run& run) { return run.path == path; });
  if (found == runs_.end()) return;
  Run run = std::move(*found);
  runs_.erase(found);
  end(run, nullptr);
}

std::vector<int> Evaluations::descriptors() const {
  std::vector<int> found;
  for (const Run& run : runs_) {
    if (run.output >= 0) found.push_back(run.output);
  }
  return found;
}

int Evaluations::patience() const {
  int least = -1;
  for (const Run& run : runs_) {
    if (run.output < 0) continue;
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(run.deadline - Clock::now()).count();
    const int wait = static_cast<int>(std::clamp<long>(left, 0, 60'000)) + 1;
    if (least < 0 || wait < least) least = wait;
  }
  return least;
}

void Evaluations::look() {
  for (Run& run : runs_) {
    if (run.output < 0) continue;
    pollfd wanted{run.output, POLLIN, 0};
    bool is_at_end = false;
    while (!is_at_end && poll(&wanted, 1, 0) > 0) {
      char bytes[65536];
      const ssize_t count = read(run.output, bytes, sizeof bytes);
      if (count > 0) run.read.append(bytes, static_cast<std::size_t>(count));
      if (count < 0 && errno == EINTR) continue;
      is_at_end = count <= 0;
    }
    if (is_at_end) {
      Json outcome = Json::parse(run.read, nullptr, false);
      if (outcome.is_discarded())
        outcome = {
            {"refused", fmt::format("it did not end within {} seconds, or it failed", kSeconds)}};
      end(run, std::move(outcome));
    } else if (Clock::now() >= run.deadline) {
      end(run, {{"refused", fmt::format("it did not end within {} seconds", kSeconds)}});
    }
  }
}

void Evaluations::finish() {
  for (std::vector<int> open = descriptors(); !open.empty(); open = descriptors()) {
    std::vector<pollfd> wanted;
    for (const int each : open) wanted.push_back({each, POLLIN, 0});
    poll(wanted.data(), wanted.size(), patience());
    look();
  }
}

Evaluations::~Evaluations() {
  for (Run& run : runs_) stop_child(run);
}

}  // namespace relay::server
