#include "parser/read.h"

#include "parser/actions.h"

namespace relay::parser {
namespace {

template <class Rule>
SyntaxTree read(const lang::Source& source, bool strict, bool recovers) {
  SyntaxTree tree;
  tree.source = &source;
  tree.strict = strict;
  Builder builder(tree, recovers);
  const std::string_view text = source.text();
  tao::pegtl::memory_input<tao::pegtl::tracking_mode::lazy, tao::pegtl::eol::lf, const char*> in(
      text.data(), text.data() + text.size(), "");
  try {
    const bool matched = tao::pegtl::parse<Rule, grammar::action>(in, builder);
    RELAY_CHECK(matched, "the grammar ends without a match or a message");
  } catch (SyntaxStop& stop) {
    if (!recovers) throw;
    if (!stop.reported) tree.errors.push_back(std::move(stop.diagnostic));
    builder.drop_to(0);
    builder.leaf(Syntax::File, text.data(), text.data());
  }
  tree.root = builder.top();
  return tree;
}

}  // namespace

SyntaxTree read_text(const lang::Source& source, bool strict, bool recovers) {
  return strict ? read<grammar::strict_file>(source, true, recovers)
                : read<grammar::light_file>(source, false, recovers);
}

SyntaxTree read_type(const lang::Source& source) {
  return read<grammar::type_file>(source, true, false);
}

SyntaxTree read_attributed_names(const lang::Source& source) {
  return read<grammar::attributed_names>(source, false, false);
}

}  // namespace relay::parser
