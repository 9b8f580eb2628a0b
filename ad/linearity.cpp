#include "ad/linearity.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "ad/shortcut.h"
#include "lang/build.h"
#include "lang/diagnostic.h"
#include "lang/op.h"
#include "lang/tensor.h"
#include "lang/visit.h"

namespace relay::ad {

using lang::as;
using lang::Binding;
using lang::Expr;
using lang::ExprKind;
using lang::Prim;
using lang::Type;
using lang::Variable;
namespace build = lang::build;

namespace {

// How a value depends on the parameters: it is zero, does not depend on them, or is linear in them.
enum class How : std::uint8_t { Zero, Constant, Linear };

struct Form {
  How how = How::Constant;
  std::vector<Form> fields = {};  // of a tuple, where they differ
};

How whole(const Form& form) {
  How how = form.fields.empty() ? form.how : How::Zero;
  for (const Form& field : form.fields) how = std::max(how, whole(field));
  return how;
}

bool is_linear(const Form& form) { return whole(form) == How::Linear; }

bool holds_float(const Type& type) {
  if (const auto* tuple = as<lang::TupleType>(type))
    return std::any_of(tuple->fields.begin(), tuple->fields.end(), holds_float);
  const auto* tensor = as<lang::TensorType>(type);
  return !tensor || lang::is_float(tensor->dtype.known());
}

// What a value of that type is where all of its floats are linear.
Form linear_of(const Type& type) {
  const auto* tuple = as<lang::TupleType>(type);
  if (!tuple) return {holds_float(type) ? How::Linear : How::Constant};
  Form form;
  for (const Type& field : tuple->fields) form.fields.push_back(linear_of(field));
  return form;
}

bool is_zero(const lang::Constant& constant) {
  const lang::Tensor& tensor = *constant.value;
  if (!lang::is_float(tensor.dtype()) || tensor.count() > 64) return false;
  for (std::int64_t i = 0; i < tensor.count(); ++i) {
    if (tensor.number_at(i) != 0) return false;
  }
  return true;
}

std::string text_of(const Form& form) {
  if (form.fields.empty()) return std::to_string(static_cast<int>(form.how));
  std::string text = "(";
  for (const Form& field : form.fields) text += text_of(field);
  return text + ")";
}

class Linearity {
 public:
  Linearity(lang::Program& program, Pairs& pairs) : program_(program), pairs_(pairs) {}

  void demand(const lang::Function& function) {
    for (const auto& param : function.params) known_[param.get()] = {How::Linear};
    demand_result(of(function.body), function.body);
  }

 private:
  [[noreturn]] static void refuse(const Expr& at, const std::string& why) {
    lang::fail(lang::DiagnosticKind::NotDifferentiable,
               fmt::format("`transpose` needs a linear function, and {}", why), at->span);
  }

  static void demand_result(const Form& form, const Expr& result) {
    const auto* tuple = as<lang::TupleType>(result->type);
    for (std::size_t i = 0; tuple && i < form.fields.size(); ++i) {
      if (whole(form.fields[i]) == How::Constant && holds_float(tuple->fields[i]))
        refuse(result, fmt::format("field {} of the result does not depend on the argument", i));
    }
    if (form.fields.empty() && form.how == How::Constant && holds_float(result->type))
      refuse(result, "the result does not depend on the argument");
  }

  // Of one of two values, or their sum.
  static Form joined(const Form& a, const Form& b, const Expr& at, const char* what) {
    if (!a.fields.empty() && a.fields.size() == b.fields.size()) {
      Form all;
      for (std::size_t i = 0; i < a.fields.size(); ++i)
        all.fields.push_back(joined(a.fields[i], b.fields[i], at, what));
      return all;
    }
    const How x = whole(a), y = whole(b);
    if (std::max(x, y) == How::Linear && std::min(x, y) == How::Constant) refuse(at, what);
    return {std::max(x, y)};
  }
  static constexpr const char* kSum = "a number that does not depend on its argument is added";
  static constexpr const char* kChoice =
      "one branch gives what does not depend on its argument, and is not 0";

  Form of(const Expr& expr) {
    const auto found = nodes_.find(expr.get());
    if (found != nodes_.end()) return found->second;
    Form form = fresh(expr);
    kept_.push_back(expr);
    return nodes_[expr.get()] = std::move(form);
  }

