#pragma once

#include <string>
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

// C of an object: the header for those who use it, and what stands in the object beside the run
// time. `bytes_path`: of the snapshot.
struct CText {
  std::string header;
  std::string source;
  std::vector<std::string> symbols;  // that are seen from outside
};
// Throws Failure(Unsupported) where two things would have one name in C.
CText c_text(const Request& request, const std::vector<Exported>& functions,
             const std::string& bytes_path);

}  // namespace relay::ahead
