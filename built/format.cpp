#include "built/format.h"

#include "lang/diagnostic.h"
#include "lang/dtype.h"
#include "lang/primitive.h"

namespace relay::built {

namespace {

// To be raised when the format changes, or an enum without names that is written as a number.
constexpr std::uint64_t kFormat = 1;

}  // namespace

std::uint64_t version_number() {
  static const std::uint64_t number = [] {
    std::string names;
    const auto add = [&names](std::string_view name) { names.append(name).append("\n"); };
#define RELAY_EXPR(name) add(#name);
#include "lang/expr_kinds.def"
#undef RELAY_EXPR
#define RELAY_PRIMITIVE(name, text, arity, operands, result) add(text);
#include "lang/primitives.def"
#undef RELAY_PRIMITIVE
    for (int i = 0; i < lang::kDTypeCount; ++i) add(lang::name_of(static_cast<lang::DType>(i)));
    for (auto op = lang::ReduceOp::Sum; op <= lang::ReduceOp::Set;
         op = static_cast<lang::ReduceOp>(static_cast<int>(op) + 1))
      add(lang::name_of(op));
    return lang::checksum(names, kFormat);
  }();
  return number;
}

void fail_damaged() {
  lang::fail(lang::DiagnosticKind::BadData, "the bytes of a built program are damaged");
}

std::uint64_t checksum_of(std::string_view bytes) {
  return lang::checksum(bytes.substr(kHeaderSize), lang::checksum(bytes.substr(0, kChecksumAt), 0));
}

bool is_one_atom(const lang::Dim& dim) {
  return dim.constant_part() == 0 && dim.terms().size() == 1 &&
         dim.terms().front().coefficient == 1 && dim.terms().front().atoms.size() == 1;
}

}  // namespace relay::built
