#include "interp/ahead.h"

#include <unordered_set>

#include "interp/group.h"
#include "interp/machine.h"
#include "lang/diagnostic.h"

namespace relay::interp {

namespace {

// Null where it cannot be prepared: who calls it is told then.
FunctionCodeRef code_of(Machine& machine, const GlobalFunction& function) {
  FunctionCodeRef code = machine.global(function.name, function.type, {});
  machine.signal = Signal::None;
  machine.error.reset();
  machine.trail.clear();
  return code;
}

using Seen = std::unordered_set<const FunctionCode*>;

// A function, and what is made inside it.
void visit(const FunctionCode& code, Seen& seen,
           const std::function<void(const FunctionCode&)>& body) {
  if (!seen.insert(&code).second) return;
  body(code);
  for (const FunctionCodeRef& inner : code.inner) visit(*inner, seen, body);
}

void visit_groups(const FunctionCode& code, Seen& seen,
                  const std::function<void(const FunctionCode::GroupUse&)>& body) {
  visit(code, seen, [&](const FunctionCode& each) {
    for (const FunctionCode::GroupUse& use : each.groups) body(use);
    if (!each.native) return;
    const auto interpreted = [&](const auto& self, const flow::Function& function) -> void {
      for (const auto& part : function.interpreted) {
        if (part->code) visit_groups(static_cast<const FunctionCode&>(*part->code), seen, body);
      }
      for (const auto& local : function.locals) self(self, *local);
    };
    interpreted(interpreted, each.native->flow);
  });
}

}  // namespace

std::size_t make_native(Evaluator& evaluator, std::span<const GlobalFunction> functions) {
  std::size_t count = 0;
  evaluator.on_machine([&](Machine& machine) {
    Seen seen;
    for (const GlobalFunction& function : functions) {
      const FunctionCodeRef code = code_of(machine, function);
      if (!code) continue;
      visit(*code, seen, [&](const FunctionCode& each) { machine.native.make(each); });
      if (code->native && code->native->entry) ++count;
    }
  });
  return count;
}

void make_kernels(Evaluator& evaluator, std::span<const GlobalFunction> functions,
                  const ExtentOf& extent_of) {
  evaluator.on_machine([&](Machine& machine) {
    Seen seen;
    for (const GlobalFunction& function : functions) {
      const FunctionCodeRef code = code_of(machine, function);
      if (!code) continue;
      KnownExtents known(code->source, extent_of);
      visit_groups(*code, seen, [&](const FunctionCode::GroupUse& use) {
        (void)lang::capture([&] {
          use.group->make_kernels(machine, use.args, known, extent_of);
          return true;
        });
      });
    }
  });
}

}  // namespace relay::interp
