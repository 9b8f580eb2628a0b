#include <cstdint>
#include <optional>

#include <fmt/format.h>

#include "lang/op_traits.h"
#include "lang/visit.h"
#include "opt/analysis_text.h"
#include "opt/definitions.h"

namespace relay::opt {

using lang::as;
using lang::Expr;
using lang::ExprKind;

namespace {

std::optional<std::int64_t> points_of(const std::vector<lang::IndexBinder>& binders) {
  std::int64_t points = 1;
  for (const lang::IndexBinder& binder : binders) {
    if (!binder.extent) return std::nullopt;
    const auto* term = as<lang::DimTerm>(binder.extent);
    const auto extent = term && term->dim.is_constant() ? std::optional(term->dim.constant())
                                                        : integer(binder.extent);
    if (!extent) return std::nullopt;
    points *= *extent;
  }
  return points;
}

// A product, perhaps only where a condition holds, or cast.
bool is_product(const Expr& expr) {
  if (const auto* branch = as<lang::If>(expr))
    return is_product(branch->then_branch) || is_product(branch->else_branch);
  if (const auto* let = as<lang::Let>(expr)) return is_product(let->body);
  const auto step = lang::arithmetic_step(expr);
  if (!step) return false;
  switch (step->prim) {
    case lang::Prim::Mul:
      return true;
    case lang::Prim::Cast:
      return is_product(step->args[0]);
    case lang::Prim::Select:
      return is_product(step->args[1]) || is_product(step->args[2]);
    default:
      return false;
  }
}

// Products that are summed, by what operators are defined as: each counts as often as it is
// computed.
class MacCount {
 public:
  std::int64_t total() const { return total_; }
  bool is_complete() const { return is_complete_; }

  void add(const Expr& expr, std::int64_t times) {
    switch (expr->kind) {
      case ExprKind::Comprehension:
        return add_inside(expr, times, lang::cast<lang::Comprehension>(expr).binders);
      case ExprKind::ScatterReduce:
        return add_inside(expr, times, lang::cast<lang::ScatterReduce>(expr).binders);
      case ExprKind::Reduction: {
        const auto& reduction = lang::cast<lang::Reduction>(expr);
        const auto points = points_of(reduction.binders);
        if (!points) return give_up();
        if (reduction.op == lang::ReduceOp::Dot ||
            (reduction.op == lang::ReduceOp::Sum && is_product(reduction.body)))
          total_ += times * *points;
        return add_inside(expr, times, reduction.binders);
      }
      case ExprKind::Call:
        add_definition(lang::cast<lang::Call>(expr), times);
        break;
      default:
        break;
    }
    add_children(expr, times);
  }

 private:
  void give_up() { is_complete_ = false; }

  void add_children(const Expr& expr, std::int64_t times) {
    if (expr->kind == ExprKind::Let) {  // a chain of them may be long
      const lang::Block block = lang::open_block(expr);
      for (const lang::Binding& binding : block.bindings) {
        if (seen_.insert(binding.value.get())) add(binding.value, times);
      }
      if (seen_.insert(block.result.get())) add(block.result, times);
      return;
    }
    lang::for_each_child(expr, [&](const Expr& child) {
      if (seen_.insert(child.get())) add(child, times);
    });
  }

  void add_inside(const Expr& expr, std::int64_t times,
                  const std::vector<lang::IndexBinder>& binders) {
    const auto points = points_of(binders);
    if (!points) return give_up();
    add_children(expr, times * *points);
  }

  void add_definition(const lang::Call& call, std::int64_t times) {
    const auto* op = as<lang::Operator>(call.callee);
    if (!op || !op->op->definition || !call.type) return;
    const Expr body = lang::definition_of(call);
    if (!body) return give_up();
    kept_.push_back(body);
    add(body, times);
  }

  std::int64_t total_ = 0;
  bool is_complete_ = true;
  lang::PointerMap<lang::ExprNode, bool> seen_;
  std::vector<Expr> kept_;  // so that no address comes twice
};

}  // namespace

Analysis get_total_mac_number_analysis() {
  Analysis analysis;
  analysis.name = "get_total_mac_number";
  analysis.doc =
      "how many products are summed: of matrix products, convolutions and sums of products";
  analysis.example =
      "def f(x: Tensor[(8, 64), float32], w: Tensor[(32, 64), float32]) { nn.relu(nn.dense(x, w)) "
      "}";
  analysis.run = [](PassProgram& program) {
    return of_each_function(program, [](const Expr& root) -> std::string {
      MacCount count;
      count.add(root, 1);
      const std::string number = fmt::format("{}", count.total());
      return count.is_complete() ? number : number + ", and those of shapes that are not known";
    });
  };
  return analysis;
}

}  // namespace relay::opt
