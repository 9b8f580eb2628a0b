#include <algorithm>
#include <string>

#include "lang/attrs_struct.h"
#include "lang/call_form.h"
#include "stdlib/ops/accumulate.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/formula.h"
#include "stdlib/ops/sparse_fill.h"
#include "stdlib/ops/types.h"

// Sparse tensors: lists of coordinates and values, and matrices by compressed rows (or blocks).
namespace relay::stdlib {

namespace build = lang::build;
using build::op;

namespace {

// Makes argument `i` a tensor of that rank, or says what it is.
Shape ranked_integers(TypeCall& call, std::size_t i, std::size_t rank) {
  call.solver.require(call.tensor_node(i).dtype, PrimOperands::kInt);
  return ranked(call, i, rank);
}

Expr reshaped(const Expr& tensor, const std::vector<std::int64_t>& shape) {
  return op("reshape", {tensor}, {{"newshape", AttrValue::ints(shape)}});
}

// --- sparse_to_dense ---

RuleOutcome sparse_to_dense_rule(TypeCall& call) {
  const std::vector<std::int64_t> extents = call.attrs->get_ints("output_shape");
  for (const std::int64_t extent : extents) {
    if (extent < 0) call.fail(DiagnosticKind::BadAttribute, "an extent must not be negative");
  }
  call.solver.require(call.tensor_node(0).dtype, PrimOperands::kInt);
  call.solver.unify(call.tensor_node(2).shape, Shape());
  call.returns(lang::tensor_type(Shape(to_dims(extents)), call.tensor_node(1).dtype));
  const Shape& at = call.tensor_node(0).shape;
  const Shape& values = call.tensor_node(1).shape;
  if (!at.has_rank() || !values.has_rank()) return RuleOutcome::Stuck;
  const std::size_t coordinates = extents.size();
  const Dim given = at.rank() < 2 ? Dim(1) : at[1];
  if (at.rank() > 2 || values.rank() > 1 ||
      (given.is_constant() && !given.is_constant(static_cast<std::int64_t>(coordinates)))) {
    call.fail(DiagnosticKind::ShapeMismatch,
              "`sparse_to_dense` with indices `" + to_string(at) + "` and values `" +
                  to_string(values) + "`: for " + std::to_string(coordinates) +
                  " axes the indices have the shape `(n, " + std::to_string(coordinates) +
                  ")`, and the values `(n)` or `()`");
  }
  call.solver.unify(given, Dim(static_cast<std::int64_t>(coordinates)));
  if (values.rank() == 1) {
    const Dim count = at.rank() == 0 ? Dim(1) : at[0];
    if (count.is_constant() && values[0].is_constant() && !(count == values[0])) {
      call.fail(DiagnosticKind::ShapeMismatch, "`sparse_to_dense` with " + count.to_string() +
                                                   " indices for " + values[0].to_string() +
                                                   " values");
    }
    call.solver.unify(values[0], count);
  }
  return RuleOutcome::Solved;
}

Expr sparse_to_dense_definition(const DefinitionCall& call) {
  const auto& result = *lang::as<TensorType>(call.result);
  const std::vector<std::int64_t> extents = extents_of(result.shape.dims());
  const std::vector<Dim>& at = dims_of(call.args[0]);
  const std::int64_t count = at.empty() ? 1 : at[0].constant();
  const Expr indices =
      at.size() == 2 ? op("transpose", {call.args[0]}) : reshaped(call.args[0], {1, count});
  const Expr values = dims_of(call.args[1]).empty() ? op("broadcast_to", {call.args[1]},
                                                         {{"shape", AttrValue::ints({count})}})
                                                    : call.args[1];
  const Expr background = op("broadcast_to", {as_dtype(call.args[2], result.dtype.known())},
                             {{"shape", AttrValue::ints(extents)}});
  return op("scatter_nd", {background, indices, values}, {{"mode", "update"}});
}

void add_sparse_to_dense() {
  OpDef def;
  def.name = "sparse_to_dense";
  def.level = 3;
  def.doc =
      "A dense tensor with values at the given coordinates and a default elsewhere.\n"
      "The indices have a row of coordinates for each value; of one axis they may be a vector, and "
      "of one value a scalar. One value may stand for all. Of several at one place the last "
      "counts. A negative coordinate counts from the end, one out of range is an error.";
  def.example =
      "sparse_to_dense([[0, 1], [1, 0]], [7, 8], 0, output_shape=[2, 2])\n"
      "// expect: [[0, 7], [8, 0]]";
  def.inputs = {{"sparse_indices", "coordinates, one row for each value"},
                {"sparse_values", "the values, or one for all"},
                {"default_value", "a scalar; it takes the dtype of the values"}};
  def.attrs = {required_attr("output_shape", AttrKind::IntList, "the shape of the result")};
  def.type_rule = sparse_to_dense_rule;
  def.definition = sparse_to_dense_definition;
  lang::set_input_forms(def.name, {{}, {}, {.default_value = 0}});
  lang::OpRegistry::instance().add(std::move(def));
}

// --- sparse_reshape ---

// steps[k]: how many elements a step along axis k of a tensor of shape `extents` passes over.
Expr steps_of(const Expr& extents) {
  const std::vector<Dim>& rank = dims_of(extents);
  return build::comprehension(rank, [&](const Indices& k) {
    return build::reduction(ReduceOp::Prod, rank, [&](const Indices& j) {
      return build::select(build::prim(Prim::Gt, {j[0], k[0]}), build::at(extents, j),
                           build::index_constant(1));
    });
  });
}

Expr product_of(const Expr& extents) {
  return build::reduction(ReduceOp::Prod, dims_of(extents),
                          [&](const Indices& k) { return build::at(extents, k); });
}

// The new extents with -1 replaced by what remains.
Expr settled_shape(const Expr& before, const Expr& after) {
  const Expr known = build::reduction(ReduceOp::Prod, dims_of(after), [&](const Indices& k) {
    return build::prim(Prim::Abs, {build::at(after, k)});
  });
  return build::let(
      "rest", build::prim(Prim::FloorDiv, {product_of(before), known}), [&](const Expr& rest) {
        return build::comprehension(dims_of(after), [&](const Indices& k) {
          const Expr extent = build::at(after, k);
          const Expr is_open = build::prim(Prim::Lt, {extent, build::index_constant(0)});
          return build::select(is_open, rest, extent);
        });
      });
}

Expr tensor_in_int64(const Expr& tensor) { return as_dtype(tensor, DType::Int64); }

Expr sparse_reshape_definition(const DefinitionCall& call) {
  const std::vector<Dim>& rows = dims_of(call.args[0]);
  const auto& types = lang::as<lang::TupleType>(call.result)->fields;
  const DType index_dtype = as_tensor(types[0]).dtype.known();
  const DType shape_dtype = as_tensor(types[1]).dtype.known();
  const auto named = [](const char* name, const Expr& value,
                        const std::function<Expr(const Expr&)>& body) {
    return build::let(name, value, body);
  };
  return named("before", tensor_in_int64(call.args[1]), [&](const Expr& before) {
    return named("given", tensor_in_int64(call.args[2]), [&](const Expr& given) {
      return named("after", settled_shape(before, given), [&](const Expr& after) {
        return named("from", steps_of(before), [&](const Expr& from) {
          const Expr linear = build::comprehension({rows[0]}, [&](const Indices& n) {
            return build::reduction(ReduceOp::Sum, {rows[1]}, [&](const Indices& k) {
              const Expr coordinate =
                  build::cast_to(DType::Int64, build::at(call.args[0], {n[0], k[0]}));
              return build::mul(coordinate, build::at(from, k));
            });
          });
          return named("linear", linear, [&](const Expr& position) {
            return named("to", steps_of(after), [&](const Expr& to) {
              const std::vector<Dim>& dims = as_tensor(types[0]).shape.dims();
              const Expr places = build::comprehension(dims, [&](const Indices& out) {
                const Expr passed = build::prim(
                    Prim::FloorDiv, {build::at(position, {out[0]}), build::at(to, {out[1]})});
                const Expr coordinate =
                    build::prim(Prim::FloorMod, {passed, build::at(after, {out[1]})});
                return build::cast_to(index_dtype, coordinate);
              });
              return named("places", places, [&](const Expr& indices) {
                return build::tuple({indices, as_dtype(after, shape_dtype)});
              });
            });
          });
        });
      });
    });
  });
}

void add_sparse_reshape() {
  OpDef def;
  def.name = "sparse_reshape";
  def.level = 3;
  def.doc =
      "The coordinates of a sparse tensor's elements after a reshape, and the new shape.\n"
      "One extent of the new shape may be -1: what remains. A new extent of 0 is a division by "
      "zero.";
  def.example =
      "sparse_reshape([[0, 1], [1, 2]], [2, 3], [3, -1])\n"
      "// expect: ([[0, 1], [2, 1]], [3, 2])";
  def.inputs = {{"sparse_indices", "coordinates, one row for each value"},
                {"prev_shape", "the shape they belong to"},
                {"new_shape", "the wanted shape"}};
  def.type_rule = [](TypeCall& call) {
    const Shape at = ranked_integers(call, 0, 2);
    const Shape before = ranked_integers(call, 1, 1);
    const Shape after = ranked_integers(call, 2, 1);
    call.solver.unify(at[1], before[0]);
    call.returns(
        lang::tuple_type({lang::tensor_type(Shape({at[0], after[0]}), call.tensor_node(0).dtype),
                          lang::tensor_type(after, call.tensor_node(2).dtype)}));
    return RuleOutcome::Solved;
  };
  def.definition = sparse_reshape_definition;
  def.differentiable = false;
  lang::OpRegistry::instance().add(std::move(def));
}

// --- Compressed rows ---

// The row of each stored value: the last one that begins at or before it.
Expr rows_of_values(const Expr& indptr, const Dim& count) {
  const Expr numbers = build::comprehension({count}, [](const Indices& e) { return e[0]; });
  const Expr behind = op("searchsorted", {tensor_in_int64(indptr), numbers},
                         {{"right", true}, {"dtype", DType::Int64}});
  return build::let("behind", behind, [&](const Expr& named) {
    return build::comprehension({count}, [&](const Indices& e) {
      return build::sub(build::at(named, e), build::index_constant(1));
    });
  });
}

// Types of a matrix by compressed rows, from argument `first` on: values, columns, row starts.
struct Compressed {
  Shape values;
  Shape starts;
};
Compressed compressed(TypeCall& call, std::size_t first, bool may_have_blocks) {
  const Shape& given = call.tensor_node(first).shape;
  const bool blocks = may_have_blocks && given.has_rank() && given.rank() == 3;
  Compressed matrix{blocks ? given : ranked(call, first, 1), ranked_integers(call, first + 2, 1)};
  const Shape columns = ranked_integers(call, first + 1, 1);
  call.solver.unify(columns[0], matrix.values[0]);
  return matrix;
}

std::vector<InputSpec> compressed_inputs() {
  return {{"sparse_data", "the values, or blocks of them"},
          {"sparse_indices", "the column of each value (or block)"},
          {"sparse_indptr", "for each row where its values begin, and the end of the last"}};
}

RuleOutcome sparse_dense_rule(TypeCall& call) {
  const Shape dense = ranked(call, 0, 2);
  call.solver.unify(call.tensor_node(0).dtype, call.tensor_node(1).dtype);
  call.solver.require(call.tensor_node(0).dtype, PrimOperands::kNumeric);
  const Shape known = result_shape(call, call.tensor_node(0).dtype);
  const Shape result = with_rank(call, known, 2);
  if (!call.tensor_node(1).shape.has_rank()) return RuleOutcome::Stuck;
  const Compressed matrix = compressed(call, 1, true);
  if (!is_settled(matrix.starts) || !is_settled(matrix.values)) return RuleOutcome::Stuck;
  Dim rows = matrix.starts[0] - Dim(1);
  if (matrix.values.rank() == 3) rows = rows * matrix.values[1];
  const bool sparse_first = call.attrs->get_bool("sparse_lhs");
  call.solver.unify(result[sparse_first ? 0 : 1], rows);
  call.solver.unify(result[sparse_first ? 1 : 0], dense[0]);
  return RuleOutcome::Solved;
}

// Each stored value adds its product with a column of the dense matrix. Its own column may be one
// that the dense matrix has not, which is an error.
Expr sparse_dense_definition(const DefinitionCall& call) {
  const Expr& dense = call.args[0];
  const Expr& values = call.args[1];
  const std::vector<Dim>& stored = dims_of(values);
  const bool blocks = stored.size() == 3;
  const bool sparse_first = call.attrs->get_bool("sparse_lhs");
  const auto& result = *lang::as<TensorType>(call.result);
  const DType dtype = result.dtype.known();
  const DType wide = lang::is_float(dtype) ? accumulator_of(dtype) : dtype;
  const Expr zeros = build::comprehension(result.shape.dims(),
                                          [&](const Indices&) { return build::constant(wide, 0); });
  const auto within = [&](const Expr& block, std::size_t axis, const Expr& index) {
    return blocks ? build::add(build::mul(block, build::index_constant(stored[axis].constant())),
                               index)
                  : block;
  };
  return build::let("rows", rows_of_values(call.args[3], stored[0]), [&](const Expr& rows) {
    return build::let("zeros", zeros, [&](const Expr& init) {
      std::vector<Dim> domain = stored;
      domain.insert(domain.begin(), dims_of(dense)[0]);
      const Expr total = build::scatter(ReduceOp::Sum, init, domain, [&](const Indices& i) {
        const Indices value(i.begin() + 1, i.end());
        const Expr column = build::cast_to(DType::Int64, build::at(call.args[2], {i[1]}));
        const Expr read = build::checked_at(dense, {i[0], within(column, 2, i.back())});
        const Expr product =
            build::mul(build::cast_to(wide, read), build::cast_to(wide, build::at(values, value)));
        const Expr row = within(build::at(rows, {i[1]}), 1, blocks ? i[2] : i[1]);
        return std::pair{sparse_first ? Indices{row, i[0]} : Indices{i[0], row}, product};
      });
      return build::let("total", total, [&](const Expr& sum) { return as_dtype(sum, dtype); });
    });
  });
}

void add_sparse_dense(const char* name, const char* doc, const char* example) {
  OpDef def;
  def.name = name;
  def.level = 1;
  def.doc = doc;
  def.example = example;
  def.inputs = compressed_inputs();
  def.inputs.insert(def.inputs.begin(), InputSpec{"dense_data", "a matrix of rows"});
  def.attrs = {optional_attr("sparse_lhs", AttrKind::Bool, false,
                             "the sparse matrix times the transposed dense one")};
  lang::set_attrs_struct(def.name, "SparseDenseAttrs");
  def.type_rule = sparse_dense_rule;
  def.definition = sparse_dense_definition;
  lang::OpRegistry::instance().add(std::move(def));
}

void add_sparse_add() {
  OpDef def;
  def.name = "nn.sparse_add";
  def.level = 1;
  def.doc =
      "A dense matrix plus a sparse one, which is given by compressed rows.\n"
      "A column that the dense matrix has not is an error.";
  def.example =
      "nn.sparse_add([[1, 1], [1, 1]], [5, 7], [1, 0], [0, 1, 2])\n"
      "// expect: [[1, 6], [8, 1]]";
  def.inputs = compressed_inputs();
  def.inputs.insert(def.inputs.begin(), InputSpec{"dense_data", "a matrix"});
  def.type_rule = [](TypeCall& call) {
    const Shape dense = ranked(call, 0, 2);
    call.solver.unify(call.tensor_node(0).dtype, call.tensor_node(1).dtype);
    call.solver.require(call.tensor_node(0).dtype, PrimOperands::kNumeric);
    const Compressed matrix = compressed(call, 1, false);
    call.returns(lang::tensor_type(dense, call.tensor_node(0).dtype));
    if (!is_settled(matrix.starts) || !is_settled(dense)) return RuleOutcome::Stuck;
    call.solver.unify(dense[0], matrix.starts[0] - Dim(1));
    return RuleOutcome::Solved;
  };
  def.definition = [](const DefinitionCall& call) {
    const Dim count = dims_of(call.args[1])[0];
    return build::let("rows", rows_of_values(call.args[3], count), [&](const Expr& rows) {
      return build::scatter(ReduceOp::Sum, call.args[0], {count}, [&](const Indices& e) {
        const Expr column = build::cast_to(DType::Int64, build::at(call.args[2], e));
        return std::pair{Indices{build::at(rows, e), column}, build::at(call.args[1], e)};
      });
    });
  };
  lang::OpRegistry::instance().add(std::move(def));
}

// Stably sorted by column, the values stand in the order of the transposed rows.
Expr sparse_transpose_definition(const DefinitionCall& call) {
  const Expr& values = call.args[0];
  const std::vector<Dim>& count = dims_of(values);
  const auto& types = lang::as<lang::TupleType>(call.result)->fields;
  const DType index_dtype = as_tensor(types[1]).dtype.known();
  const DType start_dtype = as_tensor(types[2]).dtype.known();
  const auto in_order = [&](const Expr& tensor, const Expr& order) {
    return build::comprehension(
        count, [&](const Indices& e) { return build::at(tensor, {build::at(order, e)}); });
  };
  return build::let("rows", rows_of_values(call.args[2], count[0]), [&](const Expr& rows) {
    return build::let("order", op("sort_order", {call.args[1]}), [&](const Expr& order) {
      return build::let("columns", in_order(call.args[1], order), [&](const Expr& sorted) {
        const Expr numbers =
            build::comprehension(dims_of(call.args[2]), [&](const Indices& k) { return k[0]; });
        const Expr starts = op("searchsorted", {tensor_in_int64(sorted), numbers},
                               {{"right", false}, {"dtype", start_dtype}});
        return build::let("moved", in_order(values, order), [&](const Expr& moved) {
          const Expr new_columns = build::comprehension(count, [&](const Indices& e) {
            return build::cast_to(index_dtype, build::at(rows, {build::at(order, e)}));
          });
          return build::let("from", new_columns, [&](const Expr& from) {
            return build::let("starts", starts, [&](const Expr& begin) {
              return build::tuple({moved, from, begin});
            });
          });
        });
      });
    });
  });
}

void add_sparse_transpose() {
  OpDef def;
  def.name = "nn.sparse_transpose";
  def.level = 1;
  def.doc =
      "The transposed of a square sparse matrix, given by compressed rows, as values, columns and "
      "row starts.\n"
      "A column beyond the number of rows does not occur in the row starts.";
  def.example =
      "nn.sparse_transpose([5, 7, 9], [1, 0, 1], [0, 1, 3])\n"
      "// expect: ([7, 5, 9], [1, 0, 1], [0, 1, 3])";
  def.inputs = compressed_inputs();
  def.type_rule = [](TypeCall& call) {
    compressed(call, 0, false);
    call.returns(lang::tuple_type({call.tensor(0), call.tensor(1), call.tensor(2)}));
    return RuleOutcome::Solved;
  };
  def.definition = sparse_transpose_definition;
  lang::OpRegistry::instance().add(std::move(def));
}

}  // namespace

void add_sparse_operators() {
  add_sparse_to_dense();
  add_sparse_reshape();
  add_sparse_dense("nn.sparse_dense",
                   "The dense matrix times the transposed sparse one: (m, k) and (units, k) give "
                   "(m, units).\n"
                   "The sparse matrix is given by compressed rows, or by rows of blocks if its "
                   "data has rank 3. With `sparse_lhs` the result is the other way round, (units, "
                   "m). float16 and bfloat16 are summed in float32; a column out of range is an "
                   "error.",
                   "nn.sparse_dense([[1, 2]], [5, 7], [1, 0], [0, 1, 2])\n// expect: [[10, 7]]");
  add_sparse_dense(
      "nn.internal.sparse_dense_padded",
      "The same as `nn.sparse_dense`: padding in the rows holds 0 and changes nothing.",
      "nn.internal.sparse_dense_padded([[1, 2]], [5, 0, 7, 0], [1, 0, 0, 0], [0, 2, "
      "4])\n// expect: [[10, 7]]");
  add_sparse_add();
  add_sparse_transpose();
  add_sparse_fill_operators();
}

}  // namespace relay::stdlib
