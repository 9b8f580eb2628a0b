#include "interp/compiling.h"

#include <chrono>
#include <optional>
#include <utility>

#include "interp/perf_map.h"
#include "interp/runtime_functions.h"
#include "lang/diagnostic.h"
#include "lang/memory.h"

namespace relay::interp {

namespace {

void check_there(bool is_there) {
  if (!is_there) {
    lang::fail(lang::DiagnosticKind::Unsupported,
               "not supported: this program was built without the JIT");
  }
}

void load_kernel(const lang::CodeImage& image, int number, KernelCode& code) {
  const lang::CodeImage::Function* const kernel = image.find(loops::kKernelSymbol);
  if (!kernel) return;
  code.memory = LoadedCode::load(image, runtime_function);
  if (!code.memory) return;
  const std::byte* const address = code.memory->address(*kernel);
  code.function = reinterpret_cast<loops::KernelFunction>(address);
  note_code("relay:kernel" + std::to_string(number), address, kernel->size);
}

}  // namespace

// Does work that knows no exceptions, and gives the seconds it took.
template <class Work>
double Compiling::timed(const Work& work) {
  const lang::Unfailing compiling;  // LLVM cannot be told that there is no memory
  const auto start = std::chrono::steady_clock::now();
  work();
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  seconds_ += seconds;
  return seconds;
}

struct Compiling::Wanted {
  std::string symbol;
  std::string entry;  // empty: it is local
  std::string name;   // for `perf`
};

// On the queue's thread, or while nothing goes on there.
void Compiling::load_kernels() {
  if (!has_tried_kernels_ && makers_.kernels) kernel_compiler_ = makers_.kernels();
  has_tried_kernels_ = true;
}

// Of the store, or else of the compiler, which is loaded only then.
std::optional<lang::CodeImage> Compiling::image_of(const loops::Kernel& kernel) {
  if (!std::exchange(has_tried_store_, true) && makers_.store) store_ = makers_.store();
  const std::string key = store_ ? loops::structural_key(kernel) : "";
  if (store_) {
    if (auto known = store_->find(key)) return known;
  }
  load_kernels();
  auto image = kernel_compiler_ ? kernel_compiler_->compile(kernel) : std::nullopt;
  if (image && store_) store_->add(key, *image);
  return image;
}

std::shared_ptr<const KernelCode> Compiling::code_of(const loops::Kernel& kernel) {
  const lang::Unfailing asking;  // what waits for the queue needs it to be in order
  std::shared_ptr<KernelCode>& code = kernels_[loops::structural_key(kernel)];
  if (code) return code;
  code = std::make_shared<KernelCode>();
  code->ticket = queue_.add([this, code, kernel] {
    timed([&] {
      if (const auto image = image_of(kernel)) load_kernel(*image, kernels_made_++, *code);
    });
  });
  return code;
}

WorkQueue::Ticket Compiling::load_functions() {
  const lang::Unfailing asking;
  if (functions_loaded_ == 0) {
    functions_loaded_ = queue_.add([this] {
      timed([this] {
        if (makers_.functions) function_compiler_ = makers_.functions();
      });
    });
  }
  return functions_loaded_;
}

bool Compiling::has_loaded_functions() const {
  return functions_loaded_ != 0 && queue_.is_done(functions_loaded_);
}

flow::FunctionCompiler* Compiling::functions() const {
  return has_loaded_functions() ? function_compiler_.get() : nullptr;
}

std::shared_ptr<const FunctionsCode> Compiling::code_of(
    std::span<flow::Function* const> functions) {
  const lang::Unfailing asking;
  auto code = std::make_shared<FunctionsCode>();
  std::shared_ptr<flow::Compilation> compilation;
  code->seconds = timed([&] { compilation = function_compiler_->begin(functions); });
  code->codes.resize(functions.size());
  std::vector<Wanted> wanted;
  for (const flow::Function* function : functions) {
    wanted.push_back({function->symbol, function->is_local ? "" : flow::entry_symbol(*function),
                      "relay:" + (function->name.empty() ? "fn" : function->name)});
  }
  code->ticket = queue_.add([this, code, compilation, wanted = std::move(wanted)] {
    code->seconds += timed([&] {
      if (const auto image = compilation->run(code->problem)) load(*image, wanted, *code);
    });
  });
  return code;
}

// Code of functions may call functions that came before.
void Compiling::load(const lang::CodeImage& image, std::span<const Wanted> wanted,
                     FunctionsCode& code) {
  code.memory = LoadedCode::load(image, [this](const std::string& name) {
    const auto known = function_addresses_.find(name);
    return known != function_addresses_.end() ? known->second : runtime_function(name);
  });
  if (!code.memory) return;
  const auto found = [&](const std::string& symbol, const std::string& name, std::size_t& size) {
    const lang::CodeImage::Function* const function = image.find(symbol);
    if (!function) return static_cast<const std::byte*>(nullptr);
    size += function->size;
    note_code(name, code.memory->address(*function), function->size);
    return code.memory->address(*function);
  };
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto& [symbol, entry, name] = wanted[i];
    FunctionsCode::Code& each = code.codes[i];
    if (const std::byte* const address = found(symbol, name, each.size))
      function_addresses_[symbol] = address;
    if (!entry.empty())
      each.entry = reinterpret_cast<flow::Entry>(found(entry, name + ".entry", each.size));
  }
}

std::string Compiling::dump(const loops::Kernel& kernel, const std::string& stage) {
  settle(lang::poll);
  load_kernels();
  check_there(kernel_compiler_ != nullptr);
  return kernel_compiler_->dump(kernel, stage);
}

std::string Compiling::dump(std::span<flow::Function* const> functions, const std::string& stage) {
  load_functions();
  settle(lang::poll);
  check_there(function_compiler_ != nullptr);
  return function_compiler_->dump(functions, stage);
}

}  // namespace relay::interp
