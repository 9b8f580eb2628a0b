// Kernels that store several tensors, and scatters that assign.

#include <algorithm>
#include <cmath>

#include <catch2/catch.hpp>

#include "interp/launch.h"
#include "lang/build.h"
#include "loops/lower.h"
#include "stdlib/register.h"

namespace {

using namespace relay;
using namespace relay::lang;
using build::Indices;
using loops::LoweredGroup;

VariableRef param(std::vector<std::int64_t> shape) {
  return make_variable(
      "x", tensor_type(Shape(std::vector<Dim>(shape.begin(), shape.end())), DType::Float32));
}

TensorRef counting(std::vector<std::int64_t> shape) {
  TensorRef tensor = Tensor::make(DType::Float32, shape);
  for (std::int64_t i = 0; i < tensor->element_count(); ++i)
    tensor->set_bits(i, bits_from_int(DType::Float32, i));
  return tensor;
}

LoweredGroup lower(const std::vector<VariableRef>& params, const Expr& body,
                   const std::vector<TensorRef>& args) {
  std::vector<loops::Layout> layouts;
  for (const auto& arg : args) layouts.push_back({arg->dtype(), arg->shape(), arg->strides()});
  auto group = loops::lower(cast<Function>(make_function(params, nullptr, body)), layouts);
  if (!group) FAIL(group.errors().front().message);
  for (const auto& launch : group->launches) loops::verify(launch.kernel);
  return *std::move(group);
}

std::vector<std::vector<double>> run(const LoweredGroup& group, std::vector<TensorRef> args) {
  auto results = interp::launch(
      group, std::move(args), [](std::size_t) { return nullptr; }, 1);
  if (!results) FAIL(results.errors().front().message);
  std::vector<std::vector<double>> leaves;
  for (const TensorRef& tensor : *results) {
    auto& numbers = leaves.emplace_back();
    for (std::int64_t i = 0; i < tensor->element_count(); ++i)
      numbers.push_back(tensor->number_at(i));
  }
  return leaves;
}

Expr op(const char* name, std::vector<Expr> args) { return build::op(name, std::move(args)); }

// values[i, j] added to `init` at [i, j + offset].
Expr slice_of(const Expr& init, const Expr& values, std::int64_t offset) {
  const auto& type = *as<TensorType>(values->type);
  return build::scatter(ReduceOp::Sum, init, type.shape.dims(), [&](const Indices& i) {
    const Indices place = {i[0], build::add(i[1], build::index_constant(offset))};
    return std::pair{place, build::at(values, i)};
  });
}

Expr zeros(std::int64_t rows, std::int64_t columns) {
  return build::zeros_of(tensor_type(Shape({rows, columns}), DType::Float32));
}

}  // namespace

TEST_CASE("tensors of the same points that read the same are made by one kernel", "[loops]") {
  stdlib::register_operators();
  const auto x = param({6, 50});
  const auto y = param({6, 50});
  const Expr a = make_var(x);
  const Expr b = make_var(y);
  const std::vector<TensorRef> args = {counting({6, 50}), counting({6, 50})};
  const auto both = lower({x, y}, build::tuple({op("add", {a, b}), op("multiply", {a, b})}), args);
  REQUIRE(both.launches.size() == 1);
  CHECK(both.launches[0].kernel.further.size() == 1);
  CHECK(run(both, args)[0][7] == 14);
  CHECK(run(both, args)[1][7] == 49);
  // A result that another result is made of is read where it is computed.
  const Expr t = op("tanh", {a});
  const auto chain = lower({x, y}, build::tuple({t, op("multiply", {t, b})}), args);
  REQUIRE(chain.launches.size() == 1);
  CHECK(run(chain, args)[1][3] == Approx(3 * run(chain, args)[0][3]));
  // Nothing in common; other points; read at other points.
  CHECK(lower({x, y}, build::tuple({op("exp", {a}), op("exp", {b})}), args).launches.size() == 2);
  const auto z = param({6, 1});
  CHECK(lower({x, z}, build::tuple({op("add", {a, make_var(z)}), op("exp", {make_var(z)})}),
              {args[0], counting({6, 1})})
            .launches.size() == 2);
  const Expr turned = build::op("reverse", {t}, {{"axis", 1}});
  const auto apart = lower({x, y}, build::tuple({t, op("multiply", {turned, b})}), args);
  CHECK(apart.launches.size() == 2);
  CHECK(run(apart, args)[1][0] == 0);
}

