#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "lang/expr.h"
#include "lang/module.h"
#include "lang/pointer_map.h"

// Private to the partial evaluator: values of which a part is known, and the code that is left.
namespace relay::opt::partial {

struct Code;
struct Frame;
struct Step;

// What is known of a value.
enum class Known : std::uint8_t {
  Nothing,
  Constant,      // `atom` is it
  Callee,        // `atom` is a global function, an operator or a constructor with fields
  Tuple,         // of `fields`
  Construction,  // of `fields` by `constructor`
  Closure,       // `code` over the variables of `frame`
  Reference      // that of number `reference`
};

// Made once, never changed (but for the mark). Whoever evaluates owns them all.
struct Value {
  Known known = Known::Nothing;
  mutable bool is_exposed = false;  // Heap::expose has been here
  lang::Type type;
  lang::Expr atom;       // what stands for it in the code that is left
  Step* step = nullptr;  // what makes it there; null: it is there anyway
  std::vector<const Value*> fields = {};
  const lang::Constructor* constructor = nullptr;
  lang::Expr code = nullptr;
  Frame* frame = nullptr;
  std::size_t reference = 0;
  // Constructions and closures in what is known of it, as a tree; saturates.
  std::uint64_t size = 0;
};
inline constexpr std::uint64_t kMostSize = std::uint64_t{1} << 40U;

// The variables of one call of a function, over those of where the function was made.
struct Frame {
  Frame* outer = nullptr;
  lang::PointerMap<lang::Variable, const Value*> values = {};
  lang::Span call = {};  // by which its code came here; none: it is the code at hand
  int calls = 0;         // how many calls there are in `call`

  // Null for a variable that nobody has bound.
  const Value* find(const lang::Variable* variable) const {
    for (const Frame* at = this; at; at = at->outer) {
      if (const auto* found = at->values.find(variable)) return *found;
    }
    return nullptr;
  }
};

// The variables that functions mention and do not bind. The functions must live as long as this.
class Captures {
 public:
  const std::vector<lang::VariableRef>& of(const lang::Expr& function);

 private:
  std::unordered_map<const lang::ExprNode*, std::vector<lang::VariableRef>> known_;
};

// A binding of the code that is left. It is there to be used, or from the beginning (`is_needed`):
// what may have an effect, or fail.
struct Step {
  enum class Form : std::uint8_t { Whole, Closure, If, Match };
  Form form = Form::Whole;
  bool is_needed = false;
  lang::VariableRef variable;
  lang::Expr value = nullptr;            // Whole: it. Else the node that it comes from
  std::vector<const Value*> parts = {};  // what is needed with it
  const Value* closure = nullptr;        // Closure
  std::vector<lang::VariableRef> params = {};
  const Value* subject = nullptr;  // the condition, or what is matched
  std::vector<lang::PatternRef> patterns = {};
  bool is_complete = true;  // Match
  std::vector<std::unique_ptr<Code>> bodies = {};
  bool is_reference = false;  // makes the one of number `reference`
  std::size_t reference = 0;
  lang::Span span = {};
};

struct Code {
  std::vector<std::unique_ptr<Step>> steps;
  const Value* result = nullptr;
};

}  // namespace relay::opt::partial
