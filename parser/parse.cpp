#include "parser/parse.h"

#include "parser/comments.h"
#include "parser/notation.h"
#include "parser/read.h"
#include "parser/resolve.h"

namespace relay::parser {

lang::Result<Parsed> parse(const lang::Source& source, const lang::Module& scope,
                           Notation notation) {
  try {
    const SyntaxTree tree = read_text(source, is_strict(source, notation));
    return resolve(tree, scope);
  } catch (SyntaxStop& stop) {
    return std::move(stop.diagnostic);
  } catch (lang::Failure& failure) {
    return std::move(failure.diagnostics);
  }
}

Completeness completeness(std::string_view text) {
  const lang::Source source("", std::string(text));
  // Documentation waits for its item.
  const Gap gap = skip_gap(text.data(), text.data() + text.size(), Breaks::Skip, true);
  if (gap.end == text.data() + text.size() && gap.doc_begin) return Completeness::Incomplete;
  try {
    read_text(source, is_strict(source, Notation::Auto));
    return Completeness::Complete;
  } catch (SyntaxStop& stop) {
    return stop.at_end ? Completeness::Incomplete : Completeness::Complete;
  }
}

lang::Result<lang::Type> parse_type(const lang::Source& source, const lang::Module& scope) {
  try {
    const SyntaxTree tree = read_type(source);
    return resolve_type(tree, scope);
  } catch (SyntaxStop& stop) {
    return std::move(stop.diagnostic);
  } catch (lang::Failure& failure) {
    return std::move(failure.diagnostics);
  }
}

}  // namespace relay::parser
