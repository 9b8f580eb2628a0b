#include "loops/pattern.h"

#include <catch2/catch.hpp>

#include "lang/build.h"
#include "loops/expand.h"
#include "stdlib/register.h"

namespace {

using namespace relay;
using namespace relay::lang;
using Extents = std::vector<std::int64_t>;

// The pattern of an operator at operands of these shapes.
std::string pattern(const std::string& name, const std::vector<Extents>& shapes,
                    std::vector<Attr> attrs = {}) {
  stdlib::register_operators();
  std::vector<VariableRef> params;
  std::vector<Expr> args;
  std::vector<loops::Layout> layouts;
  for (const Extents& shape : shapes) {
    const Shape dims(std::vector<Dim>(shape.begin(), shape.end()));
    params.push_back(make_variable("x", tensor_type(dims, DType::Float32)));
    args.push_back(make_var(params.back()));
    layouts.push_back({DType::Float32, shape, loops::row_major(shape)});
  }
  const Expr call = build::op(name, args, std::move(attrs));
  const Expr group = make_function(params, call->type, call);
  return std::string(name_of(loops::pattern_of(loops::expand(cast<Function>(group), layouts))));
}

AttrValue ints(const Extents& values) { return AttrValue::ints(values); }

}  // namespace

TEST_CASE("the pattern of an operator follows from its index maps", "[loops][pattern]") {
  CHECK(pattern("tanh", {{2, 3}}) == "elementwise");
  CHECK(pattern("add", {{2, 3}, {2, 3}}) == "elementwise");
  CHECK(pattern("add", {{2, 3}, {2, 1}}) == "broadcast");
  CHECK(pattern("nn.bias_add", {{2, 3, 4}, {3}}) == "broadcast");
  CHECK(pattern("transpose", {{2, 3}}) == "injective");
  CHECK(pattern("reshape", {{2, 6}}, {{"newshape", ints({3, 4})}}) == "injective");
  CHECK(pattern("sum", {{2, 3}}, {{"axis", 1}}) == "reduction");
  CHECK(pattern("mean", {{2, 3}}, {{"axis", 0}, {"keepdims", true}}) == "reduction");
  CHECK(pattern("nn.dense", {{2, 3}, {4, 3}}) == "contraction");
  CHECK(pattern("nn.max_pool2d", {{1, 2, 4, 4}}, {{"pool_size", 2}}) == "contraction");
  CHECK(pattern("nn.softmax", {{2, 3}}) == "opaque");
  CHECK(pattern("sort_order", {{2, 3}}) == "opaque");
}
