#include "lang/tree_form.h"

#include <string>

namespace relay::lang {

namespace {

OpDef make_form(std::string name, std::string doc, std::string example,
                std::vector<InputSpec> inputs) {
  OpDef op;
  op.name = std::move(name);
  op.doc = std::move(doc);
  op.example = std::move(example);
  op.inputs = std::move(inputs);
  return op;
}

}  // namespace

const OpDef& tree_map() {
  static const OpDef kForm = make_form(
      "tree_map",
      "the tree (a tuple, record or other data type) with `f` of each leaf that is a float tensor; "
      "of several trees, `f` of the leaves at one place",
      "tree_map(fn (x) { x * 2.0 }, (1.0, [2.0]))\n// expect: (2.0, [4.0])",
      {{"f", ""}, {"tree", ""}});
  return kForm;
}

const OpDef& tree_fold() {
  static const OpDef kForm = make_form(
      "tree_fold",
      "`f(f(start, leaf), leaf)` and so on, over the leaves that are float tensors; of several "
      "trees, `f` also takes the leaves at the same place",
      "tree_fold(fn (n, x) { n + sum(x) }, 0.0, (1.0, [2.0]))\n// expect: 3.0",
      {{"f", ""}, {"start", ""}, {"tree", ""}});
  return kForm;
}

const OpDef* find_tree_form(std::string_view name) {
  if (name == tree_map().name) return &tree_map();
  return name == tree_fold().name ? &tree_fold() : nullptr;
}

std::vector<std::string> tree_form_names() { return {tree_map().name, tree_fold().name}; }

bool is_tree_form(const OpDef& op) { return &op == &tree_map() || &op == &tree_fold(); }

std::size_t first_tree(const OpDef& form) { return form.inputs.size() - 1; }

}  // namespace relay::lang
