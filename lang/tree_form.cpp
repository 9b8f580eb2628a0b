#include "lang/tree_form.h"

#include <string>

namespace relay::lang {

namespace {

OpDef make_form(std::string name, std::vector<InputSpec> inputs) {
  OpDef op;
  op.name = std::move(name);
  op.inputs = std::move(inputs);
  return op;
}

}  // namespace

const OpDef& tree_map() {
  static const OpDef kForm = make_form("tree_map", {{"f", ""}, {"tree", ""}});
  return kForm;
}

const OpDef& tree_fold() {
  static const OpDef kForm = make_form("tree_fold", {{"f", ""}, {"start", ""}, {"tree", ""}});
  return kForm;
}

const OpDef* find_tree_form(std::string_view name) {
  if (name == tree_map().name) return &tree_map();
  return name == tree_fold().name ? &tree_fold() : nullptr;
}

bool is_tree_form(const OpDef& op) { return &op == &tree_map() || &op == &tree_fold(); }

std::size_t first_tree(const OpDef& form) { return form.inputs.size() - 1; }

}  // namespace relay::lang
