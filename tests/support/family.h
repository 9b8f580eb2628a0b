#pragma once

#include <span>
#include <string>

namespace relay::tests {

// Programs of one form, of any size: what is nested, stacked or repeated in them. Each is given as
// lines or as an expression in itself.
struct Family {
  const char* name;
  const char* first;  // line 0, or the innermost expression
  const char* next;   // {0} is the number, {1} the one before; of an expression, {2} that inside
  bool is_nested;     // an expression in itself
  const char* last;   // {0}: the last number, of an expression the whole of it
};

// Those that have cost more than they should somewhere, and others like them.
std::span<const Family> families();

std::string program_of(const Family& family, int size);

}  // namespace relay::tests
