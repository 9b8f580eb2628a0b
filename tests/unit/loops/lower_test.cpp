#include "loops/lower.h"

#include <algorithm>
#include <numeric>

#include <catch2/catch.hpp>

#include "interp/launch.h"
#include "lang/build.h"
#include "lang/function_fact.h"
#include "loops/stages.h"
#include "stdlib/register.h"

namespace {

using namespace relay;
using namespace relay::lang;
using build::Indices;
using loops::LoweredGroup;

VariableRef param(std::vector<std::int64_t> shape, DType dtype = DType::Float32) {
  return make_variable("x",
                       tensor_type(Shape(std::vector<Dim>(shape.begin(), shape.end())), dtype));
}

TensorRef counting(std::vector<std::int64_t> shape, DType dtype = DType::Float32) {
  TensorRef tensor = Tensor::make(dtype, shape);
  for (std::int64_t i = 0; i < tensor->element_count(); ++i)
    tensor->set_bits(i, bits_from_int(dtype, i));
  return tensor;
}

std::vector<loops::Layout> layouts_of(const std::vector<TensorRef>& args) {
  std::vector<loops::Layout> layouts;
  for (const auto& arg : args) layouts.push_back({arg->dtype(), arg->shape(), arg->strides()});
  return layouts;
}

Result<LoweredGroup> try_lower(const std::vector<VariableRef>& params, const Expr& body,
                               const std::vector<TensorRef>& args) {
  const Expr function = make_function(params, nullptr, body);
  return loops::lower(cast<Function>(function), layouts_of(args));
}

LoweredGroup lower(const std::vector<VariableRef>& params, const Expr& body,
                   const std::vector<TensorRef>& args) {
  auto group = try_lower(params, body, args);
  if (!group) FAIL(group.errors().front().message);
  for (const auto& launch : group->launches) loops::verify(launch.kernel);
  return *std::move(group);
}

Result<std::vector<TensorRef>> launch(const LoweredGroup& group,
                                      const std::vector<TensorRef>& args) {
  return interp::launch(
      group, args, [](std::size_t) { return nullptr; }, 2);
}

std::vector<double> numbers(const Tensor& tensor) {
  std::vector<double> result;
  for (std::int64_t i = 0; i < tensor.element_count(); ++i) result.push_back(tensor.number_at(i));
  return result;
}

std::vector<double> run(const LoweredGroup& group, const std::vector<TensorRef>& args) {
  auto results = launch(group, args);
  if (!results) FAIL(results.errors().front().message);
  return numbers(*results->front());
}

// for i, j { f(x[i, j]) } over the whole of a matrix.
Expr map(const Expr& x, const std::function<Expr(const Expr&)>& f) {
  const auto& type = *as<TensorType>(x->type);
  return build::comprehension(type.shape.dims(),
                              [&](const Indices& i) { return f(build::at(x, i)); });
}

Expr twice(const Expr& x) { return build::add(x, x); }

bool mentions(const LoweredGroup& group, Prim prim) {
  for (const auto& launch : group.launches) {
    for (const auto& region : launch.kernel.regions) {
      for (const auto& instruction : region.code) {
        if (instruction.code == loops::Code::Primitive && instruction.prim == prim) return true;
      }
    }
  }
  return false;
}

}  // namespace

TEST_CASE("contiguous axes become one, strided ones do not", "[loops]") {
  const auto x = param({3, 4});
  const Expr body = map(make_var(x), twice);
  const TensorRef dense = counting({3, 4});
  const auto flat = lower({x}, body, {dense});
  REQUIRE(flat.launches.size() == 1);
  CHECK(flat.launches[0].kernel.domain_rank == 1);
  CHECK(run(flat, {dense})[11] == 22);
  const TensorRef base = counting({4, 3});
  const TensorRef turned = Tensor::view(*base, {3, 4}, {1, 3}, 0);
  const auto strided = lower({x}, body, {turned});
  CHECK(strided.launches[0].kernel.domain_rank == 2);
  CHECK(run(strided, {turned}) == std::vector<double>{0, 6, 12, 18, 2, 8, 14, 20, 4, 10, 16, 22});
}

