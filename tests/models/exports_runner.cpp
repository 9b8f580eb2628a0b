// Exports functions as models of ONNX, imports these, and compares what the programs give.
//
//   exports_runner FILE.relay...        every function of these files, on inputs made by its types
//   exports_runner --networks FOLDER    imported models: `main`, on the inputs of NAME.npz
//   exports_runner --complete FILE...   does each operator of the exporter's table stand in a file?
//   exports_runner --write OUT ...      as the first two, and writes each model that is exported to
//                                       OUT, with its inputs and results, for others to run
//
// Exit codes: 0, 1 something differs, 77 this build has no ONNX.

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "formats/formats.h"
#include "formats/output_file.h"
#include "models/exporter/exporter.h"
#include "models/exporter/operators.h"
#include "models/import.h"
#include "models/onnx/write_model.h"
#include "repl/session.h"

namespace {

using namespace relay;  // NOLINT: a program
namespace fs = std::filesystem;

constexpr int kSkipped = 77;
constexpr double kTolerance = 1e-6;

struct Folder {
  Folder() : path(fs::temp_directory_path() / fmt::format("relay_exports_{}", getpid())) {
    fs::create_directories(path);
  }
  ~Folder() { fs::remove_all(path); }
  fs::path path;
};

std::string first_of(const std::vector<lang::Diagnostic>& errors) {
  std::string text =
      fmt::format("{}: {}", lang::name_of(errors.front().kind), errors.front().message);
  if (errors.size() > 1) text += fmt::format(" (and {} more)", errors.size() - 1);
  return text;
}

repl::SessionOptions interpreted() {
  repl::SessionOptions options;
  options.jit = interp::JitMode::Off;
  return options;
}

// Numbers that differ, are no whole ones and lie between 0 and 1; small places; both truths.
lang::TensorRef input_of(const models::Port& port, std::size_t number) {
  std::map<std::string, std::int64_t> extents;
  std::vector<std::int64_t> shape;
  for (const models::Extent& each : *port.shape)
    shape.push_back(each.number ? *each.number : each.name == "n" ? 3 : 2);
  const auto tensor = lang::Tensor::make(*port.dtype, shape);
  const auto start = static_cast<std::int64_t>(number);
  for (std::int64_t k = 0; k < tensor->element_count(); ++k) {
    const std::int64_t mixed = (k * 37 + start * 11 + 5) % 101;
    tensor->set_bits(
        k, lang::is_float(*port.dtype)
               ? lang::bits_from_double(*port.dtype, (static_cast<double>(mixed) + 0.5) / 102.0)
               : lang::bits_from_int(*port.dtype,
                                     *port.dtype == lang::DType::Bool ? mixed % 2 : mixed % 3));
  }
  return tensor;
}

std::vector<lang::TensorRef> tensors_of(const lang::Value& value) {
  if (value.kind() != lang::ValueKind::Tuple) return {value.to_tensor()};
  std::vector<lang::TensorRef> list;
  for (const lang::Value& each : value.as_tuple().fields()) {
    const auto own = tensors_of(each);
    list.insert(list.end(), own.begin(), own.end());
  }
  return list;
}

// Empty, or what differs.
std::string difference(const lang::Tensor& found, const lang::Tensor& wanted) {
  if (found.dtype() != wanted.dtype())
    return fmt::format("dtype {}, not {}", lang::name_of(found.dtype()),
                       lang::name_of(wanted.dtype()));
  if (found.shape() != wanted.shape())
    return fmt::format("shape ({}), not ({})", fmt::join(found.shape(), ", "),
                       fmt::join(wanted.shape(), ", "));
  for (std::int64_t k = 0; k < wanted.element_count(); ++k) {
    const double a = found.number_at(k);
    const double b = wanted.number_at(k);
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    if (!(std::abs(a - b) <= kTolerance * (1 + std::abs(b))))
      return fmt::format("element {} is {}, not {}", k, a, b);
  }
  return {};
}

std::string call_of(repl::Session& session, const std::string& function,
                    const std::vector<lang::TensorRef>& inputs) {
  std::vector<std::string> names;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    names.push_back(fmt::format("in_{}", k));
    session.bind(names.back(), lang::Value::tensor(inputs[k]), lang::type_of_tensor(*inputs[k]));
  }
  return fmt::format("{}({})", function, fmt::join(names, ", "));
}

class Runner {
 public:
  explicit Runner(fs::path out) : out_(std::move(out)) {}

  // A function of a session that has read its file. `inputs`: empty, they are made.
  void compare(repl::Session& session, const std::string& function, const std::string& title,
               std::vector<lang::TensorRef> inputs) {
    ++count_;
    const std::string problem = run(session, function, title, std::move(inputs));
    if (problem.empty()) return;
    ++wrong_;
    fmt::print("{}: {}\n", title, problem);
  }
  int finish() const {
    fmt::print("{} of {} functions agree\n", count_ - wrong_, count_);
    return wrong_ == 0 && count_ > 0 ? 0 : 1;
  }
  const fs::path& folder() const { return folder_.path; }

