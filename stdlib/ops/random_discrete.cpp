// Random integers, truth values and orders.

#include <cmath>

#include "lang/call_form.h"
#include "stdlib/ops/attr_range.h"
#include "stdlib/ops/formula.h"
#include "stdlib/ops/threefry.h"

namespace relay::stdlib {

namespace build = lang::build;
using build::op;

namespace {

// A tuple of the next key and of what `make` computes from random words of that shape.
Expr with_words(const Expr& key, const std::vector<std::int64_t>& extents,
                const std::function<Expr(const Expr& words)>& make) {
  const Expr drawn =
      op("random.threefry_generate", {key}, {{"out_shape", AttrValue::ints(extents)}});
  return build::let("drawn", drawn, [&](const Expr& pair) {
    return build::let("next", build::project(pair, 0), [&](const Expr& next) {
      return build::let("words", build::project(pair, 1), [&](const Expr& words) {
        return build::let("made", make(words), [&](const Expr& made) {
          return build::tuple({next, made});
        });
      });
    });
  });
}

const std::vector<Dim>& drawn_dims(const DefinitionCall& call) {
  return static_cast<const TensorType&>(*lang::as<lang::TupleType>(call.result)->fields[1])
      .shape.dims();
}

InputSpec key_input() { return {"key", "a key: ten uint64; not to be used again"}; }

AttrSpec shape_attr() {
  return required_attr("out_shape", AttrKind::IntList, "extents of the result");
}

// --- Integers ---

Expr shifted(const Expr& a, int by) { return build::prim(Prim::Shr, {a, word(by)}); }

// The upper half of the product of two words.
Expr high_product(Steps& steps, const Expr& a, const Expr& b) {
  const Expr low_bits = word((std::int64_t{1} << 32) - 1);
  const auto low = [&](const Expr& x) { return build::prim(Prim::And, {x, low_bits}); };
  const auto times = [&](const Expr& x, const Expr& y) {
    return steps.name("product", build::mul(x, y));
  };
  const Expr inner = times(low(a), low(b));
  const Expr left = times(shifted(a, 32), low(b));
  const Expr right = times(low(a), shifted(b, 32));
  const Expr outer = times(shifted(a, 32), shifted(b, 32));
  const Expr middle = build::add(shifted(inner, 32), build::add(low(left), low(right)));
  return steps.name("high", build::add(build::add(outer, shifted(middle, 32)),
                                       build::add(shifted(left, 32), shifted(right, 32))));
}

// The integer part of `count` times a fraction of 128 bits, whose words these are. Each of the
// `count` integers is as likely as any other but for one part in 2^64 or less.
Expr scaled(Steps& steps, const Expr& upper, const Expr& lower, const Expr& count) {
  const Expr product = steps.name("product", build::mul(upper, count));
  const Expr sum = steps.name("sum", build::add(product, high_product(steps, lower, count)));
  const Expr carries = build::prim(Prim::Lt, {sum, product});
  return build::add(high_product(steps, upper, count), build::cast_to(DType::UInt64, carries));
}

void add_randint() {
  OpDef def;
  def.name = "random.randint";
  def.level = 0;
  def.doc =
      "Random integers from `low` to `high - 1`: a tuple of the next key and the integers.\n"
      "128 random bits make each, so that for any bounds none is likelier than another by more "
      "than "
      "one part in 2^64. Where `high` is not above `low` all are `low`.";
  def.example =
      "random.randint(random.key(1), 0, 6, out_shape=[5]).1\n"
      "// expect: [5, 1, 5, 1, 5]";
  def.inputs = {key_input(),
                {"low", "the least integer, a scalar"},
                {"high", "what all are below, a scalar"}};
  def.attrs = {shape_attr()};
  def.type_rule = [](TypeCall& call) {
    require_key(call);
    for (const std::size_t i : {1, 2}) call.solver.unify(call.tensor_node(i).shape, Shape());
    call.solver.unify(call.tensor_node(1).dtype, call.tensor_node(2).dtype);
    const DTypeTerm dtype = call.tensor_node(1).dtype;
    call.solver.require(dtype, PrimOperands::kInt);
    call.returns(lang::tuple_type({key_type(), lang::tensor_type(Shape(out_shape(call)), dtype)}));
    return RuleOutcome::Solved;
  };
  def.definition = [](const DefinitionCall& call) {
    const std::vector<Dim>& dims = drawn_dims(call);
    std::vector<std::int64_t> twice = extents_of(dims);
    twice.insert(twice.begin(), 2);
    return with_words(call.args[0], twice, [&](const Expr& words) {
      return build::comprehension(dims, [&](const Indices& i) {
        Steps steps;
        const auto word_of = [&](std::int64_t which) {
          Indices place = i;
          place.insert(place.begin(), build::index_constant(which));
          return steps.name("word", build::at(words, place));
        };
        const Expr& low = call.args[1];
        const Expr& high = call.args[2];
        const Expr first = steps.name("first", build::cast_to(DType::UInt64, low));
        const Expr count =
            build::select(build::prim(Prim::Lt, {low, high}),
                          build::sub(build::cast_to(DType::UInt64, high), first), word(0));
        const Expr value = scaled(steps, word_of(0), word_of(1), steps.name("count", count));
        return steps.around(
            build::cast_to(tensor_type_of(low).dtype.known(), build::add(first, value)));
      });
    });
  };
  def.differentiable = false;
  lang::OpRegistry::instance().add(std::move(def));
}

// --- Truth values ---

void add_bernoulli() {
  OpDef def;
  def.name = "random.bernoulli";
  def.level = 0;
  def.doc =
      "Random truth values, each True with probability `p`: a tuple of the next key and the "
      "values.\n"
      "A uniform number of 53 bits is compared with `p`, so that 0 gives no True and 1 no False.";
  def.example =
      "random.bernoulli(random.key(1), 0.5, out_shape=[4]).1\n"
      "// expect: [False, True, False, True]";
  def.inputs = {key_input(), {"p", "how likely True is, a scalar"}};
  def.attrs = {shape_attr()};
  def.type_rule = [](TypeCall& call) {
    require_key(call);
    call.solver.unify(call.tensor_node(1).shape, Shape());
    call.solver.require(call.tensor_node(1).dtype, PrimOperands::kFloat);
    call.returns(
        lang::tuple_type({key_type(), lang::tensor_type(Shape(out_shape(call)), DType::Bool)}));
    return RuleOutcome::Solved;
  };
  def.definition = [](const DefinitionCall& call) {
    const std::vector<Dim>& dims = drawn_dims(call);
    return with_words(call.args[0], extents_of(dims), [&](const Expr& words) {
      return build::comprehension(dims, [&](const Indices& i) {
        const Expr top = build::cast_to(DType::Float64, shifted(build::at(words, i), 11));
        const Expr number = build::div(top, build::constant(DType::Float64, std::ldexp(1.0, 53)));
        return build::prim(Prim::Lt, {number, build::cast_to(DType::Float64, call.args[1])});
      });
    });
  };
  def.differentiable = false;
  lang::set_input_forms(def.name, {{}, {.default_value = 0.5}});
  lang::OpRegistry::instance().add(std::move(def));
}

// --- Orders ---

// The order of random words, of which two are equal once in 2^64 pairs.
Expr random_order(const Expr& words) { return op("argsort", {words}, {{"dtype", DType::Int32}}); }

void add_permutation() {
  OpDef def;
  def.name = "random.permutation";
  def.level = 0;
  def.doc =
      "The integers from 0 to `n - 1` in random order: a tuple of the next key and an int32 "
      "vector.";
  def.example =
      "random.permutation(random.key(1), 5).1\n"
      "// expect: [1, 3, 4, 0, 2]";
  def.inputs = {key_input()};
  def.attrs = {required_attr("n", AttrKind::Int, "how many")};
  def.type_rule = [](TypeCall& call) {
    require_key(call);
    const std::int64_t count = count_attr(call, "n", 0);
    call.returns(lang::tuple_type({key_type(), lang::tensor_type({Dim(count)}, DType::Int32)}));
    return RuleOutcome::Solved;
  };
  def.definition = [](const DefinitionCall& call) {
    return with_words(call.args[0], {call.attrs->get_int("n")}, random_order);
  };
  def.differentiable = false;
  lang::OpRegistry::instance().add(std::move(def));
}

void add_shuffle() {
  OpDef def;
  def.name = "random.shuffle";
  def.level = 0;
  def.doc =
      "A tensor with its slices along the first axis in random order: a tuple of the next key and "
      "the tensor.\n"
      "The order is that of `random.permutation` of the same key, so that several tensors can be "
      "shuffled alike.";
  def.example =
      "random.shuffle(random.key(1), [10, 20, 30]).1\n"
      "// expect: [20, 10, 30]";
  def.inputs = {key_input(), {"data", "the tensor"}};
  def.type_rule = [](TypeCall& call) {
    require_key(call);
    const Type data = call.tensor(1);
    call.returns(lang::tuple_type({key_type(), data}));
    const Shape& shape = static_cast<const TensorType&>(*data).shape;
    if (!shape.has_rank()) return RuleOutcome::Stuck;
    if (shape.rank() == 0)
      call.fail(DiagnosticKind::RankMismatch, "a scalar has no axis to shuffle");
    return RuleOutcome::Solved;
  };
  def.definition = [](const DefinitionCall& call) {
    const Expr& data = call.args[1];
    return with_words(call.args[0], {dims_of(data)[0].constant()}, [&](const Expr& words) {
      return build::let("order", random_order(words), [&](const Expr& order) {
        return op("take", {data, order}, {{"axis", 0}});
      });
    });
  };
  lang::OpRegistry::instance().add(std::move(def));
}

}  // namespace

void add_random_discrete() {
  add_randint();
  add_bernoulli();
  add_permutation();
  add_shuffle();
}

}  // namespace relay::stdlib
