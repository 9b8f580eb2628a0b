#include "repl/replay.h"

#include <sys/utsname.h>

#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include "lang/memory.h"
#include "repl/child.h"
#include "repl/choices.h"
#include "repl/version.h"

namespace relay::repl {

namespace {

constexpr std::size_t kLongestOutput = 4000;  // bytes, of an entry

std::string as_comments(std::string_view text) {
  std::string comments;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    comments += fmt::format("// {}\n", text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return comments;
}

std::string file_word(const std::string& path) {
  const bool is_plain = path.find_first_not_of(
                            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                            "0123456789_-./") == std::string::npos;
  return is_plain ? path : shell_word(path);
}

std::string arguments_of(const SessionOptions& options) {
  std::string text;
  if (options.jit != interp::JitMode::Auto)
    text += fmt::format(" --jit={}", name_of(kJitModes, options.jit));
  if (options.kernels != LibraryKernels::Auto)
    text += fmt::format(" --kernels={}", name_of(kLibraryKernels, options.kernels));
  if (options.threads > 0) text += fmt::format(" --threads={}", options.threads);
  for (const std::string& folder : options.search_path) text += " -I " + file_word(folder);
  return text;
}

std::string machine() {
  utsname system{};
  const bool is_known = uname(&system) == 0;
  return fmt::format("{} {} {}, {} cores, memory limit {} MiB",
                     is_known ? system.sysname : "unknown", is_known ? system.release : "",
                     is_known ? system.machine : "", std::thread::hardware_concurrency(),
                     lang::memory_limit() >> 20U);
}

}  // namespace

void Replay::add_entry(std::string text) { entries_.push_back({std::move(text)}); }

void Replay::add_output(std::string_view text) {
  if (entries_.empty()) return;
  Entry& entry = entries_.back();
  const std::size_t room = kLongestOutput - entry.output.size();
  entry.is_cut = entry.is_cut || text.size() > room;
  entry.output += text.substr(0, room);
}

std::string Replay::as_text(const SessionOptions& options, const std::string& file) const {
  std::string text = fmt::format(
      "// A session of Relay, with what came of each entry. To run it again:\n"
      "//   relay{} < {}\n"
      "// Files that it reads or loads are not in it.\n"
      "// {}\n{}\n",
      arguments_of(options), file_word(file), machine(), as_comments(describe_version()));
  for (const Entry& entry : entries_) {
    text += entry.text + "\n" + as_comments(entry.output);
    if (entry.is_cut) text += "// … more output\n";
    text += "\n";
  }
  return text;
}

}  // namespace relay::repl