 private:
  std::string run(repl::Session& session, const std::string& function, const std::string& title,
                  std::vector<lang::TensorRef> inputs) {
    const auto model = models::exporter::export_function(session, function, title);
    if (!model.ok()) return first_of(model.errors());
    const auto& ports = model.value().graph.inputs;
    for (std::size_t k = inputs.size(); k < ports.size(); ++k)
      inputs.push_back(input_of(ports[k], k));
    const auto wanted = session.evaluate(call_of(session, function, inputs));
    if (!wanted.ok()) return first_of(wanted.errors());
    const auto results = tensors_of(wanted.value());
    const auto bytes = models::onnx::write_model(model.value());
    if (!bytes.ok()) return first_of(bytes.errors());
    const fs::path path = folder_.path / (title + ".onnx");
    formats::write_whole(path.string(), bytes.value());
    if (!out_.empty()) write(path, title, inputs, results);

    auto program = models::import_model({.path = path.string(), .params = {}, .shapes = {}});
    if (!program.ok()) return first_of(program.errors());
    const std::string text = (folder_.path / title).string() + ".relay";
    const auto written = program.value().write(text);
    if (!written.ok()) return first_of(written.errors());
    repl::Session again(interpreted());
    const auto errors = again.run_file(text, nullptr);
    if (!errors.empty()) return first_of(errors);
    const auto value = again.evaluate(call_of(again, "main", inputs));
    if (!value.ok()) return first_of(value.errors());
    const auto found = tensors_of(value.value());
    if (found.size() != results.size())
      return fmt::format("{} results, not {}", found.size(), results.size());
    for (std::size_t k = 0; k < results.size(); ++k) {
      const std::string differs = difference(*found[k], *results[k]);
      if (!differs.empty()) return fmt::format("result {}: {}", k, differs);
    }
    return {};
  }
  void write(const fs::path& model, const std::string& title,
             const std::vector<lang::TensorRef>& inputs,
             const std::vector<lang::TensorRef>& results) const {
    std::vector<formats::NamedTensor> tensors;
    for (const auto& each : inputs) tensors.push_back({fmt::format("in_{}", tensors.size()), each});
    for (std::size_t k = 0; k < results.size(); ++k)
      tensors.push_back({fmt::format("out_{}", k), results[k]});
    formats::write_tensors({.path = (out_ / (title + ".npz")).string()}, tensors, nullptr)
        .or_throw();
    fs::copy_file(model, out_ / (title + ".onnx"), fs::copy_options::overwrite_existing);
  }

  const fs::path out_;
  const Folder folder_;
  int count_ = 0;
  int wrong_ = 0;
};

bool compare_files(Runner& runner, const std::vector<std::string>& paths) {
  bool is_read = true;
  for (const std::string& path : paths) {
    repl::Session session(interpreted());
    const auto errors = session.run_file(path, nullptr);
    if (!errors.empty()) {
      fmt::print("{}: {}\n", path, first_of(errors));
      is_read = false;
      continue;
    }
    std::vector<std::string> functions;
    for (const lang::Definition* each : session.module().definitions()) {
      const bool is_case = each->function && each->origin == lang::Origin::Own &&
                           !each->name.starts_with("helper") && each->instance_of.empty();
      if (is_case) functions.push_back(each->name);
    }
    for (const std::string& each : functions)
      runner.compare(session, each, fs::path(path).stem().string() + "." + each, {});
  }
  return is_read;
}

void compare_networks(Runner& runner, const std::string& folder) {
  std::vector<fs::path> models;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".onnx") models.push_back(entry.path());
  }
  std::sort(models.begin(), models.end());
  for (const fs::path& model : models) {
    const auto program = models::import_model({.path = model.string(), .params = {}, .shapes = {}});
    const std::string text = (runner.folder() / model.stem()).string() + ".relay";
    repl::Session session(interpreted());
    if (program.ok() && program.value().write(text).ok()) session.run_file(text, nullptr);
    const fs::path data = fs::path(model).replace_extension(".npz");
    std::vector<lang::TensorRef> inputs;
    for (int k = 0;; ++k) {
      const formats::Location place{.path = data.string(), .key = fmt::format("in_{}", k)};
      if (!formats::read_header(place).ok()) break;
      inputs.push_back(formats::read_tensor(place, lang::DType::Float32, nullptr).or_throw());
    }
    runner.compare(session, "main", "again_" + model.stem().string(), std::move(inputs));
  }
}

// Operators that no file calls by their names.
int complete(const std::vector<std::string>& paths) {
  std::string text;
  for (const std::string& path : paths) {
    std::ifstream file(path);
    text += std::string(std::istreambuf_iterator<char>(file), {}) + "\n";
  }
  int missing = 0;
  for (const models::exporter::Operator* each : models::exporter::operators()) {
    const std::string call = std::string(each->name) + "(";
    bool is_called = false;
    for (std::size_t at = text.find(call); at != std::string::npos; at = text.find(call, at + 1)) {
      const char before = at == 0 ? ' ' : text[at - 1];
      is_called = is_called || (std::isalnum(static_cast<unsigned char>(before)) == 0 &&
                                before != '_' && before != '.');
    }
    if (is_called) continue;
    ++missing;
    fmt::print("no function calls `{}`\n", each->name);
  }
  return missing == 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** texts) {
  std::vector<std::string> arguments(texts + 1, texts + count);
  fs::path out;
  if (arguments.size() > 1 && arguments[0] == "--write") {
    out = arguments[1];
    arguments.erase(arguments.begin(), arguments.begin() + 2);
  }
  if (arguments.empty()) return 2;
  if (arguments[0] == "--complete") return complete({arguments.begin() + 1, arguments.end()});
  if (!models::onnx::has_onnx()) return kSkipped;
  Runner runner(out);
  bool is_read = true;
  if (arguments[0] == "--networks" && arguments.size() > 1) {
    compare_networks(runner, arguments[1]);
    arguments.erase(arguments.begin(), arguments.begin() + 2);
  }
  if (!arguments.empty()) is_read = compare_files(runner, arguments);
  const int result = runner.finish();
  return is_read ? result : 1;
}
