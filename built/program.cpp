#include "built/program.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "built/processor.h"
#include "lang/diagnostic.h"
#include "lang/wrapped_memory.h"
#include "stdlib/register.h"

namespace relay::built {

using lang::Value;

namespace {

// Code that the processor does not know would end the process.
void check_processor(const Snapshot& snapshot) {
  const std::vector<std::string> here = processor_features();
  for (const std::string& feature : snapshot.features) {
    if (std::find(here.begin(), here.end(), feature) != here.end()) continue;
    lang::Diagnostic error(
        lang::DiagnosticKind::Unsupported,
        fmt::format("it was built for a processor with `{}`, which this one has not", feature));
    error.note("help: `RELAY_JIT_CPU=x86-64-v2 relay build ...` builds it for older ones");
    throw lang::Failure(std::move(error));
  }
}

std::unique_ptr<Snapshot> opened(std::string_view bytes) {
  stdlib::register_operators();
  auto snapshot = read(bytes).or_throw();
  check_processor(*snapshot);
  return snapshot;
}

// The code that is in the snapshot.
class Images final : public interp::CodeStore {
 public:
  explicit Images(const Snapshot& snapshot) : snapshot_(snapshot) {}
  std::optional<lang::CodeImage> find(const std::string& key) override {
    const auto found = snapshot_.images.find(key);
    if (found == snapshot_.images.end()) return std::nullopt;
    return found->second;
  }
  void add(const std::string&, const lang::CodeImage&) override {}

 private:
  const Snapshot& snapshot_;
};

interp::Compiling::Makers without_compilers(const Snapshot& snapshot) {
  return {nullptr, nullptr, [&snapshot] { return std::make_unique<Images>(snapshot); }};
}

Value argument(const Leaf& leaf, const std::vector<std::int64_t>& extents, const void* data) {
  const std::size_t size = lang::size_of(leaf.dtype);
  if (extents.empty()) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, data, size);
    return Value::scalar(leaf.dtype, bits);
  }
  std::vector<std::int64_t> strides(extents.size(), 1);
  for (std::size_t axis = extents.size() - 1; axis > 0; --axis)
    strides[axis - 1] = strides[axis] * extents[axis];
  auto* const bytes = static_cast<std::byte*>(const_cast<void*>(data));  // it is only read
  return Value::tensor(lang::wrap_memory(leaf.dtype, extents, std::move(strides), bytes, [] {}));
}

void put(const Leaf& leaf, const std::vector<std::int64_t>& extents, const Value& value, void* to) {
  const lang::TensorRef tensor = lang::contiguous(value.to_tensor());
  if (tensor->shape() != extents) {
    lang::fail(lang::DiagnosticKind::ShapeMismatchAtRunTime,
               fmt::format("a result has {} elements where its type tells other extents",
                           tensor->element_count()));
  }
  const auto count = static_cast<std::size_t>(tensor->element_count());
  if (count > 0) std::memcpy(to, tensor->data(), count * lang::size_of(leaf.dtype));
}

}  // namespace

Program::Program(std::string_view bytes)
    : snapshot_(opened(bytes)),
      host_(*snapshot_, without_compilers(*snapshot_)),
      evaluator_(host_, interp::JitMode::Always, 0),
      entries_(snapshot_->entry_count) {
  interp::make_native(evaluator_, functions_of(*snapshot_));
}

const Program::Entry& Program::entry(std::size_t number) {
  std::optional<Entry>& entry = entries_.at(number);
  if (!entry) {
    const Snapshot::Function& function = snapshot_->functions[number];
    const lang::Expr name = lang::make_global_var(function.name, {}, function.type);
    entry = Entry{signature_of(function.type), evaluator_.evaluate(name).or_throw()};
  }
  return *entry;
}

void Program::call(std::size_t number, const std::int64_t* dims, const void* const* args,
                   void* const* results) {
  const auto& [signature, function] = entry(number);
  const std::span<const std::int64_t> extents(dims, signature.dims.size());
  std::vector<Value> leaves;
  for (std::size_t i = 0; i < signature.args.size(); ++i) {
    const Leaf& leaf = signature.args[i];
    leaves.push_back(argument(leaf, extents_of(signature, leaf, extents), args[i]));
  }
  std::vector<Value> values;
  for (const Part& param : signature.params) values.push_back(compose(param, leaves));
  leaves.clear();  // nobody else holds them
  const Value result = evaluator_.call(function, std::move(values)).or_throw();
  append_leaves(signature.result, result, leaves);
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    const Leaf& leaf = signature.results[i];
    if (results[i]) put(leaf, extents_of(signature, leaf, extents), leaves[i], results[i]);
  }
}

}  // namespace relay::built
