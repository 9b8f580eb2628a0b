#include "stdlib/ops/sparse_fill.h"

#include "stdlib/ops/families.h"

// How many rows a sparse tensor gets when its empty ones are filled has to be computed first.
namespace relay::stdlib {

namespace build = lang::build;
using build::op;

namespace {

// --- Which rows hold nothing: their number is a value ---

void add_empty_rows() {
  OpDef fixed;
  fixed.name = "empty_rows_of";
  fixed.is_step = true;
  fixed.level = 0;
  fixed.doc = "`empty_rows` where the number of rows is an attribute.";
  fixed.example = "empty_rows_of([[0, 1], [2, 0]], rows=3)\n// expect: [0, 1, 0]";
  fixed.inputs = {{"sparse_indices", "coordinates, one row for each value"}};
  fixed.attrs = {required_attr("rows", AttrKind::Int, "how many rows there are")};
  fixed.type_rule = [](TypeCall& call) {
    with_rank(call, call.tensor_node(0).shape, 2);
    call.solver.require(call.tensor_node(0).dtype, PrimOperands::kInt);
    const std::int64_t rows = call.attrs->get_int("rows");
    if (rows < 0) call.fail(DiagnosticKind::BadAttribute, "`rows` must not be negative");
    call.returns(lang::tensor_type(Shape({Dim(rows)}), DTypeTerm(DType::Int64)));
    return RuleOutcome::Solved;
  };
  fixed.definition = [](const DefinitionCall& call) {
    const std::vector<Dim>& rows = lang::as<TensorType>(call.result)->shape.dims();
    const Expr ones =
        build::comprehension(rows, [](const Indices&) { return build::index_constant(1); });
    return build::let("ones", ones, [&](const Expr& init) {
      return build::scatter(ReduceOp::Min, init, {dims_of(call.args[0])[0]}, [&](const Indices& n) {
        const Expr row =
            build::cast_to(DType::Int64, build::at(call.args[0], {n[0], build::index_constant(0)}));
        return std::pair{Indices{row}, build::index_constant(0)};
      });
    });
  };
  fixed.differentiable = false;
  lang::OpRegistry::instance().add(std::move(fixed));

  OpDef def;
  def.name = "empty_rows";
  def.is_step = true;
  def.level = 0;
  def.doc = "For each row of a sparse tensor 1 if it holds nothing, else 0.";
  def.example = "empty_rows([[0, 1], [2, 0]], 3)\n// expect: [0, 1, 0]";
  def.inputs = {{"sparse_indices", "coordinates, one row for each value"},
                {"rows", "how many rows there are", false, "rows"}};
  def.type_rule = [](TypeCall& call) {
    with_rank(call, call.tensor_node(0).shape, 2);
    call.solver.require(call.tensor_node(0).dtype, PrimOperands::kInt);
    call.solver.unify(call.tensor_node(1).shape, Shape());
    call.solver.require(call.tensor_node(1).dtype, PrimOperands::kInt);
    call.returns(lang::tensor_type(Shape({Dim::any()}), DTypeTerm(DType::Int64)));
    return RuleOutcome::Solved;
  };
  def.static_form = "empty_rows_of";
  def.differentiable = false;
  lang::OpRegistry::instance().add(std::move(def));
}

// --- From where each row of the filled tensor comes: their number is a value ---

// Entry n stands behind all entries of smaller rows, those of its own row in front of it, and one
// for each empty row before its own. An empty row r writes -(r + 1).
Expr filled_sources_definition(const DefinitionCall& call) {
  const Expr& indices = call.args[0];
  const Expr& empty = call.args[1];
  const Dim count = dims_of(indices)[0];
  const std::vector<Dim>& total = lang::as<TensorType>(call.result)->shape.dims();
  const Expr rows = build::comprehension({count}, [&](const Indices& n) {
    return build::cast_to(DType::Int64, build::at(indices, {n[0], build::index_constant(0)}));
  });
  return build::let("rows", rows, [&](const Expr& row) {
    return build::let("order", op("sort_order", {row}), [&](const Expr& order) {
      const Expr sums = op("cumsum", {empty}, {{"axis", 0}, {"exclusive", true}});
      return build::let("before", sums, [&](const Expr& before) {
        const Expr zeros =
            build::comprehension(total, [](const Indices&) { return build::index_constant(0); });
        return build::let("zeros", zeros, [&](const Expr& init) {
          const Expr entries = build::scatter(ReduceOp::Sum, init, {count}, [&](const Indices& k) {
            const Expr n = build::at(order, k);
            const Expr shift = build::checked_at(before, {build::at(row, {n})});
            return std::pair{Indices{build::add(k[0], shift)}, n};
          });
          return build::let("entries", entries, [&](const Expr& placed) {
            // How many entries stand in rows before r: the sorted rows say.
            const Expr sorted = build::comprehension(
                {count}, [&](const Indices& k) { return build::at(row, {build::at(order, k)}); });
            return build::let("sorted", sorted, [&](const Expr& ascending) {
              const Expr numbers =
                  build::comprehension(dims_of(empty), [](const Indices& r) { return r[0]; });
              const Expr smaller =
                  op("searchsorted", {ascending, numbers}, {{"dtype", DType::Int64}});
              return build::let("smaller", smaller, [&](const Expr& less) {
                return build::scatter(ReduceOp::Sum, placed, dims_of(empty), [&](const Indices& r) {
                  const Expr is_empty =
                      build::prim(Prim::Ne, {build::at(empty, r), build::index_constant(0)});
                  const Expr own = build::add(build::at(less, r), build::at(before, r));
                  const Expr mark = build::sub(build::index_constant(-1), r[0]);
                  return std::pair{Indices{build::select(is_empty, own, build::index_constant(0))},
                                   build::select(is_empty, mark, build::index_constant(0))};
                });
              });
            });
          });
        });
      });
    });
  });
}

RuleOutcome filled_rule(TypeCall& call, const Dim& total) {
  with_rank(call, call.tensor_node(0).shape, 2);
  with_rank(call, call.tensor_node(1).shape, 1);
  call.solver.require(call.tensor_node(0).dtype, PrimOperands::kInt);
  call.solver.unify(call.tensor_node(1).dtype, DTypeTerm(DType::Int64));
  call.returns(lang::tensor_type(Shape({total}), DTypeTerm(DType::Int64)));
  return RuleOutcome::Solved;
}

void add_filled_sources() {
  const char* empty_doc = "for each row 1 if it holds nothing, else 0";
  OpDef fixed;
  fixed.name = "filled_sources_of";
  fixed.is_step = true;
  fixed.level = 0;
  fixed.doc = "`filled_sources` where the number of rows of the result is an attribute.";
  fixed.example =
      "filled_sources_of([[2, 0], [0, 1]], [0i64, 1i64, 0i64], total=3)\n"
      "// expect: [1, -2, 0]";
  fixed.inputs = {{"sparse_indices", "coordinates, one row for each value"}, {"empty", empty_doc}};
  fixed.attrs = {required_attr("total", AttrKind::Int, "values and empty rows together")};
  fixed.type_rule = [](TypeCall& call) {
    const std::int64_t total = call.attrs->get_int("total");
    if (total < 0) call.fail(DiagnosticKind::BadAttribute, "`total` must not be negative");
    return filled_rule(call, total);
  };
  fixed.definition = filled_sources_definition;
  fixed.differentiable = false;
  lang::OpRegistry::instance().add(std::move(fixed));

  OpDef def;
  def.name = "filled_sources";
  def.is_step = true;
  def.level = 0;
  def.doc =
      "From where each row of a sparse tensor comes whose empty rows are filled, in the order of "
      "rows: the number of its value, or -(r + 1) for the empty row r.";
  def.example = "filled_sources([[2, 0], [0, 1]], [0i64, 1i64, 0i64], 3)\n// expect: [1, -2, 0]";
  def.inputs = {{"sparse_indices", "coordinates, one row for each value"},
                {"empty", empty_doc},
                {"total", "values and empty rows together", false, "total"}};
  def.type_rule = [](TypeCall& call) {
    call.solver.unify(call.tensor_node(2).shape, Shape());
    call.solver.require(call.tensor_node(2).dtype, PrimOperands::kInt);
    return filled_rule(call, Dim::any());
  };
  def.static_form = "filled_sources_of";
  def.differentiable = false;
  lang::OpRegistry::instance().add(std::move(def));
}

// --- sparse_fill_empty_rows ---

RuleOutcome sparse_fill_rule(TypeCall& call) {
  const Shape at = with_rank(call, call.tensor_node(0).shape, 2);
  const Shape values = with_rank(call, call.tensor_node(1).shape, 1);
  const Shape extents = with_rank(call, call.tensor_node(2).shape, 1);
  call.solver.require(call.tensor_node(0).dtype, PrimOperands::kInt);
  call.solver.require(call.tensor_node(2).dtype, PrimOperands::kInt);
  call.solver.unify(call.tensor_node(1).dtype, call.tensor_node(3).dtype);
  call.solver.unify(at[0], values[0]);
  call.solver.unify(at[1], extents[0]);
  const Type counts = lang::tensor_type(Shape({Dim::any()}), DTypeTerm(DType::Int64));
  call.returns(lang::tuple_type(
      {lang::tensor_type(Shape({Dim::any(), at[1]}), DTypeTerm(DType::Int64)),
       lang::tensor_type(Shape({Dim::any()}), call.tensor_node(1).dtype), counts}));
  const Shape& fill = call.tensor_node(3).shape;
  if (!fill.has_rank()) return RuleOutcome::Stuck;
  if (fill.rank() > 1 || (fill.rank() == 1 && fill[0].is_constant() && !fill[0].is_constant(1))) {
    call.fail(DiagnosticKind::RankMismatch,
              "`default_value` of `sparse_fill_empty_rows` must be "
              "one value, found `" +
                  to_string(fill) + "`");
  }
  return RuleOutcome::Solved;
}

// Behind the values stands the default, and behind the coordinates a row of zeros: what an empty
// row takes. Its own number replaces the first coordinate.
Expr sparse_fill_expansion(const DefinitionCall& call) {
  const Expr& indices = call.args[0];
  const auto number = [](std::int64_t value) { return build::index_constant(value); };
  const auto let = [](const char* name, const Expr& value,
                      const std::function<Expr(const Expr&)>& body) {
    return build::let(name, value, body);
  };
  const auto wide = [](const Expr& tensor) {
    return tensor_type_of(tensor).dtype == DTypeTerm(DType::Int64)
               ? tensor
               : op("cast", {tensor}, {{"dtype", DType::Int64}});
  };
  const auto joined = [](const Expr& a, const Expr& b) {
    return op("concatenate", {build::tuple({a, b})}, {{"axis", 0}});
  };
  const Expr rows = op("take", {wide(call.args[2]), number(0)}, {{"axis", 0}});
  return let("empty", op("empty_rows", {indices, rows}), [&](const Expr& empty) {
    const Expr count = op("dim_of", {indices}, {{"axis", 0}});
    const Expr total = op("add", {count, op("sum", {empty})});
    return let("sources", op("filled_sources", {indices, empty, total}), [&](const Expr& sources) {
      const Expr is_fill = op("less", {sources, number(0)});
      return let("taken", op("where", {is_fill, count, sources}), [&](const Expr& taken) {
        const Expr fill = op("reshape", {call.args[3]}, {{"newshape", AttrValue::ints({1})}});
        const Expr values = op("take", {joined(call.args[1], fill), taken}, {{"axis", 0}});
        // A row of zeros that is as long as those of the coordinates.
        const Expr shape =
            op("reshape", {wide(call.args[2])}, {{"newshape", AttrValue::ints({1, -1})}});
        const Expr zeros = op("zeros_like", {shape});
        const Expr coordinates = op("take", {joined(wide(indices), zeros), taken}, {{"axis", 0}});
        const Expr own = op("where", {is_fill, op("subtract", {number(-1), sources}), number(0)});
        const Expr column = op("expand_dims", {own}, {{"axis", 1}});
        const Expr is_first =
            op("cast",
               {op("equal",
                   {op("cumsum", {op("ones_like", {shape})}, {{"axis", 1}, {"exclusive", true}}),
                    number(0)})},
               {{"dtype", DType::Int64}});
        const Expr placed = op("add", {coordinates, op("multiply", {column, is_first})});
        return build::tuple({placed, values, empty});
      });
    });
  });
}

void add_sparse_fill_empty_rows() {
  OpDef def;
  def.name = "sparse_fill_empty_rows";
  def.level = 3;
  def.doc =
      "A sparse tensor in which each row that holds nothing gets a default value in its first "
      "column.\n"
      "The result is the new coordinates, in the order of rows, the new values, and for each row 1 "
      "if it was empty, else 0. Values of one row keep their order. A row beyond the shape is an "
      "error.";
  def.example =
      "sparse_fill_empty_rows([[0, 1], [2, 0]], [7, 8], [3, 2], 0)\n"
      "// expect: ([[0i64, 1], [1, 0], [2, 0]], [7, 0, 8], [0i64, 1, 0])";
  def.inputs = {{"sparse_indices", "coordinates, one row for each value"},
                {"sparse_values", "the values"},
                {"dense_shape", "the shape of the tensor"},
                {"default_value", "one value"}};
  def.type_rule = sparse_fill_rule;
  def.expansion = sparse_fill_expansion;
  lang::OpRegistry::instance().add(std::move(def));
}

}  // namespace

void add_sparse_fill_operators() {
  add_empty_rows();
  add_filled_sources();
  add_sparse_fill_empty_rows();
}

}  // namespace relay::stdlib
