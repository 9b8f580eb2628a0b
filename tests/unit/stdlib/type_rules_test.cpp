#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "lang/op.h"
#include "stdlib/register.h"

namespace {

using namespace relay::lang;

Type f32(std::initializer_list<Dim> dims) { return tensor_type(Shape(dims), DType::Float32); }
Type i32(std::initializer_list<Dim> dims) { return tensor_type(Shape(dims), DType::Int32); }
Type boolean(std::initializer_list<Dim> dims) { return tensor_type(Shape(dims), DType::Bool); }
Dim rigid(const char* name) { return Dim::variable(TypeVar::rigid(VarKind::Dim, name)); }
AttrValue ints(std::vector<std::int64_t> values) { return AttrValue::ints(values); }

// The result's type as text, or `Kind: message`.
std::string type_of(const char* name, std::vector<Type> args, std::vector<Attr> attrs = {}) {
  relay::stdlib::register_operators();
  const OpDef& op = OpRegistry::instance().get(name);
  try {
    const AttrsRef complete = complete_attrs(op, make_attrs(std::move(attrs)), {});
    return to_string(ground_result_type(op, args, complete));
  } catch (const Failure& failure) {
    const Diagnostic& first = failure.diagnostics.front();
    return std::string(name_of(first.kind)) + ": " + first.message;
  }
}

bool fails(const std::string& result, const char* kind) {
  return result.rfind(std::string(kind) + ": ", 0) == 0;
}

}  // namespace

TEST_CASE("broadcasting", "[stdlib][types]") {
  CHECK(type_of("add", {f32({2, 3}), f32({})}) == "Tensor[(2, 3), float32]");
  CHECK(type_of("add", {f32({2, 1}), f32({3})}) == "Tensor[(2, 3), float32]");
  CHECK(type_of("add", {f32({}), f32({})}) == "float32");
  CHECK(type_of("add", {f32({0}), f32({1})}) == "Tensor[(0), float32]");
  CHECK(type_of("less", {i32({4}), i32({1})}) == "Tensor[(4), bool]");
  CHECK(type_of("add", {f32({3}), f32({4})}) ==
        "BroadcastMismatch: shapes `(3)` and `(4)` do not broadcast: axis 0 is 3 and 4");
  CHECK(
      type_of("add", {f32({2, 3}), f32({4})}) ==
      "BroadcastMismatch: shapes `(2, 3)` and `(4)` do not broadcast: axis 1 is 3 and axis 0 is 4");
  CHECK(fails(type_of("add", {f32({3}), i32({3})}), "DTypeMismatch"));
  const Dim n = rigid("n");
  CHECK(type_of("add", {f32({n, 3}), f32({3})}) == "Tensor[(n, 3), float32]");
  CHECK(type_of("add", {f32({n}), f32({n})}) == "Tensor[(n), float32]");
  CHECK(fails(type_of("add", {f32({n}), f32({n + Dim(1)})}), "BroadcastMismatch"));
  CHECK(type_of("add", {f32({Dim::any(), 3}), f32({4, 1})}) == "Tensor[(4, 3), float32]");
  CHECK(type_of("where", {boolean({2, 1}), f32({3}), f32({})}) == "Tensor[(2, 3), float32]");
}

TEST_CASE("dtypes are checked", "[stdlib][types]") {
  CHECK(type_of("exp", {f32({2})}) == "Tensor[(2), float32]");
  CHECK(fails(type_of("exp", {i32({2})}), "DTypeMismatch"));
  CHECK(fails(type_of("logical_and", {i32({2}), i32({2})}), "DTypeMismatch"));
  CHECK(type_of("isnan", {f32({2})}) == "Tensor[(2), bool]");
  CHECK(type_of("cast", {f32({2})}, {{"dtype", "int8"}}) == "Tensor[(2), int8]");
  CHECK(fails(type_of("cast", {f32({2})}), "MissingAttribute"));
}

TEST_CASE("reductions", "[stdlib][types]") {
  CHECK(type_of("sum", {f32({2, 3, 4})}) == "float32");
  CHECK(type_of("sum", {f32({2, 3, 4})}, {{"axis", -1}}) == "Tensor[(2, 3), float32]");
  CHECK(type_of("sum", {f32({2, 3, 4})}, {{"axis", ints({0, -1})}, {"keepdims", true}}) ==
        "Tensor[(1, 3, 1), float32]");
  CHECK(type_of("mean", {f32({2, 3, 4})}, {{"axis", ints({1})}, {"exclude", true}}) ==
        "Tensor[(3), float32]");
  CHECK(type_of("argmax", {f32({2, 3})}, {{"axis", 1}}) == "Tensor[(2), int32]");
  CHECK(type_of("sum", {f32({2, 3})}, {{"axis", 2}}) ==
        "AxisOutOfRange: axis 2 is out of range for shape `(2, 3)` of rank 2");
  CHECK(type_of("variance", {f32({2, 3}), f32({2, 1})}, {{"axis", 1}}) == "Tensor[(2), float32]");
  CHECK(fails(type_of("variance", {f32({2, 3}), f32({2})}, {{"axis", 1}}), "BroadcastMismatch"));
}

