// Random numbers from explicit keys (stdlib/ops/threefry.h).

#include <cmath>
#include <string>

#include "lang/attrs_struct.h"
#include "lang/call_form.h"
#include "stdlib/ops/accumulate.h"
#include "stdlib/ops/attr_range.h"
#include "stdlib/ops/formula.h"
#include "stdlib/ops/steps.h"
#include "stdlib/ops/threefry.h"
#include "stdlib/ops/types.h"

namespace relay::stdlib {

namespace build = lang::build;
using build::op;

namespace {

// The state from which `count` words are drawn: the key itself, unless its counter has no room for
// them. Then the path goes on, or, if it is full, the key is hashed.
Words state_for(Steps& steps, const Words& words, std::int64_t count) {
  const Expr has_room = build::prim(Prim::Lt, {words[7], build::sub(word(-1), word(count))});
  const Expr ones = word(-1);
  const Words fresh = rehashed(steps, words, {ones, ones, ones, ones}, kTopBit);
  Words longer = words;
  append_one(words, longer);
  longer[6] = word(0);
  longer[7] = word(0);
  advance_step(words, longer);
  return selected(has_room, words, selected(path_is_full(words), fresh, longer));
}

void add_key() {
  OpDef def;
  def.name = "random.key";
  def.level = 0;
  def.doc =
      "A key for random numbers, made from a seed.\n"
      "Equal seeds give equal numbers, on every machine and for any number of threads. Use a key "
      "once: what draws from it returns the next one, and `random.split` makes as many as are "
      "wanted.";
  def.example = "random.key(7)\n// expect: [7, 0, 0, 0, 0, 0, 0, 0, 9223372036854775808, 0]";
  def.inputs = {{"seed", "an integer; a negative one counts from 2^64 down"}};
  def.type_rule = [](TypeCall& call) {
    call.solver.unify(call.tensor_node(0).shape, Shape());
    call.solver.require(call.tensor_node(0).dtype, PrimOperands::kInt);
    call.returns(key_type());
    return RuleOutcome::Solved;
  };
  def.definition = [](const DefinitionCall& call) {
    return build::comprehension({Dim(kKeyWords)}, [&](const Indices& i) {
      const Expr zero = word(0);
      const Expr seed = build::cast_to(DType::UInt64, call.args[0]);
      return pick<10>({seed, zero, zero, zero, zero, zero, zero, zero, word(kTopBit), zero}, i[0]);
    });
  };
  def.differentiable = false;
  lang::OpRegistry::instance().add(std::move(def));
}

void add_split_key() {
  OpDef def;
  def.name = "random.threefry_split";
  def.level = 10;
  def.doc =
      "Two independent keys from one, which must not be used again.\n"
      "The path of the key gets one more entry; once it has 128, the key is hashed.";
  def.example =
      "random.threefry_split(random.key(7)).1\n"
      "// expect: [7, 0, 0, 0, 9223372036854775808, 0, 0, 0, 4611686018427387904, 0]";
  def.inputs = {{"key", "a key: ten uint64"}};
  def.type_rule = [](TypeCall& call) {
    require_key(call);
    call.returns(lang::tuple_type({key_type(), key_type()}));
    return RuleOutcome::Solved;
  };
  def.definition = [](const DefinitionCall& call) {
    const auto half = [&](bool right) {
      return derived_key(call.args[0], [&](Steps& steps, const Words& words) {
        Words fresh = rehashed(steps, words, path_and_counter(words), std::int64_t{1} << 62);
        if (right) fresh[4] = word(kTopBit);
        Words longer = words;
        if (right) append_one(words, longer);
        advance_step(words, longer);
        return selected(path_is_full(words), fresh, longer);
      });
    };
    return build::let("left", half(false), [&](const Expr& left) {
      return build::let("right", half(true), [&](const Expr& right) {
        return build::tuple({left, right});
      });
    });
  };
  def.differentiable = false;
  lang::OpRegistry::instance().add(std::move(def));
}

// --- random.threefry_generate ---

// Word `i` of those drawn from `state`. A whole block adds its number to all four words that are
// hashed, as Relay does; what is left of a last block adds what came before to the counter alone.
Expr drawn_word(const Words& state, std::int64_t count, const Expr& index) {
  Steps steps;
  const Expr four = build::index_constant(4);
  const Expr block = steps.name("block", build::prim(Prim::FloorDiv, {index, four}));
  const std::int64_t whole = count / 4;
  Quad counter = path_and_counter(state);
  const Expr number = build::cast_to(DType::UInt64, block);
  for (std::size_t i = 0; i < 4; ++i) {
    Expr offset = number;
    if (count % 4 != 0) {
      const Expr is_whole = build::prim(Prim::Lt, {block, build::index_constant(whole)});
      offset = build::select(is_whole, number, word(i == 3 ? 4 * whole : 0));
    }
    counter[i] = steps.name("x", build::add(counter[i], offset));
  }
  const Quad made = threefry(steps, key_of(state), counter);
  return steps.around(pick(made, build::prim(Prim::FloorMod, {index, four})));
}

Expr generate_definition(const DefinitionCall& call) {
  const auto& fields = lang::as<lang::TupleType>(call.result)->fields;
  const std::vector<Dim>& dims = as_tensor(fields[1]).shape.dims();
  const std::int64_t count = product(dims).constant();
  const Expr state = derived_key(call.args[0], [&](Steps& steps, const Words& words) {
    return state_for(steps, words, count);
  });
  return build::let("state", state, [&](const Expr& from) {
    const Expr next = derived_key(from, [&](Steps&, const Words& words) {
      Words moved = words;
      moved[6] = word(0);
      moved[7] = build::add(words[7], word((count + 3) / 4 * 4));
      return moved;
    });
    const Expr words = build::comprehension(
        {Dim(count)}, [&](const Indices& i) { return drawn_word(words_of(from), count, i[0]); });
    return build::let("next", next, [&](const Expr& key) {
      return build::let("words", words, [&](const Expr& drawn) {
        const Expr shaped = build::comprehension(dims, [&](const Indices& i) {
          return build::at(drawn, reshape_indices({count}, extents_of(dims), i));
        });
        return build::let("shaped", shaped, [&](const Expr& result) {
          return build::tuple({key, result});
        });
      });
    });
  });
}

void add_generate() {
  OpDef def;
  def.name = "random.threefry_generate";
  def.level = 10;
  def.doc =
      "Random 64-bit words: a tuple of the next key and the words.\n"
      "Threefry-4x64 with 20 rounds in Relay's variant, whose bits it gives: the counter of the "
      "key "
      "tells the first block of four words.";
  def.example =
      "random.threefry_generate(random.key(1), out_shape=[2]).1\n"
      "// expect: [17177944308465414780, 3733049263667422849]";
  def.inputs = {{"key", "a key: ten uint64; not to be used again"}};
  def.attrs = {required_attr("out_shape", AttrKind::IntList, "extents of the result")};
  def.type_rule = [](TypeCall& call) {
    require_key(call);
    call.returns(lang::tuple_type({key_type(), lang::tensor_type(out_shape(call), DType::UInt64)}));
    return RuleOutcome::Solved;
  };
  def.definition = generate_definition;
  def.differentiable = false;
  lang::OpRegistry::instance().add(std::move(def));
}

// --- random.uniform, random.normal ---

// Bits of the fraction of a float, all of which a uniform number fills at random.
int fraction_bits(DType dtype) {
  switch (dtype) {
    case DType::Float16:
      return 10;
    case DType::BFloat16:
      return 7;
    case DType::Float64:
      return 52;
    default:
      return 23;
  }
}

// Draws words from `key` and makes uniform numbers in [0, 1) of them.
Expr with_uniform(const Expr& key, const std::vector<Dim>& dims, DType dtype,
                  const std::function<Expr(const Expr& next, const Expr& numbers)>& body) {
  const Expr drawn =
      op("random.threefry_generate", {key}, {{"out_shape", AttrValue::ints(extents_of(dims))}});
  return build::let("drawn", drawn, [&](const Expr& pair) {
    return build::let("next", build::project(pair, 0), [&](const Expr& next) {
      return build::let("bits", build::project(pair, 1), [&](const Expr& bits) {
        const int fraction = fraction_bits(dtype);
        const Expr numbers = build::comprehension(dims, [&](const Indices& i) {
          const Expr top = build::prim(Prim::Shr, {build::at(bits, i), word(64 - fraction)});
          // Exact, also in the half floats: the result has no more bits than their fraction.
          const DType wide = dtype == DType::Float64 ? dtype : DType::Float32;
          const Expr scaled = build::div(build::cast_to(wide, top),
                                         build::constant(wide, std::ldexp(1.0, fraction)));
          return build::cast_to(dtype, scaled);
        });
        return build::let("uniform", numbers,
                          [&](const Expr& uniform) { return body(next, uniform); });
      });
    });
  });
}

// What both have in common; `first` and `second` are the parameters of the distribution.
OpDef distribution(const char* name, const InputSpec& first, const InputSpec& second) {
  OpDef def;
  def.name = name;
  def.level = 10;
  def.inputs = {{"key", "a key: ten uint64; not to be used again"}, first, second};
  def.attrs = {required_attr("out_shape", AttrKind::IntList, "extents of the result"),
               nullable_attr("out_dtype", AttrKind::DType,
                             "dtype of the result; None: that of the parameters")};
  def.type_rule = [](TypeCall& call) {
    require_key(call);
    for (const std::size_t i : {1, 2}) call.solver.unify(call.tensor_node(i).shape, Shape());
    call.solver.unify(call.tensor_node(1).dtype, call.tensor_node(2).dtype);
    const DTypeTerm own = call.tensor_node(1).dtype;
    const DTypeTerm dtype = attr_dtype(call.attrs, "out_dtype", own);
    call.solver.unify(own, dtype);
    call.solver.require(dtype, PrimOperands::kFloat);
    call.returns(lang::tuple_type({key_type(), lang::tensor_type(Shape(out_shape(call)), dtype)}));
    return RuleOutcome::Solved;
  };
  return def;
}

const TensorType& drawn_type(const DefinitionCall& call) {
  return as_tensor(lang::as<lang::TupleType>(call.result)->fields[1]);
}

void add_uniform() {
  OpDef def = distribution("random.uniform", {"low", "the least number, a scalar"},
                           {"high", "what all numbers are below, a scalar"});
  def.doc =
      "Random numbers that are evenly spread between `low` and `high`: a tuple of the next key and "
      "the numbers.\n"
      "The top bits of each word fill the fraction (23 bits of a float32), so that the number is a "
      "multiple of 2^-23 of the interval; rounding may give `high` itself. The derivative is that "
      "by `low` and `high`.";
  def.example =
      "random.uniform(random.key(1), 0.0, 1.0, out_shape=[2]).1\n"
      "// expect: [0.93121815, 0.20236897]";
  def.definition = [](const DefinitionCall& call) {
    const TensorType& type = drawn_type(call);
    return with_uniform(call.args[0], type.shape.dims(), type.dtype.known(),
                        [&](const Expr& next, const Expr& uniform) {
                          const Expr width = call.args[2] - call.args[1];
                          return build::let("numbers", uniform * width + call.args[1],
                                            [&](const Expr& numbers) {
                                              return build::tuple({next, numbers});
                                            });
                        });
  };
  lang::set_input_forms(def.name, {{}, {.default_value = 0.0}, {.default_value = 1.0}});
  lang::OpRegistry::instance().add(std::move(def));
}

void add_normal() {
  OpDef def = distribution("random.normal", {"mean", "the mean, a scalar"},
                           {"scale", "the standard deviation, a scalar"});
  def.doc =
      "Random numbers of the normal distribution: a tuple of the next key and the numbers.\n"
      "By Box and Muller from twice as many uniform numbers u, v: sqrt(-2 * log(1 - u)) * sin(2 * "
      "pi * v). The derivative is that by `mean` and `scale`.";
  def.example =
      "random.normal(random.key(1), 0.0, 1.0, out_shape=[2]).1\n"
      "// expect: [-0.9542625,  0.6290353]";
  def.definition = [](const DefinitionCall& call) {
    const TensorType& type = drawn_type(call);
    const std::vector<Dim>& dims = type.shape.dims();
    std::vector<Dim> twice = dims;
    twice.insert(twice.begin(), Dim(2));
    const DType dtype = type.dtype.known();
    const DType wide = accumulator_of(dtype);
    return with_uniform(call.args[0], twice, dtype, [&](const Expr& next, const Expr& uniform) {
      const auto read = [&](std::int64_t which, const Indices& i) {
        Indices place = i;
        place.insert(place.begin(), build::index_constant(which));
        return build::cast_to(wide, build::at(uniform, place));
      };
      const Expr standard = build::comprehension(dims, [&](const Indices& i) {
        const Expr log = build::prim(Prim::Log, {build::sub(build::constant(wide, 1), read(0, i))});
        const Expr radius = build::prim(Prim::Sqrt, {build::mul(build::constant(wide, -2), log)});
        const Expr angle = build::mul(build::constant(wide, 2 * M_PI), read(1, i));
        return build::cast_to(dtype, build::mul(radius, build::prim(Prim::Sin, {angle})));
      });
      return build::let("standard", standard, [&](const Expr& drawn) {
        return build::let("numbers", drawn * call.args[2] + call.args[1], [&](const Expr& numbers) {
          return build::tuple({next, numbers});
        });
      });
    });
  };
  lang::set_input_forms(def.name, {{}, {.default_value = 0.0}, {.default_value = 1.0}});
  lang::OpRegistry::instance().add(std::move(def));
}

// --- random.multinomial ---

RuleOutcome multinomial_rule(TypeCall& call) {
  require_key(call);
  const std::int64_t samples = count_attr(call, "num_samples", 0);
  const Type probs = call.tensor(1);
  call.solver.require(as_tensor(probs).dtype, PrimOperands::kNumeric);
  const Shape& shape = as_tensor(probs).shape;
  if (!shape.has_rank()) return RuleOutcome::Stuck;
  if (shape.rank() == 0)
    call.fail(DiagnosticKind::RankMismatch, "the probabilities must not be a scalar");
  if (shape[shape.rank() - 1].is_constant(0))
    call.fail(DiagnosticKind::ShapeMismatch, "there is no category to draw");
  std::vector<Dim> dims = shape.dims();
  dims.back() = Dim(samples);
  call.returns(lang::tuple_type({key_type(), lang::tensor_type(Shape(dims), DType::Int32)}));
  return RuleOutcome::Solved;
}

// The share of each category and of all before it.
Expr cumulated(const Expr& probs, const std::function<Expr(const Expr&)>& body) {
  const Expr shares = build::comprehension(dims_of(probs), [&](const Indices& i) {
    const Expr zero = build::constant(DType::Float32, 0);
    return build::prim(Prim::Max, {build::cast_to(DType::Float32, build::at(probs, i)), zero});
  });
  return build::let("shares", shares, [&](const Expr& share) {
    const Expr total = op("sum", {share}, {{"axis", -1}, {"keepdims", true}});
    return build::let("normal", share / total, [&](const Expr& normal) {
      return build::let("cumulated", op("cumsum", {normal}, {{"axis", -1}}), body);
    });
  });
}

Expr multinomial(const DefinitionCall& call) {
  const Expr& probs = call.args[1];
  const std::vector<Dim>& dims = drawn_type(call).shape.dims();
  const std::int64_t categories = dims_of(probs).back().constant();
  if (categories == 0)
    lang::fail(DiagnosticKind::ShapeMismatchAtRunTime, "there is no category to draw", {});
  return cumulated(probs, [&](const Expr& bounds) {
    return with_uniform(
        call.args[0], dims, DType::Float32, [&](const Expr& next, const Expr& uniform) {
          // How many categories end at or below the number. Rounding may put it behind all; the
          // last one that can be drawn is its category then.
          const Expr drawn = build::comprehension(dims, [&](const Indices& i) {
            const auto in_row = [&](const Expr& last) {
              Indices place = i;
              place.back() = last;
              return place;
            };
            const Expr below =
                build::reduction(ReduceOp::Sum, {Dim(categories)}, [&](const Indices& k) {
                  const Expr bound = build::at(bounds, in_row(k[0]));
                  return build::cast_to(DType::Int64,
                                        build::prim(Prim::Le, {bound, build::at(uniform, i)}));
                });
            const Expr last =
                build::reduction(ReduceOp::Max, {Dim(categories)}, [&](const Indices& k) {
                  const Expr share = build::at(probs, in_row(k[0]));
                  const Expr zero = build::constant(tensor_type_of(share).dtype.known(), 0);
                  return build::select(build::prim(Prim::Gt, {share, zero}), k[0],
                                       build::index_constant(0));
                });
            return build::cast_to(DType::Int32, build::prim(Prim::Min, {below, last}));
          });
          return build::let("samples", drawn, [&](const Expr& samples) {
            return build::tuple({next, samples});
          });
        });
  });
}

void add_multinomial() {
  OpDef def;
  def.name = "random.multinomial";
  def.level = 10;
  def.doc =
      "Draws categories by their probabilities: a tuple of the next key and int32 categories.\n"
      "Each row of `probs` (the last axis) is a distribution: negative entries count as 0, and the "
      "row need not sum to 1. Of a row of zeros category 0 is drawn.";
  def.example =
      "random.multinomial(random.key(1), [0.0, 1.0, 0.0], num_samples=4).1\n"
      "// expect: [1, 1, 1, 1]";
  def.inputs = {{"key", "a key: ten uint64; not to be used again"},
                {"probs", "(.., categories): how likely each category is"}};
  def.attrs = {optional_attr("num_samples", AttrKind::Int, 1, "how many to draw of each row")};
  lang::set_attrs_struct(def.name, "MultinomialAttrs", {"num_samples"});
  def.type_rule = multinomial_rule;
  def.definition = multinomial;
  def.differentiable = false;
  lang::OpRegistry::instance().add(std::move(def));
}

void add_categorical() {
  OpDef def;
  def.name = "random.categorical";
  def.level = 0;
  def.doc =
      "Draws categories by their logits: a tuple of the next key and int32 categories.\n"
      "`random.multinomial` with the softmax of the logits, along the last axis.";
  def.example =
      "random.categorical(random.key(1), [0.0, 100.0, 0.0], num_samples=4).1\n"
      "// expect: [1, 1, 1, 1]";
  def.inputs = {{"key", "a key: ten uint64; not to be used again"},
                {"logits", "(.., categories): logarithms of how likely each category is"}};
  def.attrs = {optional_attr("num_samples", AttrKind::Int, 1, "how many to draw of each row")};
  def.type_rule = [](TypeCall& call) {
    call.solver.require(call.tensor_node(1).dtype, PrimOperands::kFloat);
    return multinomial_rule(call);
  };
  def.definition = [](const DefinitionCall& call) {
    return build::let("probs", op("nn.softmax", {call.args[1]}), [&](const Expr& probs) {
      return op("random.multinomial", {call.args[0], probs},
                {{"num_samples", call.attrs->get_int("num_samples")}});
    });
  };
  def.differentiable = false;
  lang::OpRegistry::instance().add(std::move(def));
}

}  // namespace

void add_random_operators() {
  add_key();
  add_split_key();
  add_generate();
  add_uniform();
  add_normal();
  add_multinomial();
  add_categorical();
  add_random_keys();
  add_random_discrete();
}

}  // namespace relay::stdlib
