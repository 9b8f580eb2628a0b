#include "lang/print.h"

#include <catch2/catch.hpp>

#include "lang/build.h"
#include "lang/record.h"
#include "stdlib/register.h"

using namespace relay::lang;

namespace {

const Type kFloat = scalar_type(DType::Float32);

Expr op(std::string_view name, std::vector<Expr> args, std::vector<Attr> attrs = {}) {
  relay::stdlib::register_operators();
  return build::op(name, std::move(args), std::move(attrs));
}

Expr number(double value) { return build::constant(DType::Float32, value); }

}  // namespace

TEST_CASE("strict text names every step and writes operators as calls") {
  const VariableRef x = make_variable("x", kFloat);
  const Expr use = make_var(x);
  const Expr square = op("multiply", {use, use});
  const Expr f = build::function({x}, make_tuple({op("add", {square, number(1)}), square}));
  CHECK(print_definition("f", f) == R"(def @f(%x: float32) -> (float32, float32) {
  %0 = multiply(%x, %x);
  %1 = add(%0, 1f);
  (%1, %0)
})");
}

TEST_CASE("what two branches share is bound before them, what one needs stays inside") {
  const VariableRef x = make_variable("x", kFloat);
  const VariableRef c = make_variable("c", scalar_type(DType::Bool));
  const Expr shared = op("exp", {make_var(x)});
  const Expr own = op("log", {make_var(x)});
  const Expr choice = build::if_(make_var(c), op("negative", {shared}), op("add", {shared, own}));
  CHECK(print(choice) == R"(free_var %c: bool;
free_var %x: float32;
%0 = exp(%x);
if (%c) {
  negative(%0)
} else {
  %1 = log(%x);
  add(%0, %1)
})");
}

TEST_CASE("let chains, effects and lets as operands") {
  const VariableRef r = make_variable("r", reference_type(kFloat));
  const VariableRef unused = make_variable("_", unit_type());
  const VariableRef y = make_variable("y", kFloat);
  const Expr inner = make_let(y, number(3), op("exp", {make_var(y)}));
  const Expr body = make_let(unused, make_ref_write(make_var(r), op("add", {inner, number(2)})),
                             make_ref_read(make_var(r)));
  CHECK(print(make_let(r, make_ref_create(number(1)), body)) == R"(let %r = ref(1f);
%0 = (
  let %y = 3f;
  exp(%y)
);
%1 = add(%0, 2f);
ref_write(%r, %1);
ref_read(%r))");
}

TEST_CASE("index notation prints in strict and in light form") {
  const Dim n = Dim::variable(TypeVar::rigid(VarKind::Dim, "n"));
  const Expr a = make_var(make_variable("a", tensor_type(Shape{n, 4}, DType::Float32)));
  const Expr sums = build::comprehension({n}, [&](const build::Indices& i) {
    return build::reduction(ReduceOp::Sum, {4}, [&](const build::Indices& k) {
      return build::checked_at(a, {build::add(i[0], build::index_constant(1)), k[0]});
    });
  });
  CHECK(print(sums) == R"(free_var %a: Tensor[(n, 4), float32];
for %i < dim(n) {
  sum %i1 < 4i64 {
    %0 = prim.add(%i, 1i64);
    %a[%0, %i1]
  }
})");
  CHECK(print_light(sums) == "for i < n { sum i1 < 4 { a[i + 1, i1] } }");
}

TEST_CASE("a scatter writes what its indices need inside them") {
  const Expr init = make_var(make_variable("init", tensor_type(Shape{8}, DType::Float32)));
  const Expr scatter = build::scatter(ReduceOp::Sum, init, {4}, [&](const build::Indices& i) {
    return std::pair(build::Indices{build::mul(build::add(i[0], build::index_constant(1)), i[0])},
                     number(1));
  });
  CHECK(print(scatter) == R"(free_var %init: Tensor[(8), float32];
scatter sum(%init) %i < 4i64 {
  [(prim.mul((prim.add(%i, 1i64)), %i))] => 1f
})");
  CHECK(print_light(scatter) == "scatter sum(init) i < 4 { [(i + 1) * i] => 1.0 }");
}

