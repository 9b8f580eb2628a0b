#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lang/external_compiler.h"

// Records of passes for external compilers, which were registered where the records were made: what
// they took is read off the result.
namespace relay::tests {

struct RecordedCompilers {
  std::string pass;  // as it is called for them
  std::vector<std::unique_ptr<lang::ExternalCompiler>> compilers;
};
// Of the function that Relay's pass has made, untyped.
RecordedCompilers recorded_compilers(const std::string& pass, const lang::Expr& theirs);

// Do both hand over the same steps, to the same compilers, and as the same composites? Empty if so.
// `tells_default`: steps that no compiler takes are marked, too.
std::string compare_marks(const lang::Expr& ours, const lang::Expr& theirs, bool tells_default);

}  // namespace relay::tests
