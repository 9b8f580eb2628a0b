#include <fmt/format.h>

#include "lang/print.h"
#include "lang/visit.h"
#include "opt/pass_program.h"

namespace relay::opt {

using lang::as;
using lang::Expr;

namespace {

// Relay's is called `hash`, which is a parameter in the light notation.
constexpr const char* kHashAttr = "Hash";

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
    const auto* fn = as<lang::Function>(expr);
    if (!fn || !fn->attrs || !fn->attrs->find("Primitive")) return expr;
    std::vector<lang::Attr> attrs = fn->attrs->list;
    std::erase_if(attrs, [](const lang::Attr& attr) { return attr.key == kHashAttr; });
    const Expr bare = with_own_attrs(*fn, attrs);
    const std::string text = lang::print(Anonymous().rewrite(bare), {.types = true});
    attrs.push_back({kHashAttr, fmt::format("{:016x}", hash_of_text(text)), {}});
    return with_own_attrs(*fn, std::move(attrs));
  }

 private:
  static Expr with_own_attrs(const lang::Function& fn, std::vector<lang::Attr> attrs) {
    return lang::make_function(fn.params, fn.result, fn.body, fn.type_params,
                               lang::make_attrs(std::move(attrs)), fn.span, fn.type);
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
