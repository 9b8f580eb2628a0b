#include "lang/diagnostic.h"

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

std::string_view name_of(DiagnosticKind kind) {
  return kKinds[static_cast<std::size_t>(kind)].name;
}

DiagnosticClass class_of(DiagnosticKind kind) { return kKinds[static_cast<std::size_t>(kind)].cls; }

void internal_error(const char* file, int line, const std::string& what) {
  throw InternalError(std::string(file) + ":" + std::to_string(line) + ": " + what);
}

}  // namespace relay::lang
