#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "lang/op.h"

// A tree is a value made of tuples, records and other data types, with tensors at its leaves: the
// parameters of a model, or their gradient. Two forms apply a function to its float tensors:
//
//   tree_map(f, t, u...)           f(leaf of t, leaf of u...) in the place of each leaf of t
//   tree_fold(f, start, t, u...)   f(f(start, leaf 1 of t, ..), leaf 2 of t, ..)
//
// The trees have one type. The function is typed anew for each type of leaf, like a `def`. Leaves
// that are no float tensors have no tangent, and keep the value that they have in the first tree.
// Until inference knows the types the forms are calls of operators, which no registry holds; these
// have documentation and an example like any operator.
namespace relay::lang {

const OpDef& tree_map();
const OpDef& tree_fold();
const OpDef* find_tree_form(std::string_view name);  // by name; null if it is neither
std::vector<std::string> tree_form_names();
bool is_tree_form(const OpDef& op);
// Which argument is the first tree.
std::size_t first_tree(const OpDef& form);

}  // namespace relay::lang
