#include "plot/dataflow.h"

#include <algorithm>
#include <deque>
#include <set>
#include <unordered_map>

#include <fmt/format.h>

#include "lang/derivative.h"
#include "lang/module.h"
#include "lang/op.h"
#include "lang/print.h"
#include "lang/stop.h"
#include "lang/utf8.h"
#include "lang/value.h"
#include "lang/visit.h"

namespace relay::plot {

using lang::as;
using lang::cast;
using lang::Expr;
using lang::ExprKind;
using NodeKind = FlowNode::Kind;

namespace {

constexpr std::size_t kLongestLabel = 48;

// On one line, and not long.
std::string cut(const std::string& text) {
  std::string line;
  for (const char c : text) {
    const bool is_blank = c == ' ' || c == '\n' || c == '\t';
    if (!is_blank) line += c;
    if (is_blank && !line.empty() && line.back() != ' ') line += ' ';
  }
  if (lang::code_points(line) <= kLongestLabel) return line;
  std::size_t end = kLongestLabel;
  while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xc0U) == 0x80U) --end;
  return line.substr(0, end) + "...";
}

// Attributes that are not what they would be anyway.
std::string attributes_of(const lang::Call& call, const lang::OpDef& op) {
  if (!call.attrs) return {};
  std::vector<std::string> texts;
  for (const lang::Attr& attr : call.attrs->list) {
    const auto spec = std::find_if(op.attrs.begin(), op.attrs.end(),
                                   [&](const auto& each) { return each.name == attr.key; });
    const bool is_usual =
        attr.value.is_null() || (spec != op.attrs.end() && spec->default_value == attr.value);
    if (!is_usual) texts.push_back(attr.key + "=" + attr.value.to_string());
  }
  return texts.empty() ? "" : fmt::format(" {}", fmt::join(texts, " "));
}

std::string pattern_text(const lang::PatternRef& pattern) {
  switch (pattern->kind) {
    case lang::PatternKind::Wildcard:
      return "_";
    case lang::PatternKind::Variable:
      return pattern->variable->name;
    case lang::PatternKind::Constructor:
    case lang::PatternKind::Tuple:
      break;
  }
  std::vector<std::string> fields;
  for (const auto& each : pattern->fields) fields.push_back(pattern_text(each));
  const std::string name = pattern->constructor ? pattern->constructor->name : "";
  if (fields.empty() && pattern->constructor) return name;
  return fmt::format("{}({})", name, fmt::join(fields, ", "));
}

class Builder {
 public:
  Builder(const FunctionBody& body_of, std::size_t most) : body_of_(body_of), most_(most) {}

  Dataflow build(const std::string& name, const Expr& expr) {
    flow_.clusters.push_back({name, kNoCluster});
    shown_.insert(name);
    put_whole(expr);
    while (!waiting_.empty()) {
      const auto [called, body] = std::move(waiting_.front());
      waiting_.pop_front();
      cluster_ = flow_.clusters.size();
      flow_.clusters.push_back({called, kNoCluster});
      put_whole(body);
    }
    return std::move(flow_);
  }

 private:
  static constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

  // A node, or kNowhere if there is no room.
  std::size_t add(NodeKind kind, std::string name, std::string label, const lang::Type& type) {
    lang::poll();
    if (flow_.nodes.size() >= most_) {
      ++flow_.left_out;
      return kNowhere;
    }
    flow_.nodes.push_back(
        {kind, std::move(name), cut(label), type ? short_type(type) : "", cluster_});
    return flow_.nodes.size() - 1;
  }

  void connect(std::size_t from, std::size_t to, std::string role = "") {
    if (from == kNowhere || to == kNowhere) return;
    flow_.edges.push_back({from, to, std::move(role), flow_.nodes[from].type});
  }

  // A step with its operands.
  std::size_t step(NodeKind kind, const std::string& label, const Expr& expr,
                   const std::vector<Expr>& operands) {
    std::vector<std::size_t> inputs;
    for (const Expr& each : operands) inputs.push_back(visit(each));
    const std::size_t node = add(kind, "", label, expr->type);
    for (const std::size_t each : inputs) connect(each, node);
    return node;
  }

  // An expression in its cluster, with its result.
  void put_whole(const Expr& expr) {
    const std::size_t result = visit_body(expr);
    connect(result, add(NodeKind::Result, "", "result", nullptr));
  }

  // A function by its parameters and its body.
  std::size_t visit_body(const Expr& expr) {
    const auto* fn = as<lang::Function>(expr);
    if (!fn) return visit(expr);
    for (const auto& param : fn->params)
      places_[param.get()] = add(NodeKind::Input, param->name, "", param->type);
    return visit(fn->body);
  }

