#include "lang/build.h"
#include "lang/visit.h"
#include "opt/pass_program.h"

namespace relay::opt {

using lang::as;
using lang::Expr;
using lang::ExprKind;
namespace build = lang::build;

namespace {

class EtaExpander final : public lang::Rewriter {
 public:
  EtaExpander(bool constructors, bool globals) : constructors_(constructors), globals_(globals) {}

 protected:
  // What is called, or differentiated, is no value.
  Expr pre(const Expr& expr) override {
    if (const auto* call = as<lang::Call>(expr); call && lang::is_leaf(call->callee)) {
      std::vector<Expr> args;
      for (const Expr& arg : call->args) args.push_back(rewrite(arg));
      return args == call->args ? expr
                                : lang::make_call(call->callee, std::move(args), call->attrs,
                                                  expr->span, expr->type, call->algebra);
    }
    if (const auto* derivative = as<lang::Differentiate>(expr))
      return lang::is_leaf(derivative->fn) ? expr : Expr();
    return is_expanded(expr) ? wrapped(expr) : Expr();
  }

 private:
  bool is_expanded(const Expr& expr) const {
    return as<lang::FunctionType>(expr->type) &&
           ((constructors_ && expr->kind == ExprKind::ConstructorRef) ||
            (globals_ && expr->kind == ExprKind::GlobalVar));
  }

  static Expr wrapped(const Expr& value) {
    const auto& type = *as<lang::FunctionType>(value->type);
    std::vector<lang::VariableRef> params;
    std::vector<Expr> args;
    for (const lang::Type& param : type.params) {
      params.push_back(lang::make_variable("x", param));
      args.push_back(lang::make_var(params.back()));
    }
    const Expr call = lang::make_call(value, std::move(args), nullptr, value->span, type.result);
    return lang::make_function(std::move(params), type.result, call, {}, nullptr, value->span,
                               value->type);
  }

  const bool constructors_;
  const bool globals_;
};

}  // namespace

Pass eta_expand_pass() {
  Pass pass;
  pass.name = "EtaExpand";
  pass.doc = "writes a function around constructors, and around globals, that are used as values";
  pass.options = {
      {"expand_constructor", lang::AttrKind::Bool, lang::AttrValue(true), "around constructors"},
      {"expand_global_var", lang::AttrKind::Bool, lang::AttrValue(false),
       "around global functions"}};
  pass.example = R"(def wrapped(xs: List[float32]) { map(Some, xs) })";
  pass.run = [](PassProgram& program, const lang::Attrs& options) {
    program.each([&](const Expr& fn) {
      return EtaExpander(options.get_bool("expand_constructor"),
                         options.get_bool("expand_global_var"))
          .rewrite(fn);
    });
  };
  return pass;
}

}  // namespace relay::opt
