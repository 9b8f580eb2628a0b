// Graphs of NNVM and MXNet as they are read: the dialects of their JSON, attributes, the formats of
// parameters; and damaged files, which end in a diagnostic.

#include <unistd.h>

#include <cctype>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <set>
#include <string>

#include <catch2/catch.hpp>

#include "lang/diagnostic.h"
#include "models/nnvm/attributes.h"
#include "models/nnvm/import_symbol.h"
#include "models/nnvm/operators.h"
#include "models/nnvm/params.h"
#include "models/nnvm/symbol.h"

namespace relay::models::nnvm {
namespace {

namespace fs = std::filesystem;
using lang::DiagnosticKind;

constexpr const char* kFolder = "tests/models/nnvm/";

class ScratchFile {
 public:
  explicit ScratchFile(const std::string& name)
      : path_(fs::temp_directory_path() / ("relay_nnvm_" + std::to_string(getpid()) + name)) {}
  ~ScratchFile() {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }
  const std::string& write(const std::string& bytes) {
    std::ofstream(path_, std::ios::binary) << bytes;
    return path_;
  }

 private:
  std::string path_;
};

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

template <class T>
std::string bytes_of(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof(T)};
}

// The first message and kind of what a body fails with.
template <class F>
lang::Diagnostic failure_of(F&& body) {
  const auto result = lang::capture([&] {
    body();
    return true;
  });
  REQUIRE(!result.ok());
  return result.errors().front();
}

void check_failure(const lang::Diagnostic& found, DiagnosticKind kind, const std::string& text) {
  CHECK(found.kind == kind);
  CHECK_THAT(found.message, Catch::Matchers::Contains(text));
}

// --- graphs ---

TEST_CASE("the three dialects of a graph's JSON say the same") {
  const std::string attrs = R"({"nodes": [{"op": "null", "name": "x", "inputs": []},
      {"op": "flatten", "name": "f", "inputs": [[0, 0, 0]], "attrs": {"a": "1"}}],
    "arg_nodes": [0], "node_row_ptr": [0, 1, 2], "heads": [[1, 0, 0]]})";
  const std::string attr = R"({"nodes": [{"op": "null", "name": "x", "attr": {}, "inputs": []},
      {"op": "flatten", "name": "f", "attr": {"a": "1"}, "inputs": [[0, 0, 0]]}],
    "arg_nodes": [0], "heads": [[1, 0, 0]], "attrs": {"mxnet_version": ["int", 901]}})";
  const std::string param = R"({"nodes": [
      {"op": "null", "param": {}, "name": "x", "inputs": [], "backward_source_id": -1},
      {"op": "flatten", "param": {"a": "1"}, "name": "f", "inputs": [[0, 0]],
       "backward_source_id": -1, "attr": {"ctx_group": "dev1"}}],
    "arg_nodes": [0], "heads": [[1, 0]]})";
  for (const std::string& text : {attrs, attr, param}) {
    const Symbol symbol = read_symbol("graph", text);
    REQUIRE(symbol.nodes.size() == 2);
    CHECK(symbol.nodes[0].op.empty());
    CHECK(symbol.nodes[0].name == "x");
    CHECK(symbol.nodes[1].op == "flatten");
    CHECK(symbol.nodes[1].attributes.at("a") == "1");
    CHECK(symbol.nodes[1].inputs.at(0).node == 0);
    CHECK(symbol.heads.at(0).node == 1);
    CHECK(symbol.has_param == (&text != &attrs && text == param));
    CHECK(symbol.mxnet_version.value_or(0) == (text == attr ? 901 : 0));
  }
}

