#include "loops/bounds.h"

#include <catch2/catch.hpp>

#include "interp/launch.h"
#include "lang/build.h"
#include "lang/diagnostic.h"

// What a type rule forgot: reads that definitions make "in bounds by construction", and are not.
namespace {

using namespace relay;
using namespace relay::lang;
using build::Indices;

VariableRef vector_param(std::int64_t extent, DType dtype = DType::Float32) {
  return make_variable("x", tensor_type(Shape({Dim(extent)}), dtype));
}

Result<loops::LoweredGroup> lower(const std::vector<VariableRef>& params, const Expr& body) {
  std::vector<loops::Layout> layouts;
  for (const auto& param : params) {
    const auto& type = *as<TensorType>(param->type);
    layouts.push_back({type.dtype.known(), {type.shape[0].constant()}, {1}});
  }
  const Expr function = make_function(params, nullptr, body);
  return loops::lower(cast<Function>(function), layouts);
}

// for i < points { x[f(i)] + 1 }
Expr reading(const VariableRef& x, std::int64_t points,
             const std::function<Expr(const Expr&)>& index) {
  return build::comprehension({points}, [&](const Indices& i) {
    return build::add(build::at(make_var(x), {index(i[0])}), build::constant(DType::Float32, 1));
  });
}

Result<std::vector<TensorRef>> launch(const loops::LoweredGroup& group,
                                      const std::vector<TensorRef>& args) {
  return interp::launch(
      group, args, [](std::size_t) { return nullptr; }, 1);
}

}  // namespace

TEST_CASE("an affine read that leaves its tensor is refused when it is lowered", "[loops]") {
  const auto x = vector_param(5);
  const auto shifted = [&](std::int64_t points, std::int64_t offset) {
    return lower({x}, reading(x, points, [&](const Expr& i) {
                   return build::add(i, build::index_constant(offset));
                 }));
  };
  CHECK(shifted(5, 0).ok());
  CHECK(shifted(4, 1).ok());
  const auto above = shifted(4, 2);
  REQUIRE_FALSE(above.ok());
  CHECK(above.errors()[0].kind == DiagnosticKind::IndexOutOfRange);
  CHECK(above.errors()[0].message == "this reads element 5 on axis 0 of a tensor of shape `(5)`");
  const auto below = shifted(4, -1);
  REQUIRE_FALSE(below.ok());
  CHECK(below.errors()[0].message == "this reads element -1 on axis 0 of a tensor of shape `(5)`");
}

TEST_CASE("loops without a point read nothing", "[loops]") {
  const auto x = vector_param(5);
  CHECK(lower({x},
              reading(x, 0, [](const Expr& i) { return build::add(i, build::index_constant(99)); }))
            .ok());
  const auto empty = vector_param(0);
  const Expr masked = build::comprehension({3}, [&](const Indices& i) {
    const Expr inside = build::prim(Prim::Lt, {i[0], build::index_constant(0)});
    const Expr clamped = build::prim(Prim::Min, {i[0], build::index_constant(-1)});
    return build::select(inside, build::at(make_var(empty), {clamped}),
                         build::constant(DType::Float32, 2));
  });
  const auto group = lower({empty}, masked);
  REQUIRE(group.ok());
  const auto result = launch(*group, {Tensor::make(DType::Float32, {0})});
  REQUIRE(result.ok());
  CHECK((*result)[0]->number_at(2) == 2);
}

TEST_CASE("a read whose index is a value is checked when it runs", "[loops]") {
  const auto x = vector_param(5);
  const auto at = vector_param(3, DType::Int32);
  const Expr body = build::comprehension({3}, [&](const Indices& i) {
    const Expr index = build::cast_to(DType::Int64, build::at(make_var(at), i));
    return build::at(make_var(x), {index});
  });
  const auto group = lower({x, at}, body);
  REQUIRE(group.ok());
  const TensorRef data = Tensor::make(DType::Float32, {5});
  for (std::int64_t i = 0; i < 5; ++i) data->set_bits(i, bits_from_int(DType::Float32, i));
  const TensorRef places = Tensor::make(DType::Int32, {3});
  for (std::int64_t i = 0; i < 3; ++i) places->set_bits(i, bits_from_int(DType::Int32, 4 - i));
  const auto good = launch(*group, {data, places});
  REQUIRE(good.ok());
  CHECK((*good)[0]->number_at(0) == 4);
  places->set_bits(1, bits_from_int(DType::Int32, -7));
  const auto bad = launch(*group, {data, places});
  REQUIRE_FALSE(bad.ok());
  CHECK(bad.errors()[0].kind == DiagnosticKind::IndexOutOfRange);
}

TEST_CASE("a launch that would leave a buffer is a mistake of ours", "[loops]") {
  const auto x = vector_param(5);
  auto group = lower({x}, reading(x, 5, [](const Expr& i) { return i; })).or_throw();
  const std::vector<loops::Layout> args = {{DType::Float32, {5}, {1}}};
  loops::verify_bounds(group, args);
  for (std::int64_t& size : group.launches[0].sizes) size += size == 5;
  CHECK_THROWS_AS(loops::verify_bounds(group, args), InternalError);
}

TEST_CASE("more elements and steps than can be counted are refused", "[loops]") {
  constexpr std::int64_t kHuge = std::int64_t{1} << 32;
  const Expr huge = build::comprehension(
      {kHuge, kHuge}, [&](const Indices&) { return build::constant(DType::Float32, 1); });
  const auto tensor = lower({}, huge);
  REQUIRE_FALSE(tensor.ok());
  CHECK(tensor.errors()[0].kind == DiagnosticKind::OutOfMemory);
  const Expr sum = build::reduction(ReduceOp::Sum, {kHuge, kHuge}, [&](const Indices& i) {
    return build::cast_to(DType::Float32, i[0]);
  });
  const auto steps = lower({}, sum);
  REQUIRE_FALSE(steps.ok());
  CHECK(steps.errors()[0].kind == DiagnosticKind::Unsupported);
}
