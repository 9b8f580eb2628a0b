#pragma once

#include <functional>
#include <string>
#include <vector>

namespace relay::tests {

// Checks each of them and prints what is wrong, which `check` gives; empty: nothing is. The exit
// code of a program that does this: 1 if something was wrong, 2 if a check has thrown, which is
// told.
int run_each(const char* program, const std::vector<std::string>& names,
             const std::function<std::string(const std::string& name)>& check);

}  // namespace relay::tests
