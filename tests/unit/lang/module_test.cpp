#include "lang/module.h"

#include <string>

#include <catch2/catch.hpp>

using namespace relay::lang;

namespace {

Definition binding(const std::string& name) {
  Definition definition;
  definition.name = name;
  return definition;
}

std::string names(const Module& module) {
  std::string text;
  for (const Definition* each : module.definitions()) text += each->name + " ";
  return text;
}

}  // namespace

TEST_CASE("definitions stand in order; what is defined again comes last") {
  Module module;
  for (const char* name : {"a", "b", "c", "d"}) module.define(binding(name));
  CHECK(names(module) == "a b c d ");
  module.define(binding("b"));
  CHECK(names(module) == "a c d b ");
  module.remove("c");
  module.remove("c");
  module.remove("nothing");
  CHECK(names(module) == "a d b ");
  Module copy = module;
  copy.remove("a");
  copy.define(binding("d"));
  CHECK(names(copy) == "b d ");
  CHECK(names(module) == "a d b ");
  CHECK(copy.find("a") == nullptr);
  CHECK(module.find("a")->name == "a");
}

TEST_CASE("many definitions are made, made again and removed in the order of their number") {
  // With a walk over all of them for each it would take minutes.
  constexpr int kMany = 200000;
  Module module;
  for (int i = 0; i < kMany; ++i) module.define(binding("f" + std::to_string(i)));
  for (int i = 0; i < kMany; ++i) module.define(binding("f" + std::to_string(i)));
  CHECK(module.definitions().size() == kMany);
  CHECK(module.definitions().back()->name == "f199999");
  for (int i = kMany - 1; i > 1; --i) module.remove("f" + std::to_string(i));
  CHECK(names(module) == "f0 f1 ");
}