TEST_CASE("graphs that are none say what is wrong") {
  const std::pair<const char*, const char*> cases[] = {
      {"{", "no JSON"},
      {"[]", "the graph is no object"},
      {R"({"heads": []})", "the graph has no `nodes`"},
      {R"({"nodes": 1})", "`nodes` of the graph is no list"},
      {R"({"nodes": [1]})", "node 0 is no object"},
      {R"({"nodes": [{"name": "x", "inputs": []}]})", "node 0 has no `op` that is a string"},
      {R"({"nodes": [{"op": "null", "name": "x"}]})", "node 0 (`x`) has no `inputs`"},
      {R"({"nodes": [{"op": "f", "name": "x", "inputs": [[0, 0]]}]})",
       "node 0 (`x`) reads node 0, which does not come before"},
      {R"({"nodes": [{"op": "f", "name": "x", "inputs": [[-1, 0]]}]})",
       "where a number from 0 on is due"},
      {R"({"nodes": [{"op": "f", "name": "x", "inputs": [0]}]})",
       "an entry that is not `[node, output]`"},
      {R"({"nodes": [{"op": "f", "name": "x", "inputs": [], "attrs": {"a": 1}}]})",
       "attribute `a` of node 0 (`x`) is no string"},
      {R"({"nodes": [{"op": "null", "name": "x", "inputs": []}], "heads": []})",
       "it computes nothing"},
      {R"({"nodes": [{"op": "null", "name": "x", "inputs": []}], "heads": [[0, 0]],
           "node_row_ptr": [0]})",
       "`node_row_ptr` has 1 numbers for 1 nodes"},
      {R"({"nodes": [{"op": "null", "name": "x", "inputs": []}], "heads": [[0, 1]],
           "node_row_ptr": [0, 1]})",
       "reads output 1 of node 0, which has 1"},
      {R"({"nodes": [{"op": "null", "name": "x", "inputs": []}], "heads": [[0, 0]],
           "arg_nodes": [7]})",
       "`arg_nodes` names node 7 of 1"},
  };
  for (const auto& [text, what] : cases)
    check_failure(failure_of([&] { read_symbol("graph", text); }), DiagnosticKind::BadData, what);
}

// --- attributes ---

TEST_CASE("attributes are read from their strings") {
  const std::map<std::string, std::string> texts = {
      {"pair", "(3, 4)"}, {"list", "[3,4]"},      {"long", "(3L,)"},  {"one", "7"},
      {"empty", "()"},    {"slots", "(None, 1)"}, {"yes", "True"},    {"no", "0"},
      {"small", "1e-05"}, {"none", "None"},       {"type", "int8"},   {"nested", "((0, 1), (2,3))"},
      {"word", "avg"},    {"__shape__", "(1,)"},  {"lr_mult", "0.1"}, {"forgotten", "1"}};
  const Attributes attributes(texts);
  using Integers = Attributes::Integers;
  CHECK(attributes.integers("pair") == Integers{3, 4});
  CHECK(attributes.integers("list") == Integers{3, 4});
  CHECK(attributes.integers("long") == Integers{3});
  CHECK(attributes.integers("one") == Integers{7});
  CHECK(attributes.integers("empty").empty());
  CHECK(attributes.slots("slots") == std::vector<std::optional<std::int64_t>>{std::nullopt, 1});
  CHECK(attributes.integer("long") == 3);
  CHECK(attributes.flag("yes", false));
  CHECK(!attributes.flag("no", true));
  CHECK(attributes.number("small") == 1e-5);
  CHECK(!attributes.has("none"));
  CHECK(attributes.is_none("none"));
  CHECK(!attributes.is_none("absent"));
  CHECK(attributes.integer("none", 5) == 5);
  CHECK(attributes.dtype("type") == lang::DType::Int8);
  CHECK(attributes.nested_integers("nested") == Integers{0, 1, 2, 3});
  CHECK(attributes.text("word") == "avg");
  CHECK(attributes.unread() == std::vector<std::string>{"forgotten"});
  check_failure(failure_of([&] { attributes.integers("word"); }), DiagnosticKind::BadData,
                "attribute `word` is `avg`, where a list of integers is due");
  check_failure(failure_of([&] { attributes.integer("small"); }), DiagnosticKind::BadData,
                "an integer");
  check_failure(failure_of([&] { attributes.flag("word", false); }), DiagnosticKind::BadData,
                "`True` or `False`");
  check_failure(failure_of([&] { attributes.integer("absent"); }), DiagnosticKind::BadData,
                "there is no attribute `absent`");
}

