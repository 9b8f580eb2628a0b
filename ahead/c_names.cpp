#include "ahead/c_names.h"

#include <algorithm>
#include <array>

namespace relay::ahead {

namespace {

// Of C and C++.
constexpr auto kKeywords = std::to_array<std::string_view>(
    {"alignas", "alignof", "and",      "asm",      "auto",     "bool",     "break",    "case",
     "catch",   "char",    "class",    "const",    "continue", "default",  "delete",   "do",
     "double",  "else",    "enum",     "export",   "extern",   "false",    "float",    "for",
     "friend",  "goto",    "if",       "inline",   "int",      "long",     "mutable",  "namespace",
     "new",     "not",     "operator", "or",       "private",  "public",   "register", "restrict",
     "return",  "short",   "signed",   "sizeof",   "static",   "struct",   "switch",   "template",
     "this",    "throw",   "true",     "try",      "typedef",  "typename", "union",    "unsigned",
     "using",   "virtual", "void",     "volatile", "while",    "xor"});

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::string c_prefix(std::string_view name) {
  std::string result;
  for (const char c : name) result += is_letter(c) || is_digit(c) ? c : '_';
  if (result.empty() || is_digit(result.front())) result.insert(0, "_");
  return result;
}

std::string c_name(std::string_view name) {
  std::string result = c_prefix(name);
  if (std::find(kKeywords.begin(), kKeywords.end(), result) != kKeywords.end()) result += '_';
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
