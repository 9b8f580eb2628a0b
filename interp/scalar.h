#pragma once

#include <cstdint>
#include <optional>

#include "lang/dtype.h"
#include "lang/lowerable.h"
#include "lang/primitive.h"

// Scalar primitives on single elements, with the same bits as the lanes: both come from the
// templates of interp/scalar_ops.h.
namespace relay::interp {

// Takes the operands' elements as bits in the low end of a word (the rest zero, as in
// lang::Value::bits) and gives the result in the same form. Select takes condition, a, b.
using ScalarFunction = std::uint64_t (*)(const std::uint64_t* args);

// `operand` is the dtype of the operands (of the last one for Select). Null where the primitive
// does not accept it, and for Cast. Dividing an integer by zero gives 0: who calls checks the
// divisor before (see divides_integers).
ScalarFunction scalar_function(lang::Prim prim, lang::DType operand);
ScalarFunction scalar_cast(lang::DType from, lang::DType to);

// The same for any primitive: the element of dtype `result` for operands of dtype `operand`.
// Nothing where the operands make it a run-time error, or where it does not accept the dtype.
std::optional<std::uint64_t> scalar_value(lang::Prim prim, lang::DType operand, lang::DType result,
                                          const std::uint64_t* args);

using lang::divides_integers;

}  // namespace relay::interp
