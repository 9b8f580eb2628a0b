#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lang/build.h"
#include "opt/continuations.h"
#include "opt/pass_program.h"

namespace relay::opt {

using lang::as;
using lang::Expr;
namespace build = lang::build;

namespace {

// More calls in one function would stand in one another too deep.
constexpr std::size_t kMostCalls = 1000;

// The functions that call others, or themselves, get forms that take a continuation: one for each
// type that a whole program may answer.
class ContinuedProgram {
 public:
  explicit ContinuedProgram(PassProgram& program) : program_(program) {
    for (const PassProgram::Entry& entry : program.functions()) {
      const auto* fn = entry.is_typed() ? as<lang::Function>(entry.function) : nullptr;
      if (!fn || fn->attrs) continue;
      std::size_t count = 0;
      for_each_step_call(fn->body, [&](const lang::Call& call) {
        const auto* global = as<lang::GlobalVar>(call.callee);
        count += global && program.find(global->name) ? 1 : 0;
      });
      if (count > 0 && count <= kMostCalls) continued_.emplace(entry.name, entry.function);
    }
  }

  void run() {
    program_.each_at_once([&](const PassProgram::Entry& entry) {
      return continued_.contains(entry.name) ? begun(entry) : entry.function;
    });
    // Forms that are made need others.
    while (!open_.empty()) {
      const Needed next = std::move(open_.back());
      open_.pop_back();
      const auto& fn = lang::cast<lang::Function>(continued_.at(next.function));
      program_.add(next.name, with_continuation(fn, next.answer, continue_));
    }
  }

 private:
  struct Needed {
    std::string name;
    std::string function;
    lang::Type answer;
  };

  // The function, which begins with the continuation that gives its result.
  Expr begun(const PassProgram::Entry& entry) {
    const auto& fn = lang::cast<lang::Function>(entry.function);
    const lang::Type& result = fn.body->type;
    std::vector<lang::VariableRef> params;
    std::vector<Expr> args;
    for (const auto& param : fn.params) {
      params.push_back(lang::make_variable(param->name, param->type, param->span));
      args.push_back(lang::make_var(params.back()));
    }
    const lang::VariableRef last = lang::make_variable("result", result);
    args.push_back(build::function({last}, lang::make_var(last)));
    const Expr body = build::call(form_of(entry.name, result), std::move(args));
    return lang::make_function(std::move(params), fn.result, body, {}, nullptr, fn.span,
                               entry.function->type);
  }

  Expr form_of(const std::string& function, const lang::Type& answer) {
    const auto& fn = lang::cast<lang::Function>(continued_.at(function));
    std::string& name = forms_[{function, lang::to_string(answer)}];
    if (name.empty()) {
      name = program_.reserve_name(function + "_cps");
      open_.push_back({name, function, answer});
    }
    std::vector<lang::Type> types;
    for (const auto& param : fn.params) types.push_back(param->type);
    types.push_back(lang::function_type({fn.body->type}, answer));
    return lang::make_global_var(name, {}, lang::function_type(std::move(types), answer));
  }

  PassProgram& program_;
  std::map<std::string, Expr> continued_;
  std::map<std::pair<std::string, std::string>, std::string> forms_;
  std::vector<Needed> open_;
  const ContinuedFunction continue_ = [this](const lang::Call& call,
                                             const lang::Type& answer) -> Expr {
    const auto* global = as<lang::GlobalVar>(call.callee);
    const auto found = global ? continued_.find(global->name) : continued_.end();
    if (found == continued_.end() || !lang::equal(found->second->type, global->type))
      return nullptr;
    return form_of(global->name, answer);
  };
};

}  // namespace

Pass to_cps_pass() {
  Pass pass;
  pass.name = "ToCPS";
  pass.doc =
      "calls of functions of the program in continuation-passing style: each gets a form that "
      "hands its result on, and begins with the one that gives it (Relay's UnCPS); function values "
      "stay as they are";
  pass.is_idempotent = false;  // the forms call one another
  pass.example =
      R"(def factorial(n: int32) -> int32 { if n == 0 { 1 } else { n * factorial(n - 1) } })";
  pass.run = [](PassProgram& program, const lang::Attrs&) { ContinuedProgram(program).run(); };
  return pass;
}

}  // namespace relay::opt
