#pragma once

#include <string>
#include <string_view>

#include "models/onnx/call.h"

// Pieces of text that builders of several families write.
namespace relay::models::onnx {

// `a + b`, with brackets around what is negative.
std::string infix(const std::string& a, std::string_view op, const std::string& b);
// `reshape(x, newshape=[…])` of input-like `value` to extents; codes of Relay's `reshape` where the
// extents are not numbers, so that the types stay known.
Value reshaped(const Call& call, std::string_view hint, Value value,
               const std::vector<lang::Dim>& shape);
std::string cast_text(const std::string& text, lang::DType from, lang::DType to);
// The dtype that ONNX's number for it means. Throws Unsupported.
lang::DType dtype_of_number(const Call& call, std::int64_t number);
// `x` with axes of extent 1 at these places of the result.
std::string with_axes_text(std::string text, std::vector<std::int64_t> axes);
// The product of all extents.
lang::Dim element_count(const std::vector<lang::Dim>& dims);

}  // namespace relay::models::onnx