TEST_CASE("reshape reads its codes", "[stdlib][types]") {
  const auto reshape = [](std::initializer_list<Dim> from, std::vector<std::int64_t> codes) {
    return type_of("reshape", {f32(from)}, {{"newshape", ints(codes)}});
  };
  CHECK(reshape({2, 3, 4}, {4, 0, 2}) == "Tensor[(4, 3, 2), float32]");
  CHECK(reshape({2, 3, 4}, {2, 0, 0}) == "Tensor[(2, 3, 4), float32]");
  CHECK(reshape({2, 3, 4}, {6, 1, -1}) == "Tensor[(6, 1, 4), float32]");
  CHECK(reshape({2, 3, 4}, {3, -1, 8}) == "Tensor[(3, 1, 8), float32]");
  CHECK(reshape({2, 3, 4}, {-1}) == "Tensor[(24), float32]");
  CHECK(reshape({2, 3, 4}, {-2}) == "Tensor[(2, 3, 4), float32]");
  CHECK(reshape({2, 3, 4}, {2, -2}) == "Tensor[(2, 3, 4), float32]");
  CHECK(reshape({2, 3, 4}, {-2, 1, 1}) == "Tensor[(2, 3, 4, 1, 1), float32]");
  CHECK(reshape({2, 3, 4}, {-3, 4}) == "Tensor[(6, 4), float32]");
  CHECK(reshape({2, 3, 4, 5}, {-3, -3}) == "Tensor[(6, 20), float32]");
  CHECK(reshape({2, 3, 4}, {0, -3}) == "Tensor[(2, 12), float32]");
  CHECK(reshape({2, 3, 4}, {-4, 1, 2, -2}) == "Tensor[(1, 2, 3, 4), float32]");
  CHECK(reshape({2, 3, 4}, {2, -4, -1, 3, -2}) == "Tensor[(2, 1, 3, 4), float32]");
  CHECK(reshape({}, {1, 1}) == "Tensor[(1, 1), float32]");
  CHECK(reshape({1}, {}) == "float32");
  CHECK(reshape({2, 3}, {4}) ==
        "ShapeMismatch: cannot reshape `(2, 3)` to `[4]`: 6 elements against 4");
  CHECK(fails(reshape({2, 3}, {4, -1}), "ShapeMismatch"));
  CHECK(fails(reshape({2, 3}, {0, 0, 0}), "BadAttribute"));
  CHECK(fails(reshape({2, 3}, {-1, -1}), "BadAttribute"));
  const Dim n = rigid("n");
  CHECK(reshape({n, 4}, {0, 2, -1}) == "Tensor[(n, 2, 2), float32]");
  CHECK(reshape({n, 4}, {-1, 2}) == "Tensor[(2 * n, 2), float32]");
}

TEST_CASE("moving axes", "[stdlib][types]") {
  CHECK(type_of("transpose", {f32({2, 3, 4})}) == "Tensor[(4, 3, 2), float32]");
  CHECK(type_of("transpose", {f32({2, 3, 4})}, {{"axes", ints({0, -1, 1})}}) ==
        "Tensor[(2, 4, 3), float32]");
  CHECK(fails(type_of("transpose", {f32({2, 3})}, {{"axes", ints({0, 0})}}), "BadAttribute"));
  CHECK(type_of("squeeze", {f32({1, 3, 1})}) == "Tensor[(3), float32]");
  CHECK(type_of("squeeze", {f32({1, 3, 1})}, {{"axis", ints({-1})}}) == "Tensor[(1, 3), float32]");
  CHECK(fails(type_of("squeeze", {f32({1, 3})}, {{"axis", 1}}), "ShapeMismatch"));
  CHECK(type_of("expand_dims", {f32({2})}, {{"axis", -1}, {"num_newaxis", 2}}) ==
        "Tensor[(2, 1, 1), float32]");
  CHECK(fails(type_of("expand_dims", {f32({2})}, {{"axis", 2}}), "AxisOutOfRange"));
}

TEST_CASE("joining and cutting", "[stdlib][types]") {
  CHECK(type_of("concatenate", {tuple_type({f32({2, 3}), f32({2, 4})})}, {{"axis", -1}}) ==
        "Tensor[(2, 7), float32]");
  CHECK(type_of("concatenate", {tuple_type({f32({2, 3}), f32({3, 4})})}, {{"axis", 1}}) ==
        "ShapeMismatch: `concatenate` of `(2, 3)` and `(3, 4)`: axis 0 is 2 and 3");
  CHECK(fails(type_of("concatenate", {tuple_type({f32({2}), f32({2, 4})})}), "RankMismatch"));
  CHECK(fails(type_of("concatenate", {f32({2})}), "TypeMismatch"));
  CHECK(type_of("stack", {tuple_type({f32({2}), f32({2}), f32({2})})}, {{"axis", -1}}) ==
        "Tensor[(2, 3), float32]");
  CHECK(type_of("split", {f32({2, 6})}, {{"indices_or_sections", 3}, {"axis", 1}}) ==
        "(Tensor[(2, 2), float32], Tensor[(2, 2), float32], Tensor[(2, 2), float32])");
  CHECK(type_of("split", {f32({6})}, {{"indices_or_sections", ints({1, 4})}}) ==
        "(Tensor[(1), float32], Tensor[(3), float32], Tensor[(2), float32])");
  CHECK(fails(type_of("split", {f32({6})}, {{"indices_or_sections", 4}}), "ShapeMismatch"));
  CHECK(type_of("tile", {f32({2})}, {{"reps", ints({3, 2})}}) == "Tensor[(3, 4), float32]");
  CHECK(type_of("repeat", {f32({2, 3})}, {{"repeats", 2}}) == "Tensor[(12), float32]");
}

