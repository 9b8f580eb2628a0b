#include "notebook/history.h"

#include <fnmatch.h>

#include <algorithm>
#include <set>

#include <nlohmann/json.hpp>

namespace relay::notebook {

void History::store_inputs_impl(int, int, const std::string& input, const std::string&) {
  inputs_.push_back(input);
}

// What cells have shown is not kept: it stands in the notebook.
History::Json History::reply(const std::vector<std::size_t>& lines, bool has_output) const {
  Json history = Json::array();
  for (const std::size_t line : lines) {
    const Json input = inputs_[line];
    history.push_back({0, line + 1, has_output ? Json::array({input, nullptr}) : input});
  }
  return {{"status", "ok"}, {"history", std::move(history)}};
}

History::Json History::get_tail_impl(int count, bool, bool has_output) const {
  const std::size_t shown =
      std::min<std::size_t>(inputs_.size(), static_cast<std::size_t>(std::max(count, 0)));
  std::vector<std::size_t> lines;
  for (std::size_t line = inputs_.size() - shown; line < inputs_.size(); ++line)
    lines.push_back(line);
  return reply(lines, has_output);
}

History::Json History::get_range_impl(int session, int start, int stop, bool,
                                      bool has_output) const {
  std::vector<std::size_t> lines;
  // The current session is 0; those before are not kept.
  if (session == 0) {
    const int end = stop > 0 ? stop : static_cast<int>(inputs_.size()) + 1;
    for (int line = std::max(start, 1); line < end && line <= static_cast<int>(inputs_.size());
         ++line)
      lines.push_back(static_cast<std::size_t>(line) - 1);
  }
  return reply(lines, has_output);
}

History::Json History::search_impl(const std::string& pattern, bool, bool has_output, int count,
                                   bool is_unique) const {
  std::vector<std::size_t> lines;
  std::set<std::string> seen;
  for (std::size_t line = inputs_.size(); line-- > 0;) {
    if (count > 0 && lines.size() >= static_cast<std::size_t>(count)) break;
    if (fnmatch(pattern.c_str(), inputs_[line].c_str(), 0) != 0) continue;
    if (is_unique && !seen.insert(inputs_[line]).second) continue;
    lines.push_back(line);
  }
  std::reverse(lines.begin(), lines.end());
  return reply(lines, has_output);
}

}  // namespace relay::notebook
