#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "lang/expr.h"

// What the compiler knows of a function and writes at it: printed among its attributes, and read
// back. Attributes that are none of these mean nothing here, and are kept.
namespace relay::lang {

// Each with the folder that says what it means.
enum class FunctionFact : std::uint8_t {
  Closure,        // opt: gives a function with its captures, and nothing else
  Checkpoint,     // lang: a derivative keeps its arguments only, and computes the rest again
  GlobalSymbol,   // parser: the name by which other programs link it; kept for Relay
  Gradient,       // lang: the name of the global function that is its derivative
  Hash,           // opt: of a group: equal ones have equal hashes
  Inline,         // opt: not 0: its body takes the place of its calls
  Known,          // ad: it stays a call by which a copy of a function is told from others
  Place,          // ad: where in a program the closure is made: a number
  Primitive,      // opt: a group of operators that is one kernel
  StopFusion,     // lang: the identity, at which groups end (lang/border.h)
  VirtualDevice,  // lang: where its result lives (lang/virtual_device.h)
};

// Is it the name of a fact that people write and read? The others are marks between passes, which
// are not shown where code is explained.
bool is_fact_for_people(std::string_view name);

// Its value; null if the function, or the attributes, have it not.
const AttrValue* find_fact(const AttrsRef& attrs, FunctionFact fact);
bool has_fact(const Function& function, FunctionFact fact);
// Is it a function that is a group of operators?
bool is_group(const Expr& expr);

// Attributes with the fact, alone or behind others.
AttrsRef with_fact(FunctionFact fact, AttrValue value = std::int64_t{1},
                   const AttrsRef& others = nullptr);
// The function with other attributes.
Expr with_attrs(const Function& function, AttrsRef attrs);
// The function without these; itself if it has none of them.
Expr without_facts(const Expr& function, std::initializer_list<FunctionFact> facts);
// The same of all marks between passes.
Expr without_marks(const Expr& function);

}  // namespace relay::lang