// --- parameters ---

std::string names(std::initializer_list<std::string> all) {
  std::string bytes = bytes_of<std::uint64_t>(all.size());
  for (const std::string& one : all) bytes += bytes_of<std::uint64_t>(one.size()) + one;
  return bytes;
}

std::string list_of_arrays(std::initializer_list<std::string> arrays, const std::string& after) {
  std::string bytes = bytes_of<std::uint64_t>(0x112) + bytes_of<std::uint64_t>(0);
  bytes += bytes_of<std::uint64_t>(arrays.size());
  for (const std::string& one : arrays) bytes += one;
  return bytes + after;
}

// Two floats, behind a shape.
std::string two_floats(const std::string& shape) {
  return shape + bytes_of<std::uint64_t>(1) + bytes_of<std::uint32_t>(0) + bytes_of(1.5F) +
         bytes_of(-2.0F);
}

const std::string kShape64 = bytes_of<std::uint32_t>(1) + bytes_of<std::int64_t>(2);
const std::string kVersion0 = two_floats(bytes_of<std::uint32_t>(1) + bytes_of<std::uint32_t>(2));
const std::string kVersion1 = two_floats(bytes_of<std::uint32_t>(0xF993fac8) + kShape64);
const std::string kVersion2 =
    two_floats(bytes_of<std::uint32_t>(0xF993fac9) + bytes_of<std::int32_t>(0) + kShape64);
const std::string kVersion3 =
    two_floats(bytes_of<std::uint32_t>(0xF993faca) + bytes_of<std::int32_t>(0) + kShape64);
const std::string kScalar = bytes_of<std::uint32_t>(0xF993faca) + bytes_of<std::int32_t>(0) +
                            bytes_of<std::uint32_t>(0) + bytes_of<std::uint64_t>(1) +
                            bytes_of<std::uint32_t>(4) + bytes_of<std::int32_t>(42);
const std::string kNothing =
    bytes_of<std::uint32_t>(0xF993fac9) + bytes_of<std::int32_t>(0) + bytes_of<std::uint32_t>(0);

std::string dictionary(const std::string& name, const std::string& type, std::int64_t bytes) {
  return bytes_of<std::uint64_t>(0xF7E58D4F05049CB7) + bytes_of<std::uint64_t>(0) + names({name}) +
         bytes_of<std::uint64_t>(1) + bytes_of<std::uint64_t>(0xDD5E40F096B4A13F) +
         bytes_of<std::uint64_t>(0) + bytes_of<std::uint64_t>(1) + bytes_of<std::uint32_t>(1) +
         type + bytes_of<std::int64_t>(2) + bytes_of(bytes) + bytes_of(1.5F) + bytes_of(-2.0F);
}

TEST_CASE("arrays of all versions of MXNet are read") {
  ScratchFile file("arrays.params");
  const auto all =
      read_params({.path = file.write(list_of_arrays(
                       {kVersion0, kVersion1, kNothing, kVersion2, kVersion3, kScalar},
                       names({"arg:a", "aux:b", "arg:nothing", "c", "d", "scalar"})))});
  REQUIRE(all.size() == 5);
  const char* wanted[] = {"a", "b", "c", "d"};
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(all[i].name == wanted[i]);
    CHECK(all[i].tensor->shape() == std::vector<std::int64_t>{2});
    CHECK(all[i].tensor->dtype() == lang::DType::Float32);
    CHECK(all[i].tensor->number_at(0) == 1.5);
    CHECK(all[i].tensor->number_at(1) == -2.0);
  }
  CHECK(all[4].tensor->rank() == 0);
  CHECK(all[4].tensor->number_at(0) == 42);
}

TEST_CASE("a parameter dictionary of NNVM is read") {
  ScratchFile file("dictionary.params");
  const std::string floats = {2, 32, 1, 0};
  const auto all = read_params({.path = file.write(dictionary("w", floats, 8))});
  REQUIRE(all.size() == 1);
  CHECK(all[0].name == "w");
  CHECK(all[0].tensor->number_at(1) == -2.0);
}

