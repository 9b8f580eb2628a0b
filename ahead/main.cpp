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
#include "repl/search_path.h"

namespace {

using namespace relay;  // NOLINT: the program's own file

constexpr repl::PartCommand kBuild = {
    "build",
    "relay build FILE.relay -f NAME... [-g NAME]... [-o OUT.so] [--size n=1,32]... [-I DIR]...\n",
    "\nRuns a program and writes functions of it as a shared object, and a header for C, which "
    "need\n"
    "neither Relay nor LLVM where they run. What top-level `let`s have computed is part of it.\n\n"
    "  -f NAME             a function\n"
    "  -g NAME             the value and the gradient of a function, as NAME_gradient\n"
    "  -o,--output FILE    the shared object; without it FILE with .so, in this folder\n"
    "  --size NAME=N,...   the extents of a dimension variable for which native code is made,\n"
    "                      instead of some fifty\n"
    "  -I DIR              a folder where imports are looked for, too; `RELAY_PATH` may list more\n"
    "  -h,--help           this\n\n"
    "The code is for the processor at hand; RELAY_JIT_CPU names another, such as x86-64-v3.\n"};

struct CommandLine {
  ahead::Request request;
  bool wants_help = false;
};

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

// Empty, or what is wrong.
std::string read_arguments(int count, char** texts, CommandLine& line) {
  ahead::Request& request = line.request;
  for (int k = 1; k < count; ++k) {
    const std::string_view argument = texts[k];
    const bool has_value = argument == "-f" || argument == "-g" || argument == "-o" ||
                           argument == "--output" || argument == "--size" || argument == "-I";
    if (argument == "-h" || argument == "--help") {
      line.wants_help = true;
    } else if (has_value) {
      if (++k == count) return fmt::format("`{}` needs a value", argument);
      if (argument == "-f" || argument == "-g") {
        const ahead::Request::Entry entry{texts[k], argument == "-g"};
        auto& entries = request.entries;
        if (std::find(entries.begin(), entries.end(), entry) == entries.end())
          entries.push_back(entry);
      } else if (argument == "-I") {
        request.search_path.emplace_back(texts[k]);
      } else if (argument != "--size") {
        request.output = texts[k];
      } else if (!read_sizes(texts[k], request)) {
        return fmt::format("`--size` takes a name and extents, `n=1,32`, not `{}`", texts[k]);
      }
    } else if (argument.size() > 1 && argument.front() == '-') {
      return fmt::format("there is no option `{}`", argument);
    } else if (!request.path.empty()) {
      return fmt::format("one program at a time: `{}` and `{}`", request.path, argument);
    } else {
      request.path = argument;
    }
  }
  if (line.wants_help) return {};
  if (request.path.empty()) return "which program?";
  if (request.entries.empty()) return "which function? (-f NAME)";
  return {};
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
  CommandLine line;
  ahead::Request& request = line.request;
  const std::string wrong = read_arguments(count, texts, line);
  if (const auto status = repl::answered(kBuild, wrong, line.wants_help)) return *status;
  request.search_path = repl::with_usual_folders(std::move(request.search_path));
  if (request.output.empty())
    request.output = std::filesystem::path(request.path).filename().replace_extension(".so");
  if (const auto status = repl::refused(kBuild, clash(request))) return *status;
  return repl::carried_out([&](const repl::Complain& complain) {
    const auto say = [](const std::string& text) { repl::put_output(text + "\n"); };
    return ahead::build(request, {say, complain});
  });
}
