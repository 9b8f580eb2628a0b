// The `relay-build` program: `relay build FILE -f NAME`, functions as a shared object for C.

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "ahead/build.h"
#include "repl/output.h"
#include "repl/part_command.h"

namespace {

using namespace relay;  // NOLINT: the program's own file

// `n=1,32`. False: it is none.
bool read_sizes(std::string_view text, ahead::Request& request) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) return false;
  auto& sizes = request.sizes[std::string(text.substr(0, equals))];
  for (std::string_view rest = text.substr(equals + 1);;) {
    const std::size_t comma = rest.find(',');
    const std::string_view one = rest.substr(0, comma);
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(one.data(), one.data() + one.size(), number);
    if (one.empty() || error != std::errc() || end != one.data() + one.size() || number < 0)
      return false;
    sizes.push_back(number);
    if (comma == std::string_view::npos) return true;
    rest.remove_prefix(comma + 1);
  }
}

// Empty, or what would be written over.
std::string clash(const ahead::Request& request) {
  if (request.output == ahead::header_path(request))
    return fmt::format("`{}` is where the header goes: the object needs another name",
                       request.output);
  for (const std::string& written : {request.output, ahead::header_path(request)}) {
    std::string why = repl::written_over(written, request.path);
    if (!why.empty()) return why;
  }
  return {};
}

}  // namespace

int main(int count, char** texts) {
  repl::prepare_streams();
  ahead::Request request;
  repl::PartCommand command("build",
                            "Writes functions of a program as a shared object, and a header for C, "
                            "which need neither Relay nor LLVM where they run.");
  CLI::App& line = command.line();
  line.add_option("FILE", request.path,
                  "the program, which runs first: what top-level bindings have computed is part of "
                  "the object")
      ->required();
  const auto add = [&](const char* names, bool is_gradient, const char* help) {
    command.add_repeated(names, help, "a name", [&request, is_gradient](const std::string& name) {
      const ahead::Request::Entry entry{name, is_gradient};
      auto& entries = request.entries;
      if (std::find(entries.begin(), entries.end(), entry) == entries.end())
        entries.push_back(entry);
      return true;
    });
  };
  add("-f,--function", false, "a function; as often as needed (default: main)");
  add("-g,--gradient", true, "the value and gradient of a function, as NAME_gradient");
  line.add_option("-o,--output", request.output,
                  "where the object goes (default: FILE with .so, in this folder); the header is "
                  "beside it");
  command.add_repeated(
      "--size",
      "native code for these values of a dimension variable, instead of some fifty: n=1,32; as "
      "often as needed",
      "a name and extents, n=1,32",
      [&](const std::string& text) { return read_sizes(text, request); });
  command.define_run_options();
  line.footer(
      "The code is for the processor at hand; RELAY_JIT_CPU names another, such as "
      "x86-64-v3.");
  if (const auto status = command.read(count, texts)) return *status;
  if (request.entries.empty()) request.entries.push_back({"main", false});
  if (request.output.empty())
    request.output = std::filesystem::path(request.path).filename().replace_extension(".so");
  if (const auto status = command.refused(clash(request))) return *status;
  return command.carried_out([&](const auto& complain) {
    const auto say = [](const std::string& text) { repl::put_output(text + "\n"); };
    return ahead::build(request, command.session_options(), {say, complain});
  });
}
