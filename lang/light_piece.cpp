#include "lang/light_piece.h"

#include <cmath>
#include <unordered_map>
#include <utility>

#include "lang/derivative.h"
#include "lang/number_text.h"
#include "lang/tree_form.h"

namespace relay::lang {

const Infix* infix_of(std::string_view op) {
  static const std::unordered_map<std::string_view, Infix> table = {
      {"add", {"+", kSum}},
      {"subtract", {"-", kSum}},
      {"multiply", {"*", kProduct}},
      {"divide", {"/", kProduct}},
      {"mod", {"%", kProduct}},
      {"less", {"<", kComparison}},
      {"less_equal", {"<=", kComparison}},
      {"greater", {">", kComparison}},
      {"greater_equal", {">=", kComparison}},
      {"equal", {"==", kEquality}},
      {"not_equal", {"!=", kEquality}},
  };
  const auto found = table.find(op);
  return found == table.end() ? nullptr : &found->second;
}

const Infix* infix_of(Prim prim) {
  switch (prim) {
    case Prim::Add:
      return infix_of("add");
    case Prim::Sub:
      return infix_of("subtract");
    case Prim::Mul:
      return infix_of("multiply");
    case Prim::Div:
      return infix_of("divide");
    case Prim::Lt:
      return infix_of("less");
    case Prim::Le:
      return infix_of("less_equal");
    case Prim::Gt:
      return infix_of("greater");
    case Prim::Ge:
      return infix_of("greater_equal");
    case Prim::Eq:
      return infix_of("equal");
    case Prim::Ne:
      return infix_of("not_equal");
    default:
      return nullptr;
  }
}

const Constant* as_number(const Expr& expr) {
  const auto* constant = as<Constant>(expr);
  if (!constant || constant->value->rank() != 0 || constant->value->dtype() == DType::Bool)
    return nullptr;
  return std::isfinite(constant->value->number_at(0)) ? constant : nullptr;
}

Piece number_piece(std::string text) {
  const Level level = text.front() == '-' ? kPrefix : kAtom;
  return {std::move(text), level};
}

Piece plain_number(const Tensor& scalar) {
  const DType dtype = scalar.dtype();
  const std::uint64_t bits = scalar.bits_at(0);
  return number_piece(is_float(dtype) ? float_text(dtype, bits, true) : element_text(dtype, bits));
}

std::string braces(const std::string& body, std::size_t used) {
  const bool fits = body.find('\n') == std::string::npos && body.size() + used <= kLongestLine;
  return fits ? "{ " + body + " }" : "{\n" + indent(body) + "\n}";
}

void reserve_words(UniqueNames& names) {
  for (const char* word :
       {"let",      "fn",  "def",      "if",        "else",   "type",         "match",  "extern",
        "free_var", "ref", "ref_read", "ref_write", "for",    "sum",          "prod",   "max",
        "min",      "all", "any",      "argmax",    "argmin", "with",         "import", "scatter",
        "prim",     "dim", "True",     "False",     "meta",   "stop_gradient"}) {
    names.reserve(word);
  }
  for (const std::string& form : derivative_names()) names.reserve(form);
  for (const std::string& form : tree_form_names()) names.reserve(form);
}

}  // namespace relay::lang