TEST_CASE("parameters that are none say what is wrong") {
  const std::string sparse = bytes_of<std::uint32_t>(0xF993fac9) + bytes_of<std::int32_t>(2);
  const std::string huge = bytes_of<std::uint32_t>(0xF993fac8) + bytes_of<std::uint32_t>(2) +
                           bytes_of<std::int64_t>(1 << 20) + bytes_of<std::int64_t>(1 << 20) +
                           bytes_of<std::uint64_t>(1) + bytes_of<std::uint32_t>(0);
  const std::string negative = bytes_of<std::uint32_t>(0xF993fac8) + bytes_of<std::uint32_t>(1) +
                               bytes_of<std::int64_t>(-1) + bytes_of<std::uint64_t>(1) +
                               bytes_of<std::uint32_t>(0);
  const std::string flag = bytes_of<std::uint32_t>(0xF993fac8) + kShape64 +
                           bytes_of<std::uint64_t>(1) + bytes_of<std::uint32_t>(99);
  const std::string many_axes =
      bytes_of<std::uint32_t>(0xF993fac8) + bytes_of<std::uint32_t>(1 << 30);
  const std::string halves = {2, 32, 2, 0};
  const std::string floats = {2, 32, 1, 0};
  const std::tuple<std::string, DiagnosticKind, const char*> cases[] = {
      {"", DiagnosticKind::BadData, "the file ends too early"},
      {bytes_of<std::uint64_t>(7), DiagnosticKind::BadData, "begins with 0x7: neither"},
      {list_of_arrays({sparse}, ""), DiagnosticKind::Unsupported, "array 0 is sparse (`csr`)"},
      {list_of_arrays({huge}, names({"a"})), DiagnosticKind::BadData,
       "array 0 has 4398046511104 bytes, and 17 are left"},
      {list_of_arrays({negative}, names({"a"})), DiagnosticKind::BadData, "a negative extent"},
      {list_of_arrays({flag}, names({"a"})), DiagnosticKind::BadData, "array 0 has type flag 99"},
      {list_of_arrays({many_axes}, names({"a"})), DiagnosticKind::BadData,
       "1073741824 extents come, more than"},
      {list_of_arrays({kVersion2}, names({})), DiagnosticKind::BadData, "has 1 arrays and 0 names"},
      {list_of_arrays({kVersion2, kVersion2}, names({"arg:a", "aux:a"})), DiagnosticKind::BadData,
       "two arrays are called `a`"},
      {list_of_arrays({kVersion2}, names({"a"}) + "x"), DiagnosticKind::BadData,
       "1 bytes follow after the last array"},
      {dictionary("w", floats, 12), DiagnosticKind::BadData,
       "`w` says that it has 12 bytes, and its shape 8"},
      {dictionary("w", halves, 8), DiagnosticKind::Unsupported, "32 bits and 2 lanes"},
  };
  ScratchFile file("bad.params");
  for (const auto& [bytes, kind, what] : cases)
    check_failure(failure_of([&] { read_params({.path = file.write(bytes)}); }), kind, what);
}

// --- tables ---

// What stands between `<!-- operators of NAME -->` and `<!-- end -->`, as places in the page.
std::pair<std::size_t, std::size_t> table_in(const std::string& page, std::string_view name) {
  const std::string mark = "<!-- operators of " + std::string(name) + " -->\n";
  const std::size_t begin = page.find(mark);
  REQUIRE(begin != std::string::npos);
  const std::size_t end = page.find("<!-- end -->", begin);
  REQUIRE(end != std::string::npos);
  return {begin + mark.size(), end};
}

TEST_CASE("docs/importing_nnvm.md has both tables of operators") {
  constexpr const char* kPage = "docs/importing_nnvm.md";
  std::string page = content(kPage);
  for (const Dialect* dialect : {&nnvm_dialect(), &mxnet_dialect()}) {
    const auto [begin, end] = table_in(page, dialect->name);
    if (std::getenv("RELAY_UPDATE_PAGES")) {
      page.replace(begin, end - begin, operator_page(*dialect));
      std::ofstream(kPage) << page;
    } else {
      INFO("write it anew: RELAY_UPDATE_PAGES=1 build/release/nnvm_tests 'docs/importing_nnvm*'");
      CHECK(page.substr(begin, end - begin) == operator_page(*dialect));
    }
  }
}

