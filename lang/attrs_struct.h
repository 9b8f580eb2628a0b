#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lang/op.h"

namespace relay::lang {

// What Relay calls the structure that holds the attributes of an operator, and how they lie in it.
// A call whose operator does not declare its structure has it in the metadata section
// (lang/metadata.h). The name follows from the operator's (`nn.conv2d`: "Conv2DAttrs") where
// nothing else is said.

// Says so for the operator of that name. `boxed` are the attributes that are objects of their own
// there though they are never `None`; those that may be always are. Part of filling the registry.
void set_attrs_struct(const std::string& op, std::string name, std::vector<std::string> boxed = {});
std::string attrs_struct_of(const OpDef& op);
// Is this attribute, a number, an object of its own?
bool is_boxed(const OpDef& op, const AttrSpec& attr);

}  // namespace relay::lang