  // A part that has a cluster of its own.
  std::size_t visit_in(const std::string& label, const Expr& expr) {
    const std::size_t before = cluster_;
    flow_.clusters.push_back({cut(label), before});
    cluster_ = flow_.clusters.size() - 1;
    const std::size_t node = visit_body(expr);
    cluster_ = before;
    return node;
  }

  std::size_t visit(const Expr& expr) {
    if (expr->kind == ExprKind::Let) return visit_lets(expr);
    if (const auto* var = as<lang::Var>(expr)) return place_of(var->variable);
    const auto found = seen_.find(expr.get());
    if (found != seen_.end()) return found->second;
    const std::size_t node = visit_new(expr);
    seen_.emplace(expr.get(), node);
    return node;
  }

  std::size_t place_of(const lang::VariableRef& variable) {
    const auto found = places_.find(variable.get());
    if (found != places_.end()) return found->second;
    const std::size_t node = add(NodeKind::Input, variable->name, "", variable->type);
    places_.emplace(variable.get(), node);
    return node;
  }

  std::size_t visit_lets(Expr expr) {
    while (const auto* let = as<lang::Let>(expr)) {
      const std::string& name = let->variable->name;
      std::size_t node = kNowhere;
      if (let->value->kind == ExprKind::Function) {
        // It may call itself.
        node = add(NodeKind::Function, name, "fn", let->variable->type);
        places_[let->variable.get()] = node;
        connect(visit_in(name, let->value), node);
      } else {
        const std::size_t before = flow_.nodes.size();
        node = visit(let->value);
        if (node != kNowhere && node >= before && flow_.nodes[node].name.empty())
          flow_.nodes[node].name = name;
      }
      places_[let->variable.get()] = node;
      expr = let->body;
    }
    return visit(expr);
  }

  std::size_t visit_call(const Expr& expr) {
    const auto& call = cast<lang::Call>(expr);
    if (const auto* op = as<lang::Operator>(call.callee)) {
      return step(NodeKind::Step, op->op->name + attributes_of(call, *op->op), expr, call.args);
    }
    if (const auto* made = as<lang::ConstructorRef>(call.callee))
      return step(NodeKind::Step, made->constructor->name, expr, call.args);
    if (const auto* global = as<lang::GlobalVar>(call.callee)) {
      show_later(*global);
      return step(NodeKind::Function, global->name, expr, call.args);
    }
    const std::size_t callee = visit(call.callee);
    const std::size_t node = step(NodeKind::Function, "call", expr, call.args);
    connect(callee, node, "called");
    return node;
  }

  void show_later(const lang::GlobalVar& global) {
    if (!shown_.insert(global.name).second) return;
    if (const Expr body = body_of_(global)) waiting_.emplace_back(global.name, body);
  }

  std::size_t visit_if(const Expr& expr) {
    const auto& choice = cast<lang::If>(expr);
    const std::size_t condition = visit(choice.condition);
    const std::size_t taken = visit_in("then", choice.then_branch);
    const std::size_t other = visit_in("else", choice.else_branch);
    const std::size_t node = add(NodeKind::Choice, "", "if", expr->type);
    connect(condition, node, "condition");
    connect(taken, node, "then");
    connect(other, node, "else");
    return node;
  }

  std::size_t visit_match(const Expr& expr) {
    const auto& match = cast<lang::Match>(expr);
    const std::size_t scrutinee = visit(match.scrutinee);
    std::vector<std::pair<std::string, std::size_t>> results;
    for (const lang::Clause& clause : match.clauses) {
      const std::string label = pattern_text(clause.pattern);
      const std::size_t before = cluster_;
      flow_.clusters.push_back({cut(label), before});
      cluster_ = flow_.clusters.size() - 1;
      lang::for_each_variable(clause.pattern, [&](const lang::VariableRef& variable) {
        const std::size_t field = add(NodeKind::Input, variable->name, "", variable->type);
        places_[variable.get()] = field;
        connect(scrutinee, field);
      });
      results.emplace_back(label, visit(clause.body));
      cluster_ = before;
    }
    const std::size_t node = add(NodeKind::Choice, "", "match", expr->type);
    connect(scrutinee, node, "matched");
    for (const auto& [label, result] : results) connect(result, node, cut(label));
    return node;
  }

  // Index notation, as its text, made of the variables that it reads.
  std::size_t visit_indexed(const Expr& expr) {
    std::vector<std::size_t> inputs;
    for (const auto& variable : lang::free_variables(expr)) inputs.push_back(place_of(variable));
    lang::visit_post_order(expr, [&](const Expr& node) {
      const auto* global = as<lang::GlobalVar>(node);
      if (global && node->type && node->type->kind == lang::TypeKind::Function) show_later(*global);
    });
    const std::size_t node = add(NodeKind::Step, "", lang::print_light(expr), expr->type);
    for (const std::size_t each : inputs) connect(each, node);
    return node;
  }

