#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "parser/tokens.h"
#include "server/expectations.h"
#include "server/features.h"

namespace relay::server {

std::vector<Expectation> expectations_in(std::string_view text) {
  constexpr std::string_view kExpect = "// expect:";
  std::vector<Expectation> found;
  for (const parser::Token& token : parser::tokens_of(text)) {
    if (token.kind != parser::TokenKind::Comment) continue;
    std::string_view comment = text.substr(token.begin, token.end - token.begin);
    if (!comment.starts_with(kExpect)) continue;
    comment = comment.substr(0, comment.find('\n'));
    const std::size_t end = token.begin + comment.size();
    comment.remove_prefix(kExpect.size());
    comment.remove_prefix(std::min(comment.find_first_not_of(' '), comment.size()));
    comment = comment.substr(0, comment.find_last_not_of(" \r") + 1);
    found.push_back({token.begin, end, std::string(comment)});
  }
  return found;
}

Json code_lenses(Workspace& workspace, const Json& params) {
  Document& document = workspace.document(params);
  Json lenses = Json::array();
  for (const Expectation& each : expectations_in(document.text())) {
    lenses.push_back({{"range", document.lines().range(document.text(), each.begin, each.end)},
                      {"data", {{"uri", document.uri()}, {"at", each.begin}}}});
  }
  return lenses;
}

namespace {

// The item whose output a comment is about: the last that begins before it and has some.
const Json* item_before(const Json& outcome, std::size_t at) {
  const Json* found = nullptr;
  for (const Json& item : outcome) {
    const bool says_something = item.contains("error") || !item["lines"].empty();
    if (item["begin"].get<std::size_t>() < at && says_something) found = &item;
  }
  return found;
}

std::string title_of(const std::vector<Expectation>& all, std::size_t at, const Json& outcome) {
  if (outcome.is_object())
    return fmt::format("not run: {}", outcome.value("refused", std::string()));
  const Json* item = item_before(outcome, at);
  if (!item) return "gives nothing now";
  if (item->contains("error")) return fmt::format("now {}", (*item)["error"].get<std::string>());
  // Each comment behind the item is about one line.
  std::size_t line = 0;
  const Expectation* expected = nullptr;
  for (const Expectation& each : all) {
    if (each.begin == at) expected = &each;
    if (each.begin < at && item_before(outcome, each.begin) == item) ++line;
  }
  const Json& lines = (*item)["lines"];
  if (line >= lines.size() || !expected) return "gives nothing now";
  std::string given = lines[line].get<std::string>();
  given.erase(given.find_last_not_of(' ') + 1);
  if (given == expected->text) return "gives this";
  return fmt::format("gives {} now", given);
}

}  // namespace

Json with_value(Json lens, const std::string& text, const Json& outcome) {
  const std::size_t at = count_member(member(lens, "data"), "at");
  lens["command"] = {{"title", title_of(expectations_in(text), at, outcome)}, {"command", ""}};
  return lens;
}

}  // namespace relay::server
