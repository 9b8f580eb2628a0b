// Snapshots made by hand: each kind of node, type, attribute and value.
#include "built/snapshot.h"

#include <limits>
#include <set>

#include <catch2/catch.hpp>

#include "built/format.h"
#include "lang/build.h"
#include "lang/call_site.h"
#include "lang/visit.h"
#include "lang/wrapped_memory.h"
#include "stdlib/register.h"
#include "tests/support/random.h"
#include "tests/unit/built/round_trip.h"

namespace relay::tests {
namespace {

using built::Snapshot;
using lang::Algebra;
using lang::AttrValue;
using lang::Dim;
using lang::DType;
using lang::Expr;
using lang::Type;
using lang::Value;
using lang::VarKind;
namespace build = lang::build;

const Type& f32() {
  static const Type type = lang::scalar_type(DType::Float32);
  return type;
}

lang::TypeDefRef make_data_type(const std::string& name, std::vector<lang::TypeVarRef> params) {
  lang::TypeDefRef def = lang::make_ref<lang::TypeDef>();
  def->name = name;
  def->params = std::move(params);
  return def;
}

void add_constructor(lang::TypeDef& def, const std::string& name, std::vector<Type> fields) {
  lang::Constructor constructor;
  constructor.name = name;
  constructor.tag = static_cast<std::uint32_t>(def.constructors.size());
  constructor.fields = std::move(fields);
  constructor.owner = &def;
  def.constructors.push_back(std::move(constructor));
}

// List[A], of which Cons has names for its fields; and Wrapped[n], which only a field of it leads
// to, and which leads back.
struct DataTypes {
  lang::TypeVarRef a = lang::TypeVar::rigid(VarKind::Type, "A");
  lang::TypeVarRef n = lang::TypeVar::rigid(VarKind::Dim, "n");
  lang::TypeDefRef list = make_data_type("List", {a});
  lang::TypeDefRef wrapped = make_data_type("Wrapped", {n});
  DataTypes() {
    add_constructor(*list, "Nil", {});
    add_constructor(*list, "Cons",
                    {lang::var_type(a), lang::adt_type(list.get(), {lang::var_type(a)})});
    add_constructor(*list, "Other", {lang::adt_type(wrapped.get(), {lang::dimension_type(3)})});
    list->constructors[1].field_names = {"head", "tail"};
    list->origin = lang::Origin::Prelude;
    add_constructor(
        *wrapped, "Wrap",
        {lang::tensor_type({Dim::variable(n)}, DType::Int8), lang::adt_type(list.get(), {f32()})});
    wrapped->is_extern = true;
    wrapped->origin = lang::Origin::Imported;
  }
  const lang::Constructor& nil() const { return list->constructors[0]; }
  const lang::Constructor& cons() const { return list->constructors[1]; }
};

std::string refusal_of(const Snapshot& snapshot) {
  try {
    built::write(snapshot);
  } catch (const lang::Failure& failure) {
    CHECK(failure.diagnostics.front().kind == lang::DiagnosticKind::Unsupported);
    return failure.what();
  }
  return "none";
}

Snapshot snapshot_of(const std::vector<Expr>& exprs) {
  Snapshot snapshot;
  for (const Expr& each : exprs) snapshot.functions.push_back({"f", each->type, each});
  return snapshot;
}

Snapshot snapshot_of(const Value& value) {
  Snapshot snapshot;
  snapshot.bindings.push_back({"x", value});
  return snapshot;
}

// As it comes back; it must be the same bytes again.
std::unique_ptr<Snapshot> again(const Value& value, const std::string& bytes) {
  std::unique_ptr<Snapshot> after = read_back(bytes);
  CHECK(bit_equal(after->bindings.at(0).value, value));
  CHECK((built::write(*after) == bytes));
  return after;
}

lang::AttrsRef every_attribute(lang::Span span) {
  const auto inner = lang::make_ref<const lang::AttrObject>(
      "Inner", std::vector<lang::Attr>{{"empty", AttrValue(AttrValue::List())}});
  const auto object = lang::make_ref<const lang::AttrObject>(
      "Outer", std::vector<lang::Attr>{{"inner", AttrValue(inner)}, {"text", "t\0t"}});
  return lang::make_attrs({{"null", AttrValue(), span},
                           {"no", false},
                           {"yes", true},
                           {"small", std::numeric_limits<std::int64_t>::min()},
                           {"large", std::numeric_limits<std::int64_t>::max()},
                           {"real", -0.1},
                           {"text", "text"},
                           {"dtype", DType::BFloat16},
                           {"list", AttrValue::List{1, 2.5, AttrValue::List{"deep"}}},
                           {"object", AttrValue(object), span}});
}

// Expressions that have between them each kind of node, and each way in which nodes of a kind
// differ.
std::vector<Expr> every_node(const DataTypes& data, lang::Span span) {
  using namespace lang;  // NOLINT
  const Dim n = Dim::variable(data.n);
  const VariableRef x =
      make_variable("x", tensor_type({n, 3}, DType::Float32), span, every_attribute(span));
  const VariableRef i = make_variable("i", scalar_type(DType::Int64));
  const VariableRef flag = make_variable("flag", scalar_type(DType::Bool));
  const Expr one = make_constant(Tensor::scalar(DType::Float32, 0x3f800000), span);
  const Expr index = make_var(i, span);
  const Type list = adt_type(data.list.get(), {f32()});
  const VariableRef head = make_variable("head", f32());
  const Expr nil = make_constructor_ref(&data.nil(), span, list);
  const PatternRef pair = tuple_pattern({variable_pattern(head, span), wildcard_pattern(span)});
  const Expr matched = make_match(
      nil,
      {{constructor_pattern(&data.cons(), {variable_pattern(head), wildcard_pattern()}, span),
        make_var(head)},
       {pair, make_var(head)},
       {wildcard_pattern(), one}},
      false, span, f32());
  const Expr ref = make_ref_create(one, span);
  const Type binary = function_type({f32(), f32()}, f32());
  const Expr op = make_operator(&OpRegistry::instance().get("add"), span, binary);
  const TypeVarRef shape = TypeVar::rigid(VarKind::Shape, "s");
  const TypeVarRef dtype = TypeVar::rigid(VarKind::DType, "t");
  const Type open = tensor_type(Shape(shape), DTypeTerm(dtype));
  const TensorRef elements = Tensor::make(DType::Int64, {2});
  elements->set_bits(0, 7);
  elements->set_bits(1, 8);
  const std::vector<IndexBinder> bound = {{i, make_dim_term(n)}, {make_variable("j"), nullptr}};
  std::vector<Expr> all = {
      make_if(make_var(flag), make_tuple({one, one}, span), make_tuple({}, span), span),
      make_projection(make_tuple({one, op}), 1, span),
      make_let(
          head, one,
          make_call(op, {make_var(head), one}, every_attribute(span), span, nullptr, Algebra::Real),
          span),
      make_function({x, flag}, f32(), matched, {data.n, shape, dtype, data.a},
                    every_attribute(span), span),
      make_function({make_variable("y", open)}, nullptr, one),
      make_match(nil, {{wildcard_pattern(), one}}, true, span),
      make_ref_write(ref, make_ref_read(ref, span), span),
      make_global_var("g", span, function_type({}, unit_type(), {data.a})),
      make_comprehension(bound, one, span, tensor_type({n, Dim::any()}, DType::Float32)),
      make_reduction(ReduceOp::ArgMax, {{i, make_dim_term(3)}}, one, span),
      make_index(make_var(x), {index}, true, span),
      make_index(make_var(x), {index, index}, false, span),
      make_scatter_reduce(ReduceOp::Set, make_var(x), bound, {index, index}, one, span, nullptr,
                          Algebra::Real),
      make_primitive(Prim::Mul, {one, one}, span, nullptr, Algebra::Real),
      make_primitive(Prim::Mul, {one, one}, span, nullptr, Algebra::Bits),
      make_primitive(Prim::Cast, {one}, span, scalar_type(DType::UInt8), Algebra::Bits),
      make_literal(std::int64_t{-5}, span), with_type(make_literal(0.5, span), f32()),
      make_literal(elements, span),
      // Types that nothing follows from: none, and others.
      with_type(one, nullptr), with_type(make_var(x), open), with_type(make_tuple({one}), nullptr),
      with_type(make_dim_term(5), scalar_type(DType::Int32)), with_type(one, incomplete_type()),
      make_tuple({one}, span, reference_type(tuple_type({list, var_type(data.a)})))};
  for (int mode = 0; mode <= static_cast<int>(DiffMode::CheckGrad); ++mode)
    all.push_back(make_differentiate(static_cast<DiffMode>(mode), op, span, binary));
  return all;
}

std::set<std::string_view> kinds_of(const std::vector<Expr>& exprs) {
  std::set<std::string_view> kinds;
  for (const Expr& each : exprs)
    lang::visit_post_order(each, [&](const Expr& node) { kinds.insert(name_of(node->kind)); });
  return kinds;
}

TEST_CASE("each kind of node reads back") {
  stdlib::register_operators();
  const DataTypes data;
  const lang::Source outer("outer.relay", "f(1)\n");
  const lang::Source middle("middle.relay", "def f(x) { g(x) }\n");
  const lang::Source inner("inner.relay", "def g(x) { x + 1 }\n");
  const lang::Span written = {&inner, 11, 16};
  const lang::Span once = lang::moved_to_call(written, {&middle, 11, 15});
  const lang::Span twice = lang::moved_to_call(once, {&outer, 0, 4});
  REQUIRE(lang::place_of(twice).calls.size() == 2);
  for (const lang::Span span : {lang::Span(), written, once, twice}) {
    const std::vector<Expr> all = every_node(data, span);
    std::set<std::string_view> kinds;
#define RELAY_EXPR(name) kinds.insert(#name);
#include "lang/expr_kinds.def"
#undef RELAY_EXPR
    CHECK(kinds_of(all) == kinds);
    check_round_trip(snapshot_of(all));
  }
}

TEST_CASE("data types come with those that their fields lead to") {
  stdlib::register_operators();
  const DataTypes data;
  const Expr nil =
      lang::make_constructor_ref(&data.nil(), {}, lang::adt_type(data.list.get(), {f32()}));
  const auto after = read_back(check_round_trip(snapshot_of({nil})));
  REQUIRE(after->types.size() == 2);
  const lang::TypeDef& list = *after->types[0];
  const lang::TypeDef& wrapped = *after->types[1];
  CHECK(list.name == "List");
  CHECK(list.origin == lang::Origin::Prelude);
  CHECK_FALSE(list.is_extern);
  CHECK(wrapped.is_extern);
  CHECK(list.constructors[1].field_names == std::vector<std::string>{"head", "tail"});
  CHECK(list.constructors[2].tag == 2);
  CHECK(list.constructors[2].owner == &list);
  const auto* field = lang::as<lang::AdtType>(list.constructors[2].fields.at(0));
  REQUIRE(field);
  CHECK(field->def == &wrapped);
  CHECK(lang::as<lang::AdtType>(wrapped.constructors[0].fields.at(1))->def == &list);
  CHECK(lang::cast<lang::ConstructorRef>(after->functions[0].code).constructor ==
        &list.constructors[0]);
}

TEST_CASE("dimensions read back in the same normal form") {
  stdlib::register_operators();
  // Their order is that in which the variables were made, and not that in which they occur.
  const Dim first = Dim::variable(lang::TypeVar::rigid(VarKind::Dim, "first"));
  const Dim second = Dim::variable(lang::TypeVar::rigid(VarKind::Dim, "second"));
  const Dim third = Dim::variable(lang::TypeVar::rigid(VarKind::Dim, "third"));
  const std::vector<Dim> dims = {
      third,
      Dim(-7),
      Dim::any(),
      second * third - first * 2 + 5,
      Dim::floor_div(second + 5, 3) * first - third * third,
      Dim::floor_div(Dim::floor_div(first * second + 1, third) + first, first + 2),
      Dim::floor_div(first, 4) * Dim::floor_div(third, second) * second,
      Dim::floor_div(first + second, first * third)};
  std::vector<Expr> terms;
  for (const Dim& each : dims) terms.push_back(lang::make_dim_term(each));
  const auto after = read_back(check_round_trip(snapshot_of(terms)));
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const Dim& found = lang::cast<lang::DimTerm>(after->functions[i].code).dim;
    CHECK(found.to_string() == dims[i].to_string());
  }
}

TEST_CASE("what two functions share they share when read back") {
  stdlib::register_operators();
  const Expr shared = lang::make_tuple({build::constant(DType::Float32, 1)});
  const Expr a = lang::make_tuple({shared, shared});
  const Expr b = lang::make_projection(shared, 0);
  const auto after = read_back(check_round_trip(snapshot_of({a, b})));
  const auto& tuple = lang::cast<lang::Tuple>(after->functions[0].code);
  CHECK(tuple.fields[0] == tuple.fields[1]);
  CHECK(lang::cast<lang::Projection>(after->functions[1].code).tuple == tuple.fields[0]);
}

TEST_CASE("chains of 100,000 bindings and nests of branches need no stack") {
  stdlib::register_operators();
  constexpr int kDepth = 100'000;
  std::vector<lang::Binding> bindings;
  Expr last = build::constant(DType::Float32, 1);
  Expr nest = last;
  for (int i = 0; i < kDepth; ++i) {
    const auto variable = lang::make_variable("x", f32());
    bindings.push_back({variable, build::op("add", {last, last})});
    last = lang::make_var(variable);
    nest = lang::make_tuple({nest}, {}, f32());
  }
  const Snapshot before = snapshot_of({lang::close_block({bindings, last}), nest});
  const std::string bytes = built::write(before);
  CHECK(bytes.size() < 100 * kDepth);
  CHECK((built::write(*read_back(bytes)) == bytes));
}

TEST_CASE("values of each kind read back") {
  stdlib::register_operators();
  const DataTypes data;
  const lang::TensorRef tensor = lang::Tensor::make(DType::Float64, {2, 3});
  for (int i = 0; i < 6; ++i) tensor->set_bits(i, lang::bits_from_double(DType::Float64, i / 3.0));
  const lang::TensorRef turned = lang::Tensor::view(*tensor, {3, 2}, {1, 3}, 0);
  std::vector<Value> fields = {Value::boolean(true),
                               Value::scalar(DType::Float64, 0x8000000000000001),
                               Value::tensor(tensor),
                               Value::tensor(turned),
                               Value::tensor(lang::Tensor::make(DType::Int8, {3, 0, 5})),
                               Value::unit(),
                               Value::op(&lang::OpRegistry::instance().get("nn.relu")),
                               Value::tensor(tensor)};
  const Value tuple = Value::tuple(lang::TupleCell::make(std::span(fields)));
  const std::string bytes = built::write(snapshot_of(tuple));
  const auto after = again(tuple, bytes);
  const auto found = after->bindings[0].value.as_tuple().fields();
  CHECK(&found[2].as_tensor() == &found[7].as_tensor());
  CHECK(found[3].as_tensor().is_contiguous());

  const auto constructor = read_back(built::write(snapshot_of(Value::constructor(&data.cons()))));
  CHECK(&constructor->bindings[0].value.as_constructor() ==
        &constructor->types[0]->constructors[1]);
}

TEST_CASE("a list of a million cells reads back") {
  stdlib::register_operators();
  const DataTypes data;
  Value list = Value::adt(lang::AdtCell::make(&data.nil(), std::size_t{0}));
  for (std::uint64_t i = 0; i < 1'000'000; ++i) {
    std::vector<Value> fields = {Value::scalar(DType::Int32, i), std::move(list)};
    list = Value::adt(lang::AdtCell::make(&data.cons(), std::span(fields)));
  }
  const std::string bytes = built::write(snapshot_of(list));
  const auto after = read_back(bytes);
  CHECK((built::write(*after) == bytes));
  std::uint64_t sum = 0;
  const Value* at = &after->bindings[0].value;
  for (; at->as_adt().tag() == 1; at = &at->as_adt().fields()[1])
    sum += at->as_adt().fields()[0].bits();
  CHECK(sum == 499'999'500'000);
}

TEST_CASE("references stay one, and may lead back to themselves") {
  const auto cell = lang::make_ref<lang::ReferenceCell>(Value::boolean(true));
  std::vector<Value> fields = {Value::reference(cell), Value::reference(cell)};
  const Value pair = Value::tuple(lang::TupleCell::make(std::span(fields)));
  cell->content = pair;  // a circle
  const std::string bytes = built::write(snapshot_of(pair));
  const auto after = again(pair, bytes);
  const auto found = after->bindings[0].value.as_tuple().fields();
  lang::ReferenceCell& reference = found[0].as_reference();
  CHECK(&reference == &found[1].as_reference());
  CHECK(&reference.content.as_tuple() == &after->bindings[0].value.as_tuple());
  reference.content = Value();
  cell->content = Value();
}

TEST_CASE("large tensors stay where they are in the bytes, at a multiple of 64") {
  const lang::TensorRef large = lang::Tensor::make(DType::Float32, {3, 1001});
  for (std::int64_t i = 0; i < large->element_count(); ++i)
    large->set_bits(i, static_cast<std::uint64_t>(i));
  Snapshot before;
  before.bindings.push_back({"a", Value::tensor(large)});
  before.bindings.push_back(
      {"b", Value::tensor(lang::Tensor::view(*large, {1001, 3}, {1, 1001}, 0))});
  before.bindings.push_back({"c", Value::tensor(large)});
  const std::string bytes = built::write(before);
  const auto after = read_back(bytes);
  CHECK((built::write(*after) == bytes));
  for (std::size_t i = 0; i < 3; ++i) {
    const lang::Tensor& found = after->bindings[i].value.as_tensor();
    CHECK(bit_equal(found, before.bindings[i].value.as_tensor()));
    const auto* const data = reinterpret_cast<const char*>(found.data());
    CHECK(is_wrapped(found));
    REQUIRE((data >= bytes.data() && data < bytes.data() + bytes.size()));
    CHECK((data - bytes.data()) % 64 == 0);
  }
  CHECK(&after->bindings[0].value.as_tensor() == &after->bindings[2].value.as_tensor());
  // Bytes that lie at no element's place are copied.
  const std::string shifted = "x" + bytes;
  const auto copied = built::read(std::string_view(shifted).substr(1));
  REQUIRE(copied);
  CHECK_FALSE(is_wrapped((*copied)->bindings[0].value.as_tensor()));
  CHECK(bit_equal((*copied)->bindings[0].value.as_tensor(), *large));
}

TEST_CASE("native code reads back") {
  Snapshot before;
  lang::CodeImage image;
  for (int i = 0; i < 300; ++i) image.bytes.push_back(static_cast<std::byte>(i));
  image.functions = {{"main", 16, 200}, {"", 0, 0}};
  image.needed = {"exp", "log"};
  image.pointers = {{8, 1, -4}, {16, lang::CodeImage::kItself, 1 << 20}};
  before.images.emplace(std::string("a\0key", 5), image);
  before.images.emplace("", lang::CodeImage());
  const std::string bytes = built::write(before);
  const auto after = read_back(bytes);
  CHECK((built::write(*after) == bytes));
  const lang::CodeImage& found = after->images.at(std::string("a\0key", 5));
  CHECK(found.bytes == image.bytes);
  REQUIRE(found.find("main"));
  CHECK(found.find("main")->offset == 16);
  CHECK(found.needed == image.needed);
  CHECK(found.pointers[0].addend == -4);
  CHECK(found.pointers[1].needed == lang::CodeImage::kItself);
}

struct SomeClosure final : lang::ClosureCell {};

TEST_CASE("what has no bytes is named") {
  stdlib::register_operators();
  const Value closure = Value::closure(lang::Ref<lang::ClosureCell>(new SomeClosure));
  const auto cell = lang::make_ref<lang::ReferenceCell>(closure);
  std::vector<Value> fields = {Value::unit(), Value::reference(cell)};
  Snapshot with_closure;
  with_closure.bindings.push_back(
      {"table", Value::tuple(lang::TupleCell::make(std::span(fields)))});
  CHECK(refusal_of(with_closure) ==
        "not supported: a function value in a built program; the top-level binding `table` holds "
        "one");

  lang::OpDef op;
  op.name = "add.adjoint";
  CHECK(refusal_of(snapshot_of({lang::make_operator(&op)})) ==
        "not supported: an operator that was made while the program was prepared in a built "
        "program (`add.adjoint`)");
  op.effect = lang::Effect::Pullback;
  op.name = "with_pullback";
  CHECK(refusal_of(snapshot_of({lang::make_operator(&op)})) ==
        "not supported: the derivative of a function that is known only when the program runs in a "
        "built program (`with_pullback`)");

  Type deep = f32();
  for (int i = 0; i < 6'000; ++i) deep = lang::tuple_type({deep});
  CHECK(refusal_of(snapshot_of({lang::make_tuple({}, {}, deep)})) ==
        "not supported: a type of more than 5000 levels in a built program");
}

std::string with_checksum(std::string bytes) {
  const std::uint64_t sum = built::checksum_of(bytes);
  bytes.replace(built::kChecksumAt, sizeof(sum), reinterpret_cast<const char*>(&sum), sizeof(sum));
  return bytes;
}

std::string error_of(std::string_view bytes) {
  const auto read = built::read(bytes);
  if (read) return "none";
  CHECK(read.errors().front().kind == lang::DiagnosticKind::BadData);
  return read.errors().front().message;
}

// Something of everything.
std::string some_bytes(const DataTypes& data, std::int64_t elements) {
  Snapshot snapshot = snapshot_of(every_node(data, {}));
  std::vector<Value> fields = {Value::scalar(DType::Int32, 5),
                               Value::adt(lang::AdtCell::make(&data.nil(), std::size_t{0}))};
  const lang::TensorRef tensor = lang::Tensor::make(DType::Float32, {elements});
  for (std::int64_t i = 0; i < elements; ++i) tensor->set_bits(i, 1);
  snapshot.bindings.push_back(
      {"x", Value::adt(lang::AdtCell::make(&data.cons(), std::span(fields)))});
  snapshot.bindings.push_back({"t", Value::tensor(tensor)});
  lang::CodeImage image;
  image.bytes.resize(10);
  image.needed = {"exp"};
  snapshot.images.emplace("key", image);
  return built::write(snapshot);
}

TEST_CASE("bytes that are cut short are refused") {
  stdlib::register_operators();
  const std::string bytes = some_bytes(DataTypes(), 300);
  REQUIRE(built::read(bytes));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    // In memory of their own, whose end a sanitizer watches.
    const std::string part = bytes.substr(0, size);
    CHECK(error_of(part).find("cut short") != std::string::npos);
  }
  CHECK(error_of(bytes.substr(0, 100)) ==
        "the bytes of a built program are cut short: there are 100 of " +
            std::to_string(bytes.size()));
  CHECK(error_of(bytes + "x") == "the bytes of a built program are damaged");
}

TEST_CASE("bytes of something else, and of another version, are refused") {
  stdlib::register_operators();
  std::string bytes = some_bytes(DataTypes(), 1);
  std::string other = bytes;
  other[0] = 'x';
  CHECK(error_of(other) == "these are not the bytes of a built program");
  other = bytes;
  ++other[8];
  CHECK(error_of(with_checksum(other)) ==
        "the bytes of a built program were written by another version of Relay");
}

TEST_CASE("a bit that has changed is found by the checksum") {
  stdlib::register_operators();
  const std::string bytes = some_bytes(DataTypes(), 300);
  Random random(17);
  for (int i = 0; i < 2'000; ++i) {
    std::string damaged = bytes;
    damaged[random.below(bytes.size())] ^= static_cast<char>(1 << random.below(8));
    CHECK(error_of(damaged) != "none");
  }
}

// The checks behind the checksum: any answer will do, but no crash and no endless work.
TEST_CASE("bytes with a good checksum and wrong content do no harm") {
  stdlib::register_operators();
  const std::string bytes = some_bytes(DataTypes(), 300);
  Random random(18);
  int refused = 0;
  for (int i = 0; i < 5'000; ++i) {
    std::string damaged = bytes;
    for (std::uint64_t count = 1 + random.below(3); count > 0; --count)
      damaged[built::kHeaderSize + random.below(bytes.size() - built::kHeaderSize - 1200)] =
          static_cast<char>(random.below(256));
    if (!built::read(with_checksum(damaged))) ++refused;
  }
  CHECK(refused > 2'000);
  for (std::size_t size = built::kHeaderSize; size < bytes.size(); ++size) {
    std::string part = bytes.substr(0, size);
    const std::uint64_t whole = size;
    part.replace(16, sizeof(whole), reinterpret_cast<const char*>(&whole), sizeof(whole));
    CHECK_FALSE(built::read(with_checksum(part)));
  }
}

}  // namespace
}  // namespace relay::tests
