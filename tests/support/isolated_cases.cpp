#include "tests/support/isolated_cases.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <exception>
#include <fstream>
#include <stdexcept>

#include <fmt/format.h>

#include "interp/stack.h"
#include "lang/sanitizer.h"
#include "lang/stop.h"
#include "tests/support/replay.h"

namespace relay::tests {

namespace {

// Requests are a second apart. After so many it must have stopped, if it had so much of a processor
// since the first; and in any case after the most.
constexpr int kRequests = 30;
constexpr double kSeconds = 10;
constexpr int kMostRequests = 300;
constexpr rlim_t kMemory = rlim_t{3} << 30;
constexpr std::size_t kTextSize = 1 << 15;
constexpr std::size_t kTallies = 8;
constexpr std::size_t kTallyName = 40;
constexpr int kGivenUp = 3;

// What the child is at, where the parent can read it.
struct Progress {
  std::uint64_t at;
  std::uint64_t found;
  struct Tally {
    char name[kTallyName];
    std::uint64_t count;
  } tallies[kTallies];
  char why[kTextSize];
  char text[kTextSize];
};
Progress* progress = nullptr;

double processor_seconds() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  constexpr double kNano = 1e-9;
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * kNano;
}

int requests = 0;
double first_request = 0;  // in seconds of the processor
void on_alarm(int) {
  lang::request_stop(lang::Stop::Interrupted);
  if (++requests == 1) first_request = processor_seconds();
  const bool had_time = processor_seconds() - first_request > kSeconds;
  if (requests > (had_time ? kRequests : kMostRequests)) give_up("no answer to an interrupt");
  alarm(1);
}

// What is reserved already counts too. The sanitizers reserve far more when they like.
void limit_memory() {
#ifndef RELAY_ASAN
  interp::EvaluationStack::instance();
  std::ifstream statm("/proc/self/statm");
  rlim_t data = 0;
  for (int field = 0; field < 6; ++field) statm >> data;
  const rlim_t most = data * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + kMemory;
  const rlimit limit{most, most};
  setrlimit(RLIMIT_DATA, &limit);
#endif
}

void copy(char* to, std::size_t size, std::string_view text) {
  const std::size_t length = std::min(text.size(), size - 1);
  std::memcpy(to, text.data(), length);
  to[length] = '\0';
}

void report(const IsolatedCases& cases, std::string_view text, std::string_view what) {
  ++progress->found;
  fmt::print("{}\n  {}\n  again: {}\n", text, what, replay_line(progress->at, cases.arguments));
  std::fflush(stdout);
}

void run_in_child(const IsolatedCases& cases, std::uint64_t begin, std::uint64_t end) {
  limit_memory();
  std::signal(SIGALRM, on_alarm);
  if (cases.begin) cases.begin();
  for (std::uint64_t seed = begin; seed < end; ++seed) {
    progress->at = seed;
    const std::string text = cases.describe(seed);
    copy(progress->text, kTextSize, text);
    const std::string trouble = cases.check(seed);
    if (!trouble.empty()) report(cases, text, trouble);
  }
}

// The first seed that has not been tried.
std::uint64_t run_batch(const IsolatedCases& cases, std::uint64_t begin, std::uint64_t end) {
  std::fflush(stdout);
  progress->at = begin;
  progress->text[0] = '\0';
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("no child process can be made");
  if (child == 0) {
    try {
      run_in_child(cases, begin, end);
    } catch (const std::exception& error) {
      copy(progress->why, kTextSize, fmt::format("an exception: {}", error.what()));
      _exit(kGivenUp);
    }
    std::fflush(stdout);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return end;
  const std::string how =
      WIFSIGNALED(status)
          ? fmt::format("killed by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)))
      : WEXITSTATUS(status) == kGivenUp ? std::string(progress->why)
                                        : fmt::format("exit code {}", WEXITSTATUS(status));
  report(cases, progress->text, how);
  return progress->at + 1;
}

}  // namespace

int run_isolated(const IsolatedCases& cases) {
  progress = static_cast<Progress*>(
      mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  if (progress == MAP_FAILED) throw std::runtime_error("no memory to share with children");
  if (cases.count == 1) fmt::print("{}\n", cases.describe(cases.first));
  const std::uint64_t end = cases.first + cases.count;
  for (std::uint64_t seed = cases.first; seed < end;)
    seed = run_batch(cases, seed, std::min(seed + cases.batch, end));
  fmt::print("{} {} from RELAY_SEED={}:", cases.count, cases.name, cases.first);
  for (const Progress::Tally& each : progress->tallies)
    if (each.count > 0) fmt::print(" {} {},", each.count, each.name);
  fmt::print(" {} found\n", progress->found);
  return progress->found > 0 ? 1 : 0;
}

void tally(std::string_view what) {
  for (Progress::Tally& each : progress->tallies) {
    if (each.name[0] == '\0') copy(each.name, kTallyName, what);
    if (what != each.name) continue;
    ++each.count;
    return;
  }
}

void give_up(const char* why) {
  copy(progress->why, kTextSize, why);
  _exit(kGivenUp);
}

Patience::Patience(unsigned seconds) {
  requests = 0;
  alarm(seconds);
}

Patience::~Patience() { alarm(0); }

}  // namespace relay::tests
