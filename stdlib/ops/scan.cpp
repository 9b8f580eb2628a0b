#include <algorithm>

#include "lang/attrs_struct.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/formula.h"
#include "stdlib/ops/types.h"

// Running sums and products along an axis, and the recurrence that differentiates products.
namespace relay::stdlib {

namespace build = lang::build;
using build::op;

namespace {

// --- Folding all that stands before each element ---

constexpr std::int64_t kBlock = 16;

struct Scan {
  ReduceOp fold;
  std::size_t axis;
  bool exclusive;
  DType dtype;  // of the partial results
  Expr identity;
};

using Read = std::function<Expr(const Indices&)>;

// The elements of block `block` of the axis, up to position `last` (null: all), folded. An index
// behind the end is clamped, and what it reads dropped.
Expr fold_block(const Scan& scan, const Read& read, std::int64_t extent, const Indices& at,
                const Expr& block, const Expr& last) {
  return build::reduction(scan.fold, {Dim(std::min(kBlock, extent))}, [&](const Indices& k) {
    const Expr position = build::add(build::mul(block, build::index_constant(kBlock)), k[0]);
    const bool may_overrun = extent > kBlock && extent % kBlock != 0;
    const Expr end = build::index_constant(extent - 1);
    Indices place = at;
    place[scan.axis] = may_overrun ? build::prim(Prim::Min, {position, end}) : position;
    const Expr element = build::cast_to(scan.dtype, read(place));
    Expr keeps;
    if (last) {
      keeps = build::prim(scan.exclusive ? Prim::Lt : Prim::Le, {position, last});
    } else if (may_overrun) {
      keeps = build::prim(Prim::Le, {position, end});
    }
    return keeps ? build::select(keeps, element, scan.identity) : element;
  });
}

// Blelloch's scan over blocks: fold each block, scan the folds, then fold again inside each block
// on top of what stands before it. About 2 * kBlock operations an element, and few stages.
// https://www.cs.cmu.edu/~guyb/papers/Ble93.pdf
Expr scanned(const Scan& scan, const std::vector<Dim>& dims, const Read& read) {
  const std::int64_t extent = dims[scan.axis].constant();
  if (extent <= kBlock) {
    return build::comprehension(dims, [&](const Indices& out) {
      return fold_block(scan, read, extent, out, build::index_constant(0), out[scan.axis]);
    });
  }
  std::vector<Dim> block_dims = dims;
  block_dims[scan.axis] = (extent + kBlock - 1) / kBlock;
  const Expr folds = build::comprehension(block_dims, [&](const Indices& out) {
    return fold_block(scan, read, extent, out, out[scan.axis], nullptr);
  });
  return build::let("folds", folds, [&](const Expr& fold) {
    Scan outer = scan;
    outer.exclusive = true;
    const Expr before =
        scanned(outer, block_dims, [&](const Indices& at) { return build::at(fold, at); });
    return build::let("before", before, [&](const Expr& start) {
      return build::comprehension(dims, [&](const Indices& out) {
        Indices block = out;
        block[scan.axis] =
            build::prim(Prim::FloorDiv, {out[scan.axis], build::index_constant(kBlock)});
        const Expr inside = fold_block(scan, read, extent, out, block[scan.axis], out[scan.axis]);
        const Prim combine = scan.fold == ReduceOp::Sum ? Prim::Add : Prim::Mul;
        return build::prim(combine, {build::at(start, block), inside});
      });
    });
  });
}

DType accumulator(DType dtype) {
  return dtype == DType::Float16 || dtype == DType::BFloat16 ? DType::Float32 : dtype;
}

// --- cumsum, cumprod ---

RuleOutcome scan_rule(TypeCall& call) {
  const Type data = call.tensor(0);
  const Shape& shape = as_tensor(data).shape;
  const DTypeTerm dtype = attr_dtype(call.attrs, "dtype", as_tensor(data).dtype);
  call.solver.require(dtype, PrimOperands::kNumeric);
  const Shape known = result_shape(call, dtype);
  if (call.attrs->is_null("axis")) {
    const Shape result = with_rank(call, known, 1);
    if (!is_settled(shape)) return RuleOutcome::Stuck;
    call.solver.unify(result[0], product(shape.dims()));
    return RuleOutcome::Solved;
  }
  call.solver.unify(known, shape);
  if (!shape.has_rank()) return RuleOutcome::Stuck;
  check_axis(call, call.attrs->get_int("axis"), shape);
  return RuleOutcome::Solved;
}

Expr scan_definition(const DefinitionCall& call, ReduceOp fold) {
  const Expr& data = call.args[0];
  const auto& result = *lang::as<TensorType>(call.result);
  const std::vector<Dim>& dims = result.shape.dims();
  const bool flat = call.attrs->is_null("axis");
  Scan scan;
  scan.fold = fold;
  scan.axis = flat ? 0 : position_of(call.attrs->get_int("axis"), dims.size());
  scan.exclusive = call.attrs->get_bool("exclusive");
  scan.dtype = accumulator(result.dtype.known());
  scan.identity = build::constant(scan.dtype, fold == ReduceOp::Sum ? 0 : 1);
  const Expr total = scanned(scan, dims, [&](const Indices& at) {
    const Expr read = build::at(
        data, flat ? reshape_indices(extents_of(dims_of(data)), extents_of(dims), at) : at);
    return build::cast_to(result.dtype.known(), read);
  });
  if (scan.dtype == result.dtype.known()) return total;
  return build::let("total", total, [&](const Expr& wide) {
    return build::comprehension(dims, [&](const Indices& out) {
      return build::cast_to(result.dtype.known(), build::at(wide, out));
    });
  });
}

// The operand in the dtype and shape of the scan's result.
Expr scanned_operand(const GradientCall& call) {
  Expr x = call.args[0];
  const DTypeTerm& dtype = tensor_type_of(call.out).dtype;
  if (!(tensor_type_of(x).dtype == dtype)) x = op("cast", {x}, {{"dtype", dtype.known()}});
  return call.attrs->is_null("axis") && dims_of(x).size() != 1
             ? op("reshape", {x}, {{"newshape", AttrValue::ints({-1})}})
             : x;
}

// An adjoint of the scan's result's shape as one of the operand.
std::vector<Expr> operand_adjoint(const GradientCall& call, Expr adjoint) {
  const Expr& x = call.args[0];
  if (!is_float_tensor(x)) return {nullptr};
  if (!(tensor_type_of(x).dtype == tensor_type_of(adjoint).dtype)) {
    adjoint = op("cast", {adjoint}, {{"dtype", tensor_type_of(x).dtype.known()}});
  }
  const bool keeps_shape = !call.attrs->is_null("axis") || dims_of(x).size() == 1;
  return {keeps_shape ? adjoint : op("reshape_like", {adjoint, x})};
}

std::int64_t scan_axis(const AttrsRef& attrs) {
  return attrs->is_null("axis") ? 0 : attrs->get_int("axis");
}

OpDef scan_record(const char* name, ReduceOp fold, const char* doc, const char* example) {
  OpDef def;
  def.name = name;
  def.level = 3;
  def.doc = doc;
  def.example = example;
  def.inputs = {{"data", "the values"}};
  def.attrs = {nullable_attr("axis", AttrKind::Int, "the axis; None: the data is read as one row"),
               nullable_attr("dtype", AttrKind::DType,
                             "dtype of the elements before they are combined; None: the data's"),
               optional_attr("exclusive", AttrKind::Bool, false, "leave the element itself out")};
  lang::set_attrs_struct(def.name, "ScanopAttrs", {"exclusive"});
  def.type_rule = scan_rule;
  def.definition = [fold](const DefinitionCall& call) { return scan_definition(call, fold); };
  return def;
}

void add_cumsum() {
  OpDef def = scan_record(
      "cumsum", ReduceOp::Sum,
      "The sums of all elements up to each one, along an axis or, without `axis`, of the flat "
      "data.\n"
      "With `exclusive` the element itself does not count, so the first sum is 0. Integers wrap in "
      "their own dtype, as in Relay and unlike NumPy; float16 and bfloat16 are summed in float32. "
      "An axis of extent 0 stays one. The sums are taken over blocks, so they may differ from a "
      "left-to-right sum in the last digits.",
      "cumsum([[1, 2, 3], [4, 5, 6]], axis=1)\n// expect: [[1, 3, 6], [4, 9, 15]]");
  // Each element counts in all sums from its own on.
  def.gradient = [](const GradientCall& call) -> std::vector<Expr> {
    const AttrValue axis = scan_axis(call.attrs);
    const Expr sums = op("cumsum", {op("reverse", {call.dout}, {{"axis", axis}})},
                         {{"axis", axis}, {"exclusive", call.attrs->get_bool("exclusive")}});
    return operand_adjoint(call, op("reverse", {sums}, {{"axis", axis}}));
  };
  lang::OpRegistry::instance().add(std::move(def));
}

// Element i is element i + steps of `x` along the axis, 0 where there is none.
Expr shifted(const Expr& x, std::size_t axis, int steps) {
  const Expr last = build::sub(extent_of(x, axis), build::index_constant(1));
  return generate_like(x, [&](const Indices& i) {
    const Expr from = build::add(i[axis], build::index_constant(steps));
    Indices place = i;
    place[axis] = steps > 0 ? build::prim(Prim::Min, {from, last})
                            : build::prim(Prim::Max, {from, build::index_constant(0)});
    const Expr is_inside = steps > 0 ? build::prim(Prim::Le, {from, last})
                                     : build::prim(Prim::Ge, {from, build::index_constant(0)});
    return build::select(is_inside, build::at(x, place),
                         build::constant(tensor_type_of(x).dtype.known(), 0));
  });
}

void add_cumprod() {
  OpDef def = scan_record(
      "cumprod", ReduceOp::Prod,
      "The products of all elements up to each one, along an axis or, without `axis`, of the flat "
      "data.\n"
      "With `exclusive` the element itself does not count, so the first product is 1. Integers "
      "wrap in their own dtype; float16 and bfloat16 are multiplied in float32. An axis of extent "
      "0 stays one. Derivatives of any order are right also where elements are 0.",
      "cumprod([1, 2, 3, 4], axis=0)\n// expect: [1, 2, 6, 24]");
  // The product of what stands before an element, times the sum over all later products of their
  // adjoint and the factors in between.
  def.gradient = [](const GradientCall& call) -> std::vector<Expr> {
    const Expr x = scanned_operand(call);
    const std::int64_t given = scan_axis(call.attrs);
    const std::size_t axis = position_of(given, dims_of(x).size());
    const bool exclusive = call.attrs->get_bool("exclusive");
    const Expr terms = exclusive ? shifted(call.dout, axis, 1) : call.dout;
    const Expr later = op("linear_recurrence", {x, terms}, {{"axis", given}, {"reverse", true}});
    const Expr before = op("cumprod", {x}, {{"axis", given}, {"exclusive", true}});
    return operand_adjoint(call, before * later);
  };
  lang::OpRegistry::instance().add(std::move(def));
}

// --- product_of_others ---

// What stands before an element times what stands behind it.
void add_product_of_others() {
  OpDef def;
  def.name = "product_of_others";
  def.level = 0;
  def.is_step = true;
  def.doc =
      "For each element the product of all others along an axis; nothing is divided, so that it is "
      "right also where elements are 0. The derivative of `prod` is made of it.";
  def.example = "product_of_others([2.0, 0.0, 5.0])\n// expect: [0.0, 10.0, 0.0]";
  def.inputs = {{"data", "the values"}};
  def.attrs = {optional_attr("axis", AttrKind::Int, -1, "the axis")};
  def.type_rule = [](TypeCall& call) {
    const Type data = call.tensor(0);
    call.solver.require(as_tensor(data).dtype, PrimOperands::kNumeric);
    call.returns(data);
    if (!as_tensor(data).shape.has_rank()) return RuleOutcome::Stuck;
    check_axis(call, call.attrs->get_int("axis"), as_tensor(data).shape);
    return RuleOutcome::Solved;
  };
  def.definition = [](const DefinitionCall& call) {
    const AttrValue axis = call.attrs->get_int("axis");
    const auto before = [&](const Expr& x) {
      return op("cumprod", {x}, {{"axis", axis}, {"exclusive", true}});
    };
    const auto reversed = [&](const Expr& x) { return op("reverse", {x}, {{"axis", axis}}); };
    return before(call.args[0]) * reversed(before(reversed(call.args[0])));
  };
  lang::OpRegistry::instance().add(std::move(def));
}

// --- linear_recurrence ---

// By doubling: after the stage with distance s, element i holds what its last 2 s terms give, and
// the product of as many factors. Nothing is divided.
Expr recurrence_steps(const Expr& factors, const Expr& terms, std::size_t axis, bool reverse,
                      std::int64_t distance) {
  const std::vector<Dim>& dims = dims_of(terms);
  const std::int64_t extent = dims[axis].constant();
  if (distance >= extent) return terms;
  const auto stage =
      [&](const std::function<Expr(const Indices&, const Indices&, const Expr&)>& f) {
        return build::comprehension(dims, [&](const Indices& i) {
          const Expr far =
              build::add(i[axis], build::index_constant(reverse ? distance : -distance));
          Indices place = i;
          place[axis] = clamp_index(far, 0, extent - 1);
          const Expr is_inside = reverse
                                     ? build::prim(Prim::Lt, {far, build::index_constant(extent)})
                                     : build::prim(Prim::Ge, {far, build::index_constant(0)});
          return f(i, place, is_inside);
        });
      };
  const Expr next_terms = stage([&](const Indices& i, const Indices& far, const Expr& is_inside) {
    const Expr own = build::at(terms, i);
    const Expr more = build::mul(build::at(factors, i), build::at(terms, far));
    return build::select(is_inside, build::add(own, more), own);
  });
  const Expr next_factors = stage([&](const Indices& i, const Indices& far, const Expr& is_inside) {
    const Expr own = build::at(factors, i);
    return build::select(is_inside, build::mul(own, build::at(factors, far)), own);
  });
  return build::let("terms", next_terms, [&](const Expr& t) {
    return build::let("factors", next_factors, [&](const Expr& f) {
      return recurrence_steps(f, t, axis, reverse, 2 * distance);
    });
  });
}

Expr recurrence_definition(const DefinitionCall& call) {
  const std::vector<Dim>& dims = dims_of(call.args[1]);
  const std::size_t axis = position_of(call.attrs->get_int("axis"), dims.size());
  const bool reverse = call.attrs->get_bool("reverse");
  if (!reverse) return recurrence_steps(call.args[0], call.args[1], axis, false, 1);
  // Backwards, the factor between an element and the next one is the next one's.
  const Expr factors = build::comprehension(dims, [&](const Indices& i) {
    Indices next = i;
    next[axis] = build::prim(Prim::Min, {build::add(i[axis], build::index_constant(1)),
                                         build::index_constant(dims[axis].constant() - 1)});
    return build::at(call.args[0], next);
  });
  return build::let("factors", factors, [&](const Expr& between) {
    return recurrence_steps(between, call.args[1], axis, true, 1);
  });
}

void add_linear_recurrence() {
  OpDef def;
  def.name = "linear_recurrence";
  def.level = 0;
  def.doc =
      "The solution of y[i] = terms[i] + factors[i] * y[i - 1] along an axis, from y[-1] = 0.\n"
      "With `reverse`, of y[i] = terms[i] + factors[i + 1] * y[i + 1] from behind the end: each is "
      "the transposition of the other. The derivative of `cumprod` is made of it.";
  def.example = "linear_recurrence([2.0, 2.0, 2.0], [1.0, 1.0, 1.0])\n// expect: [1.0, 3.0, 7.0]";
  def.inputs = {{"factors", "what the neighbour counts"}, {"terms", "what is added"}};
  def.attrs = {optional_attr("axis", AttrKind::Int, -1, "the axis"),
               optional_attr("reverse", AttrKind::Bool, false, "from the end to the beginning")};
  def.type_rule = [](TypeCall& call) {
    call.solver.unify(call.tensor(0), call.tensor(1));
    const Type terms = call.tensor(1);
    call.solver.require(as_tensor(terms).dtype, PrimOperands::kNumeric);
    call.returns(terms);
    if (!as_tensor(terms).shape.has_rank()) return RuleOutcome::Stuck;
    check_axis(call, call.attrs->get_int("axis"), as_tensor(terms).shape);
    return RuleOutcome::Solved;
  };
  def.definition = recurrence_definition;
  def.gradient = [](const GradientCall& call) -> std::vector<Expr> {
    const AttrValue axis = call.attrs->get_int("axis");
    const bool reverse = call.attrs->get_bool("reverse");
    const std::size_t at = position_of(call.attrs->get_int("axis"), dims_of(call.dout).size());
    const Expr dterms =
        op("linear_recurrence", {call.args[0], call.dout}, {{"axis", axis}, {"reverse", !reverse}});
    const Expr dfactors = build::let("dterms", dterms, [&](const Expr& d) {
      return reverse ? build::let("before", shifted(d, at, -1),
                                  [&](const Expr& before) { return before * call.out; })
                     : build::let("before", shifted(call.out, at, -1),
                                  [&](const Expr& before) { return d * before; });
    });
    return {dfactors, dterms};
  };
  lang::OpRegistry::instance().add(std::move(def));
}

}  // namespace

void add_scan_operators() {
  add_cumsum();
  add_cumprod();
  add_product_of_others();
  add_linear_recurrence();
}

}  // namespace relay::stdlib