TEST_CASE("indexing", "[stdlib][types]") {
  CHECK(type_of("take", {f32({5, 4}), i32({2, 3})}, {{"axis", 0}}) == "Tensor[(2, 3, 4), float32]");
  CHECK(type_of("take", {f32({5, 4}), i32({})}, {{"axis", -1}}) == "Tensor[(5), float32]");
  CHECK(type_of("take", {f32({5, 4}), i32({7})}) == "Tensor[(7), float32]");
  CHECK(type_of("take", {f32({2, 5, 4}), i32({2, 3})}, {{"axis", 1}, {"batch_dims", 1}}) ==
        "Tensor[(2, 3, 4), float32]");
  CHECK(fails(type_of("take", {f32({5}), f32({2})}), "DTypeMismatch"));
  CHECK(type_of("one_hot", {i32({3}), f32({}), f32({})}, {{"depth", 5}, {"axis", 0}}) ==
        "Tensor[(5, 3), float32]");
  const auto slice = [](std::vector<Attr> attrs) {
    return type_of("strided_slice", {f32({3, 4, 3})}, attrs);
  };
  CHECK(
      slice({{"begin", ints({1, 1, 0})}, {"end", ints({4, 4, 3})}, {"strides", ints({2, 1, 1})}}) ==
      "Tensor[(1, 3, 3), float32]");
  CHECK(slice({{"begin", ints({1, -1, 0})},
               {"end", ints({4, -5, 3})},
               {"strides", ints({1, -1, 2})}}) == "Tensor[(2, 4, 2), float32]");
  CHECK(slice({{"begin", ints({0, 1})}, {"end", ints({-1, -1})}, {"slice_mode", "size"}}) ==
        "Tensor[(3, 3, 3), float32]");
  CHECK(slice({{"begin", ints({1})}, {"end", ints({1000})}, {"axes", ints({-1})}}) ==
        "Tensor[(3, 4, 2), float32]");
  const Dim n = rigid("n");
  CHECK(type_of("strided_slice", {f32({n})}, {{"begin", ints({1})}, {"end", ints({-1})}}) ==
        "Tensor[(n - 2), float32]");
}

TEST_CASE("products", "[stdlib][types]") {
  CHECK(type_of("nn.dense", {f32({2, 3}), f32({5, 3})}) == "Tensor[(2, 5), float32]");
  CHECK(type_of("nn.dense", {f32({2, 3}), f32({5, 3})}, {{"units", 4}}) ==
        "ShapeMismatch: `units` is 4, and axis 0 of the right operand `(5, 3)` is 5");
  CHECK(type_of("nn.dense", {f32({2, 3}), f32({5, 4})}) ==
        "ShapeMismatch: `nn.dense` of `(2, 3)` and `(5, 4)`: axis 1 of the left is 3 and axis 1 of "
        "the right is 4");
  CHECK(type_of("nn.matmul", {f32({7, 3, 2}), f32({3, 5})}, {{"transpose_a", true}}) ==
        "Tensor[(7, 2, 5), float32]");
  CHECK(type_of("matmul", {f32({7, 2, 3}), f32({3, 5})}) == "Tensor[(7, 2, 5), float32]");
  CHECK(type_of("matmul", {f32({3}), f32({3, 5})}) == "Tensor[(5), float32]");
  CHECK(type_of("matmul", {f32({3}), f32({3})}) == "float32");
  CHECK(fails(type_of("matmul", {f32({4, 2, 3}), f32({5, 3, 2})}), "BroadcastMismatch"));
  CHECK(type_of("matmul", {f32({4, 1, 2, 3}), f32({6, 3, 5})}) == "Tensor[(4, 6, 2, 5), float32]");
  CHECK(fails(type_of("matmul", {f32({}), f32({3, 5})}), "RankMismatch"));
  CHECK(type_of("nn.batch_matmul", {f32({1, 2, 3}), f32({4, 5, 3})}, {{"transpose_b", true}}) ==
        "Tensor[(4, 2, 5), float32]");
  CHECK(type_of("nn.bias_add", {f32({2, 3}), f32({3})}) == "Tensor[(2, 3), float32]");
  CHECK(fails(type_of("nn.bias_add", {f32({2, 3}), f32({2})}), "ShapeMismatch"));
  CHECK(type_of("nn.cross_entropy_with_logits", {f32({2, 3}), f32({2, 3})}) == "float32");
}
