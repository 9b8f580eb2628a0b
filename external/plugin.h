#pragma once

#include <memory>
#include <string>

#include "lang/external_compiler.h"

namespace relay::external {

// Opens a shared object with the functions of include/relay_codegen.h. Throws Failure: a file that
// is not there, does not load, has no entry, or another version. It is never unloaded: code of it
// may be anywhere.
std::unique_ptr<lang::ExternalCompiler> load_plugin(const std::string& path);

}  // namespace relay::external