TEST_CASE("code is shared by all sizes", "[loops]") {
  const auto key = [](std::int64_t rows, std::int64_t columns) {
    const auto x = param({rows, columns});
    const auto y = param({columns});
    const Expr body = build::comprehension({rows, columns}, [&](const Indices& i) {
      return build::add(build::at(make_var(x), i), build::at(make_var(y), {i[1]}));
    });
    return loops::structural_key(
        lower({x, y}, body, {counting({rows, columns}), counting({columns})}).launches[0].kernel);
  };
  CHECK(key(10, 20) == key(30, 40));
  CHECK(key(10, 20) == key(20, 10));
}

TEST_CASE("what only rearranges an argument is a view", "[loops]") {
  stdlib::register_operators();
  const auto x = param({4, 6});
  const TensorRef data = counting({4, 6});
  const auto view = [&](const Expr& body) {
    const auto group = lower({x}, body, {data});
    CHECK(group.launches.empty());
    CHECK(group.results.at(0).buffer == 0);
    return run(group, {data});
  };
  std::vector<double> all(24);
  std::iota(all.begin(), all.end(), 0);
  CHECK(view(build::op("reshape", {make_var(x)}, {{"newshape", AttrValue::ints({3, 2, 4})}})) ==
        all);
  CHECK(view(build::op("transpose", {make_var(x)}))[1] == 6);
  CHECK(view(build::op("expand_dims", {make_var(x)}, {{"axis", 1}})) == all);
  // for i < 2, j < 3 { x[2i + 1, 5 - 2j] }
  CHECK(view(build::comprehension({2, 3}, [&](const Indices& i) {
          const Expr row =
              build::add(build::mul(i[0], build::index_constant(2)), build::index_constant(1));
          const Expr column =
              build::sub(build::index_constant(5), build::mul(i[1], build::index_constant(2)));
          return build::at(make_var(x), {row, column});
        })) == std::vector<double>{11, 9, 7, 23, 21, 19});
  // Every row the first one.
  CHECK(view(build::comprehension({2, 6}, [&](const Indices& i) {
          return build::at(make_var(x), {build::index_constant(0), i[1]});
        })) == std::vector<double>{0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5});
  // A transposed matrix has no view as a vector.
  const auto flat = lower({x},
                          build::op("reshape", {build::op("transpose", {make_var(x)})},
                                    {{"newshape", AttrValue::ints({24})}}),
                          {data});
  CHECK(flat.launches.size() == 1);
  CHECK(run(flat, {data})[2] == 12);
}

TEST_CASE("producers dissolve into what reads them once", "[loops]") {
  stdlib::register_operators();
  const auto x = param({2, 30});
  const auto y = param({2, 30});
  const Expr a = make_var(x);
  const std::vector<TensorRef> args = {counting({2, 30}), counting({2, 30})};
  const auto chain = lower(
      {x, y}, build::op("multiply", {build::op("exp", {build::op("negative", {a})}), make_var(y)}),
      args);
  CHECK(chain.launches.size() == 1);
  // What follows a reduction happens in its nest.
  const auto mean = lower({x}, build::op("mean", {a}, {{"axis", 1}}), {args[0]});
  CHECK(mean.launches.size() == 1);
  CHECK(run(mean, {args[0]}) == std::vector<double>{14.5, 44.5});
  // Rows are read as often as they have elements: their maximum and sum are stored.
  CHECK(lower({x}, build::op("nn.softmax", {a}), {args[0]}).launches.size() == 3);
}

TEST_CASE("what is dear and read often is stored", "[loops]") {
  stdlib::register_operators();
  const auto x = param({50, 40});
  const auto w = param({40, 60});
  const std::vector<TensorRef> args = {counting({50, 40}), counting({40, 60})};
  const auto group =
      lower({x, w}, build::op("matmul", {build::op("tanh", {make_var(x)}), make_var(w)}), args);
  REQUIRE(group.launches.size() == 2);
  CHECK(group.made.at(0).is_temporary);
  CHECK_FALSE(group.made.at(1).is_temporary);
}

TEST_CASE("narrow floats are summed in float32", "[loops]") {
  const auto x = param({5000}, DType::Float16);
  const Expr body = build::reduction(ReduceOp::Sum, {5000},
                                     [&](const Indices& i) { return build::at(make_var(x), i); });
  TensorRef ones = Tensor::make(DType::Float16, {5000});
  for (std::int64_t i = 0; i < 5000; ++i) ones->set_bits(i, bits_from_double(DType::Float16, 1));
  // In float16 the sixteen partial sums would do, but not their sum: 4096 + 1 is no half.
  CHECK(run(lower({x}, body, {ones}), {ones}) == std::vector<double>{5000});
}

