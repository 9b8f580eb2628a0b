#include "built/program.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <unordered_set>
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

// Can what is called keep values until it is called again? A reference that a top-level `let` holds
// does.
bool has_reference(const std::vector<Snapshot::Binding>& bindings) {
  std::vector<Value> left;
  std::unordered_set<const void*> seen;
  for (const Snapshot::Binding& each : bindings) left.push_back(each.value);
  const auto add = [&](const void* cell, std::span<Value> fields) {
    if (seen.insert(cell).second) left.insert(left.end(), fields.begin(), fields.end());
  };
  while (!left.empty()) {
    const Value value = std::move(left.back());
    left.pop_back();
    if (value.kind() == lang::ValueKind::Reference) return true;
    if (value.kind() == lang::ValueKind::Tuple) add(&value.as_tuple(), value.as_tuple().fields());
    if (value.kind() == lang::ValueKind::Adt) add(&value.as_adt(), value.as_adt().fields());
  }
  return false;
}

lang::TensorRef copied(const lang::Tensor& tensor, const std::vector<std::int64_t>& extents) {
  const lang::TensorRef copy = lang::Tensor::make(tensor.dtype(), extents);
  const auto count = static_cast<std::size_t>(tensor.element_count());
  if (count > 0) std::memcpy(copy->data(), tensor.data(), count * lang::size_of(tensor.dtype()));
  return copy;
}

// Lent, or copied if it may be `kept`.
Value argument(const Leaf& leaf, const std::vector<std::int64_t>& extents, const void* data,
               bool is_kept) {
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
  const lang::TensorRef lent =
      lang::wrap_memory(leaf.dtype, extents, std::move(strides), bytes, [] {});
  return Value::tensor(is_kept ? copied(*lent, extents) : lent);
}

// A result, row-major, and no part of an argument, over which results may be written.
lang::TensorRef result_tensor(const std::vector<std::int64_t>& extents, const Value& value) {
  const lang::TensorRef tensor = lang::contiguous(value.to_tensor());
  if (tensor->shape() != extents) {
    lang::fail(lang::DiagnosticKind::ShapeMismatchAtRunTime,
               fmt::format("a result has {} elements where its type tells other extents",
                           tensor->element_count()));
  }
  return lang::is_wrapped(*tensor) ? copied(*tensor, extents) : tensor;
}

}  // namespace

Program::Program(std::string_view bytes)
    : snapshot_(opened(bytes)),
      host_(*snapshot_, without_compilers(*snapshot_)),
      evaluator_(host_, interp::JitMode::Always, 0),
      keeps_(has_reference(snapshot_->bindings)),
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
    leaves.push_back(argument(leaf, extents_of(signature, leaf, extents), args[i], keeps_));
  }
  std::vector<Value> values;
  for (const Part& param : signature.params) values.push_back(compose(param, leaves));
  leaves.clear();  // nobody else holds them
  const Value result = evaluator_.call(function, std::move(values)).or_throw();
  append_leaves(signature.result, result, leaves);
  std::vector<lang::TensorRef> tensors;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    const std::vector<std::int64_t> shape = extents_of(signature, signature.results[i], extents);
    tensors.push_back(results[i] ? result_tensor(shape, leaves[i]) : lang::TensorRef());
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (!tensors[i]) continue;
    const auto count = static_cast<std::size_t>(tensors[i]->element_count());
    const std::size_t bytes = count * lang::size_of(tensors[i]->dtype());
    if (bytes > 0) std::memcpy(results[i], tensors[i]->data(), bytes);
  }
}

}  // namespace relay::built
