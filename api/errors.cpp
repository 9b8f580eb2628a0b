#include "api/errors.h"

#include <exception>
#include <memory>
#include <new>

#include <fmt/format.h>

namespace relay::api {

using lang::Diagnostic;

namespace {

// For when there is no memory to tell of anything else.
relay_error& no_memory() {
  static auto* const error =
      new relay_error{"OutOfMemory", "there is no memory left", "", "", 0, 0, {}, nullptr};
  return *error;
}

std::unique_ptr<relay_error> told(const Diagnostic& diagnostic) {
  auto error = std::make_unique<relay_error>();
  error->kind = std::string(lang::name_of(diagnostic.kind));
  error->message = diagnostic.message;
  error->text = lang::render(diagnostic);
  error->notes = diagnostic.notes;
  if (const lang::Span span = diagnostic.span) {
    const lang::Source::Position place = span.source->place(span.begin);
    error->file = span.source->name();
    error->line = place.line;
    error->column = place.column;
  }
  return error;
}

}  // namespace

relay_error* make_error(const std::vector<Diagnostic>& diagnostics) noexcept try {
  std::vector<std::unique_ptr<relay_error>> made;
  for (const Diagnostic& each : diagnostics) made.push_back(told(each));
  if (made.empty()) return make_error("InternalError", "a call has failed without an error");
  std::string all;
  for (const auto& each : made) all += each->text;
  made.front()->text = std::move(all);
  for (std::size_t i = 0; i + 1 < made.size(); ++i) made[i]->next = made[i + 1].get();
  relay_error* const first = made.front().get();
  for (auto& each : made) static_cast<void>(each.release());
  return first;
} catch (...) {
  return &no_memory();
}

relay_error* make_error(const char* kind, const std::string& message) noexcept try {
  auto error = std::make_unique<relay_error>();
  error->kind = kind;
  error->message = message;
  error->text = fmt::format("error[{}]: {}\n", kind, message);
  return error.release();
} catch (...) {
  return &no_memory();
}

relay_error* bad_argument(const std::string& message) noexcept {
  return make_error("BadArgument", message);
}

relay_error* caught_error() noexcept {
  try {
    throw;
  } catch (const lang::Failure& failure) {
    return make_error(failure.diagnostics);
  } catch (const std::bad_alloc&) {
    return make_error("OutOfMemory", "the memory that a run may take is used up");
  } catch (const std::exception& error) {
    return make_error("InternalError", error.what());
  } catch (...) {
    return make_error("InternalError", "an exception of an unknown type");
  }
}

}  // namespace relay::api

extern "C" {

const char* relay_error_kind(const relay_error* error) { return error ? error->kind.c_str() : ""; }
const char* relay_error_message(const relay_error* error) {
  return error ? error->message.c_str() : "";
}
const char* relay_error_text(const relay_error* error) { return error ? error->text.c_str() : ""; }
const char* relay_error_file(const relay_error* error) { return error ? error->file.c_str() : ""; }
uint32_t relay_error_line(const relay_error* error) { return error ? error->line : 0; }
uint32_t relay_error_column(const relay_error* error) { return error ? error->column : 0; }
size_t relay_error_note_count(const relay_error* error) { return error ? error->notes.size() : 0; }
const char* relay_error_note(const relay_error* error, size_t index) {
  return error && index < error->notes.size() ? error->notes[index].c_str() : nullptr;
}
const relay_error* relay_error_next(const relay_error* error) {
  return error ? error->next : nullptr;
}

void relay_error_free(relay_error* error) {
  if (error == &relay::api::no_memory()) return;
  while (error) {
    relay_error* const next = error->next;
    delete error;
    error = next;
  }
}

}  // extern "C"
