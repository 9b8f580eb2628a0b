#include "lang/external_graph.h"

#include <unordered_map>

#include <fmt/format.h>

#include "lang/diagnostic.h"
#include "lang/function_fact.h"
#include "lang/op.h"
#include "lang/print.h"

namespace relay::lang {

namespace {

// The tensors that a type is made of, in order. False where it has a part that is no tensor of
// constant extents.
bool append_types(const Type& type, std::vector<ExternalType>& into) {
  if (const auto* tuple = as<TupleType>(type)) {
    for (const Type& field : tuple->fields) {
      if (!append_types(field, into)) return false;
    }
    return true;
  }
  const auto* tensor = as<TensorType>(type);
  if (!tensor || !tensor->shape.has_rank() || !tensor->dtype.is_known()) return false;
  ExternalType made{tensor->dtype.known(), {}};
  for (const Dim& dim : tensor->shape.dims()) {
    if (!dim.is_constant()) return false;
    made.shape.push_back(dim.constant());
  }
  into.push_back(std::move(made));
  return true;
}

class GraphMaker {
 public:
  GraphMaker(const Function& function, bool has_text) : function_(function), has_text_(has_text) {}

  ExternalGraph make() {
    if (const std::string* symbol = find_text(function_, FunctionFact::GlobalSymbol))
      graph_.symbol = *symbol;
    for (const auto& param : function_.params) {
      Values values;
      for (const ExternalType& type : types_at(param->type, param->span)) {
        values.push_back({graph_.nodes.size(), 0});
        ExternalNode node;
        node.outputs = {type};
        graph_.nodes.push_back(std::move(node));
      }
      values_[param.get()] = std::move(values);
    }
    graph_.parameters = graph_.nodes.size();
    graph_.results = block(function_.body);
    if (has_text_) graph_.text = print(Expr(&function_), {.header = true});
    return std::move(graph_);
  }

 private:
  using Values = std::vector<ExternalValue>;

  [[noreturn]] static void refuse(const std::string& what, Span place) {
    fail(DiagnosticKind::Unsupported,
         fmt::format("not supported: {} in a function for an external compiler", what), place);
  }

  static std::vector<ExternalType> types_at(const Type& type, Span place) {
    std::vector<ExternalType> types;
    if (!append_types(type, types))
      refuse(fmt::format("a value of type `{}`", to_string(type)), place);
    return types;
  }

  Values block(const Expr& expr) {
    Block opened = open_block(expr);
    for (const Binding& binding : opened.bindings) {
      if (binding.value->kind == ExprKind::Function) {
        literals_[binding.variable.get()] = binding.value;
      } else {
        values_[binding.variable.get()] = value(binding.value);
      }
    }
    return value(opened.result);
  }

  Values value(const Expr& expr) {
    switch (expr->kind) {
      case ExprKind::Var: {
        const auto found = values_.find(cast<Var>(expr).variable.get());
        if (found == values_.end())
          refuse(fmt::format("`{}`", cast<Var>(expr).variable->name), expr->span);
        return found->second;
      }
      case ExprKind::Constant: {
        ExternalNode node;
        node.kind = ExternalNode::Kind::Constant;
        node.constant = contiguous(cast<Constant>(expr).value);
        node.outputs = types_at(expr->type, expr->span);
        graph_.nodes.push_back(std::move(node));
        return {{graph_.nodes.size() - 1, 0}};
      }
      case ExprKind::Tuple: {
        Values fields;
        for (const Expr& field : cast<Tuple>(expr).fields) {
          const Values part = value(field);
          fields.insert(fields.end(), part.begin(), part.end());
        }
        return fields;
      }
      case ExprKind::Projection:
        return field(cast<Projection>(expr));
      case ExprKind::Let:
        return block(expr);
      case ExprKind::Call:
        return call(expr);
      default:
        refuse("what is no call of an operator, and no tuple or constant", expr->span);
    }
  }

  Values field(const Projection& node) {
    const Values whole = value(node.tuple);
    const auto& type = *as<TupleType>(node.tuple->type);
    std::size_t begin = 0;
    for (std::uint32_t i = 0; i < node.index; ++i)
      begin += types_at(type.fields[i], node.span).size();
    const std::size_t count = types_at(type.fields[node.index], node.span).size();
    const auto first = whole.begin() + static_cast<std::ptrdiff_t>(begin);
    return {first, first + static_cast<std::ptrdiff_t>(count)};
  }

  Values call(const Expr& expr) {
    const auto& node = cast<Call>(expr);
    std::vector<Values> args;
    for (const Expr& arg : node.args) args.push_back(value(arg));
    if (const auto* op = as<Operator>(node.callee)) return operator_call(expr, *op->op, args);
    const auto* fn = as<Function>(node.callee);
    if (const auto* var = as<Var>(node.callee)) {
      const auto found = literals_.find(var->variable.get());
      if (found != literals_.end()) fn = as<Function>(found->second);
    }
    if (!fn) refuse("a call of what is no operator", expr->span);
    return literal_call(*fn, args, expr->span);
  }

  Values operator_call(const Expr& expr, const OpDef& op, const std::vector<Values>& args) {
    ExternalNode made;
    made.kind = ExternalNode::Kind::Call;
    made.op = op.name;
    made.attrs = cast<Call>(expr).attrs;
    made.composite = composite_;
    for (const Values& arg : args) made.inputs.insert(made.inputs.end(), arg.begin(), arg.end());
    made.outputs = types_at(expr->type, expr->span);
    Values results;
    for (std::size_t i = 0; i < made.outputs.size(); ++i)
      results.push_back({graph_.nodes.size(), i});
    graph_.nodes.push_back(std::move(made));
    return results;
  }

  Values literal_call(const Function& fn, const std::vector<Values>& args, Span place) {
    for (std::size_t i = 0; i < fn.params.size(); ++i) values_[fn.params[i].get()] = args[i];
    const std::string* name = find_text(fn, FunctionFact::Composite);
    if (!name || composite_ >= 0) return block(fn.body);
    composite_ = static_cast<int>(graph_.composites.size());
    graph_.composites.push_back({*name, graph_.nodes.size(), 0});
    const Values result = block(fn.body);
    if (result.size() != 1 || graph_.nodes.size() == graph_.composites.back().first)
      refuse(fmt::format("the composite `{}`", *name), place);
    if (result[0].node + 1 != graph_.nodes.size()) {
      refuse(fmt::format("the composite `{}`, whose result is not that of its last step,", *name),
             place);
    }
    graph_.composites.back().last = graph_.nodes.size() - 1;
    composite_ = -1;
    return result;
  }

  const Function& function_;
  const bool has_text_;
  ExternalGraph graph_;
  std::unordered_map<const Variable*, Values> values_;
  std::unordered_map<const Variable*, Expr> literals_;
  int composite_ = -1;
};

}  // namespace

ExternalGraph external_graph(const Function& function, bool has_text) {
  return GraphMaker(function, has_text).make();
}

}  // namespace relay::lang
