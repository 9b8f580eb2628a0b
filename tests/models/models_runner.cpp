// Imports models and compares what the programs give with what is known of them.
//
//   models_runner FOLDER            each NAME.onnx with NAME.npz (`in_0`, …, `out_0`, …) in the
//   folder models_runner --gradients FOLDER      the same, and compares the gradient over the
//   weights with differences models_runner --damaged N FOLDER...   N damaged copies of their
//   models: each is imported or refused
//
// Exit codes: 0, 1 something differs, 77 this build reads no such models.

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "formats/formats.h"
#include "lang/sanitizer.h"
#include "models/import.h"
#include "models/typer.h"
#include "repl/session.h"

namespace {

using namespace relay;  // NOLINT: a program
namespace fs = std::filesystem;

constexpr int kSkipped = 77;
constexpr double kSlow = 20;  // seconds that one damaged file may take

// A folder that is gone at the end.
struct Folder {
  Folder() : path(fs::temp_directory_path() / fmt::format("relay_models_{}", getpid())) {
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

bool has_key(const fs::path& file, const std::string& key) {
  return formats::read_header({.path = file.string(), .key = key}).ok();
}

std::vector<lang::TensorRef> tensors_of(const fs::path& file, std::string_view prefix) {
  std::vector<lang::TensorRef> list;
  for (int k = 0; has_key(file, fmt::format("{}_{}", prefix, k)); ++k) {
    list.push_back(
        formats::read_tensor({.path = file.string(), .key = fmt::format("{}_{}", prefix, k)},
                             lang::DType::Float32, nullptr)
            .or_throw());
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
  const double tolerance = wanted.dtype() == lang::DType::Float16 ? 2e-3
                           : lang::is_float(wanted.dtype())       ? 1e-5
                                                                  : 0;
  for (std::int64_t k = 0; k < wanted.element_count(); ++k) {
    const double a = found.number_at(k);
    const double b = wanted.number_at(k);
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    if (!(std::abs(a - b) <= tolerance * (1 + std::abs(b))))
      return fmt::format("element {} is {}, not {}", k, a, b);
  }
  return {};
}

// Empty, or what is wrong.
std::string run(const fs::path& model, const fs::path& folder, bool gradients,
                interp::JitMode jit) {
  auto program = models::import_model({.path = model.string(), .params = {}, .shapes = {}});
  if (!program.ok()) return first_of(program.errors());
  const std::string path = (folder / model.stem()).string() + ".relay";
  const auto written = program.value().write(path);
  if (!written.ok()) return first_of(written.errors());
  repl::SessionOptions options;
  options.jit = jit;
  repl::Session session(options);
  const auto errors = session.run_file(path, nullptr);
  if (!errors.empty()) return first_of(errors);
  const fs::path data = fs::path(model).replace_extension(".npz");
  std::vector<std::string> arguments;
  for (int k = 0; has_key(data, fmt::format("in_{}", k)); ++k)
    arguments.push_back(fmt::format("load(\"{}\", key=\"in_{}\")", fs::absolute(data).string(), k));
  const auto value = session.evaluate(fmt::format("main({})", fmt::join(arguments, ", ")));
  if (!value.ok()) return first_of(value.errors());
  const std::vector<lang::TensorRef> wanted = tensors_of(data, "out");
  if (wanted.empty()) return "no results are known of it";
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    const lang::Value& field =
        wanted.size() == 1 ? value.value() : value.value().as_tuple().fields()[k];
    const std::string differs = difference(*field.to_tensor(), *wanted[k]);
    if (!differs.empty()) return fmt::format("result {}: {}", k, differs);
  }
  if (!gradients || !program.value().has_weights()) return {};
  arguments.insert(arguments.begin(), "w");
  const std::string call = fmt::format("model({})", fmt::join(arguments, ", "));
  const auto gradient = session.evaluate(fmt::format(
      "check_grad(fn (w) {{ sum(square({}{})) }}, weights)", call, wanted.size() > 1 ? ".0" : ""));
  return gradient.ok() ? std::string() : first_of(gradient.errors());
}

std::vector<fs::path> models_in(const std::vector<std::string>& folders) {
  std::vector<fs::path> models;
  for (const std::string& folder : folders) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() == ".onnx") models.push_back(entry.path());
    }
  }
  std::sort(models.begin(), models.end());
  return models;
}

