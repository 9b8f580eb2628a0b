#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lang/external_compiler.h"
#include "opt/block_uses.h"
#include "opt/definitions.h"
#include "opt/pass_program.h"
#include "opt/pattern.h"

// Private to MergeComposite.
namespace relay::opt {

// Several operators that a compiler runs as one step (lang::CompositePattern).
struct CompositeRule {
  std::string name;
  PatternRule pattern;
  std::function<std::string(const lang::ExternalGraph&)> refusal;
};

// The composites of external compilers, for the length of a pass: reading the patterns of one costs
// milliseconds, and is done once.
class Composites {
 public:
  // `host` must outlive it.
  explicit Composites(const PassHost& host) : host_(host) {}

  // In the order in which they are tried. Throws Failure: a pattern that is none.
  const std::vector<CompositeRule>& of(lang::ExternalCompiler& compiler);

 private:
  const PassHost& host_;
  std::map<const lang::ExternalCompiler*, std::vector<CompositeRule>> read_;
};

// Steps of a block that a pattern is made of.
struct CompositeMatch {
  std::vector<std::size_t> steps;  // places, in order; the last is the one that gives the result
  std::vector<lang::Expr> values;  // what the pattern's parameters stand for
};
// The step at `place` is the pattern's result. No step but that one may be used by others, or be
// what a parameter stands for.
// `definitions`: of the block.
std::optional<CompositeMatch> match_composite(const PatternRule& pattern, const lang::Block& block,
                                              const Definitions& definitions, const BlockUses& uses,
                                              std::size_t place);

}  // namespace relay::opt