TEST_CASE("an index out of range is an error at its place", "[loops]") {
  SourceStore sources;
  const Source* source = sources.add("test", "x[at[i]]");
  const Span span{source, 0, 8};
  const auto x = param({5});
  const auto at = param({3}, DType::Int32);
  const Expr body = build::comprehension({3}, [&](const Indices& i) {
    return make_index(make_var(x), {build::cast_to(DType::Int64, build::at(make_var(at), i))},
                      false, span, scalar_type(DType::Float32));
  });
  std::vector<TensorRef> args = {counting({5}), counting({3}, DType::Int32)};
  const auto group = lower({x, at}, body, args);
  CHECK(run(group, args) == std::vector<double>{0, 1, 2});
  args[1]->set_bits(1, 7);
  const auto failed = launch(group, args);
  REQUIRE_FALSE(failed.ok());
  CHECK(failed.errors()[0].kind == DiagnosticKind::IndexOutOfRange);
  CHECK(failed.errors()[0].message == "index 7 is out of range for axis 0 of extent 5");
  CHECK(failed.errors()[0].span == span);
}

TEST_CASE("checks that cannot fail are gone", "[loops]") {
  const auto x = param({5});
  const auto checks = [&](std::int64_t offset) {
    const Expr body = build::comprehension({4}, [&](const Indices& i) {
      return build::checked_at(make_var(x), {build::add(i[0], build::index_constant(offset))});
    });
    return lower({x}, map(body, twice), {counting({5})}).launches.at(0).kernel.sites.size();
  };
  CHECK(checks(1) == 0);
  CHECK(checks(2) == 1);
}

TEST_CASE("an integer division by zero is an error", "[loops]") {
  const auto x = param({3}, DType::Int32);
  const Expr body = map(make_var(x), [](const Expr& e) {
    return build::div(build::constant_int(DType::Int32, 6), e);
  });
  const std::vector<TensorRef> args = {counting({3}, DType::Int32)};
  const auto failed = launch(lower({x}, body, args), args);
  REQUIRE_FALSE(failed.ok());
  CHECK(failed.errors()[0].kind == DiagnosticKind::DivisionByZero);
}

TEST_CASE("a scatter adds into a copy", "[loops]") {
  const auto x = param({4});
  const auto v = param({6});
  const Expr body = build::scatter(ReduceOp::Sum, make_var(x), {6}, [&](const Indices& i) {
    const Expr place = build::prim(Prim::FloorMod, {i[0], build::index_constant(4)});
    return std::pair{Indices{place}, build::at(make_var(v), i)};
  });
  const std::vector<TensorRef> args = {counting({4}), counting({6})};
  const auto group = lower({x, v}, body, args);
  CHECK(run(group, args) == std::vector<double>{4, 7, 4, 6});
  CHECK(numbers(*args[0]) == std::vector<double>{0, 1, 2, 3});
  CHECK(group.launches.back().kernel.sites.empty());
}

TEST_CASE("a scatter goes into what nobody else holds", "[loops]") {
  const auto x = param({100});
  const auto v = param({6});
  const auto at_most_six = [&](const Expr& init) {
    return build::scatter(ReduceOp::Sum, init, {6}, [&](const Indices& i) {
      return std::pair{i, build::at(make_var(v), i)};
    });
  };
  const TensorRef values = counting({6});
  for (const auto& body : {at_most_six(make_var(x)), at_most_six(at_most_six(make_var(x)))}) {
    TensorRef init = counting({100});
    const auto group = lower({x, v}, body, {init, values});
    const std::byte* place = init->data();
    std::vector<TensorRef> shared = {init, values};
    const auto apart = interp::launch(
        group, shared, [](std::size_t) { return nullptr; }, 1);
    CHECK(apart->front()->data() != place);
    shared.clear();
    std::vector<TensorRef> args = {std::move(init), values};
    const auto within = interp::launch(
        group, std::move(args), [](std::size_t) { return nullptr; }, 1);
    CHECK(within->front()->data() == place);
    CHECK(bit_equal(*apart->front(), *within->front()));
  }
}

