#include <catch2/catch.hpp>

#include "interp/eval.h"
#include "lang/build.h"
#include "stdlib/register.h"

namespace relay::interp {
namespace {

// A compiler that has native code for nothing.
class NoCode final : public loops::KernelCompiler {
 public:
  std::optional<lang::CodeImage> compile(const loops::Kernel&) override { return std::nullopt; }
  std::string dump(const loops::Kernel&, const std::string&) override { return ""; }
};

// For closed code that calls nothing but operators.
class PlainHost final : public Host {
 public:
  lang::Result<lang::Expr> prepared(const std::string&, const lang::Type&) override {
    return lang::Result<lang::Expr>(lang::Expr());
  }
  lang::Result<lang::Expr> with_pullback(const lang::Expr& function,
                                         const lang::VariableRef&) override {
    return function;
  }
  lang::Result<lang::Expr> with_tangent(const lang::Expr& function,
                                        const lang::VariableRef&) override {
    return function;
  }
  lang::Result<lang::Value> global_value(const std::string&) override { return lang::Value(); }
  bool is_binding(const std::string&) override { return false; }
  lang::Result<lang::TensorRef> load(const lang::AttrsRef&) override { return lang::TensorRef(); }
  lang::Result<bool> save(const lang::Value&, const lang::AttrsRef&) override { return false; }
  lang::Result<bool> plot(const lang::Value&, const lang::AttrsRef&) override { return false; }
  void write(std::string_view) override {}
  Compiling& compiling() override { return made; }
  loops::KernelLibrary* kernel_library() override { return nullptr; }

  Compiling made{{[] { return std::make_unique<NoCode>(); }, {}}};
};

std::set<std::string> kernels_on_lanes(JitMode mode) {
  stdlib::register_operators();
  namespace build = lang::build;
  const auto tensor = lang::Tensor::make(lang::DType::Float32, {2});
  tensor->set_bits(0, lang::bits_from_double(lang::DType::Float32, 1.0));
  tensor->set_bits(1, lang::bits_from_double(lang::DType::Float32, 2.0));
  const lang::Expr call = build::op("exp", {lang::make_constant(tensor)});
  PlainHost host;
  Evaluator evaluator(host, mode, 1);
  const auto value = evaluator.evaluate(call);
  REQUIRE(value);
  CHECK(evaluator.statistics().kernels_run_lanes == 1);
  return evaluator.statistics().kernels_fallen_back;
}

TEST_CASE("a kernel that should be native code and is not is told") {
  CHECK(kernels_on_lanes(JitMode::Off).empty());
  CHECK(kernels_on_lanes(JitMode::Auto).empty());
  const std::set<std::string> fallen_back = kernels_on_lanes(JitMode::Always);
  REQUIRE(fallen_back.size() == 1);
  CHECK(fallen_back.begin()->find("exp(") != std::string::npos);
}

}  // namespace
}  // namespace relay::interp
