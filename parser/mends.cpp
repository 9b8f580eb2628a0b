#include "parser/mends.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "parser/messages.h"
#include "parser/read.h"

namespace relay::parser {
namespace {

constexpr std::size_t kLongestText = std::size_t{64} << 10;
constexpr std::size_t kMostMends = 20;

struct Edit {
  std::string insertion;
  std::uint32_t at = 0;
  std::string help;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// What may have been meant, likely things first.
std::vector<Edit> candidates(const lang::Diagnostic& error, std::string_view text, bool strict) {
  const std::uint32_t at = error.span.begin;
  const std::string_view rest = text.substr(at);
  const std::string token = describe_token(text, at);
  const auto expects = [&](std::string_view what) {
    return error.message.find(what) != std::string::npos;
  };
  std::vector<Edit> edits;
  if (strict && rest.size() > 1 && rest[0] == '-' && is_digit(rest[1])) {
    edits.push_back({" ", at + 1,
                     "help: for a subtraction put a space behind `-`: right before a digit it "
                     "belongs to the number"});
  }
  if (rest.starts_with('=') && !rest.starts_with("=="))
    edits.push_back({"=", at, "help: to compare, write `==`"});
  for (const std::string_view mark : {",", ")", "]", "}"}) {
    if (expects(fmt::format("`{}`", mark)))
      edits.push_back(
          {std::string(mark), at, fmt::format("help: put `{}` before {}", mark, token)});
  }
  return edits;
}

std::size_t count_errors(const std::string& text, bool strict) {
  const lang::Source source("", text);
  return read_text(source, strict, true).errors.size();
}

}  // namespace

void add_mends(SyntaxTree& tree) {
  const std::string_view text = tree.source->text();
  if (text.size() > kLongestText) return;
  const std::size_t before = tree.errors.size();
  for (std::size_t i = 0; i < std::min(before, kMostMends); ++i) {
    lang::Diagnostic& error = tree.errors[i];
    if (error.kind != lang::DiagnosticKind::SyntaxError || error.span.begin >= text.size())
      continue;
    for (const Edit& edit : candidates(error, text, tree.strict)) {
      std::string mended(text);
      mended.insert(edit.at, edit.insertion);
      if (count_errors(mended, tree.strict) >= before) continue;
      error.note(edit.help);
      break;
    }
  }
}

}  // namespace relay::parser
