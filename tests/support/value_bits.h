#pragma once

#include "lang/value.h"

namespace relay::tests {

// Bit for bit, but for what is in a NaN: which one an operation gives depends on the machine and on
// whether a compiler has computed it beforehand. Of a tensor with more than a million elements,
// which may be a broadcast of one, it looks at a million that lie evenly.
bool same_bits(const lang::Value& a, const lang::Value& b);

// The same value with its tensors spread out in memory: every second element, the last axis first.
lang::Value spread_out(const lang::Value& value);

}  // namespace relay::tests
