#include "stdlib/prelude.h"

#include <catch2/catch.hpp>

#include "lang/op.h"
#include "parser/parse.h"
#include "stdlib/register.h"
#include "typecheck/infer.h"

namespace {

using namespace relay;

// The prelude, read into a module.
struct Prelude {
  lang::SourceStore sources;
  lang::Module module;
  std::vector<std::string> functions;

  Prelude() {
    stdlib::register_operators();
    for (const stdlib::EmbeddedFile& file : stdlib::embedded_files()) {
      const lang::Source* source = sources.add(std::string(file.name), std::string(file.text));
      auto parsed = parser::parse(*source, module);
      if (!parsed) FAIL(lang::render(parsed.errors().front()));
      for (const parser::Item& item : parsed->items) {
        if (item.kind == parser::ItemKind::Type) {
          module.define(item.type_def);
          continue;
        }
        REQUIRE(item.kind == parser::ItemKind::Def);
        functions.push_back(item.name);
        module.define({item.name, item.expr, nullptr, lang::Origin::Prelude, item.doc, item.span});
      }
    }
  }

  std::string scheme(const std::string& name) {
    typecheck::Checker checker(module);
    const auto scheme = checker.scheme(name);
    return scheme ? to_string(*scheme) : lang::render(scheme.errors().front());
  }
};

}  // namespace

TEST_CASE("every function of the prelude has a type and a documentation", "[stdlib][prelude]") {
  Prelude prelude;
  REQUIRE(prelude.functions.size() > 20);
  typecheck::Checker checker(prelude.module);
  for (const std::string& name : prelude.functions) {
    INFO(name);
    CHECK_FALSE(prelude.module.find(name)->doc.empty());
    CHECK(checker.scheme(name).ok());
    CHECK(lang::OpRegistry::instance().find(name) == nullptr);
  }
}

TEST_CASE("types of the prelude", "[stdlib][prelude]") {
  Prelude prelude;
  CHECK(prelude.scheme("compose") == "fn (fn (A) -> B, fn (C) -> A) -> fn (C) -> B");
  CHECK(prelude.scheme("foldl") == "fn (fn (A, B) -> A, A, List[B]) -> A");
  CHECK(prelude.scheme("zip") == "fn (List[A], List[B]) -> List[(A, B)]");
  CHECK(prelude.scheme("map_accuml") == "fn (fn (A, B) -> (A, C), A, List[B]) -> (A, List[C])");
  CHECK(prelude.scheme("length") == "fn (List[A]) -> int32");
}

TEST_CASE("the example of every operator has a type", "[stdlib][prelude]") {
  Prelude prelude;
  typecheck::Checker checker(prelude.module);
  for (const lang::OpDef* op : lang::OpRegistry::instance().all()) {
    INFO(op->name << ": " << op->example);
    const auto parsed = parser::parse(*prelude.sources.add(op->name, op->example), prelude.module);
    REQUIRE(parsed.ok());
    for (const parser::Item& item : parsed->items) CHECK(checker.check(item.expr).ok());
  }
}
