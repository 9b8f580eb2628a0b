#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "built/snapshot.h"
#include "interp/ahead.h"
#include "interp/eval.h"

namespace relay::built {

// The evaluator's view of a snapshot. What would take the compiler, such as the derivative of a
// function that is only known when it runs, is an error there.
class Host final : public interp::Host {
 public:
  // `snapshot` outlives it.
  Host(const Snapshot& snapshot, interp::Compiling::Makers makers);

  lang::Result<lang::Expr> prepared(const std::string& name, const lang::Type& type) override;
  lang::Result<lang::Expr> with_pullback(const lang::Expr& function,
                                         const lang::VariableRef& self) override;
  lang::Result<lang::Expr> with_tangent(const lang::Expr& function,
                                        const lang::VariableRef& self) override;
  lang::Result<lang::Value> global_value(const std::string& name) override;
  bool is_binding(const std::string& name) override { return bindings_.count(name) > 0; }
  lang::Result<lang::TensorRef> load(const lang::AttrsRef& attrs) override;
  lang::Result<bool> save(const lang::Value& value, const lang::AttrsRef& attrs) override;
  lang::Result<bool> plot(const lang::Value& value, const lang::AttrsRef& attrs) override;
  void write(std::string_view text) override;
  interp::Compiling& compiling() override { return compiling_; }
  loops::KernelLibrary* kernel_library() override { return nullptr; }

 private:
  std::unordered_map<std::string, lang::Expr> functions_;  // by function_key
  std::unordered_map<std::string, lang::Value> bindings_;
  interp::Compiling compiling_;
};

// Functions of the same name at types that differ in the names of dimension variables alone are the
// same.
std::string function_key(const std::string& name, const lang::Type& type);

// All functions of a snapshot, in its order.
std::vector<interp::GlobalFunction> functions_of(const Snapshot& snapshot);

}  // namespace relay::built
