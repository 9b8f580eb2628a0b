#include "stdlib/ops/families.h"

namespace relay::stdlib {

// --- sort_order: the primitive that the others are made of ---

namespace {

void add_sort_order() {
  OpDef def;
  def.name = "sort_order";
  def.level = 0;
  def.doc =
      "The positions of the elements of each row (the last axis) from small to large.\n"
      "Equal elements keep their order, NaN comes last. A primitive: `sort`, `topk` and `unique` "
      "are made of it.";
  def.example = "sort_order([3.0, 1.0, 2.0])\n// expect: [1, 2, 0]";
  def.inputs = {{"data", "the rows"}};
  def.type_rule = [](TypeCall& call) {
    const Type data = call.tensor(0);
    const auto& rows = static_cast<const TensorType&>(*data);
    call.returns(lang::tensor_type(rows.shape, DTypeTerm(DType::Int64)));
    if (!rows.shape.has_rank()) return RuleOutcome::Stuck;
    if (rows.shape.rank() == 0)
      call.fail(DiagnosticKind::RankMismatch, "a scalar has no row to sort");
    return RuleOutcome::Solved;
  };
  def.primitive = lang::TensorPrimitive::Order;
  def.differentiable = false;
  lang::OpRegistry::instance().add(std::move(def));
}

}  // namespace

void add_sorting_operators() { add_sort_order(); }

}  // namespace relay::stdlib
