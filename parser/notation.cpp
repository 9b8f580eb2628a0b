#include "parser/notation.h"

#include "parser/comments.h"

namespace relay::parser {
namespace {

bool begins_with_header(std::string_view text) {
  const Gap gap = skip_gap(text.data(), text.data() + text.size(), Breaks::Skip);
  return gap.end != text.data() + text.size() && *gap.end == '#';
}

}  // namespace

bool is_strict(const lang::Source& source, Notation notation) {
  return notation == Notation::Auto ? begins_with_header(source.text())
                                    : notation == Notation::Strict;
}

}  // namespace relay::parser
