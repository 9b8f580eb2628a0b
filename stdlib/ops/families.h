#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "lang/build.h"
#include "lang/op.h"

// What the families of operators have in common: rows of tables, type rules, the arithmetic of
// axes, and index maps. An operator that is like its neighbours is one row.
namespace relay::stdlib {

using lang::AttrKind;
using lang::AttrSpec;
using lang::AttrsRef;
using lang::AttrValue;
using lang::DefinitionCall;
using lang::DiagnosticKind;
using lang::Dim;
using lang::DType;
using lang::DTypeTerm;
using lang::Expr;
using lang::GradientCall;
using lang::InputSpec;
using lang::OpDef;
using lang::Prim;
using lang::PrimOperands;
using lang::ReduceOp;
using lang::RuleOutcome;
using lang::Shape;
using lang::TensorType;
using lang::Type;
using lang::TypeCall;
using lang::build::Indices;

// One function per file of this folder; each adds its records to the registry.
void add_elementwise_operators();
void add_broadcast_operators();
void add_comparison_operators();
void add_reduction_operators();
void add_shape_operators();
void add_joining_operators();
void add_indexing_operators();
void add_linalg_operators();
void add_nn_operators();
void add_padding_operators();
void add_pooling_operators();
void add_convolution_operators();
void add_norm_operators();
void add_create_operators();
void add_effect_operators();
void add_file_operators();
void add_plot_operators();
void add_dynamic_operators();
void add_sorting_operators();
void add_scan_operators();
void add_gathering_operators();
void add_scattering_operators();
void add_sequence_operators();
void add_layout_operators();
void add_einsum_operators();
void add_fourier_operators();
void add_sparse_operators();
void add_random_operators();
void add_image_operators();
void add_vision_operators();
void add_quantized_operators();
void add_annotation_operators();
void add_memory_operators();
void add_bit_operators();
void add_vendor_operators();

// --- Rows ---

// Gradient of out = f(x): the adjoint of x. Null in a row: the derivative is zero.
using UnaryGradient = Expr (*)(const Expr& x, const Expr& out, const Expr& dout);
struct UnaryRow {
  const char* name;
  Prim prim;
  int level;
  const char* doc;
  const char* example;
  UnaryGradient gradient;
};
// Elementwise: one primitive at each element. `operands` where they are narrower than the
// primitive's.
void add_unary(const UnaryRow& row);
void add_unary(const UnaryRow& row, PrimOperands operands);

// Gradient of out = f(a, b) at equal shapes; the family sums over stretched axes. Null: zero.
using BinaryGradient = std::pair<Expr, Expr> (*)(const Expr& a, const Expr& b, const Expr& out,
                                                 const Expr& dout);
struct BinaryRow {
  const char* name;
  Prim prim;
  int level;
  const char* doc;
  const char* example;
  BinaryGradient gradient;
};
void add_binary(const BinaryRow& row);
void add_binary(const BinaryRow& row, PrimOperands operands);

// Attributes.
AttrSpec required_attr(const char* name, AttrKind kind, const char* doc);
AttrSpec optional_attr(const char* name, AttrKind kind, AttrValue default_value, const char* doc);
AttrSpec nullable_attr(const char* name, AttrKind kind, const char* doc);  // default `None`
// The dtype that attribute `key` names; `fallback` where it is "" or None.
DTypeTerm attr_dtype(const AttrsRef& attrs, std::string_view key, const DTypeTerm& fallback);

// --- Types ---

// How much is known of a dim.
enum class DimState : std::uint8_t { Constant, Any, Rigid, Flexible };
DimState state_of(const Dim& dim);
// A known rank, and no dim that inference may still learn more about.
bool is_settled(const Shape& shape);

const TensorType& tensor_type_of(const Expr& expr);
const std::vector<Dim>& dims_of(const Expr& expr);
std::vector<std::int64_t> extents_of(const std::vector<Dim>& dims);  // all constant
std::vector<Dim> to_dims(const std::vector<std::int64_t>& extents);
// The product; 1 of none.
Dim product(const std::vector<Dim>& dims);

// The type of the result as a tensor of `dtype`: what is known of its shape so far.
Shape result_shape(TypeCall& call, const DTypeTerm& dtype);
// `shape`, after it has been given this rank if it had none.
Shape with_rank(TypeCall& call, const Shape& shape, std::size_t rank);
// Result: a tensor of `dtype` whose shape is what `shapes` broadcast to.
RuleOutcome solve_broadcast(TypeCall& call, const std::vector<Shape>& shapes,
                            const DTypeTerm& dtype);
// The same for a part of the axes: `known` is what they broadcast to.
RuleOutcome unify_broadcast(TypeCall& call, const std::vector<Shape>& shapes, const Shape& known);
// Two operands of one dtype, one of `operands`: the result is of that dtype, or of the primitive's.
RuleOutcome solve_binary(TypeCall& call, PrimOperands operands,
                         std::optional<Prim> prim = std::nullopt);
// Checks that broadcasting `from` to `to` gives `to`. Stuck while either is not settled.
RuleOutcome check_stretches(const TypeCall& call, const Shape& from, const Shape& to);

// --- Axes ---

// A possibly negative axis as a position, 0 <= axis < rank.
std::size_t position_of(std::int64_t axis, std::size_t rank);
// Throws AxisOutOfRange unless -rank <= axis < rank.
void check_axis(const TypeCall& call, std::int64_t axis, const Shape& shape);
// Which axes a reduction's `axis` and `exclude` name; None means all.
std::vector<bool> reduced_axes(const AttrsRef& attrs, std::size_t rank);

// --- Index maps, for definitions (constant dims) ---

// The element of `tensor` that element `out` of a result it is broadcast to reads.
Expr read_broadcast(const Expr& tensor, const Indices& out);
// `a` clamped to low..high.
Expr clamp_index(const Expr& index, std::int64_t low, std::int64_t high);
// Indices into an array of shape `from` of the element that stands at `out` once it is reshaped to
// `to`.
Indices reshape_indices(const std::vector<std::int64_t>& from, const std::vector<std::int64_t>& to,
                        const Indices& out);
// Folds value(x[i]) over the axes that `reduced` marks, which stay with extent 1 if `keepdims`.
using ElementMap = std::function<Expr(const Expr& element)>;
Expr reduce_axes(ReduceOp op, const Expr& data, const std::vector<bool>& reduced, bool keepdims,
                 const ElementMap& value = nullptr);

// --- For gradients (dims may be symbolic or `?`) ---

// As in lang/build.h, also for dims that are not known before the program runs.
Expr sum_to(const Expr& adjoint, const Expr& target);
Expr zeros_like(const Expr& tensor);
// The extent of an axis as an int64 scalar.
Expr extent_of(const Expr& tensor, std::size_t axis);
// The product of the extents of the marked axes, as a scalar of the dtype of `tensor`.
Expr count_of(const Expr& tensor, const std::vector<bool>& axes);
// A tensor with the shape of `like`, element by element.
Expr generate_like(const Expr& like, const std::function<Expr(const Indices&)>& body);
// Zeros with the type of `target`, to which each element of `values` is added at place(its index).
Expr scatter_into(const Expr& target, const Expr& values,
                  const std::function<Indices(const Indices&)>& place);
// Undoes a reduction's change of shape: gives each element of `data` its element of
// `reduced_value`.
Expr spread(const Expr& reduced_value, const Expr& data, const std::vector<bool>& reduced,
            bool keepdims);
bool is_float_tensor(const Expr& expr);
// The adjoint of the one value that every element of a result is made of; null if it has none.
Expr filled_gradient(const Expr& value, const Expr& dout);

}  // namespace relay::stdlib