TEST_CASE("each operator has a case with its result, or is another name of one that has") {
  for (const Dialect* dialect : {&nnvm_dialect(), &mxnet_dialect()}) {
    const std::string path = kFolder + std::string(dialect == &nnvm_dialect() ? "nnvm" : "mxnet") +
                             "_operators-symbol.json";
    std::set<std::pair<void (*)(OperatorCall&), std::string_view>> covered;
    for (const SymbolNode& node : read_symbol(path, content(path)).nodes) {
      if (node.op.empty()) continue;
      const Operator* op = dialect->find(node.op);
      REQUIRE(op);
      covered.emplace(op->build, op->word);
    }
    std::set<std::string_view> names;
    for (const Operator& op : dialect->operators) {
      INFO(dialect->name << ": " << op.name);
      CHECK(names.insert(op.name).second);
      CHECK(covered.contains({op.build, op.word}));
    }
  }
}

// --- one node ---

// What comes of a graph of one node, whose inputs are all a tensor (1, 2, 6, 6).
lang::Result<Program> import_node(ScratchFile& file, const std::string& op,
                                  const std::string& attributes, std::size_t inputs,
                                  const std::string& graph = R"("mxnet_version": ["int", 10600])") {
  std::string entries;
  for (std::size_t i = 0; i < inputs; ++i) entries += i == 0 ? "[0, 0]" : ", [0, 0]";
  const std::string text =
      R"_({"nodes": [{"op": "null", "name": "x", "inputs": [],
                      "attrs": {"__shape__": "(1, 2, 6, 6)"}}, {"op": ")_" +
      op + R"_(", "name": "n", "attrs": {)_" + attributes + R"_(}, "inputs": [)_" + entries +
      R"_(]}], "heads": [[1, 0]], "attrs": {)_" + graph + "}}";
  return import_symbol({.path = file.write(text), .params = {}, .shapes = {}});
}

TEST_CASE("what is not done is said of the node") {
  const std::tuple<const char*, const char*, std::size_t, const char*> cases[] = {
      {"Pooling", R"_("kernel": "(2, 2)", "pool_type": "lp")_", 1, "`pool_type=lp`"},
      {"Pooling", R"_("kernel": "(2, 2)", "pooling_convention": "same")_", 1,
       "`pooling_convention=same`"},
      {"Pooling", R"_("kernel": "(2, 2)", "pool_type": "sum", "pooling_convention": "full")_", 1,
       "`pool_type=sum` with `pooling_convention=full`"},
      {"Dropout", R"_("mode": "always")_", 1, "`mode=always`"},
      {"Activation", R"_("act_type": "cube")_", 1, "`act_type=cube`"},
      {"LeakyReLU", R"_("act_type": "cube")_", 1, "`act_type=cube`"},
      {"BatchNorm", R"_("output_mean_var": "True")_", 5, "`output_mean_var`"},
      {"softmax", R"_("use_length": "True")_", 2, "`use_length`"},
      {"topk", R"_("ret_typ": "mask")_", 1, "`ret_typ=mask`"},
      {"topk", R"_("axis": "None")_", 1, "`axis=None`"},
      {"take", R"_("mode": "raise")_", 2, "`mode=raise`"},
      {"pick", R"_("mode": "wrap")_", 2, "`mode=wrap`"},
      {"norm", R"_("ord": "3")_", 1, "`ord=3`"},
      {"UpSampling", R"_("scale": "2", "sample_type": "nearest")_", 2, "more than one tensor"},
      {"_arange", R"_("start": "0", "infer_range": "True")_", 0, "`infer_range`"},
      {"batch_dot", "", 2, "of ranks 4 and 4"},
      {"RNN", R"_("mode": "lstm", "state_size": "2", "num_layers": "1", "projection_size": "1")_",
       4, "`projection_size`"},
      {"relu", R"_("limit": "6")_", 1, "the attribute `limit`"},
      {"Custom", "", 1, "the operator `Custom` of MXNet"},
  };
  ScratchFile file("node.json");
  for (const auto& [op, attributes, inputs, what] : cases) {
    INFO(op);
    const auto result = import_node(file, op, attributes, inputs);
    REQUIRE(!result.ok());
    check_failure(result.errors().front(), DiagnosticKind::Unsupported, what);
    CHECK_THAT(result.errors().front().message, Catch::Matchers::Contains("not supported: "));
    CHECK_THAT(result.errors().front().message, Catch::Matchers::Contains("`n`"));
  }
}

