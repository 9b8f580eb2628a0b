#include "interp/compiling.h"

#include <charconv>
#include <chrono>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "flow/layout.h"
#include "interp/code_symbols.h"
#include "interp/native.h"
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
  struct Function {
    const flow::Function* function;  // not read
    std::string symbol;
    std::string entry;  // empty: it is local
    std::string name;   // for `perf`
  };
  std::vector<Function> functions;
  flow::Identity identity;
};

CodeStore* Compiling::store() {
  std::call_once(opening_store_, [this] {
    if (makers_.store) store_ = makers_.store();
  });
  return store_.get();
}

// On the queue's thread, or while nothing goes on there.
void Compiling::load_kernels() {
  if (!has_tried_kernels_ && makers_.kernels) kernel_compiler_ = makers_.kernels();
  has_tried_kernels_ = true;
}

// Of the store, or else of the compiler, which is loaded only then.
std::optional<lang::CodeImage> Compiling::image_of(const loops::Kernel& kernel) {
  CodeStore* const kept = store();
  const std::string key = kept ? loops::structural_key(kernel) : "";
  if (kept) {
    if (auto known = kept->find(key)) return known;
  }
  load_kernels();
  auto image = kernel_compiler_ ? kernel_compiler_->compile(kernel) : std::nullopt;
  if (image && kept) kept->add(key, *image);
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
  auto wanted = std::make_shared<Wanted>();
  std::shared_ptr<const lang::CodeImage> kept;
  std::shared_ptr<flow::Compilation> compilation;
  code->seconds = timed([&] {
    for (flow::Function* function : functions) {
      function->symbol = "f" + std::to_string(wanted->functions.size());
      wanted->functions.push_back({function, function->symbol,
                                   function->is_local ? "" : flow::entry_symbol(*function),
                                   "relay:" + (function->name.empty() ? "fn" : function->name)});
    }
    wanted->identity = flow::identity_of(functions);
    if (CodeStore* const all = store()) {
      if (auto found = all->find(wanted->identity.key))
        kept = std::make_shared<const lang::CodeImage>(std::move(*found));
    }
    if (!kept && this->functions())
      compilation = function_compiler_->begin(functions, wanted->identity);
  });
  if (!kept && !compilation) return nullptr;
  code->codes.resize(functions.size());
  code->ticket = queue_.add([this, code, kept, compilation, wanted] {
    code->seconds += timed([&] {
      if (kept) return load(*kept, *wanted, *code);
      const auto image = compilation->run(code->problem);
      if (!image) return;
      if (CodeStore* const all = store()) all->add(wanted->identity.key, *image);
      load(*image, *wanted, *code);
    });
  });
  return code;
}

namespace {

// The number behind the prefix; nothing where the name has another beginning, or it is too large.
std::optional<std::size_t> number_in(const std::string& name, std::string_view prefix,
                                     std::size_t count) {
  if (!name.starts_with(prefix)) return std::nullopt;
  std::size_t number = 0;
  const char* const end = name.data() + name.size();
  const auto parsed = std::from_chars(name.data() + prefix.size(), end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end || number >= count) return std::nullopt;
  return number;
}

const void* service(std::size_t number) {
  const void* address = nullptr;
  const auto* const first = reinterpret_cast<const std::byte*>(&native_services());
  std::memcpy(&address, first + number * sizeof(address), sizeof(address));
  return address;
}

}  // namespace

// What code that is called needs stays as long as what calls it.
const void* Compiling::address_of(const std::string& name, const Wanted& wanted,
                                  FunctionsCode& code) const {
  const auto& [key, objects, callees] = wanted.identity;
  if (const auto number = number_in(name, flow::kObjectPrefix, objects.size()))
    return objects[*number];
  if (const auto number = number_in(name, flow::kCalleePrefix, callees.size())) {
    const auto place = places_.find(callees[*number]);
    if (place == places_.end()) return nullptr;
    auto memory = place->second.memory.lock();
    if (!memory) return nullptr;
    code.called.push_back(std::move(memory));
    return place->second.address;
  }
  constexpr std::size_t kServices = sizeof(flow::Services) / sizeof(void*);
  if (const auto number = number_in(name, flow::kServicePrefix, kServices)) return service(*number);
  if (name == flow::kAdtBegin) return reinterpret_cast<const void*>(flow::layout().adt_begin);
  if (name == flow::kTupleBegin) return reinterpret_cast<const void*>(flow::layout().tuple_begin);
  return runtime_function(name);
}

void Compiling::load(const lang::CodeImage& image, const Wanted& wanted, FunctionsCode& code) {
  for (const Wanted::Function& each : wanted.functions) places_.erase(each.function);
  code.memory = LoadedCode::load(
      image, [&](const std::string& name) { return address_of(name, wanted, code); });
  if (!code.memory) return;
  const auto found = [&](const std::string& symbol, const std::string& name, std::size_t& size) {
    const lang::CodeImage::Function* const function = image.find(symbol);
    if (!function) return static_cast<const std::byte*>(nullptr);
    size += function->size;
    note_code(name, code.memory->address(*function), function->size);
    return code.memory->address(*function);
  };
  for (std::size_t i = 0; i < wanted.functions.size(); ++i) {
    const auto& [function, symbol, entry, name] = wanted.functions[i];
    FunctionsCode::Code& each = code.codes[i];
    if (const std::byte* const address = found(symbol, name, each.size))
      places_[function] = {address, code.memory};
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
  return function_compiler_->dump(functions, flow::identity_of(functions), stage);
}

}  // namespace relay::interp