TEST_CASE("a tensor that only its own kernel reads has no memory", "[loops]") {
  stdlib::register_operators();
  const auto x = param({100});
  const Expr e = op("exp", {make_var(x)});
  const Expr body = build::tuple({op("sin", {e}), op("cos", {e}), op("tan", {e}), op("log", {e})});
  const auto group = lower({x}, body, {counting({100})});
  CHECK(group.launches.size() == 1);
  CHECK(group.made.size() == 4);
}

TEST_CASE("memory is used again by a kernel with several results", "[loops]") {
  stdlib::register_operators();
  const auto x = param({100});
  const auto y = param({100});
  const Expr a = make_var(x);
  const Expr b = make_var(y);
  const auto results = [&](const LoweredGroup& group) {
    const auto apart = run(group, {counting({100}), counting({100})});
    std::vector<TensorRef> shared = {counting({100}), counting({100})};
    const auto held = shared;
    CHECK(run(group, shared) == apart);
    return apart;
  };
  const auto two =
      lower({x, y}, build::tuple({op("add", {a, b}), op("subtract", {a, op("exp", {b})})}),
            {counting({100}), counting({100})});
  CHECK(two.reuse.size() == 2);
  CHECK(results(two)[1][0] == -1);
  // What is stored as it is must not be read when it has been overwritten.
  const auto copied =
      lower({x, y}, build::tuple({op("add", {a, b}), op("copy", {op("add", {b, b})}), b}),
            {counting({100}), counting({100})});
  CHECK(results(copied)[0][9] == 18);
}

TEST_CASE("scatters into parts of zeros are assigned", "[loops]") {
  stdlib::register_operators();
  const auto x = param({4, 30});
  const auto y = param({4, 20});
  const std::vector<TensorRef> args = {counting({4, 30}), counting({4, 20})};
  const auto whole =
      lower({x, y}, slice_of(slice_of(zeros(4, 50), make_var(x), 0), make_var(y), 30), args);
  CHECK(whole.launches.size() == 2);
  for (const auto& launch : whole.launches) CHECK(launch.kernel.store == loops::StoreKind::Assign);
  CHECK(run(whole, args)[0][49] == 19);
  CHECK(run(whole, args)[0][50] == 30);
  // The rest is zeros.
  const auto part = lower({x}, slice_of(zeros(4, 50), make_var(x), 10), {args[0]});
  CHECK(part.launches.size() == 2);
  CHECK(run(part, {args[0]})[0][9] == 0);
  CHECK(run(part, {args[0]})[0][39] == 29);
  CHECK(run(part, {args[0]})[0][40] == 0);
  // Where they meet, they are added.
  const auto meeting =
      lower({x, y}, slice_of(slice_of(zeros(4, 50), make_var(x), 0), make_var(y), 25), args);
  CHECK(meeting.launches.back().kernel.store == loops::StoreKind::Combine);
  CHECK(run(meeting, args)[0][26] == 27);
  // Of one extent, and of what else reads the same: one kernel.
  const auto parts =
      lower({x},
            build::tuple({slice_of(slice_of(zeros(4, 60), op("exp", {make_var(x)}), 0),
                                   op("negative", {make_var(x)}), 30),
                          op("sqrt", {make_var(x)})}),
            {args[0]});
  CHECK(parts.launches.size() == 1);
  CHECK(run(parts, {args[0]})[0][31] == -1);
  // 0 + -0 is 0.
  CHECK_FALSE(std::signbit(run(parts, {args[0]})[0][30]));
}
