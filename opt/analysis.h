#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lang/source.h"

// The table of analyses: what can be asked of a program, and changes nothing. An analysis is one
// file of opt/analyses/: `NAME.cpp` has the function NAME_analysis(), and that is all there is to
// do for it to be run, listed, documented and tested.
namespace relay::opt {

class PassProgram;

struct Analysis {
  std::string name;  // Relay's, where Relay has it
  std::string doc;   // one line
  // A program in light notation, as it is typed line by line; docs/analyses.md shows what is said
  // of it.
  std::string example;
  // Lines of text. Throws Failure.
  std::function<std::string(PassProgram& program)> run;
};

// All analyses, in alphabetical order.
const std::vector<Analysis>& analyses();
// Throws Failure, at `place`: there is none of that name, with the one that is closest.
const Analysis& analysis_called(const std::string& name, lang::Span place);
// A line for each.
std::string describe_analyses();

}  // namespace relay::opt
