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
  Closure,            // opt: gives a function with its captures, and nothing else
  Checkpoint,         // lang: a derivative keeps its arguments only, and computes the rest again
  GlobalSymbol,       // parser: the name by which other programs link it; kept for Relay
  Gradient,           // lang: the name of the global function that is its derivative
  Hash,               // opt: of a group: equal ones have equal hashes
  InheritedSchedule,  // lang: of a derivative: the schedule of the function (lang/schedule.h)
  Inline,             // opt: not 0: its body takes the place of its calls
  Known,              // ad: it stays a call by which a copy of a function is told from others
  Place,              // ad: where in a program the closure is made: a number
  Primitive,          // opt: a group of operators that is one kernel
  Schedule,           // lang: how its index notation runs (lang/schedule.h)
  StepSchedule,       // lang: of a function that stands for it: a schedule with parameters
  StopFusion,         // lang: the identity, at which groups end (lang/border.h)
  VirtualDevice,      // lang: where its result lives (lang/virtual_device.h)
  // Of external compilers (lang/external_compiler.h).
  Compiler,                // lang: the one that runs it
  Composite,               // opt: one step of an external compiler, which knows it by this name
  Extern,                  // parser: it is defined elsewhere; kept for Relay
  PartitionedFromPattern,  // opt: the operators of a composite, one behind another
  WantsCompiler,           // opt: `compiler="x"`: its operators are to go to that one
};

// Is it the name of a fact that people write and read? The others are marks between passes, which
// are not shown where code is explained.
bool is_fact_for_people(std::string_view name);

// Its value; null if the function, or the attributes, have it not.
const AttrValue* find_fact(const AttrsRef& attrs, FunctionFact fact);
bool has_fact(const Function& function, FunctionFact fact);
// The value of a fact that is a text; null where there is none.
const std::string* find_text(const Function& function, FunctionFact fact);
// Is it a function that is a group of operators?
bool is_group(const Expr& expr);
// Is it a function whose body belongs together, so that passes leave it as it is: a group, a
// composite, what an external compiler runs?
bool is_unit(const Expr& expr);
// The external compiler that runs the function; null: none does.
const std::string* compiler_of(const Expr& function);

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
