#pragma once

#include <optional>

#include "loops/pattern.h"
#include "tests/oracle/case_table.h"

namespace relay::tools {

// The pattern of the operator's definition at the shapes of a row; none where the operator has no
// definition, or not at these.
std::optional<loops::Pattern> pattern_at(const tests::CaseRow& row);

}  // namespace relay::tools