TEST_CASE("memory is used again only by what reads each element where it writes", "[loops]") {
  const auto x = param({100});
  const auto y = param({100});
  const auto reads = [&](const Expr& place_of_x) {
    return build::comprehension({100}, [&](const Indices& i) {
      const Expr at = place_of_x ? build::sub(place_of_x, i[0]) : i[0];
      return build::mul(build::at(make_var(x), {at}), build::at(make_var(y), i));
    });
  };
  const std::vector<TensorRef> args = {counting({100}), counting({100})};
  CHECK(lower({x, y}, reads(nullptr), args).reuse.size() == 1);
  CHECK(lower({x, y}, reads(nullptr), args).reuse[0].arg == 0);
  CHECK(lower({x, y}, reads(build::index_constant(99)), args).reuse[0].arg == 1);
  const auto small = param({4});
  const Expr both = build::comprehension({100}, [&](const Indices& i) {
    return build::mul(build::at(make_var(x), i),
                      build::at(make_var(small), {build::index_constant(1)}));
  });
  CHECK(lower({x, small}, build::tuple({both, make_var(x)}), {counting({100}), counting({4})})
            .reuse.empty());
}

TEST_CASE("a temporary is the tensor that is stored where it is read last", "[loops]") {
  relay::stdlib::register_operators();
  const auto x = param({8, 16});
  const Expr var = make_var(x);
  const TensorRef arg = counting({8, 16});
  const LoweredGroup softmax = lower({x}, build::op("nn.softmax", {var}), {arg});
  const auto of_all = [](const LoweredGroup& group) {
    return std::count_if(group.made.begin(), group.made.end(),
                         [](const auto& made) { return loops::count_of(made.shape) == 128; });
  };
  CHECK(of_all(softmax) == 1);
  // Its rows are read turned around, so both are needed.
  const Expr powers = build::op("exp", {var});
  const Expr turned = build::op("add", {build::op("cumsum", {powers}, {{"axis", 1}}),
                                        build::op("reverse", {powers}, {{"axis", 1}})});
  CHECK(of_all(lower({x}, turned, {arg})) >= 2);
  const auto values = run(softmax, {arg});
  for (std::size_t row = 0; row < 8; ++row) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(16 * row);
    CHECK(std::abs(std::accumulate(begin, begin + 16, 0.0) - 1) < 1e-6);
  }
}

TEST_CASE("tuples in and out, and constants of the program", "[loops]") {
  const auto pair = make_variable(
      "p", tuple_type({tensor_type({2}, DType::Float32), scalar_type(DType::Float32)}));
  const Expr table = make_constant(counting({2}));
  const Expr vector = build::project(make_var(pair), 0);
  const Expr scalar = build::project(make_var(pair), 1);
  const Expr sums = build::comprehension({2}, [&](const Indices& i) {
    return build::add(build::add(build::at(vector, i), build::at(table, i)), scalar);
  });
  const Expr body = build::tuple({scalar, sums});
  const std::vector<TensorRef> args = {
      counting({2}), Tensor::scalar(DType::Float32, bits_from_double(DType::Float32, 0.5))};
  const auto group = lower({pair}, body, args);
  const auto results = launch(group, args);
  REQUIRE(results.ok());
  REQUIRE(results->size() == 2);
  CHECK(numbers(*(*results)[0]) == std::vector<double>{0.5});
  CHECK(numbers(*(*results)[1]) == std::vector<double>{0.5, 2.5});
}

TEST_CASE("symbolic dims take their values from the arguments", "[loops]") {
  const TypeVarRef n = TypeVar::rigid(VarKind::Dim, "n");
  const auto x = make_variable("x", tensor_type(Shape{Dim::variable(n)}, DType::Float32));
  const Expr body = build::comprehension({Dim::variable(n)}, [&](const Indices& i) {
    const Expr last = build::sub(make_dim_term(Dim::variable(n)), build::index_constant(1));
    return build::at(make_var(x), {build::sub(last, i[0])});
  });
  CHECK(run(lower({x}, body, {counting({4})}), {counting({4})}) == std::vector<double>{3, 2, 1, 0});
}

