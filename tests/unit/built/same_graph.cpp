#include "tests/unit/built/same_graph.h"

#include <map>
#include <vector>

#include <fmt/format.h>

#include "lang/call_site.h"
#include "lang/module.h"
#include "lang/op.h"
#include "lang/value.h"
#include "lang/visit.h"

namespace relay::tests {
namespace {

using lang::as;
using lang::Expr;

std::string text_of(lang::Span span) {
  const lang::Place place = lang::place_of(span);
  if (!place.span) return "nowhere";
  std::string text =
      fmt::format("{}:{}-{} in {} bytes", place.span.source->name(), place.span.begin,
                  place.span.end, place.span.source->text().size());
  for (const lang::Span& call : place.calls)
    text += fmt::format(", called from {}:{}-{}", call.source->name(), call.begin, call.end);
  return text;
}

std::string text_of(const lang::AttrsRef& attrs) {
  if (!attrs) return "none";
  std::string text;
  for (const lang::Attr& each : attrs->list)
    text += fmt::format("{}={} at {}; ", each.key, each.value.to_string(), text_of(each.span));
  return text;
}

std::string text_of(const lang::Constructor& constructor) {
  std::string text = fmt::format("{}.{} of {} {}", constructor.owner->name, constructor.name,
                                 constructor.owner->constructors.size(), constructor.tag);
  for (const lang::Type& field : constructor.fields) text += " " + lang::to_string(field);
  for (const std::string& name : constructor.field_names) text += " ." + name;
  return text;
}

// Everything of a graph as lines, things by the order in which they come first.
class Listing {
 public:
  std::vector<std::string> of(const Expr& root) {
    lang::visit_post_order(root, [this](const Expr& expr) { add(expr); });
    return std::move(lines_);
  }

 private:
  std::string number(const void* thing) {
    return "#" + std::to_string(numbers_.emplace(thing, numbers_.size()).first->second);
  }
  std::string text_of_type(const lang::Type& type) {
    if (!type) return "untyped";
    std::string text = lang::to_string(type);
    for (const lang::TypeVarRef& var : lang::variables_of(type)) text += " " + number(var.get());
    return text;
  }
  std::string text(const lang::VariableRef& variable) {
    return fmt::format("{} {} : {} at {} {}", number(variable.get()), variable->name,
                       text_of_type(variable->type), text_of(variable->span),
                       text_of(variable->attrs));
  }
  std::string text(const lang::PatternRef& pattern) {
    std::string text =
        fmt::format("[{} at {}", static_cast<int>(pattern->kind), text_of(pattern->span));
    if (pattern->variable) text += " " + this->text(pattern->variable);
    if (pattern->constructor) text += " " + text_of(*pattern->constructor);
    for (const lang::PatternRef& field : pattern->fields) text += " " + this->text(field);
    return text + "]";
  }
  std::string text(const lang::TensorRef& tensor) {
    return number(tensor.get()) + lang::to_string(lang::Value::tensor(tensor));
  }
  std::string own(const Expr& expr) {
    if (const auto* node = as<lang::Var>(expr)) return text(node->variable);
    if (const auto* node = as<lang::GlobalVar>(expr)) return node->name;
    if (const auto* node = as<lang::Constant>(expr)) return text(node->value);
    if (const auto* node = as<lang::Literal>(expr)) {
      return node->elements ? text(node->elements)
                            : fmt::format("{} {} {}", node->is_float, node->integer, node->real);
    }
    if (const auto* node = as<lang::Projection>(expr)) return std::to_string(node->index);
    if (const auto* node = as<lang::Call>(expr)) return text_of(node->attrs);
    if (const auto* node = as<lang::Operator>(expr))
      return fmt::format("{} {}", node->op->name, static_cast<int>(node->op->effect));
    if (const auto* node = as<lang::ConstructorRef>(expr)) return text_of(*node->constructor);
    if (const auto* node = as<lang::Reduction>(expr)) return std::string(name_of(node->op));
    if (const auto* node = as<lang::Index>(expr)) return node->in_bounds ? "in bounds" : "checked";
    if (const auto* node = as<lang::ScatterReduce>(expr)) return std::string(name_of(node->op));
    if (const auto* node = as<lang::Primitive>(expr)) return std::string(info(node->prim).text);
    if (const auto* node = as<lang::DimTerm>(expr)) return node->dim.to_string();
    if (const auto* node = as<lang::Differentiate>(expr))
      return std::to_string(static_cast<int>(node->mode));
    if (const auto* node = as<lang::Match>(expr)) {
      std::string patterns = node->is_complete ? "complete" : "partial";
      for (const lang::Clause& clause : node->clauses) patterns += " " + text(clause.pattern);
      return patterns;
    }
    if (const auto* node = as<lang::Function>(expr)) {
      std::string vars;
      for (const lang::TypeVarRef& var : node->type_params)
        vars += fmt::format(" {} {} {}", number(var.get()), var->name, static_cast<int>(var->kind));
      return fmt::format("{}{} -> {}", text_of(node->attrs), vars, text_of_type(node->result));
    }
    return {};
  }
  void add(const Expr& expr) {
    std::string line =
        fmt::format("{} {} {} at {} algebra {}: {}", number(expr.get()), name_of(expr->kind),
                    text_of_type(expr->type), text_of(expr->span),
                    static_cast<int>(lang::algebra_of(expr)), own(expr));
    lang::for_each_binder(expr, [&](const lang::VariableRef& each) { line += " | " + text(each); });
    lang::for_each_child(expr, [&](const Expr& each) { line += " " + number(each.get()); });
    lines_.push_back(std::move(line));
  }

  std::map<const void*, std::size_t> numbers_;
  std::vector<std::string> lines_;
};

}  // namespace

std::string difference(const Expr& a, const Expr& b) {
  const std::vector<std::string> left = Listing().of(a);
  const std::vector<std::string> right = Listing().of(b);
  for (std::size_t i = 0; i < left.size() && i < right.size(); ++i) {
    if (left[i] != right[i]) return left[i] + "\n" + right[i];
  }
  return left.size() == right.size() ? std::string()
                                     : fmt::format("{} and {} nodes", left.size(), right.size());
}

}  // namespace relay::tests
