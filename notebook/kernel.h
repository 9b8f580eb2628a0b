#pragma once

#include <string>

namespace relay::notebook {

// Serves the connection that a file of Jupyter describes, until it is told to end. Returns the exit
// code of the program, having said what is wrong with the file, if something is.
int run_kernel(const std::string& connection_file);

}  // namespace relay::notebook
