#include <fmt/format.h>

#include "lang/function_fact.h"
#include "lang/print.h"
#include "lang/visit.h"
#include "opt/pass_program.h"

namespace relay::opt {

using lang::Expr;

namespace {

// Names of variables do not count: the printer numbers those that are called alike.
class Anonymous final : public lang::Rewriter {
 protected:
  lang::VariableRef rewrite_variable(const lang::VariableRef& variable) override {
    return lang::make_variable("v", variable->type, {}, variable->attrs);
  }
};

// FNV-1a, which gives the same in each run and on each machine.
std::uint64_t hash_of_text(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

class Labeller final : public lang::Rewriter {
 protected:
  Expr post(const Expr& expr) override {
    if (!lang::is_group(expr)) return expr;
    // Relay's is called `hash`, which is a parameter in the light notation.
    const Expr bare = lang::without_facts(expr, {lang::FunctionFact::Hash});
    const std::string text = lang::print(Anonymous().rewrite(bare), {.types = true});
    const auto& fn = lang::cast<lang::Function>(bare);
    return lang::with_attrs(
        fn, lang::with_fact(lang::FunctionFact::Hash, fmt::format("{:016x}", hash_of_text(text)),
                            fn.attrs));
  }
};

}  // namespace

Pass label_ops_pass() {
  Pass pass;
  pass.name = "LabelOps";
  pass.doc =
      "gives each function with `Primitive=1` the attribute `Hash`: equal ones have equal hashes";
  pass.example =
      R"(def f(x: Tensor[(4), float32]) { (fn (t: Tensor[(4), float32], Primitive=1) { exp(t) + t })(x) })";
  pass.run = [](PassProgram& program, const lang::Attrs&) {
    program.each([](const Expr& fn) { return Labeller().rewrite(fn); });
  };
  return pass;
}

}  // namespace relay::opt