  Form fresh(const Expr& expr) {
    switch (expr->kind) {
      case ExprKind::Var: {
        const auto found = known_.find(lang::cast<lang::Var>(expr).variable.get());
        return found == known_.end() ? Form{} : found->second;
      }
      case ExprKind::Constant:
        return {is_zero(lang::cast<lang::Constant>(expr)) ? How::Zero : How::Constant};
      case ExprKind::GlobalVar:
      case ExprKind::Operator:
      case ExprKind::ConstructorRef:
      case ExprKind::DimTerm:
      case ExprKind::Literal:
        return {};
      case ExprKind::Let: {
        const lang::Block block = lang::open_block(expr);
        for (const Binding& binding : block.bindings) {
          if (const auto* function = as<lang::Function>(binding.value))
            functions_[binding.variable.get()] = function;
          known_[binding.variable.get()] = of(binding.value);
        }
        return of(block.result);
      }
      case ExprKind::Tuple: {
        Form form;
        for (const Expr& field : lang::cast<lang::Tuple>(expr).fields)
          form.fields.push_back(of(field));
        return form;
      }
      case ExprKind::Projection: {
        const auto& projection = lang::cast<lang::Projection>(expr);
        const Form tuple = of(projection.tuple);
        return tuple.fields.empty() ? tuple : tuple.fields.at(projection.index);
      }
      case ExprKind::Function: {
        const auto free = lang::free_variables(expr);
        const bool is = std::any_of(free.begin(), free.end(), [&](const auto& each) {
          const auto found = known_.find(each.get());
          return found != known_.end() && is_linear(found->second);
        });
        return {is ? How::Linear : How::Constant};
      }
      case ExprKind::If: {
        const auto& branch = lang::cast<lang::If>(expr);
        if (is_linear(of(branch.condition)))
          refuse(branch.condition, "which branch is taken depends on its argument");
        return joined(of(branch.then_branch), of(branch.else_branch), expr, kChoice);
      }
      case ExprKind::Match:
        return match(expr, lang::cast<lang::Match>(expr));
      case ExprKind::Call:
        return call(expr, lang::cast<lang::Call>(expr));
      case ExprKind::Comprehension:
        return of(lang::cast<lang::Comprehension>(expr).body);
      case ExprKind::Reduction: {
        const auto& node = lang::cast<lang::Reduction>(expr);
        const Form body = of(node.body);
        if (is_linear(body) && node.op != lang::ReduceOp::Sum)
          refuse(expr, fmt::format("`{}` is not linear", lang::name_of(node.op)));
        return body;
      }
      case ExprKind::Index: {
        const auto& index = lang::cast<lang::Index>(expr);
        for (const Expr& each : index.indices) {
          if (is_linear(of(each))) refuse(each, "what is read depends on its argument");
        }
        return of(index.tensor);
      }
      case ExprKind::ScatterReduce: {
        const auto& node = lang::cast<lang::ScatterReduce>(expr);
        const bool adds = node.op == lang::ReduceOp::Sum || node.op == lang::ReduceOp::Set;
        const Form init = of(node.init), value = of(node.value);
        if (!adds && (is_linear(init) || is_linear(value)))
          refuse(expr, fmt::format("`{}` is not linear", lang::name_of(node.op)));
        return adds ? joined(init, value, expr, kSum) : Form{};
      }
      case ExprKind::Primitive:
        return primitive(expr, lang::cast<lang::Primitive>(expr));
      case ExprKind::RefCreate:
      case ExprKind::RefRead:
      case ExprKind::RefWrite:
        lang::fail(lang::DiagnosticKind::Unsupported,
                   "not supported: `transpose` of a function that uses references", expr->span);
      case ExprKind::Differentiate:
        return {};
    }
    return {};
  }

  Form primitive(const Expr& expr, const lang::Primitive& node) {
    std::vector<Form> args;
    for (const Expr& arg : node.args) args.push_back(of(arg));
    const auto is_linear_at = [&](std::size_t i) { return is_linear(args[i]); };
    switch (node.prim) {
      case Prim::Add:
      case Prim::Sub:
        return joined(args[0], args[1], expr, kSum);
      case Prim::Neg:
        return args[0];
      case Prim::Cast:
        if (!is_linear_at(0) || holds_float(expr->type)) return args[0];
        break;
      case Prim::Mul:
        if (is_linear_at(0) && is_linear_at(1))
          refuse(expr, "two values that depend on its argument are multiplied");
        if (whole(args[0]) == How::Zero || whole(args[1]) == How::Zero) return {How::Zero};
        return {std::max(whole(args[0]), whole(args[1]))};
      case Prim::Div:
        if (is_linear_at(1)) refuse(expr, "it divides by what depends on its argument");
        return args[0];
      case Prim::Select:
        if (is_linear_at(0)) refuse(expr, "a choice depends on its argument");
        return joined(args[1], args[2], expr, kChoice);
      default:
        break;
    }
    const bool depends = std::any_of(args.begin(), args.end(), is_linear);
    if (depends && !holds_float(expr->type))
      refuse(expr, "a condition or a whole number depends on its argument");
    if (depends) refuse(expr, fmt::format("`{}` is not linear", lang::info(node.prim).text));
    return {};
  }

  void bind(const lang::PatternRef& pattern, const Form& form) {
    if (pattern->kind == lang::PatternKind::Variable) known_[pattern->variable.get()] = form;
    for (std::size_t i = 0; i < pattern->fields.size(); ++i)
      bind(pattern->fields[i], form.fields.empty() ? form : form.fields.at(i));
  }

