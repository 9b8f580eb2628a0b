#include "lang/light_piece.h"

#include <cmath>
#include <utility>

#include "lang/derivative.h"
#include "lang/number_text.h"
#include "lang/tree_form.h"

namespace relay::lang {

namespace {

// `&&` and `||` are looser. They ask for less than the operators do (lang/short_circuit.h).
constexpr int kLeastPrecedence = 7;

}  // namespace

const Infix* printed_infix(std::string_view op) {
  const Infix* infix = infix_of(op);
  return infix && infix->precedence >= kLeastPrecedence ? infix : nullptr;
}

const Infix* printed_infix(Prim prim) {
  switch (prim) {
    case Prim::Add:
      return find_infix("+");
    case Prim::Sub:
      return find_infix("-");
    case Prim::Mul:
      return find_infix("*");
    case Prim::Div:
      return find_infix("/");
    case Prim::Lt:
      return find_infix("<");
    case Prim::Le:
      return find_infix("<=");
    case Prim::Gt:
      return find_infix(">");
    case Prim::Ge:
      return find_infix(">=");
    case Prim::Eq:
      return find_infix("==");
    case Prim::Ne:
      return find_infix("!=");
    default:
      return nullptr;
  }
}

Level level_of(const Infix& infix) {
  if (infix.precedence >= 12) return kProduct;
  if (infix.precedence >= 10) return kSum;
  return infix.precedence >= 8 ? kComparison : kEquality;
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
       {"let",      "fn",   "def",      "if",        "else",   "type", "match",        "extern",
        "free_var", "ref",  "ref_read", "ref_write", "for",    "sum",  "prod",         "max",
        "min",      "all",  "any",      "argmax",    "argmin", "dot",  "with",         "import",
        "scatter",  "prim", "dim",      "True",      "False",  "meta", "stop_gradient"}) {
    names.reserve(word);
  }
  for (const std::string& form : derivative_names()) names.reserve(form);
  for (const std::string& form : tree_form_names()) names.reserve(form);
}

}  // namespace relay::lang
