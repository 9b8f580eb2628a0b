#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "lang/pointer_map.h"
#include "lang/rewrite_rule.h"
#include "opt/definitions.h"

// Patterns over expressions, which rules rewrite by and partitioning cuts by. (The patterns of
// `match`, lang::Pattern, are another thing: they take values apart.)
namespace relay::opt {

struct ExprPattern;
using ExprPatternRef = std::shared_ptr<const ExprPattern>;

struct ExprPattern {
  enum class Kind : std::uint8_t {
    Wildcard,    // any expression of the variable's type; the same one wherever it occurs again
    Number,      // a tensor all of whose elements are `number`
    Call,        // of an operator, with the attributes that are written
    Tuple,       // of parts
    Projection,  // of the one part
    Either,      // one of the parts
    Maybe,       // parts: what is there in any case, and a step behind it that has a Hole
    Chain,       // the same, with any number of steps
    Hole,        // what a step stands behind; the same expression wherever the step mentions it
  };
  Kind kind;
  // Of a Wildcard, its parameter; of a Call and a Tuple, the name that the pattern gives them, or
  // null.
  lang::VariableRef variable = nullptr;
  lang::Expr number = nullptr;      // a Literal, or a Constant, whose dtype counts then
  const lang::OpDef* op = nullptr;  // of a Call; null: any that has the trait
  lang::PatternForm trait = lang::PatternForm::Operator;
  lang::VariableRef op_variable = nullptr;  // the parameter that stands for the operator, or null
  // Operands. Where there are fewer than inputs, the others are free; the Hole of a trait's step
  // is any of its operands.
  std::vector<ExprPatternRef> parts = {};
  lang::AttrsRef attrs = nullptr;  // as written: values, or parameters (lang::attribute_parameter)
  std::uint32_t index = 0;         // of a Projection
  std::uint32_t hole = 0;          // of a Hole, and of the Maybe or Chain whose step has it
};

// A rule, or a pattern with a name.
struct PatternRule {
  lang::RewriteRule written;
  ExprPatternRef pattern;
};
// Makes patterns of what was read. Throws Failure with all that is wrong: a pattern that fits
// everything, or is made of itself; names that are in no pattern, or not in all of its
// alternatives; operators with other operands or attributes; expressions that are no patterns.
std::vector<PatternRule> pattern_rules(const std::vector<lang::RewriteRule>& rules);

// What has matched what.
struct ExprMatch {
  // What a part of the pattern has matched that is no wildcard and no number.
  struct Step {
    lang::VariableRef variable;  // that it is bound to; null where it stands as an operand
    lang::Expr value;            // a Call, a Tuple, or a Projection
  };
  // Of parameters and named steps: as the code at hand mentions them, an atom in A-normal form.
  std::unordered_map<const lang::Variable*, lang::Expr> values;
  std::unordered_map<const lang::Variable*, lang::Expr> calls;  // of named steps and operators
  std::map<std::string, lang::AttrValue> attrs;                 // of parameters for attributes
  lang::TypeSubstitution types;                                 // of the rule's type parameters
  std::vector<Step> steps;  // each once, operands before what they go into; the root is the last
};

// Matches an expression, the value of `variable` if that is not null, with a pattern; or what a
// variable stands for. It sees through `let`s whose values `definitions` has. Operators with
// effects match nothing. Costs what the pattern is large; alternatives, chains and operators that
// commute are tried one after the other, so that a pattern of many of them costs their product.
std::optional<ExprMatch> match(const ExprPattern& pattern, const lang::Expr& expr,
                               const Definitions& definitions,
                               const lang::VariableRef& variable = nullptr);

// How often the code mentions each of its variables.
class MentionCounts {
 public:
  explicit MentionCounts(const lang::Expr& code);
  // Of what has taken the place of a step since. What the step mentioned stays counted, so that
  // is_closed may then say no for a match that is closed, but never yes for one that is not.
  void add(const lang::Expr& made);
  // Does nothing but the steps of the match mention those of its steps that are not its root, so
  // that the match can be replaced as one thing?
  bool is_closed(const ExprMatch& match) const;

 private:
  void count(const lang::Expr& code);

  std::unordered_map<const lang::Variable*, std::size_t> counts_;
  // That have taken the place of other variables, wherever those are mentioned.
  std::unordered_set<const lang::Variable*> spread_;
};

}  // namespace relay::opt
