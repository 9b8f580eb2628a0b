#pragma once

#include <string>
#include <vector>

#include "stdlib/ops/families.h"

// What annotations and the operators of Relay's virtual machine share.
namespace relay::stdlib {

// An operator that gives its one argument, of any type.
OpDef identity_operator(const char* name, int level, const char* doc, const std::string& example,
                        std::vector<AttrSpec> attrs);

}  // namespace relay::stdlib
