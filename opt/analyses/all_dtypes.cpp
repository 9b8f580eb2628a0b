#include <set>
#include <string>

#include "lang/visit.h"
#include "opt/analysis_text.h"

namespace relay::opt {

namespace {

void add_dtypes(const lang::Type& type, std::set<std::string>& names) {
  if (const auto* tensor = lang::as<lang::TensorType>(type)) {
    names.insert(lang::to_string(tensor->dtype));
  } else if (const auto* tuple = lang::as<lang::TupleType>(type)) {
    for (const lang::Type& field : tuple->fields) add_dtypes(field, names);
  }
}

}  // namespace

Analysis all_dtypes_analysis() {
  Analysis analysis;
  analysis.name = "all_dtypes";
  analysis.doc = "the dtypes of all values";
  analysis.example = R"(def f(x: float32) { cast(x, dtype="int64") + 1 })";
  analysis.run = [](PassProgram& program) -> std::string {
    return of_each_function(program, [](const lang::Expr& root) {
      std::set<std::string> names;
      lang::visit_post_order(root, [&](const lang::Expr& node) {
        add_dtypes(node->type, names);
        // Of parameters too that nobody uses.
        lang::for_each_binder(node, [&](const auto& bound) { add_dtypes(bound->type, names); });
      });
      return listed({names.begin(), names.end()});
    });
  };
  return analysis;
}

}  // namespace relay::opt
