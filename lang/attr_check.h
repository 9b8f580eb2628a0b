#pragma once

#include <string>
#include <vector>

#include "lang/op.h"

namespace relay::lang {

// complete_attrs of lang/op.h for what is no operator: `owner`, as errors call it, takes the
// attributes `specs`.
AttrsRef complete_attrs(const std::string& owner, const std::vector<AttrSpec>& specs,
                        const AttrsRef& given, Span span);

}  // namespace relay::lang
