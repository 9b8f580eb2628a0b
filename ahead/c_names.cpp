#include "ahead/c_names.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include <fmt/format.h>

#include "lang/letters.h"

namespace relay::ahead {

namespace {

// Of C and C++, macros of theirs and of GNU's compilers, and what the bodies of functions declare.
constexpr auto kTaken = std::to_array<std::string_view>({"NULL",         "alignas",
                                                         "alignof",      "and",
                                                         "and_eq",       "asm",
                                                         "auto",         "bitand",
                                                         "bitor",        "bool",
                                                         "break",        "case",
                                                         "catch",        "char",
                                                         "char16_t",     "char32_t",
                                                         "char8_t",      "class",
                                                         "co_await",     "co_return",
                                                         "co_yield",     "compl",
                                                         "concept",      "const",
                                                         "const_cast",   "consteval",
                                                         "constexpr",    "constinit",
                                                         "continue",     "decltype",
                                                         "default",      "delete",
                                                         "do",           "double",
                                                         "dynamic_cast", "else",
                                                         "enum",         "errno",
                                                         "explicit",     "export",
                                                         "extern",       "false",
                                                         "float",        "for",
                                                         "friend",       "goto",
                                                         "if",           "inline",
                                                         "int",          "int16_t",
                                                         "int32_t",      "int64_t",
                                                         "int8_t",       "linux",
                                                         "long",         "mutable",
                                                         "namespace",    "new",
                                                         "noexcept",     "not",
                                                         "not_eq",       "nullptr",
                                                         "operator",     "or",
                                                         "or_eq",        "private",
                                                         "protected",    "public",
                                                         "register",     "reinterpret_cast",
                                                         "relay_args",   "relay_dims",
                                                         "relay_object", "relay_results",
                                                         "requires",     "restrict",
                                                         "return",       "short",
                                                         "signed",       "sizeof",
                                                         "static",       "static_assert",
                                                         "static_cast",  "struct",
                                                         "switch",       "template",
                                                         "this",         "thread_local",
                                                         "throw",        "true",
                                                         "try",          "typedef",
                                                         "typeid",       "typename",
                                                         "uint16_t",     "uint32_t",
                                                         "uint64_t",     "uint8_t",
                                                         "union",        "unix",
                                                         "unsigned",     "using",
                                                         "virtual",      "void",
                                                         "volatile",     "wchar_t",
                                                         "while",        "xor",
                                                         "xor_eq"});

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::string c_prefix(std::string_view name) {
  std::string result;
  for (std::size_t i = 0; i < name.size();) {
    if (is_letter(name[i]) || is_digit(name[i])) {
      result += name[i++];
    } else if (lang::letter_length(name.substr(i)) == 2) {
      constexpr unsigned kLeadMask = 0x1F, kNextMask = 0x3F, kNextBits = 6;
      const unsigned code_point = ((static_cast<unsigned char>(name[i]) & kLeadMask) << kNextBits) |
                                  (static_cast<unsigned char>(name[i + 1]) & kNextMask);
      result += fmt::format("u{:04x}", code_point);
      i += 2;
    } else {
      result += '_';
      ++i;
    }
  }
  if (result.empty() || is_digit(result.front())) result.insert(0, "_");
  return result;
}

std::string c_name(std::string_view name) {
  std::string result = c_prefix(name);
  if (std::binary_search(kTaken.begin(), kTaken.end(), result)) result += '_';
  return result;
}

std::string_view c_type(lang::DType dtype) {
  switch (dtype) {
    case lang::DType::Bool:
      return "bool";
    case lang::DType::Float32:
      return "float";
    case lang::DType::Float64:
      return "double";
    case lang::DType::Int8:
      return "int8_t";
    case lang::DType::Int16:
      return "int16_t";
    case lang::DType::Int32:
      return "int32_t";
    case lang::DType::Int64:
      return "int64_t";
    case lang::DType::UInt8:
      return "uint8_t";
    case lang::DType::UInt16:
    case lang::DType::Float16:
    case lang::DType::BFloat16:
      return "uint16_t";
    case lang::DType::UInt32:
      return "uint32_t";
    case lang::DType::UInt64:
      return "uint64_t";
  }
  return {};
}

}  // namespace relay::ahead
