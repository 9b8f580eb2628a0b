#pragma once

#include <string>

#include "opt/pass_program.h"

namespace relay::opt {

struct PartitionOptions {
  std::string prefix;  // of the names of functions: `PREFIX_COMPILER_FUNCTION`
  bool binds_constants = true;
};
// Each region between marks for an external compiler becomes a call of a global function, which is
// added to the program; the marks go. Throws Failure: a region that would have to wait for its own
// results.
void partition_graph(PassProgram& program, const PartitionOptions& options);

}  // namespace relay::opt
