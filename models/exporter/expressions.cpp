// Expressions but calls and index notation.
#include <utility>

#include <fmt/format.h>

#include "lang/stop.h"
#include "models/exporter/exporter.h"

namespace relay::models::exporter {

using lang::DiagnosticKind;
using lang::Expr;
using lang::ExprKind;

namespace {

[[noreturn]] void unsupported(const std::string& what) {
  lang::fail(DiagnosticKind::Unsupported, "not supported in ONNX: " + what);
}

}  // namespace

Value Exporter::value_of(const Expr& expr, ScopeRef scope) {
  if (expr->kind == ExprKind::Var) {
    const Value* found = scope->find(lang::cast<lang::Var>(expr).variable.get());
    RELAY_CHECK(found, "a variable has no value");
    return *found;
  }
  if (const Value* made = scope->find(expr.get())) return *made;
  Value value;
  const std::size_t branches = branches_;
  const std::size_t choices = choices_;
  const std::size_t lanes = lanes_.size();
  const std::size_t active = active_.size();
  try {
    value = made_of(expr, scope);
  } catch (const lang::Failure& failure) {
    if (lang::is_stopping()) throw;
    // What was around this expression is around the next one.
    branches_ = branches;
    choices_ = choices;
    lanes_.resize(lanes);
    active_.resize(active);
    report(failure, expr->span);
    value = lost_value();
  }
  scope->made[expr.get()] = value;
  return value;
}

void Exporter::add_bindings(const lang::Block& block, ScopeRef scope) {
  for (const lang::Binding& binding : block.bindings) {
    if (binding.value->kind == ExprKind::Function) {
      scope->variables[binding.variable.get()] = function_value(binding.value, scope);
      continue;
    }
    Value value = value_of(binding.value, scope);
    graph_.rename(value, binding.variable->name);
    scope->variables[binding.variable.get()] = std::move(value);
  }
}

Value Exporter::made_of(const Expr& expr, ScopeRef scope) {
  switch (expr->kind) {
    case ExprKind::Var:
      return value_of(expr, scope);
    case ExprKind::GlobalVar:
      return global(lang::cast<lang::GlobalVar>(expr), expr);
    case ExprKind::Constant:
      return constant_value(lang::cast<lang::Constant>(expr).value, "");
    case ExprKind::Tuple: {
      std::vector<Value> fields;
      for (const Expr& each : lang::cast<lang::Tuple>(expr).fields)
        fields.push_back(value_of(each, scope));
      for (const Value& each : fields) {
        if (each.is_lost()) return lost_value();
      }
      return fields_value(std::move(fields), expr->type);
    }
    case ExprKind::Projection: {
      const auto& projection = lang::cast<lang::Projection>(expr);
      const Value tuple = value_of(projection.tuple, scope);
      return tuple.is_lost() ? lost_value() : tuple.fields.at(projection.index);
    }
    case ExprKind::Let: {
      const lang::Block block = lang::open_block(expr);
      add_bindings(block, scope);
      return value_of(block.result, scope);
    }
    case ExprKind::If:
      return branch(lang::cast<lang::If>(expr), scope);
    case ExprKind::Function:
    case ExprKind::Operator:
    case ExprKind::ConstructorRef: {
      const auto* constructor = lang::as<lang::ConstructorRef>(expr);
      if (constructor && constructor->constructor->fields.empty())
        return fields_value({}, expr->type, constructor->constructor);
      return function_value(expr, scope);
    }
    case ExprKind::Call:
      return call(lang::cast<lang::Call>(expr), expr, scope);
    case ExprKind::Match:
      return match(lang::cast<lang::Match>(expr), scope);
    case ExprKind::RefCreate:
    case ExprKind::RefRead:
    case ExprKind::RefWrite:
      unsupported("references");
    case ExprKind::Differentiate:
      unsupported("derivatives; `relay grad` writes them as functions");
    case ExprKind::Comprehension:
      return comprehension(lang::cast<lang::Comprehension>(expr), expr->type, scope);
    case ExprKind::Reduction:
      return reduction(lang::cast<lang::Reduction>(expr), expr->type, scope);
    case ExprKind::Index:
      return index(lang::cast<lang::Index>(expr), expr->type, scope);
    case ExprKind::ScatterReduce:
      return scatter(lang::cast<lang::ScatterReduce>(expr), expr->type, scope);
    case ExprKind::Primitive:
      return primitive(lang::cast<lang::Primitive>(expr), expr->type, scope);
    case ExprKind::DimTerm: {
      const lang::Dim& dim = lang::cast<lang::DimTerm>(expr).dim;
      Value value = tensor_value(graph_.extent(dim), expr->type);
      value.affine = Affine{{}, 0, dim};
      return value;
    }
    case ExprKind::Literal:
      break;
  }
  unsupported("this expression");
}

Value Exporter::known(const lang::Value& value, const lang::Type& type, const std::string& name) {
  switch (value.kind()) {
    case lang::ValueKind::Scalar:
    case lang::ValueKind::Tensor:
      return constant_value(value.to_tensor(), name);
    case lang::ValueKind::Tuple: {
      std::vector<Value> fields;
      for (const lang::Value& each : value.as_tuple().fields())
        fields.push_back(known(each, nullptr, fmt::format("{}.{}", name, fields.size())));
      return fields_value(std::move(fields), type);
    }
    case lang::ValueKind::Adt: {
      // A field that has a name is called by it alone, as weights are in a model.
      const lang::Constructor& constructor = value.as_adt().constructor();
      std::vector<Value> fields;
      for (const lang::Value& each : value.as_adt().fields()) {
        const std::size_t k = fields.size();
        fields.push_back(known(each, nullptr,
                               constructor.field_names.empty() ? fmt::format("{}.{}", name, k)
                                                               : constructor.field_names[k]));
      }
      return fields_value(std::move(fields), type, &constructor);
    }
    default:
      unsupported(fmt::format("`{}`, a function or a reference that is a value", name));
  }
}

Value Exporter::global(const lang::GlobalVar& use, const Expr& expr) {
  const lang::Value* value = program_.value(use.name);
  if (!value) return function_value(expr, nullptr);
  return known(*value, expr->type, use.name);
}

Value Exporter::branch(const lang::If& choice, ScopeRef outer) {
  Value condition = value_of(choice.condition, outer);
  if (condition.constant) {
    const bool is_true = condition.constant->bits_at(0) != 0;
    return value_of(is_true ? choice.then_branch : choice.else_branch, scope(outer));
  }
  if (!lanes_.empty()) {
    ++choices_;
    ++branches_;
    const Value a = value_of(choice.then_branch, scope(outer));
    const Value b = value_of(choice.else_branch, scope(outer));
    --branches_;
    --choices_;
    return choose(condition, a, b);
  }
  ++branches_;
  std::vector<Value> values;
  std::vector<std::shared_ptr<Graph>> graphs;
  std::vector<std::vector<Value>> tensors;
  for (const Expr& code : {choice.then_branch, choice.else_branch}) {
    graph_.open(values.empty() ? "then" : "else");
    values.push_back(value_of(code, scope(outer)));
    auto& own = tensors.emplace_back();
    try {
      collect_tensors(values.back(), own);
    } catch (const lang::Failure& failure) {
      report(failure, code->span);
    }
    for (Value& each : own) {
      materialise(each);
      graph_.output(each, "chosen");
    }
    graphs.push_back(graph_.close());
  }
  --branches_;
  if (condition.is_lost() || values[0].is_lost() || values[1].is_lost()) return lost_value();
  if (!same_form(values[0], values[1]))
    unsupported("an `if` whose branches give data of different constructors");
  materialise(condition);
  const auto names =
      graph_.nodes("If", {graph_.name_of(condition)},
                   {{"then_branch", graphs[0]}, {"else_branch", graphs[1]}}, tensors[0].size());
  std::vector<Value> results;
  for (std::size_t k = 0; k < names.size(); ++k)
    results.push_back(tensor_value(names[k], tensors[0][k].type));
  std::size_t next = 0;
  Value result = with_tensors(values[0], results, next);
  give_type(result, choice.type);
  return result;
}

bool Exporter::bind(const lang::Pattern& pattern, const Value& value, ScopeRef scope) {
  switch (pattern.kind) {
    case lang::PatternKind::Wildcard:
      return true;
    case lang::PatternKind::Variable:
      scope->variables[pattern.variable.get()] = value;
      return true;
    case lang::PatternKind::Constructor:
      if (value.constructor != pattern.constructor) {
        // A type that has been defined anew is another one; within a type the tag tells.
        if (!value.constructor || value.constructor->owner != pattern.constructor->owner)
          unsupported("a `match` of a value that is not known");
        return false;
      }
      break;
    case lang::PatternKind::Tuple:
      break;
  }
  for (std::size_t k = 0; k < pattern.fields.size(); ++k) {
    if (!bind(*pattern.fields[k], value.fields.at(k), scope)) return false;
  }
  return true;
}

Value Exporter::match(const lang::Match& match, ScopeRef outer) {
  const Value value = value_of(match.scrutinee, outer);
  if (value.is_lost()) return lost_value();
  for (const lang::Clause& clause : match.clauses) {
    Scope* const inner = scope(outer);
    if (bind(*clause.pattern, value, inner)) return value_of(clause.body, inner);
  }
  unsupported("a `match?` that no clause fits");
}

}  // namespace relay::models::exporter
