#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lang/op.h"

// The table of passes. A pass is one file of opt/passes/: `NAME.cpp` has the function NAME_pass(),
// and that is all there is to do for it to be run, listed, documented and tested.
namespace relay::opt {

class PassProgram;

// What becomes of the values of functions.
enum class Keeps : std::uint8_t {
  Bits,      // the same bits
  Rounding,  // the same numbers, rounded in another way
  Meaning,   // not the values, or not the types: the pass says what they become
};

struct Pass {
  std::string name;
  std::string doc;  // one line
  std::vector<lang::AttrSpec> options = {};
  // Functions come, and go, in A-normal form: it is established before if need be, and again after.
  bool in_anf = true;
  Keeps keeps = Keeps::Bits;
  // Does nothing when it is run a second time.
  bool is_idempotent = true;
  // A program in light notation, as it is typed line by line, on which the pass can be seen at
  // work; docs/passes.md shows what becomes of it.
  std::string example;
  // A list runs at a level, and passes over those of a higher one. Relay's, where it has the pass.
  int level = 1;
  // Among those that make code faster, which run where there is no list: which one it is; 0: none.
  int pipeline_place = 0;
  // Throws Failure.
  std::function<void(PassProgram& program, const lang::Attrs& options)> run;
};

// All passes, in alphabetical order.
const std::vector<Pass>& passes();
// Null if there is none of that name.
const Pass* find_pass(const std::string& name);

// A pass with all its options.
struct PassCall {
  const Pass* pass;
  lang::AttrsRef options;
};
// Values without a name are those of the options in order; one of any kind takes all that are left,
// several as a list. Throws Failure, at `place` or at an attribute: an unknown pass or option, with
// the name that is closest; a value of another kind; too many.
PassCall pass_call(const std::string& name, const lang::AttrsRef& given, lang::Span place);

inline constexpr int kHighestLevel = 4;
// Those that make code faster, each as often as it pays, up to a level.
std::string pipeline_at(int level);

// `Inline(max_bindings=24)`: with the default values of all options.
std::string usage_of(const Pass& pass);
// Its usage and what it does; a line for each pass, and each option.
std::string describe_passes();

}  // namespace relay::opt
