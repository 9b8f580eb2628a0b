#pragma once

#include <string>
#include <vector>

#include "lang/attrs.h"
#include "lang/diagnostic.h"

// Lists of named passes, as `relay opt -p "InferType,FuseOps(max_depth=4)"` takes them.
namespace relay::opt {

struct PassOption {
  std::string name;
  lang::AttrValue default_value;  // its kind is the option's
  std::string doc;
};

// A pass as people know it.
struct PassInfo {
  std::string name;
  std::string doc;
  std::vector<PassOption> options = {};
};

// One pass of a list, with all its options.
struct PassCall {
  const PassInfo* pass;
  lang::AttrsRef options;
};

// The passes that can be run, in alphabetical order.
const std::vector<PassInfo>& passes();
// `Inline(max_bindings=24)  what it does`, a line for each.
std::string describe_passes();

// Reads a list. Errors have their place in `source`: an unknown pass or option, with the name that
// is closest; a value of another kind; what is no list.
lang::Result<std::vector<PassCall>> parse_passes(const lang::Source& source);

}  // namespace relay::opt
