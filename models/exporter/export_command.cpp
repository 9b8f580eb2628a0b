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
#include "repl/session.h"

namespace relay::models {

namespace {

struct ExportRequest {
  std::string path;
  std::string function = "main";
  std::string output;
};

bool export_program(const ExportRequest& request, repl::SessionOptions options,
                    const repl::PartCommand::Complain& complain) {
  const auto failed = [&](const std::vector<lang::Diagnostic>& errors) {
    complain(errors);
    return false;
  };
  // Before a program runs for nothing.
  if (!onnx::has_onnx()) return failed(onnx::write_model({}).errors());
  repl::Session session(std::move(options));
  const auto errors = session.run_file(request.path, nullptr);
  if (!errors.empty()) return failed(errors);
  const auto model = exporter::export_function(session, request.function, request.path);
  if (!model.ok()) return failed(model.errors());
  const auto bytes = onnx::write_model(model.value());
  if (!bytes.ok()) return failed(bytes.errors());
  const auto written = lang::capture([&] {
    formats::write_whole(request.output, bytes.value());
    return true;
  });
  return written.ok() || failed(written.errors());
}

}  // namespace

int run_export(int count, char** texts) {
  ExportRequest request;
  repl::PartCommand command("export",
                            "Writes a function of a program as a model of ONNX (opset 17), with "
                            "the weights that it uses.");
  CLI::App& line = command.line();
  line.add_option("FILE", request.path,
                  "the program, which runs first, so that its top-level bindings have their values")
      ->required();
  line.add_option("-f,--function", request.function, "which function (default: main)");
  line.add_option("-o,--output", request.output,
                  "where the model goes (default: FILE with .onnx, in this folder)");
  command.define_run_options();
  if (const auto status = command.read(count, texts)) return *status;
  if (request.output.empty())
    request.output = std::filesystem::path(request.path).filename().replace_extension(".onnx");
  if (const auto status = command.refused(repl::written_over(request.output, request.path)))
    return *status;
  return command.carried_out([&](const auto& complain) {
    return export_program(request, command.session_options(), complain);
  });
}

}  // namespace relay::models
