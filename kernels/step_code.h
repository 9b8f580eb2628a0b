#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lang/external_compiler.h"

// Private to the external compilers of this library: code that is steps one behind another.
namespace relay::kernels {

// Where what each node gives lies, row-major.
using NodeMemory = std::vector<std::byte*>;

struct CodeStep {
  std::size_t result = 0;  // the node that it writes
  // May throw dnnl::error, std::bad_alloc, lang::Failure.
  std::function<void(const NodeMemory& memory)> run;
};

// The steps of a graph each of whose nodes gives one tensor, in order.
std::unique_ptr<lang::ExternalCode> code_of_steps(const lang::ExternalGraph& graph,
                                                  std::vector<CodeStep> steps);

// What `work` says, or has thrown of what a CodeStep may: as text, since nothing is thrown out of
// this library.
std::string error_of(const std::function<std::string()>& work);

}  // namespace relay::kernels
