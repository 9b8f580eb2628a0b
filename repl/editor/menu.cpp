#include "repl/editor/menu.h"

#include <algorithm>

#include <fmt/format.h>

#include "lang/utf8.h"

namespace relay::repl::editor {

namespace {

constexpr std::size_t kSuggested = 4;
constexpr std::size_t kListed = 8;

std::string common_beginning(const std::vector<Candidate>& candidates) {
  std::string_view common = candidates.front().text;
  for (const Candidate& candidate : candidates) {
    const auto [end, ignored] =
        std::mismatch(common.begin(), common.end(), candidate.text.begin(), candidate.text.end());
    common = common.substr(0, static_cast<std::size_t>(end - common.begin()));
  }
  // Not half of a character.
  while (!common.empty() && lang::code_points(common) > 0 &&
         common.size() < candidates.front().text.size() &&
         (static_cast<unsigned char>(candidates.front().text[common.size()]) & 0xC0) == 0x80)
    common.remove_suffix(1);
  return std::string(common);
}

// Can what has been typed end in a word that is begun, or in the dot that a name stands behind?
bool may_be_begun(const Buffer& buffer) {
  constexpr std::string_view kNoPartOfWords = " \t\n,;()[]{}<>=+*&|!^@";
  const std::string_view before = std::string_view(buffer.text()).substr(0, buffer.cursor());
  return !before.empty() && kNoPartOfWords.find(before.back()) == std::string_view::npos;
}

}  // namespace

void Menu::close() {
  found_ = {};
  is_open_ = false;
  selected_.reset();
}

bool Menu::ask(const Buffer& buffer) {
  selected_.reset();
  found_ = completer_ ? completer_(buffer.text(), buffer.cursor()) : Completions{};
  const bool is_within = found_.begin <= found_.end && found_.end <= buffer.text().size();
  if (!is_within) found_ = {};
  return !found_.candidates.empty();
}

void Menu::suggest(const Buffer& buffer) {
  const bool was_open = is_open_;
  // Before anything is typed everything fits, which nobody wants to see all the time.
  if (!was_open && !may_be_begun(buffer)) return close();
  if (!ask(buffer)) return close();
  is_open_ = was_open;
  const std::string_view word =
      std::string_view(buffer.text()).substr(found_.begin, found_.end - found_.begin);
  const bool is_begun = !word.empty() || buffer.text().substr(0, found_.begin).ends_with('.');
  const bool is_written = found_.candidates.size() == 1 && found_.candidates[0].text == word &&
                          found_.candidates[0].detail.empty();
  if ((!is_begun && !was_open) || is_written) close();
}

void Menu::select(Buffer& buffer, std::size_t index) {
  const std::string& text = found_.candidates[index].text;
  buffer.replace(found_.begin, found_.end, text);
  found_.end = found_.begin + text.size();
  selected_ = index;
}

bool Menu::choose(Buffer& buffer, bool backwards) {
  const std::size_t count = found_.candidates.size();
  if (selected_) {
    select(buffer, (*selected_ + (backwards ? count - 1 : 1)) % count);
    return true;
  }
  const bool was_open = is_open_;
  if (!ask(buffer)) {
    close();
    return false;
  }
  if (found_.candidates.size() == 1) {
    select(buffer, 0);
    close();
    return true;
  }
  is_open_ = true;
  const std::string common = common_beginning(found_.candidates);
  const std::string word = buffer.text().substr(found_.begin, found_.end - found_.begin);
  if (common.size() > word.size() && common.starts_with(word)) {
    buffer.replace(found_.begin, found_.end, common);
    found_.end = found_.begin + common.size();
  } else if (was_open) {
    select(buffer, backwards ? found_.candidates.size() - 1 : 0);
  }
  return true;
}

std::vector<Scene::Note> Menu::notes() const {
  const std::size_t count = found_.candidates.size();
  const std::size_t most = is_open_ ? kListed : kSuggested;
  const std::size_t at = selected_.value_or(0);
  const std::size_t first = at < most ? 0 : at - most + 1;
  const std::size_t last = std::min(count, first + most);
  std::vector<Scene::Note> notes;
  for (std::size_t i = first; i < last; ++i)
    notes.push_back({found_.candidates[i].text, found_.candidates[i].detail, selected_ == i});
  if (last < count) notes.push_back({fmt::format("… {} more", count - last)});
  return notes;
}

}  // namespace relay::repl::editor
