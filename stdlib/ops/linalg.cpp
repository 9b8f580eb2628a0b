#include <algorithm>
#include <string>

#include "lang/stop.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/formula.h"
#include "stdlib/ops/types.h"

namespace relay::stdlib {

namespace build = lang::build;
using build::op;

namespace {

// The dtype of a product: `out_dtype`, or the one that both factors then share.
DTypeTerm matrix_product_dtype(TypeCall& call, const DTypeTerm& a, const DTypeTerm& b) {
  call.solver.require(a, PrimOperands::kNumeric);
  call.solver.require(b, PrimOperands::kNumeric);
  const AttrValue* given = call.attrs ? call.attrs->find("out_dtype") : nullptr;
  if (given && given->as_dtype()) return *given->as_dtype();
  call.solver.unify(a, b);
  return a;
}

void require_rank(const TypeCall& call, const char* what, const Shape& shape, std::size_t least,
                  std::size_t most) {
  if (least <= shape.rank() && shape.rank() <= most) return;
  call.fail(DiagnosticKind::RankMismatch,
            "`" + call.op.name + "`: the " + what + " must have rank " + std::to_string(least) +
                (least == most ? "" : " or more") + ", and `" + to_string(shape) + "` has " +
                std::to_string(shape.rank()));
}
constexpr std::size_t kNoLimit = 1000;

// Makes the extents that are summed over agree.
void contract(TypeCall& call, const Shape& a, std::size_t axis_a, const Shape& b,
              std::size_t axis_b) {
  const Dim& left = a[axis_a];
  const Dim& right = b[axis_b];
  try {
    call.solver.unify(left, right);
  } catch (const lang::Failure& failure) {
    if (lang::is_stop(failure.diagnostics.front().kind)) throw;
    call.fail(DiagnosticKind::ShapeMismatch,
              "`" + call.op.name + "` of `" + to_string(a) + "` and `" + to_string(b) + "`: axis " +
                  std::to_string(axis_a) + " of the left is " + left.to_string() + " and axis " +
                  std::to_string(axis_b) + " of the right is " + right.to_string());
  }
}

// The sum over k of left(k) * right(k), in the result's dtype.
Expr dot(const DefinitionCall& call, const Dim& extent,
         const std::function<Expr(const Expr&)>& left,
         const std::function<Expr(const Expr&)>& right) {
  const DType dtype = lang::as<TensorType>(call.result)->dtype.known();
  return build::reduction(ReduceOp::Sum, {extent}, [&](const Indices& k) {
    return build::mul(build::cast_to(dtype, left(k[0])), build::cast_to(dtype, right(k[0])));
  });
}

// --- For gradients ---

// The last two axes exchanged.
Expr swapped(const Expr& x) {
  const std::size_t rank = dims_of(x).size();
  if (rank == 2) return op("transpose", {x});
  std::vector<std::int64_t> axes;
  for (std::size_t axis = 0; axis < rank; ++axis) axes.push_back(static_cast<std::int64_t>(axis));
  std::swap(axes[rank - 1], axes[rank - 2]);
  return op("transpose", {x}, {{"axes", AttrValue::ints(axes)}});
}

// Sums the axes in front of the last two, where there are more.
Expr sum_batch(const Expr& x) {
  std::vector<std::int64_t> axes;
  for (std::size_t axis = 0; axis + 2 < dims_of(x).size(); ++axis)
    axes.push_back(static_cast<std::int64_t>(axis));
  return axes.empty() ? x : op("sum", {x}, {{"axis", AttrValue::ints(axes)}});
}

// An adjoint in the dtype of what it belongs to; null where that is not a float.
Expr in_dtype_of(const Expr& target, const Expr& adjoint) {
  if (!is_float_tensor(target)) return nullptr;
  if (tensor_type_of(target).dtype == tensor_type_of(adjoint).dtype) return adjoint;
  return op("cast", {adjoint}, {{"dtype", tensor_type_of(target).dtype.known()}});
}

// The operand in the dtype of the product.
Expr in_dtype_of_product(const Expr& operand, const Expr& out) {
  const DTypeTerm& dtype = tensor_type_of(out).dtype;
  return tensor_type_of(operand).dtype == dtype ? operand
                                                : op("cast", {operand}, {{"dtype", dtype.known()}});
}

std::vector<AttrSpec> product_attrs(bool has_units, bool has_transposes) {
  std::vector<AttrSpec> attrs;
  if (has_units)
    attrs.push_back(nullable_attr("units", AttrKind::Int,
                                  "extent of the last axis of the result, if it is to be checked"));
  attrs.push_back(nullable_attr("out_dtype", AttrKind::DType,
                                "dtype of products and sums; None: that of the operands"));
  if (has_transposes) {
    attrs.push_back(optional_attr("transpose_a", AttrKind::Bool, false,
                                  "exchange the last two axes of the left operand"));
    attrs.push_back(optional_attr("transpose_b", AttrKind::Bool, false,
                                  "exchange the last two axes of the right operand"));
  }
  return attrs;
}

// --- nn.dense and nn.matmul: (.., m, k) with (k, n), either transposed ---

struct Transposes {
  bool a;
  bool b;
};
using TransposesOf = Transposes (*)(const AttrsRef&);
Transposes dense_transposes(const AttrsRef&) { return {false, true}; }
Transposes given_transposes(const AttrsRef& attrs) {
  return {attrs->get_bool("transpose_a"), attrs->get_bool("transpose_b")};
}

RuleOutcome units_rule(TypeCall& call, Transposes transposes) {
  const Type left = call.tensor(0);
  const Type right = call.tensor(1);
  const DTypeTerm dtype = matrix_product_dtype(call, as_tensor(left).dtype, as_tensor(right).dtype);
  const Shape known = result_shape(call, dtype);
  if (as_tensor(right).shape.has_rank())
    require_rank(call, "right operand", as_tensor(right).shape, 2, 2);
  const Shape b = with_rank(call, as_tensor(right).shape, 2);
  const std::size_t units_axis = transposes.b ? 0 : 1;
  if (!call.attrs->is_null("units")) {
    const Dim units = call.attrs->get_int("units");
    if (b[units_axis].is_constant() && !(b[units_axis] == units)) {
      call.fail(DiagnosticKind::ShapeMismatch,
                "`units` is " + units.to_string() + ", and axis " + std::to_string(units_axis) +
                    " of the right operand `" + to_string(b) + "` is " + b[units_axis].to_string());
    }
    call.solver.unify(b[units_axis], units);
  }
  const Shape& a = as_tensor(left).shape;
  if (!a.has_rank()) return RuleOutcome::Stuck;
  require_rank(call, "left operand", a, transposes.a ? 2 : 1, kNoLimit);
  const std::size_t contracted = transposes.a ? a.rank() - 2 : a.rank() - 1;
  contract(call, a, contracted, b, 1 - units_axis);
  std::vector<Dim> dims = a.dims();
  if (transposes.a) std::swap(dims[a.rank() - 2], dims[a.rank() - 1]);
  dims.back() = call.attrs->is_null("units") ? b[units_axis] : Dim(call.attrs->get_int("units"));
  call.solver.unify(known, Shape(std::move(dims)));
  return RuleOutcome::Solved;
}

// A batch of vectors, where nothing tells.
bool usual_units(TypeCall& call, bool) {
  const Shape a = as_tensor(call.tensor(0)).shape;
  if (a.has_rank()) return false;
  with_rank(call, a, 2);
  return true;
}

Expr units_definition(const DefinitionCall& call, Transposes transposes) {
  const Expr& a = call.args[0];
  const Expr& b = call.args[1];
  return build::comprehension(
      lang::as<TensorType>(call.result)->shape.dims(), [&](const Indices& out) {
        const auto left = [&](const Expr& k) {
          Indices indices = out;
          indices.back() = k;
          if (transposes.a) std::swap(indices[out.size() - 2], indices[out.size() - 1]);
          return build::at(a, indices);
        };
        const auto right = [&](const Expr& k) {
          return build::at(b, transposes.b ? Indices{out.back(), k} : Indices{k, out.back()});
        };
        return dot(call, dims_of(b)[transposes.b ? 1 : 0], left, right);
      });
}

std::vector<Expr> units_gradient(const GradientCall& call, Transposes transposes) {
  Expr a = in_dtype_of_product(call.args[0], call.out);
  const Expr b = in_dtype_of_product(call.args[1], call.out);
  Expr dout = call.dout;
  const bool is_vector = dims_of(a).size() == 1;
  if (is_vector) {
    a = op("expand_dims", {a}, {{"axis", 0}});
    dout = op("expand_dims", {dout}, {{"axis", 0}});
  }
  // out = A B, so dA = dout B^T and dB = A^T dout.
  const Expr from_right = op("matmul", {dout, transposes.b ? b : swapped(b)});
  Expr da = transposes.a ? swapped(from_right) : from_right;
  if (is_vector) da = op("reshape_like", {da, call.args[0]});
  const Expr left = transposes.a ? a : swapped(a);
  const Expr db = transposes.b
                      ? sum_batch(op("matmul", {swapped(dout), transposes.a ? swapped(a) : a}))
                      : sum_batch(op("matmul", {left, dout}));
  return {in_dtype_of(call.args[0], da), in_dtype_of(call.args[1], db)};
}

void add_units_operator(OpDef def, TransposesOf transposes) {
  def.level = 1;
  def.type_rule = [transposes](TypeCall& call) { return units_rule(call, transposes(call.attrs)); };
  def.usual = usual_units;
  def.definition = [transposes](const DefinitionCall& call) {
    return units_definition(call, transposes(call.attrs));
  };
  def.gradient = [transposes](const GradientCall& call) {
    return units_gradient(call, transposes(call.attrs));
  };
  def.nests = true;
  lang::OpRegistry::instance().add(std::move(def));
}

void add_dense() {
  OpDef def;
  def.name = "nn.dense";
  def.doc =
      "The data times the transposed weight: (.., k) with (units, k) gives (.., units).\n"
      "float16 and bfloat16 are summed in float32.";
  def.example = "nn.dense([[1.0, 2.0]], [[1.0, 1.0], [0.0, 3.0]])\n// expect: [[3.0, 6.0]]";
  def.inputs = {{"data", "(.., k)"}, {"weight", "(units, k)"}};
  def.attrs = product_attrs(true, false);
  add_units_operator(std::move(def), dense_transposes);
}

void add_nn_matmul() {
  OpDef def;
  def.name = "nn.matmul";
  def.doc =
      "The matrix product of (.., m, k) and (k, units), either of them transposed first if asked.\n"
      "float16 and bfloat16 are summed in float32.";
  def.example =
      "nn.matmul([[1.0, 2.0]], [[1.0, 1.0], [0.0, 3.0]], transpose_b=True)\n// expect: [[3.0, "
      "6.0]]";
  def.inputs = {{"tensor_a", "the left operand"}, {"tensor_b", "the right operand, of rank 2"}};
  def.attrs = product_attrs(true, true);
  add_units_operator(std::move(def), given_transposes);
}

// --- matmul: what `@` means, by NumPy's rules ---

// Where the axes of an operand are. A vector on the left is a row, one on the right a column, and
// the result has no axis for it.
struct Factor {
  bool is_vector;
  std::size_t batch;  // how many axes stand in front of the last two
  std::size_t summed;
};
Factor left_factor(std::size_t rank) { return {rank == 1, rank < 2 ? 0 : rank - 2, rank - 1}; }
Factor right_factor(std::size_t rank) {
  return {rank == 1, rank < 2 ? 0 : rank - 2, rank == 1 ? 0 : rank - 2};
}

Shape front(const Shape& shape, std::size_t axes) {
  const std::vector<Dim>& dims = shape.dims();
  return Shape(std::vector<Dim>(dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(axes)));
}

RuleOutcome matmul_rule(TypeCall& call) {
  const Type left = call.tensor(0);
  const Type right = call.tensor(1);
  const DTypeTerm dtype = matrix_product_dtype(call, as_tensor(left).dtype, as_tensor(right).dtype);
  const Shape known = result_shape(call, dtype);
  const Shape& a = as_tensor(left).shape;
  const Shape& b = as_tensor(right).shape;
  for (const Shape* shape : {&a, &b}) {
    if (!shape->has_rank() || shape->rank() > 0) continue;
    call.fail(DiagnosticKind::RankMismatch,
              std::string("`matmul` multiplies vectors and matrices, and its ") +
                  (shape == &a ? "left" : "right") + " operand is a number, which `*` multiplies");
  }
  if (!a.has_rank() || !b.has_rank()) return RuleOutcome::Stuck;
  const Factor first = left_factor(a.rank());
  const Factor second = right_factor(b.rank());
  contract(call, a, first.summed, b, second.summed);
  const std::size_t batch = std::max(first.batch, second.batch);
  const Shape result =
      with_rank(call, known, batch + (first.is_vector ? 0 : 1) + (second.is_vector ? 0 : 1));
  std::size_t axis = batch;
  if (!first.is_vector) call.solver.unify(result[axis++], a[a.rank() - 2]);
  if (!second.is_vector) call.solver.unify(result[axis], b[b.rank() - 1]);
  return unify_broadcast(call, {front(a, first.batch), front(b, second.batch)},
                         front(result, batch));
}

bool usual_matmul(TypeCall& call, bool) {
  bool settled = false;
  for (std::size_t i = 0; i < 2; ++i) {
    const Shape shape = as_tensor(call.tensor(i)).shape;
    if (shape.has_rank()) continue;
    with_rank(call, shape, 2);
    settled = true;
  }
  return settled;
}

Expr matmul_definition(const DefinitionCall& call) {
  const Expr& a = call.args[0];
  const Expr& b = call.args[1];
  const Factor first = left_factor(dims_of(a).size());
  const Factor second = right_factor(dims_of(b).size());
  const std::size_t batch = std::max(first.batch, second.batch);
  return build::comprehension(
      lang::as<TensorType>(call.result)->shape.dims(), [&](const Indices& out) {
        // The places of an operand in its batch, then `rest`.
        const auto read = [&](const Expr& operand, const Factor& factor, const Indices& rest) {
          Indices indices;
          for (std::size_t axis = 0; axis < factor.batch; ++axis) {
            const bool is_stretched = dims_of(operand)[axis].is_constant(1);
            indices.push_back(is_stretched ? build::index_constant(0)
                                           : out[batch - factor.batch + axis]);
          }
          indices.insert(indices.end(), rest.begin(), rest.end());
          return build::at(operand, indices);
        };
        const auto left = [&](const Expr& k) {
          return read(a, first, first.is_vector ? Indices{k} : Indices{out[batch], k});
        };
        const auto right = [&](const Expr& k) {
          return read(b, second, second.is_vector ? Indices{k} : Indices{k, out.back()});
        };
        return dot(call, dims_of(a).back(), left, right);
      });
}

Expr expanded(const Expr& x, std::size_t axis) {
  return op("expand_dims", {x}, {{"axis", static_cast<std::int64_t>(axis)}});
}

std::vector<Expr> matmul_gradient(const GradientCall& call) {
  const Factor first = left_factor(dims_of(call.args[0]).size());
  const Factor second = right_factor(dims_of(call.args[1]).size());
  if (first.is_vector && second.is_vector)
    return {op("multiply", {call.dout, call.args[1]}), op("multiply", {call.dout, call.args[0]})};
  // Vectors as matrices; then out = A B, so dA = dout B^T and dB = A^T dout.
  const Expr a = first.is_vector ? expanded(call.args[0], 0) : call.args[0];
  const Expr b = second.is_vector ? expanded(call.args[1], 1) : call.args[1];
  Expr dout = call.dout;
  if (first.is_vector) dout = expanded(dout, dims_of(dout).size() - 1);
  if (second.is_vector) dout = expanded(dout, dims_of(dout).size());
  const auto summed = [](const Expr& adjoint, const Expr& target) {
    return dims_of(target).size() == 2 ? sum_batch(adjoint) : sum_to(adjoint, target);
  };
  const Expr da = summed(op("matmul", {dout, swapped(b)}), a);
  const Expr db = summed(op("matmul", {swapped(a), dout}), b);
  return {first.is_vector ? op("reshape_like", {da, call.args[0]}) : da,
          second.is_vector ? op("reshape_like", {db, call.args[1]}) : db};
}

void add_matmul() {
  OpDef def;
  def.name = "matmul";
  def.level = 0;
  def.doc =
      "The product `a @ b` of matrices and vectors: (m, k) and (k, n) give (m, n).\n"
      "A vector on the left is a row, one on the right a column, and two give a number. Axes in "
      "front of the last two are a batch, and batches broadcast. "
      "float16 and bfloat16 are summed in float32.";
  def.example =
      "[[1.0, 2.0], [3.0, 4.0]] @ [[1.0], [10.0]]\n// expect: [[21.0], [43.0]]\n"
      "matmul([1.0, 2.0], [3.0, 4.0])\n// expect: 11.0";
  def.inputs = {{"lhs", "(k) or (.., m, k)"}, {"rhs", "(k) or (.., k, n)"}};
  def.type_rule = matmul_rule;
  def.usual = usual_matmul;
  def.definition = matmul_definition;
  def.gradient = matmul_gradient;
  def.nests = true;
  lang::OpRegistry::instance().add(std::move(def));
}

// --- nn.batch_matmul: (batch, m, k) with (batch, k, n), either transposed ---

RuleOutcome batch_matmul_rule(TypeCall& call) {
  const Type left = call.tensor(0);
  const Type right = call.tensor(1);
  const DTypeTerm dtype = matrix_product_dtype(call, as_tensor(left).dtype, as_tensor(right).dtype);
  const Shape known = result_shape(call, dtype);
  if (as_tensor(left).shape.has_rank())
    require_rank(call, "left operand", as_tensor(left).shape, 3, 3);
  if (as_tensor(right).shape.has_rank())
    require_rank(call, "right operand", as_tensor(right).shape, 3, 3);
  const Shape a = with_rank(call, as_tensor(left).shape, 3);
  const Shape b = with_rank(call, as_tensor(right).shape, 3);
  const Transposes transposes = given_transposes(call.attrs);
  contract(call, a, transposes.a ? 1 : 2, b, transposes.b ? 2 : 1);
  const Shape result = with_rank(call, known, 3);
  call.solver.unify(result[1], a[transposes.a ? 2 : 1]);
  call.solver.unify(result[2], b[transposes.b ? 1 : 2]);
  // A batch of 1 goes with any other.
  if (a[0] == b[0] || b[0].is_constant(1)) {
    call.solver.unify(result[0], a[0]);
  } else if (a[0].is_constant(1)) {
    call.solver.unify(result[0], b[0]);
  } else if (state_of(a[0]) == DimState::Flexible || state_of(b[0]) == DimState::Flexible) {
    return RuleOutcome::Stuck;
  } else {
    contract(call, a, 0, b, 0);
    call.solver.unify(result[0], a[0].is_any() ? b[0] : a[0]);
  }
  return RuleOutcome::Solved;
}

void add_batch_matmul() {
  OpDef def;
  def.name = "nn.batch_matmul";
  def.level = 10;
  def.doc =
      "The matrix products of two batches, either of them transposed first if asked.\n"
      "A batch of one goes with any other. float16 and bfloat16 are summed in float32.";
  def.example = "nn.batch_matmul([[[1.0, 2.0]]], [[[3.0], [4.0]]])\n// expect: [[[11.0]]]";
  def.inputs = {{"tensor_a", "(batch, m, k)"}, {"tensor_b", "(batch, k, n)"}};
  def.attrs = product_attrs(false, true);
  def.type_rule = batch_matmul_rule;
  def.definition = [](const DefinitionCall& call) {
    const Expr& a = call.args[0];
    const Expr& b = call.args[1];
    const Transposes transposes = given_transposes(call.attrs);
    return build::comprehension(
        lang::as<TensorType>(call.result)->shape.dims(), [&](const Indices& out) {
          const auto batch = [&](const Expr& x) {
            return dims_of(x)[0].is_constant(1) ? build::index_constant(0) : out[0];
          };
          const auto left = [&](const Expr& k) {
            return build::at(
                a, transposes.a ? Indices{batch(a), k, out[1]} : Indices{batch(a), out[1], k});
          };
          const auto right = [&](const Expr& k) {
            return build::at(
                b, transposes.b ? Indices{batch(b), out[2], k} : Indices{batch(b), k, out[2]});
          };
          return dot(call, dims_of(a)[transposes.a ? 1 : 2], left, right);
        });
  };
  def.gradient = [](const GradientCall& call) -> std::vector<Expr> {
    const Transposes transposes = given_transposes(call.attrs);
    const Expr a = in_dtype_of_product(call.args[0], call.out);
    const Expr b = in_dtype_of_product(call.args[1], call.out);
    const auto product = [](const Expr& x, const Expr& y, bool transpose_x, bool transpose_y) {
      return op("nn.batch_matmul", {x, y},
                {{"transpose_a", transpose_x}, {"transpose_b", transpose_y}});
    };
    // out = A B, so dA = dout B^T and dB = A^T dout; for a transposed operand, the transpose of
    // these.
    const Expr da = transposes.a ? product(b, call.dout, transposes.b, true)
                                 : product(call.dout, b, false, !transposes.b);
    const Expr db = transposes.b ? product(call.dout, a, true, transposes.a)
                                 : product(a, call.dout, !transposes.a, false);
    const Expr da_like = in_dtype_of(call.args[0], da);
    const Expr db_like = in_dtype_of(call.args[1], db);
    return {da_like ? sum_to(da_like, call.args[0]) : nullptr,
            db_like ? sum_to(db_like, call.args[1]) : nullptr};
  };
  def.nests = true;
  lang::OpRegistry::instance().add(std::move(def));
}

}  // namespace

void add_linalg_operators() {
  add_dense();
  add_nn_matmul();
  add_matmul();
  add_batch_matmul();
}

}  // namespace relay::stdlib