TEST_CASE("records print as they are written, before and after inference") {
  TypeDef point;
  point.name = "Point";
  point.constructors.push_back({"Point", 0, {kFloat, kFloat}, {"x", "y"}, &point, {}});
  const Constructor& constructor = point.constructors[0];
  CHECK(print_type_def(point) == "type Point {\n  Point(float32, float32),\n}");
  CHECK(print_light_type_def(point) == "type Point {\n  Point { x: float32, y: float32 },\n}");
  const Type type = adt_type(&point);
  const Expr p = make_var(make_variable("p", type));
  const Expr candidate = make_constructor_ref(&constructor);
  const auto form = [&](const OpDef& op, const std::string& field, std::vector<Expr> args) {
    args.push_back(candidate);
    return make_call(make_operator(&op), std::move(args), record_attrs({field}));
  };
  const Expr get = form(record_get(), "x", {p});
  CHECK(print_light(form(record_with(), "y", {p, get})) == "p with { y = p.x }");
  CHECK(print_light(make_call(candidate, {get, number(1)})) == "Point(x = p.x, y = 1.0)");

  const Expr typed_get = expand_record_form(record_get(), {"x"}, {p}, {});
  CHECK(print_light(typed_get) == "p.x");
  const Expr typed_with = expand_record_form(record_with(), {"y"}, {p, typed_get}, {});
  CHECK(print_light(typed_with) == "p with { y = p.x }");
  CHECK(print(typed_get) ==
        "free_var %p: Point;\nmatch (%p) {\n  Point(%x, _) => {\n    %x\n  },\n}");
}

TEST_CASE("match prints its arms, strict and light") {
  TypeDef option;
  option.name = "Option";
  option.constructors.push_back({"Some", 0, {kFloat}, {}, &option, {}});
  option.constructors.push_back({"None", 1, {}, {}, &option, {}});
  const Expr value = make_var(make_variable("o", adt_type(&option)));
  const VariableRef x = make_variable("X", kFloat);
  const Expr match = make_match(
      value,
      {{constructor_pattern(&option.constructors[0], {variable_pattern(x)}), make_var(x)},
       {constructor_pattern(&option.constructors[1], {}), number(0)}},
      true);
  CHECK(print(match) == R"(free_var %o: Option;
match (%o) {
  Some(%X) => {
    %X
  },
  None => {
    0f
  },
})");
  CHECK(print_light(match) == R"(match o {
  Some(x) => x,
  None => 0.0,
})");
  CHECK(print_type_def(option) == "type Option {\n  Some(float32),\n  None,\n}");
}

TEST_CASE("attributes that equal their default are left out") {
  const Expr x = make_var(make_variable("x", tensor_type(Shape{2, 3}, DType::Float32)));
  const Expr total = op("sum", {x}, {{"axis", AttrValue::ints({1})}});
  CHECK(print_light(total) == "sum(x, axis=[1])");
}

TEST_CASE("light text has infix operators with the parentheses that are needed") {
  const Expr a = make_var(make_variable("a", kFloat));
  const Expr b = make_var(make_variable("b", kFloat));
  const auto call = [](const char* name, Expr x, Expr y) {
    return op(name, {std::move(x), std::move(y)});
  };
  CHECK(print_light(call("subtract", a, call("subtract", b, a))) == "a - (b - a)");
  CHECK(print_light(call("multiply", call("add", a, b), number(-2))) == "(a + b) * -2.0");
  CHECK(print_light(call("less", call("add", a, b), op("negative", {call("divide", a, b)}))) ==
        "a + b < -(a / b)");
  CHECK(print_light(op("negative", {op("negative", {a})})) == "-(-a)");
}

TEST_CASE("light text puts a pure value that is used once where it is used") {
  const VariableRef x = make_variable("x", kFloat);
  const VariableRef y = make_variable("y", kFloat);
  const VariableRef z = make_variable("z", kFloat);
  const Expr use = make_var(x);
  const Expr body = make_let(y, op("multiply", {use, use}),
                             make_let(z, op("multiply", {number(3), make_var(y)}), make_var(z)));
  CHECK(print_light_definition("f", build::function({x}, body)) == R"(def f(x: float32) -> float32 {
  3.0 * (x * x)
})");
}

TEST_CASE("names that mean two things are told apart") {
  const Expr a = make_var(make_variable("x", kFloat));
  const Expr b = make_var(make_variable("x", kFloat));
  const Expr exp = make_var(make_variable("exp", kFloat));
  CHECK(print_light(op("add", {a, b})) == "x + x1");
  CHECK(print_light(op("exp", {exp})) == "exp(exp1)");
}

TEST_CASE("constants of every dtype print so that they read back") {
  const TensorRef bytes = Tensor::make(DType::UInt8, {2});
  bytes->set_bits(0, 1);
  bytes->set_bits(1, 255);
  CHECK(print(make_constant(bytes)) == "cast([1, 255], dtype=\"uint8\")");
  const TensorRef rows = Tensor::make(DType::Float32, {1, 2});
  rows->set_bits(0, bits_from_double(DType::Float32, 0.5));
  rows->set_bits(1, bits_from_double(DType::Float32, -2));
  CHECK(print(make_constant(rows)) == "[[0.5f, -2f]]");
  CHECK(print_light(make_constant(rows)) == "[[0.5, -2.0]]");
}

TEST_CASE("a chain of 100000 steps prints") {
  Expr nest = make_var(make_variable("x", kFloat));
  for (int k = 0; k < 100000; ++k) nest = op("negative", {nest});
  CHECK(print(nest).size() > 100000 * 10);
  CHECK(print_light(nest).size() > 100000);
}
