#pragma once

#include <string_view>
#include <vector>

#include "lang/build.h"
#include "lang/expr.h"

// Operators by which instrumented code tells its host what it computes (interp::Host::trace). The
// attribute `place` says where.
namespace relay::repl {

inline constexpr std::string_view kTraceStep = "trace.step";        // value -> number of the event
inline constexpr std::string_view kTraceValue = "trace.value";      // value, number -> value
inline constexpr std::string_view kTraceAdjoint = "trace.adjoint";  // adjoint, number -> adjoint
inline constexpr std::string_view kTraceTangent = "trace.tangent";  // tangent, number -> tangent
inline constexpr std::string_view kTraceMark = "trace.mark";        // () -> ()
inline constexpr std::string_view kTraceBegin = "trace.begin";      // () -> (); before a value

// `span`: where an error of the host has happened, for the calls by which it came. The derivative
// of `trace.value` tells the adjoint or the tangent; that of the others tells
// nothing.
lang::Expr trace_call(std::string_view name, std::vector<lang::Expr> args,
                      const lang::AttrsRef& attrs, const lang::Type& type, lang::Span span = {});

// Binds a call that tells that a place is come to: `trace.mark`, or `name`.
void bind_mark(lang::Block& block, const lang::AttrsRef& attrs, std::string_view name = kTraceMark);
// Binds `trace.step` of an atom; the number of the event, as an atom.
lang::Expr bind_step(lang::Block& block, const lang::Expr& value, const lang::AttrsRef& attrs,
                     lang::Span span = {});

// A check of dimensions that inference has put in: nobody has written it.
bool is_dim_check(const lang::Expr& expr);

// A place of the code of one watch (repl/watcher.h), as the attribute has it.
struct TracePlaceNumber {
  std::int64_t watch;
  std::size_t index;
};
lang::AttrsRef trace_place(TracePlaceNumber place);
TracePlaceNumber trace_place_of(const lang::Attrs& attrs);

}  // namespace relay::repl
