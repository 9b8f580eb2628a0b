#pragma once

#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "lang/source.h"

namespace relay::lang {

enum class DiagnosticKind {
#define RELAY_DIAGNOSTIC(name, cls) name,
#include "lang/diagnostic_kinds.def"
#undef RELAY_DIAGNOSTIC
};

enum class DiagnosticClass { kMistake, kUnsupported, kWarning };

std::string_view name_of(DiagnosticKind kind);
DiagnosticClass class_of(DiagnosticKind kind);
inline constexpr std::size_t kDiagnosticKindCount = 0
#define RELAY_DIAGNOSTIC(name, cls) +1
#include "lang/diagnostic_kinds.def"
#undef RELAY_DIAGNOSTIC
    ;

// A place in the source and what stands there.
struct Label {
  Span span;
  std::string text;
};

// One problem, as data. Message style: lower case, no full stop, code in backticks, says what was
// seen before what would mend it. `span` is the primary place; labels point at narrower places
// (both sides of a disagreement); notes are full lines such as "help: ..." or "note: ...".
struct Diagnostic {
  DiagnosticKind kind = DiagnosticKind::SyntaxError;
  std::string message;
  Span span;
  std::vector<Label> labels;
  std::vector<std::string> notes;

  Diagnostic() = default;
  Diagnostic(DiagnosticKind kind, std::string message, Span span = {})
      : kind(kind), message(std::move(message)), span(span) {}
  Diagnostic& label(Span where, std::string text) &;
  Diagnostic&& label(Span where, std::string text) &&;
  Diagnostic& note(std::string text) &;
  Diagnostic&& note(std::string text) &&;
};

// The text a person sees: `error[Kind]: message`, the place, the source lines with the labels
// underlined, the notes. `color` adds ANSI colours. Ends with a line break.
std::string render(const Diagnostic& diagnostic, bool color = false);

// How a stage gives up inside: thrown with one or more diagnostics, caught at the stage's public
// function, which returns a Result. Never crosses a folder's border.
class Failure : public std::exception {
 public:
  explicit Failure(Diagnostic diagnostic) { diagnostics.push_back(std::move(diagnostic)); }
  explicit Failure(std::vector<Diagnostic> list) : diagnostics(std::move(list)) {}
  const char* what() const noexcept override { return diagnostics.front().message.c_str(); }
  std::vector<Diagnostic> diagnostics;
};

[[noreturn]] inline void fail(DiagnosticKind kind, std::string message, Span span = {}) {
  throw Failure(Diagnostic(kind, std::move(message), span));
}

// A value, or the diagnostics that say why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}
  Result(Diagnostic diagnostic) : state_(std::vector<Diagnostic>{std::move(diagnostic)}) {}
  Result(std::vector<Diagnostic> diagnostics) : state_(std::move(diagnostics)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  const std::vector<Diagnostic>& errors() const { return std::get<1>(state_); }
  // The value, or a thrown Failure.
  T&& or_throw() && {
    if (!ok()) throw Failure(errors());
    return std::get<0>(std::move(state_));
  }

 private:
  std::variant<T, std::vector<Diagnostic>> state_;
};

// In a handler: what the exception at hand is to the user. A Failure has its diagnostics; memory
// that runs out, and a size that no container can have, are OutOfMemory. Anything else is thrown
// on.
std::vector<Diagnostic> caught_diagnostics();

// Runs `body` and turns what it throws into an error Result, as caught_diagnostics() says.
template <class F>
auto capture(F&& body) -> Result<decltype(body())> {
  try {
    return body();
  } catch (...) {
    return caught_diagnostics();
  }
}

// A mistake of ours, never of the user's. The session reports it with the input and lives on.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};
// Somebody asked for the value of an extent that is not constant (Dim::constant). Of an operator's
// rules this says that they wait for concrete shapes: definition_at and its kin in lang/op.h.
class SymbolicExtent final : public InternalError {
 public:
  using InternalError::InternalError;
};
[[noreturn]] void internal_error(const char* file, int line, const std::string& what);

}  // namespace relay::lang

// States what must hold if our own code is right.
#define RELAY_CHECK(condition, what)                                             \
  do {                                                                           \
    if (!(condition)) ::relay::lang::internal_error(__FILE__, __LINE__, (what)); \
  } while (false)
