#include "tests/ahead/built_program.h"

#include <array>

#include "ahead/collect.h"
#include "ahead/native_code.h"
#include "repl/native_makers.h"

namespace relay::tests {

using lang::Value;

namespace {

std::string bytes_of(repl::Session& session, const interp::GlobalFunction& function,
                     const std::map<std::string, std::vector<std::int64_t>>& sizes) {
  const std::array entries{function};
  std::string bytes;
  const auto errors = session.within_limits([&] {
    const std::string plain = built::write(ahead::collect(session.host(), entries));
    const auto snapshot = built::read(plain).or_throw();
    ahead::add_native_code(*snapshot, repl::native_makers(""), sizes);
    bytes = built::write(*snapshot);
  });
  if (!errors.empty()) throw lang::Failure(errors);
  return bytes;
}

}  // namespace

BuiltProgram::BuiltProgram(repl::Session& session, const std::string& function,
                           const std::map<std::string, std::vector<std::int64_t>>& sizes) {
  const lang::Expr expr = session.read("<built>", function).or_throw();
  const lang::Type type = session.evaluate_typed(expr).or_throw().type;
  signature_ = built::signature_of(type);
  bytes_ = bytes_of(session, {function, type}, sizes);
  program_ = std::make_unique<built::Program>(bytes_);
}

Value BuiltProgram::call(const std::vector<Value>& args, const std::vector<std::int64_t>& dims) {
  std::vector<Value> leaves;
  for (std::size_t i = 0; i < args.size(); ++i)
    built::append_leaves(signature_.params[i], args[i], leaves);
  std::vector<lang::TensorRef> tensors;  // hold what the pointers are to
  std::vector<const void*> arg_pointers;
  for (const Value& leaf : leaves) {
    tensors.push_back(lang::contiguous(leaf.to_tensor()));
    arg_pointers.push_back(tensors.back()->data());
  }
  std::vector<Value> results;
  std::vector<void*> result_pointers;
  for (const built::Leaf& leaf : signature_.results) {
    tensors.push_back(lang::Tensor::make(leaf.dtype, built::extents_of(signature_, leaf, dims)));
    result_pointers.push_back(tensors.back()->data());
  }
  program_->call(0, dims.data(), arg_pointers.data(), result_pointers.data());
  for (std::size_t i = 0; i < signature_.results.size(); ++i)
    results.push_back(Value::tensor(tensors[leaves.size() + i]));
  return built::compose(signature_.result, results);
}

}  // namespace relay::tests
