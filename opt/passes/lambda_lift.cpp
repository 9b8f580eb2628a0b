#include <string_view>

#include "lang/function_fact.h"
#include "lang/pointer_map.h"
#include "lang/visit.h"
#include "opt/pass_program.h"

namespace relay::opt {

using lang::as;
using lang::Expr;
using lang::ExprKind;

namespace {

struct LiftedFunction {
  std::string name;
  Expr function;
};

// Each function inside of another becomes a global one. What it uses from outside becomes
// parameters of one that gives it, `@lifted(captures) = fn (params) { ... }`.
class Lifter final : public lang::Rewriter {
 public:
  // `written`: the variables of the program before it was in A-normal form.
  Lifter(const Expr& root, const lang::PointerSet<lang::Variable>& written, PassProgram& program,
         std::vector<LiftedFunction>& lifted)
      : root_(root), written_(written), program_(program), lifted_(lifted) {
    const auto* fn = as<lang::Function>(root);
    if (fn && lang::has_fact(*fn, lang::FunctionFact::Closure))
      kept_ = lang::open_block(fn->body).result;
    lang::visit_post_order(root, [&](const Expr& node) { note(node); });
  }

  Expr run() { return rewrite(root_); }

 protected:
  Expr pre(const Expr& expr) override {
    if (expr->kind == ExprKind::Let) return block(expr);
    const auto* fn = as<lang::Function>(expr);
    if (!fn || expr == root_) return nullptr;
    if (lang::has_fact(*fn, lang::FunctionFact::Primitive)) return expr;
    return stays(expr) ? Expr() : lifted(expr, nullptr);
  }

 private:
  void note(const Expr& node) {
    if (const auto* derivative = as<lang::Differentiate>(node)) {
      kept_functions_.insert(derivative->fn.get());
      if (const auto* var = as<lang::Var>(derivative->fn))
        kept_variables_.insert(var->variable.get());
    }
  }

  // What is differentiated stays where its derivative can be read off; what a lifted function gives
  // is there already.
  bool stays(const Expr& fn) const {
    return fn == kept_ || kept_functions_.contains(fn.get()) || has_dim_variables(fn);
  }

  // Types with dimension variables mean those of the function around.
  static bool has_dim_variables(const Expr& fn) {
    bool found = false;
    const auto look = [&](const lang::Type& type) {
      found = found || (type && !lang::variables_of(type).empty());
    };
    lang::visit_post_order(fn, [&](const Expr& node) { look(node->type); });
    for (const auto& variable : lang::free_variables(fn)) look(variable->type);
    return found;
  }

  Expr block(const Expr& expr) {
    lang::Block opened = lang::open_block(expr);
    bool changed = false;
    std::vector<lang::Binding> made;
    for (lang::Binding& binding : opened.bindings) {
      const bool is_kept_result =
          kept_ && as<lang::Var>(kept_) && as<lang::Var>(kept_)->variable == binding.variable;
      const auto* fn = as<lang::Function>(binding.value);
      const bool is_lifted = fn && !lang::has_fact(*fn, lang::FunctionFact::Primitive) &&
                             !is_kept_result && !kept_variables_.contains(binding.variable.get()) &&
                             !stays(binding.value);
      Expr value = is_lifted ? lifted(binding.value, binding.variable)
                   : fn      ? inside(binding.value)
                             : rewrite(binding.value);
      changed = changed || !(value == binding.value);
      made.push_back({binding.variable, std::move(value), binding.span});
    }
    Expr result = rewrite(opened.result);
    changed = changed || !(result == opened.result);
    return changed ? lang::close_block({std::move(made), std::move(result)}) : expr;
  }

  // A function that stays, with those inside of it lifted.
  Expr inside(const Expr& expr) {
    const auto& fn = lang::cast<lang::Function>(expr);
    if (lang::has_fact(fn, lang::FunctionFact::Primitive)) return expr;
    return with_body(fn, rewrite(fn.body), fn.attrs);
  }

  static Expr with_body(const lang::Function& fn, const Expr& body, const lang::AttrsRef& attrs) {
    return lang::make_function(fn.params, fn.result, body, fn.type_params, attrs, fn.span, fn.type);
  }

  // What takes the place of the function, which may call itself as `self`.
  Expr lifted(const Expr& expr, const lang::VariableRef& self) {
    const auto& fn = lang::cast<lang::Function>(expr);
    std::vector<lang::VariableRef> captures = lang::free_variables(expr);
    std::erase(captures, self);
    const std::string name =
        program_.reserve_name(self && written_.contains(self.get()) ? self->name : "lifted");
    std::vector<lang::Type> types;
    std::vector<Expr> args;
    std::vector<lang::VariableRef> params;
    lang::Substitution renamed;
    for (const auto& capture : captures) {
      types.push_back(capture->type);
      args.push_back(lang::make_var(capture));
      params.push_back(lang::make_variable(capture->name, capture->type));
      renamed[capture.get()] = lang::make_var(params.back());
    }
    const lang::Type type =
        captures.empty() ? expr->type : lang::function_type(std::move(types), expr->type);
    const Expr global = lang::make_global_var(name, expr->span, type);
    const auto closure = [&](const std::vector<Expr>& captured) {
      return captures.empty() ? global
                              : lang::make_call(global, captured, nullptr, expr->span, expr->type);
    };
    if (self) {
      std::vector<Expr> own;
      for (const auto& param : params) own.push_back(lang::make_var(param));
      renamed[self.get()] = closure(own);
    }
    const Expr body = rewrite(lang::substitute(fn.body, renamed));
    Expr function = with_body(fn, body, fn.attrs);
    if (!captures.empty()) {
      function =
          lang::make_function(std::move(params), expr->type, function, {},
                              lang::with_fact(lang::FunctionFact::Closure), expr->span, type);
    }
    lifted_.push_back({name, lang::rename_bound(function)});
    return closure(args);
  }

  const Expr root_;
  const lang::PointerSet<lang::Variable>& written_;
  PassProgram& program_;
  std::vector<LiftedFunction>& lifted_;
  Expr kept_;
  lang::PointerSet<lang::ExprNode> kept_functions_;
  lang::PointerSet<lang::Variable> kept_variables_;
};

lang::PointerSet<lang::Variable> variables_of_lets(const Expr& fn) {
  lang::PointerSet<lang::Variable> variables;
  lang::visit_post_order(fn, [&](const Expr& node) {
    if (const auto* let = as<lang::Let>(node)) variables.insert(let->variable.get());
  });
  return variables;
}

}  // namespace

Pass lambda_lift_pass() {
  Pass pass;
  pass.name = "LambdaLift";
  pass.doc =
      "makes global functions of those inside of others; what gives one with its captures has "
      "`Closure=1`";
  pass.in_anf = false;         // names are taken from what was written
  pass.is_idempotent = false;  // what nobody uses may go the second time
  pass.example = R"(def f(x: float32) {
  let add = fn (y: float32) { x + y };
  map(add, Cons(1.0, Cons(2.0, Nil)))
})";
  pass.run = [](PassProgram& program, const lang::Attrs&) {
    std::vector<LiftedFunction> lifted;
    program.each([&](const Expr& fn) {
      const auto written = variables_of_lets(fn);
      return to_anf(Lifter(to_anf(fn, &program), written, program, lifted).run(), &program);
    });
    for (LiftedFunction& each : lifted) program.add(each.name, to_anf(each.function, &program));
  };
  return pass;
}

}  // namespace relay::opt
