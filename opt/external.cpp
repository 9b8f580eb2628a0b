#include "opt/external.h"

#include <fmt/format.h>

#include "lang/build.h"
#include "lang/function_fact.h"
#include "lang/op.h"
#include "lang/visit.h"
#include "opt/definitions.h"

namespace relay::opt {

using lang::as;
using lang::Expr;
using lang::ExprKind;
using lang::FunctionFact;

namespace {

const lang::NamedOp kBegin("annotation.compiler_begin");
const lang::NamedOp kEnd("annotation.compiler_end");

}  // namespace

lang::AttrSpec compilers_option() {
  lang::AttrSpec spec{"compilers", lang::AttrKind::Any, lang::AttrValue(),
                      "one, or several, of which the first that runs a step takes it; `None`: that "
                      "of the function, `compiler=\"x\"`"};
  spec.nullable = true;
  return spec;
}

std::vector<lang::ExternalCompiler*> compilers_for(const lang::Attrs& options, const Expr& code,
                                                   const PassHost& host) {
  const lang::AttrValue* value = options.find(compilers_option().name);
  lang::Span place;
  if (!value || value->is_null()) {
    const auto* fn = as<lang::Function>(code);
    value = fn ? lang::find_fact(fn->attrs, FunctionFact::WantsCompiler) : nullptr;
    if (!value) return {};
    place = code->span;
  } else {
    for (const lang::Attr& attr : options.list) {
      if (&attr.value == value) place = attr.span;
    }
  }
  const lang::AttrValue::List names =
      value->as_list() ? *value->as_list() : lang::AttrValue::List{*value};
  std::vector<lang::ExternalCompiler*> compilers;
  for (const lang::AttrValue& name : names) {
    if (!name.as_string()) {
      lang::fail(lang::DiagnosticKind::BadAttribute,
                 fmt::format("the name of a compiler is a string, found `{}`", name.to_string()),
                 place);
    }
    compilers.push_back(&host.compilers.get(*name.as_string(), place));
  }
  return compilers;
}

std::string refusal_of(lang::ExternalCompiler& compiler, const Expr& step) {
  const Expr fn = lang::make_function(lang::free_variables(step), step->type, step);
  const auto graph =
      lang::capture([&] { return lang::external_graph(lang::cast<lang::Function>(fn), false); });
  if (!graph) return "it takes tensors of constant extents, and nothing else";
  if (graph->nodes.empty() || graph->nodes.back().kind != lang::ExternalNode::Kind::Call)
    return "it takes calls of operators";
  return compiler.refusal(*graph);
}

std::optional<CompilerMark> compiler_mark(const Expr& step) {
  const lang::Call* begin = call_of(step, kBegin);
  const lang::Call* call = begin ? begin : call_of(step, kEnd);
  if (!call) return std::nullopt;
  return CompilerMark{begin != nullptr, call->attrs->get_string("compiler"), call->args[0]};
}

Expr marked_value(const Expr& value, bool is_begin, const std::string& compiler) {
  return lang::build::op((is_begin ? kBegin : kEnd).name(), {value}, {{"compiler", compiler}});
}

bool is_same_value(const Expr& a, const Expr& b) {
  if (a == b || same_atom(a, b)) return true;
  const auto* x = as<lang::GlobalVar>(a);
  const auto* y = as<lang::GlobalVar>(b);
  if (x && y) return x->name == y->name;
  const auto* c = as<lang::Constant>(a);
  const auto* d = as<lang::Constant>(b);
  return c && d && lang::bit_equal(*c->value, *d->value);
}

const std::string* composite_called(const Expr& step, const lang::Block& block) {
  const auto* call = as<lang::Call>(step);
  if (!call) return nullptr;
  const auto* fn = as<lang::Function>(call->callee);
  if (const auto* var = as<lang::Var>(call->callee)) {
    for (const lang::Binding& binding : block.bindings) {
      if (binding.variable == var->variable) fn = as<lang::Function>(binding.value);
    }
  }
  return fn ? lang::find_text(*fn, FunctionFact::Composite) : nullptr;
}

// --- Blocks ---

Expr BlockRewriter::run(const Expr& code) {
  return as<lang::Function>(code) ? nested(code) : scope(code);
}

Expr BlockRewriter::scope(const Expr& body) {
  lang::Block block = lang::open_block(body);
  bool is_changed = false;
  const auto look_into = [&](Expr& value) {
    Expr made = nested(value);
    is_changed = is_changed || !(made == value);
    value = std::move(made);
  };
  for (lang::Binding& binding : block.bindings) look_into(binding.value);
  look_into(block.result);
  const lang::Block before = block;
  if (!lang::build::is_atom(block.result)) {
    const auto result = lang::make_variable("result", block.result->type, block.result->span);
    block.bindings.push_back({result, block.result, block.result->span});
    block.result = lang::make_var(result);
  }
  if (rewrite(block)) return lang::close_block(block);
  return is_changed ? lang::close_block(before) : body;
}

Expr BlockRewriter::nested(const Expr& value) {
  switch (value->kind) {
    case ExprKind::Function: {
      const auto& fn = lang::cast<lang::Function>(value);
      if (lang::is_unit(value)) return value;
      Expr body = scope(fn.body);
      if (body == fn.body) return value;
      return lang::make_function(fn.params, fn.result, std::move(body), fn.type_params, fn.attrs,
                                 fn.span, fn.type);
    }
    case ExprKind::If: {
      const auto& branch = lang::cast<lang::If>(value);
      Expr then_branch = scope(branch.then_branch);
      Expr else_branch = scope(branch.else_branch);
      if (then_branch == branch.then_branch && else_branch == branch.else_branch) return value;
      return lang::make_if(branch.condition, std::move(then_branch), std::move(else_branch),
                           value->span, value->type);
    }
    case ExprKind::Match: {
      const auto& match = lang::cast<lang::Match>(value);
      std::vector<lang::Clause> clauses = match.clauses;
      bool is_changed = false;
      for (lang::Clause& clause : clauses) {
        Expr body = scope(clause.body);
        is_changed = is_changed || !(body == clause.body);
        clause.body = std::move(body);
      }
      if (!is_changed) return value;
      return lang::make_match(match.scrutinee, std::move(clauses), match.is_complete, value->span,
                              value->type);
    }
    default:
      return value;
  }
}

}  // namespace relay::opt
