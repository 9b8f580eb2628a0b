// `relay import FILE`: a model of another framework as a program.
#include <charconv>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "models/commands.h"
#include "models/import.h"
#include "models/typer.h"
#include "repl/part_command.h"

namespace relay::models {

namespace {

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

// Empty, or what would be written over.
std::string clash(const Request& request, const std::string& output) {
  const std::string weights = Program::weights_path(output);
  if (weights == output)
    return fmt::format("`{}` is where the weights go: the program needs another name", weights);
  for (const std::string& written : {output, weights}) {
    for (const std::string& read : {request.path, request.params}) {
      std::string why = repl::written_over(written, read);
      if (!why.empty()) return why;
    }
  }
  return {};
}

bool import(const Request& request, const std::string& output,
            const repl::PartCommand::Complain& complain) {
  const auto failed = [&](const std::vector<lang::Diagnostic>& errors) {
    complain(errors);
    return false;
  };
  const auto program = import_model(request);
  if (!program.ok()) return failed(program.errors());
  const auto written = program.value().write(output);
  if (!written.ok()) return failed(written.errors());
  const auto errors = Typer::check(output);
  return errors.empty() || failed(errors);
}

}  // namespace

int run_import(int count, char** texts) {
  Request request;
  std::string output;
  repl::PartCommand command(
      "import",
      "Writes a model of another framework as a program, and its weights in a .safetensors file "
      "beside it.");
  CLI::App& line = command.line();
  line.add_option("FILE", request.path, "the model: ONNX, NNVM or MXNet, as is seen from the file")
      ->required();
  line.add_option("-o,--output", output,
                  "where the program goes (default: FILE with .relay, in this folder)");
  command.add_repeated(
      "--shape",
      "the extents of an input, numbers or names of dimensions: x=1,3,n; as often as needed",
      "a name and extents, x=1,3,n",
      [&](const std::string& text) { return read_shape(text, request); });
  line.add_option("--params", request.params,
                  "the weights, where the format has them in a file of their own");
  if (const auto status = command.read(count, texts)) return *status;
  if (output.empty())
    output = std::filesystem::path(request.path).filename().replace_extension(".relay");
  if (const auto status = command.refused(clash(request, output))) return *status;
  return command.carried_out(
      [&](const auto& complain) { return import(request, output, complain); });
}

}  // namespace relay::models
