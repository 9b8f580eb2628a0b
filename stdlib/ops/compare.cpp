#include "stdlib/ops/families.h"

namespace relay::stdlib {

namespace {

constexpr BinaryRow kComparisons[] = {
    {"equal", Prim::Eq, 4,
     "True where the operands are equal, with broadcasting; also `a == b`.\nNaN equals nothing.",
     "equal([1, 2, 3], 2)\n// expect: [False, True, False]", nullptr},
    {"not_equal", Prim::Ne, 4,
     "True where the operands differ, with broadcasting; also `a != b`.\nNaN differs from "
     "everything.",
     "not_equal([1, 2, 3], 2)\n// expect: [True, False, True]", nullptr},
    {"less", Prim::Lt, 4,
     "True where the left operand is smaller, with broadcasting; also `a < b`.\nFalse for NaN.",
     "less([1, 2, 3], 2)\n// expect: [True, False, False]", nullptr},
    {"less_equal", Prim::Le, 4,
     "True where the left operand is not larger, with broadcasting; also `a <= b`.\nFalse for NaN.",
     "less_equal([1, 2, 3], 2)\n// expect: [True, True, False]", nullptr},
    {"greater", Prim::Gt, 4,
     "True where the left operand is larger, with broadcasting; also `a > b`.\nFalse for NaN.",
     "greater([1, 2, 3], 2)\n// expect: [False, False, True]", nullptr},
    {"greater_equal", Prim::Ge, 4,
     "True where the left operand is not smaller, with broadcasting; also `a >= b`.\nFalse for "
     "NaN.",
     "greater_equal([1, 2, 3], 2)\n// expect: [False, True, True]", nullptr},
};

}  // namespace

void add_comparison_operators() {
  for (const BinaryRow& row : kComparisons) add_binary(row);
}

}  // namespace relay::stdlib
