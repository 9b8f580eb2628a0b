#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "api/engine.h"
#include "lang/type.h"
#include "lang/value.h"

namespace relay::api {

// A number as a program writes it, whose dtype is settled where it is used.
struct Number {
  bool is_integer;
  double real;           // if it is none
  std::int64_t integer;  // if it is one
};

// What a function has been made at the types of arguments that it has been called with.
struct Specialised {
  std::vector<lang::Type> params;  // null: the argument stands in the text of the call, ...
  std::vector<char> numbers;  // is the argument a number, which gets the type, 'i' or 'f'; or 0
  std::vector<std::string> codes;  // ... as this
  lang::Value function;            // of the other arguments
  lang::Type result;
};

}  // namespace relay::api

// A value that somebody outside holds. Only the count may be touched out of turn, and what
// relay_tensor_view() reads.
struct relay_value {
  std::atomic<std::uint32_t> count{1};
  relay::api::CoreRef core;  // null: tensors and tuples of them, which are of no engine
  relay::lang::Value value;  // Empty: a function that is a text, whose types its arguments settle
  relay::lang::Type type;    // null, likewise
  bool is_open = false;      // the type has variables, as that of an empty list has
  std::optional<relay::api::Number> number;  // then value and type are what it is by itself
  std::string code;    // an expression for it in a program; empty: it has none yet
  std::string scheme;  // of such a function: its type
  std::string type_text;
  std::string value_text;
  std::vector<relay::api::Specialised> specialised;  // the last one that was used first
  std::uint64_t generation = 0;                      // of the engine, when they were made

  std::once_flag is_viewed;
  DLTensor view{};
  std::uint64_t bits = 0;             // of a scalar
  std::vector<std::int64_t> extents;  // of the view, and its strides
};

namespace relay::api {

// A new one, as the functions of the interface give it. The type may still have `?` in it.
relay_value* make_value(const CoreRef& core, lang::Value value, const lang::Type& type);
// A function that is a text.
relay_value* make_function(const CoreRef& core, std::string code, std::string scheme);
// Can it go into a call of that engine? An error names the argument as `what`.
relay_error* check_owner(const relay_value* value, const CoreRef& core, const std::string& what);
// The constructor that a function is, or that has made data; null: neither.
const lang::Constructor* constructor_of(const relay_value& value);
// An expression that means this value, in its engine.
const std::string& code_of(relay_value& value);

}  // namespace relay::api
