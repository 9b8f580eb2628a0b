// Keys made of keys: by a number, and many at once.

#include "stdlib/ops/attr_range.h"
#include "stdlib/ops/formula.h"
#include "stdlib/ops/threefry.h"

namespace relay::stdlib {

namespace build = lang::build;

namespace {

// What a number is hashed for. The top bit, which no block that is drawn has in that word, keeps
// the keys apart from the numbers drawn from the same key.
constexpr std::int64_t kForFold = kTopBit;
constexpr std::int64_t kForSplit = kTopBit + 1;

// The keys that numbers make of one: words 4 to 7 of the key are hashed first, and then words 8 and
// 9 with the number. `number` tells it from the leading indices of `dims`.
Expr numbered_keys(const Expr& key, const std::vector<Dim>& dims, std::int64_t purpose,
                   const std::function<Expr(const Indices&)>& number) {
  std::vector<Dim> quads = dims;
  quads.emplace_back(4);
  std::vector<Dim> keys = dims;
  keys.emplace_back(kKeyWords);
  const Expr root = build::comprehension({Dim(4)}, [&](const Indices& i) {
    Steps steps;
    const Words words = words_of(key);
    Quad counter = path_and_counter(words);
    counter[2] = build::prim(Prim::Xor, {counter[2], word(kTopBit)});
    return steps.around(pick(threefry(steps, key_of(words), counter), i[0]));
  });
  return build::let("root", root, [&](const Expr& from) {
    const Expr hashes = build::comprehension(quads, [&](const Indices& i) {
      Steps steps;
      Quad quad;
      for (std::size_t k = 0; k < 4; ++k)
        quad[k] = build::at(from, {build::index_constant(static_cast<std::int64_t>(k))});
      const Words words = words_of(key);
      const Quad counter = {words[8], words[9], word(purpose), number(i)};
      return steps.around(pick(threefry(steps, quad, counter), i.back()));
    });
    return build::let("hashes", hashes, [&](const Expr& hash) {
      return build::comprehension(keys, [&](const Indices& i) {
        Words words;
        for (std::size_t k = 0; k < words.size(); ++k) {
          Indices place(i.begin(), i.end() - 1);
          place.push_back(build::index_constant(static_cast<std::int64_t>(k)));
          words[k] = k < 4 ? build::at(hash, place) : word(k == 8 ? kTopBit : 0);
        }
        return pick(words, i.back());
      });
    });
  });
}

void add_split_by_number() {
  OpDef def;
  def.name = "random.split";
  def.level = 0;
  def.doc =
      "`n` independent keys from one, as rows, which must not be used again.\n"
      "Each is the hash of the key and of its number, so the first keys do not depend on `n`.";
  def.example =
      "random.split(random.key(7), 2)[:, 0]\n// expect: [4433924224712620223, "
      "11266172043599085656]";
  def.inputs = {{"key", "a key: ten uint64"}};
  def.attrs = {optional_attr("n", AttrKind::Int, 2, "how many keys")};
  def.type_rule = [](TypeCall& call) {
    require_key(call);
    const std::int64_t count = count_attr(call, "n", 0);
    call.returns(lang::tensor_type({Dim(count), Dim(kKeyWords)}, DType::UInt64));
    return RuleOutcome::Solved;
  };
  def.definition = [](const DefinitionCall& call) {
    return numbered_keys(call.args[0], {Dim(call.attrs->get_int("n"))}, kForSplit,
                         [](const Indices& i) { return build::cast_to(DType::UInt64, i[0]); });
  };
  def.differentiable = false;
  lang::OpRegistry::instance().add(std::move(def));
}

void add_fold_in() {
  OpDef def;
  def.name = "random.fold_in";
  def.level = 0;
  def.doc =
      "A new key from a key and a number, such as that of a step.\n"
      "Different numbers give independent keys; the key itself may be folded with any number of "
      "them, but not be used otherwise.";
  def.example =
      "random.fold_in(random.key(7), 1)[0:2]\n// expect: [6303855780500772414, "
      "14584108502298968432]";
  def.inputs = {{"key", "a key: ten uint64"}, {"number", "an integer scalar"}};
  def.type_rule = [](TypeCall& call) {
    require_key(call);
    call.solver.unify(call.tensor_node(1).shape, Shape());
    call.solver.require(call.tensor_node(1).dtype, PrimOperands::kInt);
    call.returns(key_type());
    return RuleOutcome::Solved;
  };
  def.definition = [](const DefinitionCall& call) {
    return numbered_keys(call.args[0], {}, kForFold, [&](const Indices&) {
      return build::cast_to(DType::UInt64, call.args[1]);
    });
  };
  def.differentiable = false;
  lang::OpRegistry::instance().add(std::move(def));
}

}  // namespace

void add_random_keys() {
  add_split_by_number();
  add_fold_in();
}

}  // namespace relay::stdlib
