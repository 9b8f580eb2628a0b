#pragma once

#include "lang/diagnostic.h"

// The way from a function that is differentiated to what in it cannot be: a failure in the
// derivative of a function that it calls says where it is called, call by call.
namespace relay::ad {

// Adds the call at `call` to a failure in the derivative of what it calls.
void add_call(lang::Failure& failure, lang::Span call);

// `derive()`, whose failures have come through the call at `call`.
template <class F>
auto through_call(lang::Span call, F&& derive) {
  try {
    return derive();
  } catch (lang::Failure& failure) {
    add_call(failure, call);
    throw;
  }
}

// `derive()`, whose failures are at `place` where they say no place.
template <class F>
auto placed_at(lang::Span place, F&& derive) {
  try {
    return derive();
  } catch (lang::Failure& failure) {
    for (auto& diagnostic : failure.diagnostics) {
      if (!diagnostic.span) diagnostic.span = place;
    }
    throw;
  }
}

}  // namespace relay::ad
