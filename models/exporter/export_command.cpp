// `relay export FILE.relay -f NAME`: a function as a model of ONNX.
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "formats/output_file.h"
#include "models/commands.h"
#include "models/exporter/exporter.h"
#include "models/onnx/write_model.h"
#include "repl/part_command.h"
#include "repl/search_path.h"
#include "repl/session.h"

namespace relay::models {

namespace {

constexpr repl::PartCommand kExport = {
    "export", "relay export FILE.relay [-f NAME] [-o OUT.onnx] [-I DIR]...\n",
    "\nWrites a function of a program as a model of ONNX (opset 17), with the weights that it "
    "uses.\n"
    "The program runs first, so that its top-level bindings have their values.\n\n"
    "  -f,--function NAME  which function; without it `main`\n"
    "  -o,--output FILE    where the model goes; without it FILE with .onnx, in this folder\n"
    "  -I DIR              a folder where imports are looked for, too; `RELAY_PATH` may list more\n"
    "  -h,--help           this\n"};

struct ExportLine {
  std::string path;
  std::string function = "main";
  std::string output;
  std::vector<std::string> search_path;
  bool wants_help = false;
};

// Empty, or what is wrong.
std::string read_export_line(int count, char** texts, ExportLine& line) {
  for (int k = 1; k < count; ++k) {
    const std::string_view argument = texts[k];
    const bool is_function = argument == "-f" || argument == "--function";
    if (argument == "-h" || argument == "--help") {
      line.wants_help = true;
    } else if (is_function || argument == "-o" || argument == "--output") {
      if (++k == count) return fmt::format("`{}` needs a value", argument);
      (is_function ? line.function : line.output) = texts[k];
    } else if (argument == "-I") {
      if (++k == count) return fmt::format("`{}` needs a value", argument);
      line.search_path.emplace_back(texts[k]);
    } else if (argument.size() > 1 && argument.front() == '-') {
      return fmt::format("there is no option `{}`", argument);
    } else if (!line.path.empty()) {
      return fmt::format("one program at a time: `{}` and `{}`", line.path, argument);
    } else {
      line.path = argument;
    }
  }
  if (line.path.empty() && !line.wants_help) return "which program?";
  return {};
}

bool export_program(const ExportLine& line, const repl::Complain& complain) {
  const auto failed = [&](const std::vector<lang::Diagnostic>& errors) {
    complain(errors);
    return false;
  };
  // Before a program runs for nothing.
  if (!onnx::has_onnx()) return failed(onnx::write_model({}).errors());
  repl::SessionOptions options;
  options.search_path = repl::with_usual_folders(line.search_path);
  repl::Session session(std::move(options));
  const auto errors = session.run_file(line.path, nullptr);
  if (!errors.empty()) return failed(errors);
  const auto model = exporter::export_function(session, line.function);
  if (!model.ok()) return failed(model.errors());
  const auto bytes = onnx::write_model(model.value());
  if (!bytes.ok()) return failed(bytes.errors());
  const auto written = lang::capture([&] {
    formats::write_whole(line.output, bytes.value());
    return true;
  });
  return written.ok() || failed(written.errors());
}

}  // namespace

int run_export(int count, char** texts) {
  ExportLine line;
  const std::string wrong = read_export_line(count, texts, line);
  if (const auto status = repl::answered(kExport, wrong, line.wants_help)) return *status;
  if (line.output.empty())
    line.output = std::filesystem::path(line.path).filename().replace_extension(".onnx");
  if (const auto status = repl::refused(kExport, repl::written_over(line.output, line.path)))
    return *status;
  return repl::carried_out(
      [&](const repl::Complain& complain) { return export_program(line, complain); });
}

}  // namespace relay::models
