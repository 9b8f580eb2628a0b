#pragma once

#include <vector>

#include "lang/diagnostic.h"
#include "lang/expr.h"

// Inlining moves code of a function to the place of a call. The code keeps its place in the text,
// and with it the call by which it came there: a message shows both. Such a place is a Span of a
// Source of its own; Span::text() reads through it, and all that looks at a span's source takes
// `place_of` first. Needs no lock: only the thread that evaluates inlines.
namespace relay::lang {

// The place `inner` in the code of a function, where it has been moved to a call of the function.
// Either may be such a place itself. Cost: one look-up for each call that `inner` or `call` came
// by.
Span moved_to_call(Span inner, Span call);
// The same for all places of `body` that may be spoken of at run time: those of variables,
// constants and functions stay.
Expr moved_to_call(const Expr& body, Span call);

// A place in the text, and the calls by which the code has been moved, from the inside out.
struct Place {
  Span span;
  std::vector<Span> calls;
};
Place place_of(Span span);
// Puts each span of the diagnostic at its place in the text.
void use_text_places(Diagnostic& diagnostic);

// `expr` at another place.
Expr with_span(const Expr& expr, Span span);

}  // namespace relay::lang
