#include "lang/infix.h"

#include <algorithm>
#include <array>

namespace relay::lang {

namespace {

constexpr std::array kInfix = {
    Infix{"*", 12, "multiply"},      Infix{"/", 12, "divide"},     Infix{"%", 12, "mod"},
    Infix{"@", 12, "matmul"},        Infix{"+", 10, "add"},        Infix{"-", 10, "subtract"},
    Infix{"<", 8, "less"},           Infix{"<=", 8, "less_equal"}, Infix{">", 8, "greater"},
    Infix{">=", 8, "greater_equal"}, Infix{"==", 7, "equal"},      Infix{"!=", 7, "not_equal"},
    Infix{"&&", 5, "logical_and"},   Infix{"||", 4, "logical_or"},
};

template <class Question>
const Infix* find(const Question& question) {
  const auto* found = std::find_if(kInfix.begin(), kInfix.end(), question);
  return found == kInfix.end() ? nullptr : found;
}

}  // namespace

const Infix* find_infix(std::string_view symbol) {
  return find([&](const Infix& each) { return each.symbol == symbol; });
}

const Infix* infix_of(std::string_view op) {
  return find([&](const Infix& each) { return each.op == op; });
}

}  // namespace relay::lang
