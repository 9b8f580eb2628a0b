#include "external/plugin.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "external/graph_view.h"
#include "lang/diagnostic.h"
#include "lang/memory.h"
#include "lang/utf8.h"

namespace relay::external {

using lang::Diagnostic;
using lang::DiagnosticKind;

namespace {

// Where a plug-in writes why.
class Reason {
 public:
  char* data() { return text_.data(); }
  static constexpr std::size_t size() { return kSize; }
  std::string text(const char* otherwise) const {
    const std::string found(text_.data(), strnlen(text_.data(), kSize));
    return found.empty() ? otherwise : lang::printable_line(found);
  }

 private:
  static constexpr std::size_t kSize = 1024;
  std::array<char, kSize> text_{};
};

std::string extents(const std::int64_t* shape, std::int32_t rank) {
  return fmt::format("({})", fmt::join(shape, shape + rank, ", "));
}

bool same(DLDataType a, DLDataType b) {
  return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}

// The memory of a result, and some behind it that nobody may write.
class GuardedMemory {
 public:
  explicit GuardedMemory(std::size_t bytes)
      : bytes_(bytes), buffer_(lang::Buffer::allocate(bytes + kGuard)) {
    std::memset(buffer_->data() + bytes_, kMark, kGuard);
  }
  std::byte* data() const { return buffer_->data(); }
  bool is_whole() const {
    return std::all_of(buffer_->data() + bytes_, buffer_->data() + bytes_ + kGuard,
                       [](std::byte each) { return each == std::byte{kMark}; });
  }

 private:
  static constexpr std::size_t kGuard = 256;
  static constexpr unsigned char kMark = 0xA5;
  std::size_t bytes_;
  lang::Ref<lang::Buffer> buffer_;
};

std::size_t bytes_of(const lang::Tensor& tensor) {
  return static_cast<std::size_t>(tensor.element_count()) * lang::size_of(tensor.dtype());
}

class PluginCode final : public lang::ExternalCode {
 public:
  PluginCode(const RelayCodegen& generator, void* code) : generator_(generator), code_(code) {}
  ~PluginCode() override { generator_.release(code_); }
  PluginCode(const PluginCode&) = delete;
  PluginCode& operator=(const PluginCode&) = delete;

  // Does the code write what the graph's type says? Empty if so.
  std::string check(const lang::ExternalGraph& graph) {
    for (std::size_t i = 0; i < graph.results.size(); ++i) {
      lang::ExternalType wanted = graph.type_of(graph.results[i]);
      const DLTensor type = dl_tensor(wanted.dtype, wanted.shape);
      DLTensor told{};
      if (generator_.result_type(code_, static_cast<std::int32_t>(i), &told) != 0)
        return fmt::format("it does not say what result {} is", i);
      const bool is_shape = told.ndim >= 0 && (told.ndim == 0 || told.shape);
      if (!is_shape) return fmt::format("what it says of result {} is no shape", i);
      if (told.ndim != type.ndim || !std::equal(told.shape, told.shape + told.ndim, type.shape)) {
        return fmt::format("it says that result {} has the shape `{}`, and the type is `{}`", i,
                           extents(told.shape, told.ndim), extents(type.shape, type.ndim));
      }
      if (!same(told.dtype, type.dtype)) {
        return fmt::format("it says that result {} has another dtype than `{}`", i,
                           lang::name_of(wanted.dtype));
      }
    }
    return {};
  }

  std::string run(std::span<const lang::TensorRef> args, std::span<const lang::TensorRef> results,
                  int /*threads*/) override {
    Tensors given = tensors_of(args);
    Tensors made = tensors_of(results);
    std::vector<GuardedMemory> memory;
    memory.reserve(results.size());
    for (std::size_t i = 0; i < results.size(); ++i) {
      memory.emplace_back(bytes_of(*results[i]));
      made.list[i].data = memory[i].data();
    }
    Reason reason;
    const int status = generator_.run(
        code_, given.list.data(), static_cast<std::int32_t>(args.size()), made.list.data(),
        static_cast<std::int32_t>(results.size()), reason.data(), Reason::size());
    if (status != 0) return reason.text("it has failed, and does not say why");
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (!memory[i].is_whole()) {
        return fmt::format("it has written more than the `{}` elements of result {}",
                           results[i]->element_count(), i);
      }
      if (made.shapes[i] != results[i]->shape() || made.list[i].data != memory[i].data())
        return fmt::format("it has changed the shape or the place of result {}", i);
      std::memcpy(results[i]->data(), memory[i].data(), bytes_of(*results[i]));
    }
    return {};
  }

 private:
  struct Tensors {
    std::vector<std::vector<std::int64_t>> shapes;
    std::vector<DLTensor> list;
  };
  static Tensors tensors_of(std::span<const lang::TensorRef> tensors) {
    Tensors made;
    made.shapes.reserve(tensors.size());
    for (const lang::TensorRef& tensor : tensors) {
      made.shapes.push_back(tensor->shape());
      made.list.push_back(dl_tensor(tensor->dtype(), made.shapes.back()));
      made.list.back().data = tensor->data();
    }
    return made;
  }

