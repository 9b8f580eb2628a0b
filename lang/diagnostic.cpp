#include "lang/diagnostic.h"

#include <new>
#include <stdexcept>
#include <utility>

#include "lang/memory.h"
#include "lang/stop.h"

namespace relay::lang {
namespace {

constexpr DiagnosticClass kMistake = DiagnosticClass::kMistake;
constexpr DiagnosticClass kUnsupported = DiagnosticClass::kUnsupported;
constexpr DiagnosticClass kWarning = DiagnosticClass::kWarning;

struct KindInfo {
  std::string_view name;
  DiagnosticClass cls;
};
constexpr KindInfo kKinds[] = {
#define RELAY_DIAGNOSTIC(name, cls) {#name, cls},
#include "lang/diagnostic_kinds.def"
#undef RELAY_DIAGNOSTIC
};

}  // namespace

// Out of line, as there are hundreds of uses, and GCC 12 warns of what it inlines of strings here.
Diagnostic& Diagnostic::label(Span where, std::string text) & {
  labels.push_back({where, std::move(text)});
  return *this;
}
Diagnostic&& Diagnostic::label(Span where, std::string text) && {
  return std::move(label(where, std::move(text)));
}
Diagnostic& Diagnostic::note(std::string text) & {
  notes.push_back(std::move(text));
  return *this;
}
Diagnostic&& Diagnostic::note(std::string text) && { return std::move(note(std::move(text))); }

std::string_view name_of(DiagnosticKind kind) {
  return kKinds[static_cast<std::size_t>(kind)].name;
}

DiagnosticClass class_of(DiagnosticKind kind) { return kKinds[static_cast<std::size_t>(kind)].cls; }

void internal_error(const char* file, int line, const std::string& what) {
  poll();  // what a request to stop has cut short may be what is missing here
  throw InternalError(std::string(file) + ":" + std::to_string(line) + ": " + what);
}

std::vector<Diagnostic> caught_diagnostics() {
  const Unfailing telling;  // that there is no memory, too
  const auto no_memory = [] {
    Diagnostic error(DiagnosticKind::OutOfMemory, "out of memory");
    if (!memory_fits(0)) error.note(memory_limit_help());
    return std::vector{std::move(error)};
  };
  try {
    throw;
  } catch (Failure& failure) {
    return std::move(failure.diagnostics);
  } catch (const std::bad_alloc&) {
    return no_memory();
  } catch (const std::length_error&) {
    return no_memory();
  }
}

}  // namespace relay::lang
