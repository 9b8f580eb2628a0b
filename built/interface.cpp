#include "built/interface.h"

#include <exception>
#include <functional>
#include <mutex>
#include <string>

#include "built/program.h"
#include "lang/diagnostic.h"

namespace {

using relay::built::Program;

std::mutex turn;  // there is one stack to run on
thread_local std::string last_error;

int guarded(relay_built* built, const std::function<void(Program&)>& body) {
  const std::lock_guard lock(turn);
  try {
    if (!built->program) {
      built->program =
          new Program({reinterpret_cast<const char*>(built->bytes), built->size});  // NOLINT: stays
    }
    body(*static_cast<Program*>(built->program));
    return 0;
  } catch (const relay::lang::Failure& failure) {
    last_error.clear();
    for (const auto& error : failure.diagnostics) last_error += relay::lang::render(error);
  } catch (const std::exception& error) {
    last_error = error.what();
  }
  while (!last_error.empty() && last_error.back() == '\n') last_error.pop_back();
  return 1;
}

}  // namespace

extern "C" {

int relay_built_call(relay_built* built, size_t entry, const int64_t* dims, const void* const* args,
                     void* const* results) {
  return guarded(built, [&](Program& program) { program.call(entry, dims, args, results); });
}

const char* relay_built_error(void) { return last_error.c_str(); }

int relay_built_threads(relay_built* built, int threads) {
  return guarded(built, [&](Program& program) { program.set_threads(threads); });
}

int64_t relay_built_slow_kernels(relay_built* built) {
  int64_t count = 0;
  guarded(built,
          [&](Program& program) { count = static_cast<int64_t>(program.kernels_without_code()); });
  return count;
}

}  // extern "C"
