#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lang/op.h"

namespace relay::lang {

// How the light notation may write the inputs of an operator, beside what its record says of them.
// The core, strict text and type rules know nothing of it.
struct InputForm {
  bool is_tuple = false;  // a tuple of tensors, for which a list may stand: `stack([a, b])`
  // What it is where it is left out, an integer or a float; inputs without one take the arguments
  // first: `arange(10)`.
  std::optional<AttrValue> default_value = {};
  bool as_float = false;  // integers and bools count as float32 there: `mean([1, 2])` is 1.5
};

// Says so for the inputs of the operator of that name, in their order; trailing ones may be
// missing. Part of filling the registry.
void set_input_forms(const std::string& op, std::vector<InputForm> forms);
// That of input `index`.
InputForm input_form(const OpDef& op, std::size_t index);
// Says what a required attribute is where it is left out.
void set_attr_default(const std::string& op, const std::string& key, AttrValue value);
// Nothing for one that must be written.
std::optional<AttrValue> attr_default(const OpDef& op, const AttrSpec& attr);
// Does some input take integers as floats?
bool takes_floats(const OpDef& op);
// Is it `as_float`, the operator that stands in front of such an input, or `as_index`, in front of
// a bound of a slice? Inference replaces it by a `cast` or by its argument, so no later stage meets
// it.
bool is_cast_form(const OpDef& op);
// The input as a signature shows it: `step=1`.
std::string input_usage(const OpDef& op, std::size_t index);
// The attribute in the same way: `axis=-1`, and `k=` where it must be written.
std::string attr_usage(const OpDef& op, const AttrSpec& attr);

}  // namespace relay::lang