TEST_CASE("what contradicts itself is said of the node") {
  const std::tuple<const char*, const char*, std::size_t, const char*> cases[] = {
      {"Convolution", R"_("kernel": "(3, 3)", "num_filter": "4")_", 3,
       "input 1 (`x`) has the shape `(1, 2, 6, 6)`, and `(4, 2, 3, 3)` is due"},
      {"Convolution", R"_("kernel": "(3, 3)", "num_filter": "4", "num_group": "3")_", 2,
       "2 channels become 4 in 3 groups"},
      {"Convolution", R"_("kernel": "(3,)", "num_filter": "4")_", 2,
       "its data has rank 4, and a window over 1 axes"},
      {"Convolution", R"_("kernel": "(3, 3)", "stride": "(1,)", "num_filter": "4")_", 2,
       "attribute `stride` has 1 numbers for 2 axes"},
      {"Convolution", R"_("kernel": "(3, 3)", "num_filter": "99999999999999")_", 2,
       "would have an extent"},
      {"FullyConnected", R"_("num_hidden": "4")_", 1, "it has 1 inputs, and input 1 is due"},
      {"FullyConnected", "", 3, "there is no attribute `num_hidden`"},
      {"elemwise_add", "", 3, "it has 3 inputs, and 2 are due"},
      {"sum", R"_("axis": "7")_", 1, "axis 7 of a tensor of rank 4"},
      {"SliceChannel", R"_("num_outputs": "9999999999")_", 1, "`num_outputs` is 9999999999"},
      {"Pad", R"_("pad_width": "(1, 1)")_", 1, "`pad_width` has 2 numbers for 4 axes"},
      {"RNN", R"_("mode": "tree", "state_size": "2", "num_layers": "1")_", 3, "`mode` is `tree`"},
  };
  ScratchFile file("node.json");
  for (const auto& [op, attributes, inputs, what] : cases) {
    INFO(op << " " << attributes);
    const auto result = import_node(file, op, attributes, inputs);
    REQUIRE(!result.ok());
    check_failure(result.errors().front(), DiagnosticKind::BadData, what);
  }
}

TEST_CASE("a graph is MXNet's where it says so or has an operator that NNVM has not") {
  ScratchFile file("node.json");
  const auto title = [&](const std::string& op, const std::string& attributes,
                         const std::string& graph) {
    const auto program = import_node(file, op, attributes, 1, graph);
    REQUIRE(program.ok());
    const auto text = program.value().text("weights.safetensors");
    REQUIRE(text.ok());
    return text.value().substr(0, text.value().find('\n'));
  };
  using Catch::Matchers::EndsWith;
  CHECK_THAT(title("relu", "", R"("mxnet_version": ["int", 1])"), EndsWith("imported from MXNet."));
  CHECK_THAT(title("relu", "", ""), EndsWith("imported from NNVM."));
  CHECK_THAT(title("Activation", R"("act_type": "relu")", ""), EndsWith("imported from MXNet."));
}

// --- damaged files ---

int mutations(int usual) {
  const char* asked = std::getenv("RELAY_MUTATIONS");
  return asked ? std::atoi(asked) : usual;
}

