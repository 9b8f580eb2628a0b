#include "built/interface.h"

#include <exception>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>

#include "built/program.h"
#include "lang/diagnostic.h"

namespace {

using relay::built::Program;

std::mutex turn;  // there is one stack to run on
thread_local std::string last_error;

void note_error(const std::exception& error) noexcept {
  try {
    const auto* failure = dynamic_cast<const relay::lang::Failure*>(&error);
    last_error.clear();
    if (!failure) last_error = error.what();
    for (size_t i = 0; failure && i < failure->diagnostics.size(); ++i)
      last_error += relay::lang::render(failure->diagnostics[i]);
    while (!last_error.empty() && last_error.back() == '\n') last_error.pop_back();
  } catch (...) {
    last_error.clear();  // there is no memory for it
  }
}

int guarded(relay_built* built, const std::function<void(Program&)>& body) noexcept {
  const std::lock_guard lock(turn);
  try {
    if (!built->program) {
      built->program =
          new Program({reinterpret_cast<const char*>(built->bytes), built->size});  // NOLINT: stays
    }
    body(*static_cast<Program*>(built->program));
    return 0;
  } catch (const std::exception& error) {
    note_error(error);
    return 1;
  }
}

}  // namespace

extern "C" {

int relay_built_call(relay_built* built, size_t entry, const int64_t* dims, const void* const* args,
                     void* const* results) {
  return guarded(built, [&](Program& program) { program.call(entry, dims, args, results); });
}

const char* relay_built_error(void) { return last_error.c_str(); }

int relay_built_threads(relay_built* built, int threads) {
  return guarded(built, [&](Program& program) {
    if (threads < 0 || threads > 1024)
      throw std::invalid_argument("the number of threads is not in 0 to 1024");
    program.set_threads(threads);
  });
}

int64_t relay_built_slow_kernels(relay_built* built) {
  int64_t count = 0;
  guarded(built,
          [&](Program& program) { count = static_cast<int64_t>(program.kernels_without_code()); });
  return count;
}

}  // extern "C"
