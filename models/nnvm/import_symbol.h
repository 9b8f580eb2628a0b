#pragma once

#include <string_view>

#include "models/import.h"

// Graphs of NNVM and MXNet: `relay import model-symbol.json --params model-0000.params`.
namespace relay::models::nnvm {

bool recognises_symbol(std::string_view head);

// The weights are those variables that the file of parameters has; what it lacks are parameters of
// the program, whose shapes come from the request, from the file (`__shape__`), or from the first
// operator that takes them. The dialect is MXNet's where the graph says so, was written as only
// MXNet wrote, or has an operator that only MXNet has.
lang::Result<Program> import_symbol(const Request& request);

}  // namespace relay::models::nnvm