TEST_CASE("nothing to fold, nothing to compute", "[loops]") {
  const auto x = param({2, 0});
  const std::vector<TensorRef> args = {counting({2, 0})};
  const auto fold = [&](ReduceOp op) {
    return build::comprehension({2}, [&](const Indices& i) {
      return build::reduction(op, {0}, [&](const Indices& k) {
        return build::at(make_var(x), {i[0], k[0]});
      });
    });
  };
  CHECK(run(lower({x}, fold(ReduceOp::Sum), args), args) == std::vector<double>{0, 0});
  const auto failed = try_lower({x}, fold(ReduceOp::Max), args);
  REQUIRE_FALSE(failed.ok());
  CHECK(failed.errors()[0].message == "`max` over nothing has no value");
  CHECK(lower({x}, map(make_var(x), twice), args).launches.empty());
}

TEST_CASE("`if` computes both sides", "[loops]") {
  const auto x = param({4});
  const Expr body = map(make_var(x), [](const Expr& e) {
    const Expr condition = build::prim(Prim::Lt, {e, build::constant(DType::Float32, 2)});
    return build::if_(condition, twice(e), e);
  });
  const std::vector<TensorRef> args = {counting({4})};
  const auto group = lower({x}, body, args);
  CHECK(mentions(group, Prim::Select));
  CHECK(run(group, args) == std::vector<double>{0, 2, 2, 3});
}

TEST_CASE("extents that disagree at run time are a diagnostic", "[loops]") {
  const auto any = make_variable("x", tensor_type(Shape{Dim::any()}, DType::Float32));
  const auto y = param({5});
  const Expr body = build::comprehension({5}, [&](const Indices& i) {
    return build::add(build::at(make_var(any), i), build::at(make_var(y), i));
  });
  const auto failed = try_lower({any, y}, body, {counting({3}), counting({5})});
  REQUIRE_FALSE(failed.ok());
  CHECK(failed.errors()[0].kind == DiagnosticKind::ShapeMismatchAtRunTime);
  CHECK(failed.errors()[0].message ==
        "an index that runs to 5 is used on axis 0, whose extent is 3");
}

TEST_CASE("what a kernel cannot hold is a diagnostic", "[loops]") {
  const auto x = param({4});
  const Type element = scalar_type(DType::Float32);
  const Expr f = make_global_var("f", {}, function_type({element}, element));
  const Expr calls =
      map(make_var(x), [&](const Expr& e) { return make_call(f, {e}, nullptr, {}, element); });
  const auto call = try_lower({x}, calls, {counting({4})});
  REQUIRE_FALSE(call.ok());
  CHECK(call.errors()[0].kind == DiagnosticKind::Unsupported);
  CHECK(call.errors()[0].message == "not supported: a call of a function inside a kernel");
  const TypeVarRef n = TypeVar::rigid(VarKind::Dim, "n");
  const Expr free_dim =
      build::comprehension({Dim::variable(n)}, [&](const Indices& i) { return i[0]; });
  const auto dim = try_lower({x}, free_dim, {counting({4})});
  REQUIRE_FALSE(dim.ok());
  CHECK(dim.errors()[0].message ==
        "not supported: the dimension `n`, which no argument determines, inside a kernel");
}

TEST_CASE("a copy that a schedule makes asks whether to stop where a row takes long", "[loops]") {
  const auto copy_of_rows = [](std::int64_t length) {
    const VariableRef x = param({2, length});
    const Expr function = make_function({x}, nullptr, map(make_var(x), twice), {},
                                        with_fact(FunctionFact::Schedule, std::string("cache x")));
    const std::vector<loops::Layout> layouts = {{DType::Float32, {2, length}, {length, 1}}};
    const LoweredGroup group = loops::lower(cast<Function>(function), layouts).or_throw();
    REQUIRE(group.launches.size() == 2);
    return group.launches[0].kernel;
  };
  CHECK(copy_of_rows(std::int64_t{1} << 27).polls);
  CHECK(!copy_of_rows(1000).polls);
}

TEST_CASE("many threads give the bits of one", "[loops]") {
  stdlib::register_operators();
  const auto x = param({300, 400});
  const Expr body = build::op("sum", {build::op("sin", {make_var(x)})}, {{"axis", 1}});
  const std::vector<TensorRef> args = {counting({300, 400})};
  const auto group = lower({x}, body, args);
  const auto lanes = [](std::size_t) { return nullptr; };
  const auto one = interp::launch(group, args, lanes, 1);
  const auto four = interp::launch(group, args, lanes, 4);
  REQUIRE((one.ok() && four.ok()));
  CHECK(bit_equal(*one->front(), *four->front()));
}
