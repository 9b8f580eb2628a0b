#include <set>

#include <fmt/format.h>

#include "opt/pass_program.h"

namespace relay::opt {

namespace {

[[noreturn]] void fail_missing(const PassProgram& program, const std::string& entry) {
  lang::Diagnostic diagnostic(lang::DiagnosticKind::UnknownName,
                              fmt::format("the module has no function `{}`", entry));
  std::vector<std::string> names;
  for (const auto& each : program.functions()) names.push_back(each.name);
  const auto close = lang::closest_names(entry, names);
  const std::string other = names.empty() ? "" : names.back();
  diagnostic.note(fmt::format("help: `RemoveUnusedFunctions(entry=\"{}\")`",
                              close.empty() ? other : close.front()));
  throw lang::Failure(std::move(diagnostic));
}

}  // namespace

Pass remove_unused_functions_pass() {
  Pass pass;
  pass.name = "RemoveUnusedFunctions";
  pass.doc = "drops functions that the entry does not reach";
  pass.options = {
      {"entry", lang::AttrKind::String, lang::AttrValue("main"), "the function that is kept"}};
  pass.in_anf = false;
  pass.example = R"(def used(x: float32) { x * 2.0 }
def unused(x: float32) { x * 3.0 }
def main(x: float32) { used(x) })";
  pass.run = [](PassProgram& program, const lang::Attrs& options) {
    const std::string& entry = options.get_string("entry");
    if (!program.find(entry)) fail_missing(program, entry);
    const std::set<std::string> reached = reached_from(program, entry);
    program.remove_if([&](const auto& each) { return !reached.contains(each.name); });
  };
  return pass;
}

}  // namespace relay::opt