  Form match(const Expr& expr, const lang::Match& node) {
    const Form scrutinee = of(node.scrutinee);
    const bool is_tuple = as<lang::TupleType>(node.scrutinee->type) != nullptr;
    if (is_linear(scrutinee) && !is_tuple) refuse_data(node.scrutinee);
    std::optional<Form> all;
    for (const lang::Clause& clause : node.clauses) {
      bind(clause.pattern, scrutinee);
      Form form = of(clause.body);
      all = all ? joined(*all, form, expr, kChoice) : std::move(form);
    }
    return all.value_or(Form{});
  }

  [[noreturn]] static void refuse_data(const Expr& at) {
    lang::fail(
        lang::DiagnosticKind::Unsupported,
        fmt::format("not supported: `transpose` of a function with its argument in a value of "
                    "type `{}`",
                    lang::to_string(at->type)),
        at->span);
  }

  Form call(const Expr& expr, const lang::Call& node) {
    std::vector<Form> args;
    for (const Expr& arg : node.args) args.push_back(of(arg));
    const bool depends = std::any_of(args.begin(), args.end(), is_linear);
    if (const auto* op = as<lang::Operator>(node.callee))
      return operator_call(expr, node, *op->op, args);
    if (node.callee->kind == ExprKind::ConstructorRef) {
      if (depends) refuse_data(expr);
      return {};
    }
    if (const auto* global = as<lang::GlobalVar>(node.callee);
        global && program_.is_function(global->name))
      return depends
                 ? known_call(
                       global->name + lang::to_string(node.callee->type), args, expr->type,
                       [&] {
                         return pairs_.prepared(program_.function(global->name, node.callee->type));
                       })
                 : Form{};
    const auto* var = as<lang::Var>(node.callee);
    const auto found = var ? functions_.find(var->variable.get()) : functions_.end();
    if (found != functions_.end()) {
      const Expr function(found->second);
      return known_call(fmt::format("{}", static_cast<const void*>(function.get())), args,
                        expr->type, [&] { return function; });
    }
    // From outside it is taken to be linear; one that is made here may be anything.
    const bool is_made_here = var && known_.count(var->variable.get()) != 0;
    if (is_made_here && (depends || is_linear(of(node.callee))))
      refuse(expr, "nothing is known of the function that is called here");
    return depends ? linear_of(expr->type) : Form{};
  }

  // What the function of that name makes of such arguments. Where it calls itself, that is linear,
  // which has to hold of all else that it gives.
  template <class FunctionOf>
  Form known_call(std::string name, const std::vector<Form>& args, const Type& result,
                  const FunctionOf& function_of) {
    for (const Form& arg : args) name += text_of(arg);
    const auto [found, is_new] = results_.emplace(name, linear_of(result));
    if (!is_new) return found->second;
    const Expr copy = lang::rename_bound(function_of());
    kept_.push_back(copy);
    const auto& own = lang::cast<lang::Function>(copy);
    for (std::size_t i = 0; i < args.size(); ++i) known_[own.params[i].get()] = args[i];
    return results_[name] = of(own.body);
  }

  Form operator_call(const Expr& expr, const lang::Call& node, const lang::OpDef& op,
                     const std::vector<Form>& args) {
    Activity active;
    for (const Form& arg : args) active.push_back(is_linear(arg));
    const auto count = std::count(active.begin(), active.end(), true);
    if (op.differentiable && count > 0) {
      const Shortcut shortcut = shortcut_of(node, op, active);
      if (shortcut == Shortcut::Joint || (shortcut == Shortcut::Separate && count == 1))
        return {How::Linear};
    }
    if (count == 0 && args.size() > 1) return {};
    const auto defined =
        op.definition ? lang::definition_at(op, {node.args, node.attrs, expr->type}, node.algebra)
                      : std::nullopt;
    if (!defined) {
      if (count > 0) refuse(expr, fmt::format("`{}` is not linear, as far as is known", op.name));
      return {};
    }
    kept_.push_back(*defined);
    try {
      return of(*defined);
    } catch (lang::Failure& failure) {
      // Where it stands in the program; what stands there says more than how it is defined.
      lang::Diagnostic& diagnostic = failure.diagnostics.front();
      if (!diagnostic.span) diagnostic.span = expr->span;
      throw;
    }
  }

  lang::Program& program_;
  Pairs& pairs_;
  std::unordered_map<const Variable*, Form> known_;
  std::unordered_map<const Variable*, const lang::Function*> functions_;
  std::unordered_map<const lang::ExprNode*, Form> nodes_;
  std::unordered_map<std::string, Form> results_;
  std::vector<Expr> kept_;  // whose addresses are remembered
};

}  // namespace

void demand_linear(const lang::Function& function, lang::Program& program, Pairs& pairs) {
  Linearity(program, pairs).demand(function);
}

}  // namespace relay::ad
