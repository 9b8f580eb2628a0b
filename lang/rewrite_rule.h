#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "lang/expr.h"

// Rewrite rules and patterns as they were written, names resolved: what parser/rules.h reads, and
// opt/pattern.h makes patterns of.
namespace relay::lang {

enum class RuleKind : std::uint8_t {
  Exact,        // `rule`: every bit of the value stays
  Approximate,  // `approximate rule`: the value of finite numbers stays, up to rounding
  Pattern,      // `pattern`: a shape of code with a name, and no replacement
};

struct RewriteRule {
  RuleKind kind = RuleKind::Exact;
  std::string name;
  Span span;
  // What it speaks of. A type is a restriction, or null; its variables are `type_params`.
  std::vector<VariableRef> params;
  std::vector<TypeVarRef> type_params;
  // Untyped. A chain of `let`s names steps of the pattern; the replacement may mention them. Forms
  // of patterns (PatternForm), and other patterns of the text, are GlobalVars of their name.
  Expr pattern;
  Expr replacement;  // null for a Pattern
  Expr condition;    // null for none
};

// What the attributes of a rule's parameter say of it.
inline constexpr std::string_view kAttributeRole = "attribute";  // stands for an attribute's value
inline constexpr std::string_view kConstantRole = "constant";    // matches constants only
inline constexpr std::string_view kOperatorRole = "operator";  // an operator: a PatternForm's name
bool has_role(const Variable& variable, std::string_view role);

// What a pattern may be made of besides expressions. The first are operators by their traits.
enum class PatternForm : std::uint8_t {
  Elementwise,  // `elementwise(p, ...)`: each element of the result is one of each operand's
  Injective,    // each element is one of the operand's, in another place: those that move
  Reduction,    // fewer elements, each made of many
  Operator,     // any at all without an effect
  Either,       // `either(p, q, ...)`: one of them, the first that matches
  Maybe,        // `maybe(p, step)`: p, or the step behind it
  Chain,        // `chain(p, step)`: p, with any number of such steps behind it, one upon the other
};
// `elementwise`; null for a name that is none.
const PatternForm* find_pattern_form(std::string_view name);
std::string_view name_of(PatternForm form);
// Of an operator parameter's annotation: `Elementwise` for PatternForm::Elementwise.
const PatternForm* find_operator_trait(std::string_view annotation);
std::vector<std::string> operator_trait_names();

// The value of an attribute that a parameter stands for, and the parameter's name; null for others.
AttrValue parameter_attribute(const std::string& name);
const std::string* attribute_parameter(const AttrValue& value);
// The value with what `value_of` gives in the place of each parameter in it.
AttrValue with_parameters(const AttrValue& written,
                          const std::function<AttrValue(const std::string& name)>& value_of);

// The key under which a call in a replacement takes the attributes of a named step.
inline constexpr std::string_view kLikeAttr = "like";

}  // namespace relay::lang
