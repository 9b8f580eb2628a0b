#include "parser/read.h"

#include "parser/actions.h"

namespace relay::parser {
namespace {

template <class Rule>
SyntaxTree read(const lang::Source& source, bool strict) {
  SyntaxTree tree;
  tree.source = &source;
  tree.strict = strict;
  Builder builder(tree);
  const std::string_view text = source.text();
  tao::pegtl::memory_input<tao::pegtl::tracking_mode::lazy, tao::pegtl::eol::lf, const char*> in(
      text.data(), text.data() + text.size(), "");
  const bool matched = tao::pegtl::parse<Rule, grammar::action>(in, builder);
  RELAY_CHECK(matched, "the grammar ends without a match or a message");
  tree.root = builder.top();
  return tree;
}

}  // namespace

SyntaxTree read_text(const lang::Source& source, bool strict) {
  return strict ? read<grammar::strict_file>(source, true)
                : read<grammar::light_file>(source, false);
}

SyntaxTree read_type(const lang::Source& source) { return read<grammar::type_file>(source, true); }

}  // namespace relay::parser
