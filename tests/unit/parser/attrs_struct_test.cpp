// The attributes of every operator may stand as an object in the metadata section; which fields it
// has, and how they stand there, follows from the operator's record.

#include "lang/attrs_struct.h"

#include <algorithm>
#include <deque>
#include <fstream>
#include <sstream>

#include <catch2/catch.hpp>

#include "lang/metadata.h"
#include "parser/parse.h"
#include "stdlib/register.h"

using namespace relay;
using namespace relay::lang;

namespace {

const MetadataField* find(std::span<const MetadataField> fields, std::string_view name) {
  const auto place = std::find_if(fields.begin(), fields.end(),
                                  [&](const MetadataField& field) { return field.name == name; });
  return place == fields.end() ? nullptr : &*place;
}

bool stands_as(MetadataFieldKind kind, std::string_view how) {
  switch (kind) {
    case MetadataFieldKind::Number:
      return how == "number";
    case MetadataFieldKind::Text:
      return how == "text";
    case MetadataFieldKind::Node:
      return how == "node";
    case MetadataFieldKind::String:  // either way
      return how == "text" || how == "node";
  }
  return false;
}

// An attribute whose place an input has taken: of a `dyn` operator.
bool is_input(const OpDef& op, const AttrSpec& attr) {
  return std::any_of(op.inputs.begin(), op.inputs.end(),
                     [&](const InputSpec& input) { return input.attr == attr.name; });
}

// Some value of that kind that no record has as default.
AttrValue sample(const AttrSpec& attr) {
  switch (attr.kind) {
    case AttrKind::Bool:
      return !(attr.default_value && *attr.default_value == AttrValue(true));
    case AttrKind::Int:
      return 3;
    case AttrKind::Float:
      return 0.375;
    case AttrKind::String:
      return "abc";
    case AttrKind::DType:
      return DType::Float16;
    case AttrKind::IntList:
    case AttrKind::IntOrIntList:
      return AttrValue::ints({5, -6});
    case AttrKind::FloatList:
      return AttrValue::List{0.25, 0.5};
    case AttrKind::Any:
      return AttrValue::List{AttrValue::ints({1, 2}), AttrValue::ints({3, 4})};
  }
  return {};
}

AttrsRef attributes_of_call(const std::string& text) {
  static std::deque<Source> sources;
  const Result<parser::Parsed> parsed =
      parser::parse(sources.emplace_back("test", text), Module(), parser::Notation::Strict);
  if (!parsed) FAIL(text + "\n" + render(parsed.errors().front()));
  return cast<Call>(parsed->items.back().expr).attrs;
}

}  // namespace

TEST_CASE("attribute structures have Relay's names and fields") {
  stdlib::register_operators();
  // Relay declares another one there than its own calls have.
  const std::vector<std::string> declared_wrongly = {"nn.avg_pool2d_grad"};
  const std::vector<std::string> absent = {"meta_schedule_layout_transform", "nn.sparse_conv2d"};
  std::ifstream file("tests/oracle/relay_attributes.tsv");
  std::size_t count = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream row(line);
    std::string name, structure, field;
    row >> name >> structure;
    const auto is_in = [&](const auto& names) {
      return std::find(names.begin(), names.end(), name) != names.end();
    };
    const OpDef* op = OpRegistry::instance().find(name);
    CHECK((op == nullptr) == is_in(absent));
    if (!op || is_in(declared_wrongly)) continue;
    INFO(name);
    CHECK(attrs_struct_of(*op) == structure);
    const auto fields = metadata_fields("relay.attrs." + structure);
    REQUIRE(fields);
    while (row >> field) {
      INFO(field);
      const std::size_t equals = field.find('=');
      const MetadataField* known = find(*fields, field.substr(0, equals));
      REQUIRE(known);
      CHECK(stands_as(known->kind, field.substr(equals + 1)));
    }
    ++count;
  }
  CHECK(count > 190);
}

TEST_CASE("attributes as an object are the same as attributes that are written") {
  stdlib::register_operators();
  std::size_t count = 0;
  for (const OpDef* op : OpRegistry::instance().all()) {
    if (op->is_step || op->level == 0 || op->attrs.empty()) continue;
    INFO(op->name);
    std::vector<Attr> fields;
    std::string written;
    for (const AttrSpec& attr : op->attrs) {
      if (is_input(*op, attr)) continue;
      fields.push_back({attr.name, sample(attr), {}});
      written += ", " + attr.name + "=" + fields.back().value.to_string();
    }
    if (written.empty()) continue;
    MetadataWriter writer;
    const std::string object = writer.value(
        AttrObjectRef(new AttrObject("relay.attrs." + attrs_struct_of(*op), std::move(fields))));
    const std::string before = "#[version = \"0.0.5\"]\nfree_var %x; " + op->name + "(%x, ";
    const AttrsRef read = attributes_of_call(before + object + ")\n\n" + writer.section());
    const AttrsRef expected = attributes_of_call(before + written.substr(2) + ")");
    for (const AttrSpec& attr : op->attrs) {
      if (is_input(*op, attr)) continue;
      INFO(attr.name);
      REQUIRE(read->find(attr.name));
      CHECK(coerce_attr(attr.kind, *read->find(attr.name)) ==
            coerce_attr(attr.kind, *expected->find(attr.name)));
    }
    ++count;
  }
  CHECK(count > 190);
}