int compare(const std::vector<fs::path>& models, bool gradients) {
  const Folder folder;
  int wrong = 0;
  for (const fs::path& model : models) {
    std::string problem = run(model, folder.path, gradients, interp::JitMode::Off);
    if (problem.empty() && gradients)
      problem = run(model, folder.path, false, interp::JitMode::Always);
    if (problem.empty()) continue;
    ++wrong;
    fmt::print("{}: {}\n", model.string(), problem);
  }
  fmt::print("{} of {} models agree\n", models.size() - static_cast<std::size_t>(wrong),
             models.size());
  return wrong == 0 ? 0 : 1;
}

std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void damage(std::string& bytes, std::mt19937& random) {
  const auto below = [&](std::size_t end) {
    return std::uniform_int_distribution<std::size_t>(0, end - 1)(random);
  };
  const std::size_t changes = 1 + below(4);
  for (std::size_t k = 0; k < changes && !bytes.empty(); ++k) {
    const std::size_t place = below(bytes.size());
    switch (below(6)) {
      case 0:
        bytes[place] = static_cast<char>(below(256));
        break;
      case 1:
        bytes[place] = static_cast<char>(bytes[place] ^ (1 << below(8)));
        break;
      case 2:
        bytes.resize(place);
        break;
      case 3:
        bytes.erase(place, 1 + below(8));
        break;
      case 4:
        bytes.insert(place, bytes.substr(below(bytes.size()), 1 + below(16)));
        break;
      default:
        bytes.insert(place, std::string(1 + below(9), static_cast<char>(0xff)));
        break;
    }
  }
}

int refuse(const std::vector<fs::path>& models, int count) {
  const Folder folder;
  std::mt19937 random(1);  // NOLINT: the same each time
  const std::string path = (folder.path / "damaged.onnx").string();
  int imported = 0;
  for (int k = 0; k < count; ++k) {
    const fs::path& model = models[static_cast<std::size_t>(k) % models.size()];
    std::string bytes = bytes_of(model);
    damage(bytes, random);
    std::ofstream(path, std::ios::binary) << bytes;
    const auto start = std::chrono::steady_clock::now();
    auto program = models::import_model({.path = path, .params = {}, .shapes = {}});
    if (program.ok()) {
      ++imported;
      const auto text = program.value().text("weights.safetensors");
      if (!text.ok()) {
        fmt::print("damaged copy {} of {}: {}\n", k, model.string(), first_of(text.errors()));
        fs::copy_file(path, fs::temp_directory_path() / "relay_damaged.onnx",
                      fs::copy_options::overwrite_existing);
        return 1;
      }
    }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    if (seconds.count() > kSlow) {
      fmt::print("damaged copy {} of {} took {:.0f} seconds\n", k, model.string(), seconds.count());
      return 1;
    }
  }
  fmt::print("{} damaged models: {} imported, {} refused\n", count, imported, count - imported);
  return 0;
}

}  // namespace

int main(int count, char** texts) {
  std::vector<std::string> arguments(texts + 1, texts + count);
  if (arguments.empty()) return 2;
  const std::string mode = arguments[0];
  int damaged = 0;
  if (mode == "--damaged") {
    damaged = std::stoi(arguments.at(1));
    arguments.erase(arguments.begin());
  }
  if (mode.starts_with("--")) arguments.erase(arguments.begin());
  const std::vector<fs::path> models = models_in(arguments);
  if (models.empty()) return 2;
  const auto first = models::import_model({.path = models[0].string(), .params = {}, .shapes = {}});
  if (!first.ok() && first.errors()[0].message.find("this build has no ONNX") != std::string::npos)
    return kSkipped;
  if (damaged == 0) return compare(models, mode == "--gradients");
    // What is asked of memory without need fails here.
#ifndef RELAY_ASAN  // which maps far more
  const rlimit limit{4UL << 30U, 4UL << 30U};
  if (setrlimit(RLIMIT_AS, &limit) != 0) return 2;
#endif
  return refuse(models, damaged);
}