  std::size_t visit_new(const Expr& expr) {
    switch (expr->kind) {
      case ExprKind::Constant: {
        const lang::ValuePrintOptions few{.max_elements = 8, .edge_items = 2, .max_lines = 1};
        const auto value = lang::Value::tensor(cast<lang::Constant>(expr).value);
        return add(NodeKind::Constant, "", lang::to_string(value, few), expr->type);
      }
      case ExprKind::Literal:
        return add(NodeKind::Constant, "", lang::print_light(expr), expr->type);
      case ExprKind::DimTerm:
        return add(NodeKind::Constant, "", cast<lang::DimTerm>(expr).dim.to_string(), expr->type);
      case ExprKind::GlobalVar: {
        const auto& global = cast<lang::GlobalVar>(expr);
        const bool is_function = expr->type && expr->type->kind == lang::TypeKind::Function;
        if (is_function) show_later(global);
        return add(is_function ? NodeKind::Function : NodeKind::Input, global.name, "", expr->type);
      }
      case ExprKind::Operator:
        return add(NodeKind::Function, "", cast<lang::Operator>(expr).op->name, expr->type);
      case ExprKind::ConstructorRef:
        return add(NodeKind::Constant, "", cast<lang::ConstructorRef>(expr).constructor->name,
                   expr->type);
      case ExprKind::Tuple:
        return step(NodeKind::Step, "tuple", expr, cast<lang::Tuple>(expr).fields);
      case ExprKind::Projection: {
        const auto& field = cast<lang::Projection>(expr);
        return step(NodeKind::Step, fmt::format(".{}", field.index), expr, {field.tuple});
      }
      case ExprKind::If:
        return visit_if(expr);
      case ExprKind::Match:
        return visit_match(expr);
      case ExprKind::Call:
        return visit_call(expr);
      case ExprKind::Function: {
        const std::size_t body = visit_in("fn", expr);
        const std::size_t node = add(NodeKind::Function, "", "fn", expr->type);
        connect(body, node);
        return node;
      }
      case ExprKind::RefCreate:
        return step(NodeKind::Step, "ref", expr, {cast<lang::RefCreate>(expr).value});
      case ExprKind::RefRead:
        return step(NodeKind::Step, "read", expr, {cast<lang::RefRead>(expr).ref});
      case ExprKind::RefWrite: {
        const auto& write = cast<lang::RefWrite>(expr);
        return step(NodeKind::Step, "write", expr, {write.ref, write.value});
      }
      case ExprKind::Index: {
        const auto& index = cast<lang::Index>(expr);
        std::vector<Expr> operands = {index.tensor};
        operands.insert(operands.end(), index.indices.begin(), index.indices.end());
        return step(NodeKind::Step, "[ ]", expr, operands);
      }
      case ExprKind::Primitive: {
        const auto& primitive = cast<lang::Primitive>(expr);
        return step(NodeKind::Step, std::string(lang::info(primitive.prim).text), expr,
                    primitive.args);
      }
      case ExprKind::Differentiate: {
        const auto& derivative = cast<lang::Differentiate>(expr);
        return step(NodeKind::Function, std::string(lang::name_of(derivative.mode)), expr,
                    {derivative.fn});
      }
      case ExprKind::Comprehension:
      case ExprKind::Reduction:
      case ExprKind::ScatterReduce:
        return visit_indexed(expr);
      case ExprKind::Var:
      case ExprKind::Let:
        break;
    }
    return visit(expr);
  }

  const FunctionBody& body_of_;
  const std::size_t most_;
  Dataflow flow_;
  std::size_t cluster_ = 0;
  std::unordered_map<const lang::ExprNode*, std::size_t> seen_;
  std::unordered_map<const lang::Variable*, std::size_t> places_;
  std::set<std::string> shown_;
  std::deque<std::pair<std::string, Expr>> waiting_;
};

}  // namespace

std::string short_type(const lang::Type& type) {
  const auto* tensor = as<lang::TensorType>(type);
  if (!tensor) return cut(lang::to_string(type));
  const std::string dtype = lang::to_string(tensor->dtype);
  if (tensor->shape.has_rank() && tensor->shape.rank() == 0) return dtype;
  return cut(fmt::format("{} {}", lang::to_string(tensor->shape), dtype));
}

Dataflow dataflow_of(const std::string& name, const Expr& typed, const FunctionBody& body_of,
                     std::size_t most) {
  return Builder(body_of, most).build(name, typed);
}

}  // namespace relay::plot
