#include "parser/borrowed_characters.h"

#include <array>

#include <fmt/format.h>

#include "lang/letters.h"

namespace relay::parser {
namespace {

struct Character {
  std::string_view theirs;
  std::string_view ours;
};

constexpr std::array kSigns = {
    Character{"−", "-"},  Character{"–", "-"},  Character{"—", "-"},      Character{"×", "*"},
    Character{"·", "*"},  Character{"⋅", "*"},  Character{"÷", "/"},      Character{"∕", "/"},
    Character{"≤", "<="}, Character{"≥", ">="}, Character{"≠", "!="},     Character{"→", "->"},
    Character{"⇒", "=>"}, Character{"∧", "&&"}, Character{"∨", "||"},     Character{"¬", "!"},
    Character{"←", "="},  Character{"，", ","}, Character{"；", ";"},     Character{"（", "("},
    Character{"）", ")"}, Character{"…", ".."}, Character{"\u00A0", " "},
};

// Greek letters, but the micro sign, that are none of a name.
constexpr std::array kLookAlikes = {
    Character{"Α", "A"}, Character{"Β", "B"}, Character{"Ε", "E"}, Character{"Ζ", "Z"},
    Character{"Η", "H"}, Character{"Ι", "I"}, Character{"Κ", "K"}, Character{"Μ", "M"},
    Character{"Ν", "N"}, Character{"Ο", "O"}, Character{"Ρ", "P"}, Character{"Τ", "T"},
    Character{"Υ", "Y"}, Character{"Χ", "X"}, Character{"ο", "o"},
};

constexpr std::string_view kMicroSign = "µ";
constexpr std::string_view kMu = "μ";
constexpr std::array kOpeningQuotes = {std::string_view("“"), std::string_view("„"),
                                       std::string_view("«"), std::string_view("”")};
constexpr std::array kClosingQuotes = {std::string_view("”"), std::string_view("“"),
                                       std::string_view("»")};

std::optional<Edit> quoted(std::string_view text, std::uint32_t at) {
  const std::string_view rest = text.substr(at);
  for (const std::string_view opening : kOpeningQuotes) {
    if (!rest.starts_with(opening)) continue;
    for (const std::string_view closing : kClosingQuotes) {
      const std::size_t close = rest.find(closing, opening.size());
      if (close == std::string_view::npos) continue;
      const std::string ours =
          fmt::format("\"{}\"", rest.substr(opening.size(), close - opening.size()));
      return Edit{ours, at, fmt::format("help: quotes are straight: `{}`", ours),
                  static_cast<std::uint32_t>(close + closing.size())};
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Edit> other_character(std::string_view text, std::uint32_t at) {
  const std::string_view rest = text.substr(at);
  for (const Character& each : kSigns) {
    if (rest.starts_with(each.theirs))
      return Edit{std::string(each.ours), at, fmt::format("help: write `{}`", each.ours),
                  static_cast<std::uint32_t>(each.theirs.size())};
  }
  for (const Character& each : kLookAlikes) {
    if (rest.starts_with(each.theirs))
      return Edit{std::string(each.ours), at,
                  fmt::format("help: this is a Greek letter: write the Latin `{}`", each.ours),
                  static_cast<std::uint32_t>(each.theirs.size())};
  }
  if (rest.starts_with(kMicroSign))
    return Edit{std::string(kMu), at, "help: this is the sign of micro: write the Greek letter `μ`",
                static_cast<std::uint32_t>(kMicroSign.size())};
  return quoted(text, at);
}

std::string_view help_for_character(std::string_view rest) {
  if (rest.empty() || !lang::is_word_byte(rest[0]) || lang::word_length(rest) != 0) return {};
  return "help: names are made of the letters of ASCII, Greek letters, digits and `_`";
}

}  // namespace relay::parser
