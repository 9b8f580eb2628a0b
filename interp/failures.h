#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "interp/machine.h"
#include "lang/expr.h"

// Run-time errors that prepared code and native code report alike. Each sets the machine's error.
namespace relay::interp {

lang::Value fail_division(Machine& machine, lang::Span span);
lang::Value fail_index(Machine& machine, std::int64_t index, std::size_t axis,
                       const lang::Tensor& tensor, lang::Span span);
lang::Value fail_match(Machine& machine, const lang::Value& value, lang::Span span);
// Of index notation: a negative extent, more steps than can be counted, `max` of nothing.
lang::Value fail_extent(Machine& machine, std::int64_t extent, lang::Span span);
lang::Value fail_steps(Machine& machine, std::span<const std::int64_t> extents, lang::Span span);
// A tensor out of data, of other extents than its type.
lang::Value fail_shape(Machine& machine, const lang::Tensor& tensor, const lang::Type& type,
                       lang::Span span);
lang::Value fail_empty_fold(Machine& machine, lang::ReduceOp op, lang::Span span);

// "(2, 3)"
std::string extents_text(std::span<const std::int64_t> extents);

}  // namespace relay::interp
