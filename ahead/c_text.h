#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ahead/request.h"
#include "built/signature.h"

namespace relay::ahead {

// A function of a built object, as C calls it.
struct Exported {
  std::string name;  // in C
  std::string text;  // in the language: `forward[n](x: Tensor[(n, 4), float32]) -> ...`
  built::Signature signature;
  std::vector<std::string> params;  // names, by parameter
  bool is_gradient = false;         // the results are a value, and a gradient by parameter
};

// With which the header begins.
inline constexpr std::string_view kHeaderBegins = "/* Made by `relay build`";

// C of an object: the header for those who use it, and what stands in the object beside the run
// time and the bytes of the file `snapshot`.
struct CText {
  std::string header;
  std::string source;
  std::vector<std::string> symbols;  // that are seen from outside
};
// The functions that each object has of its own: `model_error`, ...
std::vector<std::string> own_functions(const std::string& object);

// Throws Failure(Unsupported) where two functions would have one name in C.
CText c_text(const Request& request, const std::vector<Exported>& functions);

}  // namespace relay::ahead