  const RelayCodegen& generator_;
  void* code_;
};

class PluginCompiler final : public lang::ExternalCompiler {
 public:
  PluginCompiler(const RelayCodegen& generator, std::string path)
      : generator_(generator), path_(std::move(path)) {}

  std::string name() const override { return generator_.name; }
  std::string origin() const override { return fmt::format("the plug-in `{}`", path_); }

  std::string refusal(const lang::ExternalGraph& graph) override {
    const GraphView view(graph);
    Reason why;
    if (generator_.supports(view.get(), why.data(), Reason::size()) != 0) return {};
    return why.text("it does not say why");
  }

  std::vector<lang::CompositePattern> composites() override {
    std::vector<lang::CompositePattern> made;
    for (std::int32_t i = 0; i < generator_.pattern_count; ++i)
      made.push_back({generator_.patterns[i].name, generator_.patterns[i].pattern});
    return made;
  }

  Made compile(const lang::ExternalGraph& graph) override {
    const GraphView view(graph);
    Reason reason;
    void* const code = generator_.compile(view.get(), reason.data(), Reason::size());
    if (!code) return {nullptr, reason.text("it has failed, and does not say why")};
    auto made = std::make_unique<PluginCode>(generator_, code);
    std::string wrong = made->check(graph);
    if (!wrong.empty()) return {nullptr, std::move(wrong)};
    return {std::move(made), {}};
  }

 private:
  const RelayCodegen& generator_;
  std::string path_;
};

[[noreturn]] void refuse(const std::string& path, const std::string& what) {
  Diagnostic diagnostic(DiagnosticKind::BadCompiler,
                        fmt::format("the plug-in `{}` {}", path, what));
  diagnostic.note(
      "note: what a plug-in has to be is in include/relay_codegen.h, and in docs/byoc.md");
  throw lang::Failure(std::move(diagnostic));
}

// What is missing in the structure, or wrong; empty if nothing is.
std::string fault_of(const RelayCodegen& generator) {
  if (!generator.name || *generator.name == 0) return "has no name";
  const std::string_view name(generator.name);
  const bool is_word = std::all_of(name.begin(), name.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  });
  if (!is_word) return "has a name that is no word of letters, digits and `_`";
  if (name == lang::kNoCompiler)
    return fmt::format("is called `{}`, which is the name of what no compiler takes", name);
  if (!generator.supports) return "has no function `supports`";
  if (!generator.compile) return "has no function `compile`";
  if (!generator.result_type) return "has no function `result_type`";
  if (!generator.run) return "has no function `run`";
  if (!generator.release) return "has no function `release`";
  if (generator.pattern_count < 0 || (generator.pattern_count > 0 && !generator.patterns))
    return "has no patterns where it says that it has";
  for (std::int32_t i = 0; i < generator.pattern_count; ++i) {
    if (!generator.patterns[i].name || !generator.patterns[i].pattern)
      return fmt::format("has no name or no text of pattern {}", i);
    if (!std::string_view(generator.patterns[i].name).starts_with(std::string(name) + "."))
      return fmt::format("has a pattern `{}`, whose name does not begin with `{}.`",
                         lang::printable_line(generator.patterns[i].name), name);
  }
  return {};
}

}  // namespace

std::unique_ptr<lang::ExternalCompiler> load_plugin(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::is_regular_file(path, error))
    lang::fail(DiagnosticKind::FileError, fmt::format("there is no plug-in `{}`", path));
  // A name without a slash would be looked for in the folders of the system.
  const std::string file = path.find('/') == std::string::npos ? "./" + path : path;
  const lang::Unfailing loading;
  void* const object = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!object) {
    const char* const why = dlerror();
    lang::fail(DiagnosticKind::FileError,
               fmt::format("the plug-in `{}` does not load: {}", path, why ? why : "?"));
  }
  const auto entry = reinterpret_cast<RelayCodegenEntry>(dlsym(object, "relay_codegen"));
  if (!entry) refuse(path, "has no function `relay_codegen`");
  const RelayCodegen* const generator = entry(RELAY_CODEGEN_VERSION);
  if (!generator) {
    refuse(path, fmt::format("does not know version {} of the interface", RELAY_CODEGEN_VERSION));
  }
  if (generator->version != RELAY_CODEGEN_VERSION) {
    refuse(path, fmt::format("was made for version {} of the interface, and this is version {}",
                             generator->version, RELAY_CODEGEN_VERSION));
  }
  const std::string fault = fault_of(*generator);
  if (!fault.empty()) refuse(path, fault);
  return std::make_unique<PluginCompiler>(*generator, path);
}

}  // namespace relay::external
