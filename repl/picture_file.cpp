#include "repl/picture_file.h"

#include "lang/letters.h"
#include "repl/command_parts.h"

namespace relay::repl {

namespace {

// `loss.svg`, `/tmp/f.png`: a letter follows the last dot. A field that is read, as `p.w`, looks
// the same, and stands in parentheses where it is compared.
bool is_file_name(std::string_view word) {
  const std::size_t dot = word.rfind('.');
  return dot != std::string_view::npos && dot > 0 && dot + 1 < word.size() &&
         lang::is_ascii_letter(word[dot + 1]) &&
         word.find_first_of("()[]{},;\"") == std::string_view::npos;
}

}  // namespace

PictureFile split_picture_file(std::string_view argument) {
  argument = trimmed(argument);
  const bool is_quoted = argument.size() > 1 && argument.back() == '"';
  const std::size_t begin =
      is_quoted ? argument.rfind('"', argument.size() - 2) : argument.find_last_of(" \t>") + 1;
  if (begin == std::string_view::npos || begin == 0) return {argument, ""};
  const std::string_view before = trimmed(argument.substr(0, begin));
  if (!before.ends_with('>')) return {argument, ""};
  std::string_view word = argument.substr(begin);
  if (is_quoted) word = word.substr(1, word.size() - 2);
  if (word.empty() || (!is_quoted && !is_file_name(word))) return {argument, ""};
  return {trimmed(before.substr(0, before.size() - 1)), std::string(word)};
}

}  // namespace relay::repl
