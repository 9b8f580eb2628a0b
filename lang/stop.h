#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "lang/diagnostic.h"

// How what runs is told to stop. There is one evaluation at a time in a process, and so one
// request: it stands from when somebody asks until it has been reported, so that none is lost
// between two steps of a program.
namespace relay::lang {

enum class Stop : std::uint8_t { None, Interrupted, OutOfTime, OutOfMemory };

extern std::atomic<Stop> pending_stop;
static_assert(sizeof(pending_stop) == 1, "native code reads it as a byte");

// Every function entry of an evaluated program compares its frame address with this: below means
// "look why". A request overwrites it, so that loops cost nothing extra to be stopped.
extern std::atomic<std::uintptr_t> frame_limit;
// What it is without a request.
void set_frame_limit(std::uintptr_t lowest);

// The same for threads that help with a loop of the program, by their number. A thread sets its own
// before it begins.
inline constexpr int kMostHelpers = 64;
extern std::array<std::atomic<std::uintptr_t>, kMostHelpers> helper_frame_limits;
void set_helper_frame_limit(int helper, std::uintptr_t lowest);

// Asks what runs to stop. From any thread, and safe in a signal handler. The first reason counts;
// false if there was one already.
bool request_stop(Stop reason);
// It has been reported: what comes next may run.
void clear_stop();

// Has somebody asked, and has it not been reported yet? Cost: one load.
inline bool is_stopping() { return pending_stop.load(std::memory_order_relaxed) != Stop::None; }

// What the pending request is to the user; there must be one.
Diagnostic stop_diagnostic();
// Is it what a request ends in?
bool is_stop(DiagnosticKind kind);

[[noreturn]] void fail_stopped();
// Whatever may take long calls this now and then: throws Failure once there is a request.
inline void poll() {
  if (is_stopping()) [[unlikely]]
    fail_stopped();
}
// It, as what is in another shared object is handed it.
using Poll = void (*)();

}  // namespace relay::lang
