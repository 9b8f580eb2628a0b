// `relay import FILE`: a model of another framework as a program.
#include <charconv>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "models/commands.h"
#include "models/import.h"
#include "models/typer.h"
#include "repl/part_command.h"

namespace relay::models {

namespace {

constexpr repl::PartCommand kImport = {
    "import", "relay import FILE [-o OUT.relay] [--shape NAME=1,3,n]... [--params FILE]\n",
    "\nWrites a model of another framework as a program, and its weights in a .safetensors file\n"
    "beside it. What the model is (ONNX, NNVM, MXNet) is seen from the file.\n\n"
    "  -o,--output FILE    where the program goes; without it FILE with .relay, in this folder\n"
    "  --shape NAME=...    the extents of an input, numbers or names of dimensions\n"
    "  --params FILE       the weights, where the format has them in a file of their own\n"
    "  -h,--help           this\n"};

struct CommandLine {
  Request request;
  std::string output;
  bool wants_help = false;
};

// `x=1,3,n`. False: it is none.
bool read_shape(std::string_view text, Request& request) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string_view::npos || equals == 0) return false;
  std::vector<Extent> shape;
  std::string_view rest = text.substr(equals + 1);
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    const std::string_view one = rest.substr(0, comma);
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(one.data(), one.data() + one.size(), number);
    if (one.empty()) return false;
    if (error == std::errc() && end == one.data() + one.size()) {
      if (number < 0) return false;
      shape.push_back({number, {}});
    } else if ((one.front() >= '0' && one.front() <= '9') || one.front() == '-') {
      return false;
    } else {
      shape.push_back({std::nullopt, std::string(one)});
    }
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
  request.shapes[std::string(text.substr(0, equals))] = std::move(shape);
  return true;
}

// Empty, or what is wrong.
std::string read_arguments(int count, char** texts, CommandLine& line) {
  for (int k = 1; k < count; ++k) {
    const std::string_view argument = texts[k];
    const bool has_value = argument == "-o" || argument == "--output" || argument == "--shape" ||
                           argument == "--params";
    if (argument == "-h" || argument == "--help") {
      line.wants_help = true;
    } else if (has_value) {
      if (++k == count) return fmt::format("`{}` needs a value", argument);
      if (argument == "--params") {
        line.request.params = texts[k];
      } else if (argument != "--shape") {
        line.output = texts[k];
      } else if (!read_shape(texts[k], line.request)) {
        return fmt::format("`--shape` takes a name and extents, `x=1,3,n`, not `{}`", texts[k]);
      }
    } else if (argument.size() > 1 && argument.front() == '-') {
      return fmt::format("there is no option `{}`", argument);
    } else if (!line.request.path.empty()) {
      return fmt::format("one model at a time: `{}` and `{}`", line.request.path, argument);
    } else {
      line.request.path = argument;
    }
  }
  if (line.request.path.empty() && !line.wants_help) return "which model?";
  return {};
}

// Empty, or what would be written over.
std::string clash(const CommandLine& line) {
  const std::string weights = Program::weights_path(line.output);
  if (weights == line.output)
    return fmt::format("`{}` is where the weights go: the program needs another name", weights);
  for (const std::string& written : {line.output, weights}) {
    for (const std::string& read : {line.request.path, line.request.params}) {
      std::string why = repl::written_over(written, read);
      if (!why.empty()) return why;
    }
  }
  return {};
}

bool import(const CommandLine& line, const repl::Complain& complain) {
  const auto failed = [&](const std::vector<lang::Diagnostic>& errors) {
    complain(errors);
    return false;
  };
  const auto program = import_model(line.request);
  if (!program.ok()) return failed(program.errors());
  const auto written = program.value().write(line.output);
  if (!written.ok()) return failed(written.errors());
  const auto errors = Typer::check(line.output);
  return errors.empty() || failed(errors);
}

}  // namespace

int run_import(int count, char** texts) {
  CommandLine line;
  const std::string wrong = read_arguments(count, texts, line);
  if (const auto status = repl::answered(kImport, wrong, line.wants_help)) return *status;
  if (line.output.empty())
    line.output = std::filesystem::path(line.request.path).filename().replace_extension(".relay");
  if (const auto status = repl::refused(kImport, clash(line))) return *status;
  return repl::carried_out([&](const repl::Complain& complain) { return import(line, complain); });
}

}  // namespace relay::models
