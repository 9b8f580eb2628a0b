#pragma once

#include <string>
#include <vector>

#include "stdlib/ops/families.h"

// What annotations and the operators of Relay's virtual machine share.
namespace relay::stdlib {

// Relay's support level of annotations: its groups of temporary operators, and of those that help.
inline constexpr int kAnnotationLevel = 10;

// An operator that gives its one argument, of any type.
OpDef identity_operator(const char* name, int level, const char* doc, const std::string& example,
                        std::vector<AttrSpec> attrs);

// `on_device`, `device_copy` (devices.cpp).
void add_device_operators();

}  // namespace relay::stdlib
