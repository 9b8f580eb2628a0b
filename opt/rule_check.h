#pragma once

#include <vector>

#include "opt/rule_instance.h"

namespace relay::opt {

// Tries each rule that has a replacement on code that its pattern matches, of random types and
// values, with infinities, NaN and zeros of both signs among them, and compares the values before
// and after: their bits (a NaN may become any other), or, of an approximate rule, the numbers where
// they are finite, up to rounding. Throws Failure with each rule that changes a value, its
// operands and both values; and with each that nothing was found to try on. The same rules are
// tried on the same code each time. Costs about a hundred small evaluations of either side for each
// rule, and inferring the types of up to 1500 pieces of code; one that is refused costs hundreds
// more.
void check_rules(const std::vector<PatternRule>& rules, const RuleHost& host);

}  // namespace relay::opt
