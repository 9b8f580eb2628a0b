#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lang/op.h"
#include "opt/rule_instance.h"

// Private to the check of rules: code that a pattern matches, of random types, with random values.
namespace relay::opt {

class RuleRandom {
 public:
  explicit RuleRandom(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(bound));
  }
  bool one_in(std::int64_t n) { return below(n) == 0; }

 private:
  std::uint64_t state_;
};

// One instance of a rule: both sides are closed but for `inputs`. The pattern has left the rest
// open: attributes, operators, and what is known before the program runs.
struct RuleSample {
  struct Input {
    lang::VariableRef variable;
    lang::TensorRef value;
  };
  // Has another value than its default, which the pattern could write.
  struct Attribute {
    const lang::OpDef* op;
    std::string name;
    lang::AttrValue default_value;
  };
  std::vector<Input> inputs;
  std::vector<Attribute> attributes;
  bool has_choices = false;  // of what the pattern leaves open
  lang::Expr before;         // what the pattern has matched
  lang::Expr after;
};

enum class SampleValues : std::uint8_t {
  Moderate,  // numbers between 1/8 and 8, of both signs
  Special,   // also zeros of both signs, infinities, NaN, the smallest and the largest numbers
};

// Attributes that have their defaults where the pattern leaves them open, by the operator's name
// and their own.
using DefaultAttrs = std::map<std::pair<std::string, std::string>, lang::AttrValue>;

// Types that fit are found by trying: nothing where this try does not fit, or the rule does not
// apply to it, be it that its replacement is ill typed, for which `why` gets the errors.
// `is_small`: of as few elements as the pattern lets.
std::optional<RuleSample> sample_of(const PatternRule& rule, RuleRandom& random,
                                    SampleValues values, const DefaultAttrs& defaults,
                                    bool is_small, const RuleHost& host,
                                    std::vector<lang::Diagnostic>& why);

}  // namespace relay::opt
