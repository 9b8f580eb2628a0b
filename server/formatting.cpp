#include <algorithm>
#include <string>
#include <string_view>

#include "parser/format.h"
#include "server/features.h"

namespace relay::server {

namespace {

bool is_inside_character(std::string_view text, std::size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
}

}  // namespace

// One edit, of what differs between the first and the last place that do.
Json formatting(Workspace& workspace, const Json& params) {
  Document& document = workspace.document(params);
  const std::string& old = document.text();
  const lang::Source source(document.path(), old);
  std::string text;
  const auto stopped = document.analysis().session().within_limits(
      [&] { text = parser::format(source).or_throw(); });
  if (!stopped.empty()) {
    throw RequestError(ErrorCode::RequestFailed, "the text has errors: " + stopped.front().message);
  }
  if (text == old) return Json::array();
  const auto [first, _] = std::mismatch(old.begin(), old.end(), text.begin(), text.end());
  auto begin = static_cast<std::size_t>(first - old.begin());
  while (begin > 0 && is_inside_character(old, begin)) --begin;
  std::size_t same = 0;
  const std::size_t most = std::min(old.size(), text.size()) - begin;
  while (same < most && old[old.size() - 1 - same] == text[text.size() - 1 - same]) ++same;
  while (same > 0 && is_inside_character(old, old.size() - same)) --same;
  return Json::array({{{"range", document.lines().range(old, begin, old.size() - same)},
                       {"newText", text.substr(begin, text.size() - same - begin)}}});
}

}  // namespace relay::server
