#include "interp/perf_map.h"

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

namespace relay::interp {

namespace {

int perf_file = -1;

}  // namespace

// Somebody else's file, or a link that stands under that name, is left alone.
void write_perf_map() {
  if (perf_file >= 0) return;
  const std::string path = fmt::format("/tmp/perf-{}.map", getpid());
  unlink(path.c_str());
  perf_file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
}

void note_code(const std::string& name, const void* address, std::size_t size) {
  if (perf_file < 0 || address == nullptr || size == 0) return;
  const std::string line =
      fmt::format("{:x} {:x} {}\n", reinterpret_cast<std::uintptr_t>(address), size, name);
  (void)!write(perf_file, line.data(), line.size());
}

}  // namespace relay::interp