// Some bytes changed, dropped, doubled, or cut off.
std::string damaged(std::string bytes, std::mt19937& source) {
  const auto any = [&](std::size_t most) {
    return std::uniform_int_distribution<std::size_t>(0, most)(source);
  };
  for (std::size_t times = 1 + any(3); times > 0 && !bytes.empty(); --times) {
    const std::size_t at = any(bytes.size() - 1);
    const std::size_t length = std::min(bytes.size() - at, 1 + any(12));
    switch (any(5)) {
      case 0:
        bytes[at] = static_cast<char>(any(255));
        break;
      case 1:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << any(7)));
        break;
      case 2:
        bytes.erase(at, length);
        break;
      case 3:
        bytes.insert(at, bytes.substr(any(bytes.size() - 1), length));
        break;
      case 4:
        bytes[at] = "0123456789-,[]{}\"()eN"[any(20)];
        break;
      default:
        bytes.resize(at);
        break;
    }
  }
  return bytes;
}

// Some numbers and words changed, so that the text is JSON still.
std::string other_words(std::string text, std::mt19937& source) {
  const auto any = [&](std::size_t most) {
    return std::uniform_int_distribution<std::size_t>(0, most)(source);
  };
  constexpr const char* kNumbers[] = {"0", "1",  "2",          "3",
                                      "7", "17", "4294967296", "9223372036854775807"};
  constexpr const char* kWords[] = {"None", "True", "relu", "()", "-1", "1e30", "nan", "(1, 2, 3)"};
  for (std::size_t times = 1 + any(2); times > 0; --times) {
    std::size_t at = any(text.size() - 1);
    while (at < text.size() && std::isalnum(static_cast<unsigned char>(text[at])) == 0) ++at;
    if (at == text.size()) continue;
    const bool is_number = std::isdigit(static_cast<unsigned char>(text[at])) != 0;
    std::size_t end = at;
    while (end < text.size() &&
           (is_number ? std::isdigit(static_cast<unsigned char>(text[end]))
                      : std::isalpha(static_cast<unsigned char>(text[end]))) != 0)
      ++end;
    text.replace(at, end - at, is_number ? kNumbers[any(7)] : kWords[any(7)]);
  }
  return text;
}

TEST_CASE("damaged parameters end in a diagnostic") {
  std::mt19937 source(18);
  ScratchFile file("damaged.params");
  for (const char* name : {"lenet", "resnet", "mlp", "mobilenet"}) {
    const std::string bytes = content(kFolder + std::string(name) + ".params");
    for (int i = mutations(150); i > 0; --i) {
      // What is damaged is where sizes stand: weights are most of the bytes, and any will do.
      const std::string head = damaged(bytes.substr(0, 200), source);
      const auto result = lang::capture(
          [&] { return read_params({.path = file.write(head + bytes.substr(200))}).size(); });
      CHECK((!result.ok() || result.value() < 1000));
    }
  }
}

TEST_CASE("damaged graphs end in a program or a diagnostic") {
  std::mt19937 source(19);
  ScratchFile file("damaged.json");
  const auto numbers = [](std::initializer_list<std::int64_t> extents) {
    std::vector<Extent> shape;
    for (const std::int64_t extent : extents) shape.push_back({extent, {}});
    return shape;
  };
  using Shapes = std::map<std::string, std::vector<Extent>>;
  const std::pair<std::string, Shapes> models[] = {
      {"lenet", {{"data", numbers({2, 1, 28, 28})}}},
      {"resnet", {{"data", numbers({2, 3, 8, 8})}}},
      {"mlp", {{"data", numbers({4, 12})}}},
      {"mobilenet", {{"data", numbers({1, 3, 12, 12})}}},
      {"shapes", {{"x", numbers({2, 4, 6})}, {"scale", numbers({1, 4, 1})}}}};
  for (const auto& [name, shapes] : models) {
    const std::string bytes = content(kFolder + name + "-symbol.json");
    const std::string params = name == "shapes" ? "" : kFolder + name + ".params";
    for (int i = mutations(40); i > 0; --i) {
      const std::string text = i % 4 == 0 ? damaged(bytes, source) : other_words(bytes, source);
      const auto result =
          import_symbol({.path = file.write(text), .params = params, .shapes = shapes});
      if (result.ok()) CHECK(result.value().text("weights.safetensors").ok());
    }
  }
}

}  // namespace
}  // namespace relay::models::nnvm
