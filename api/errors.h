#pragma once

#include <string>
#include <vector>

#include "include/relay.h"
#include "lang/diagnostic.h"

// An error as the interface gives it: everything is text, so that it outlives the engine.
struct relay_error {
  std::string kind;
  std::string message;
  std::string text;
  std::string file;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::vector<std::string> notes;
  relay_error* next = nullptr;
};

namespace relay::api {

// The first of them, with the others behind it. Never null: where there is no memory for it, it is
// an error that says so, which relay_error_free() leaves alone.
relay_error* make_error(const std::vector<lang::Diagnostic>& diagnostics) noexcept;
relay_error* make_error(const char* kind, const std::string& message) noexcept;
// A call of this interface is wrong.
relay_error* bad_argument(const std::string& message) noexcept;
// In a handler: of the exception at hand.
relay_error* caught_error() noexcept;

}  // namespace relay::api
