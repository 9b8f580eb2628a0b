#include "repl/editor/editor.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "repl/editor/paste.h"
#include "repl/editor/width.h"

namespace relay::repl::editor {

namespace {

using Code = Key::Code;
constexpr std::string_view kIndent = "  ";

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\n") == std::string_view::npos;
}

bool is_control(const Key& key, char letter) {
  return key.code == Code::Letter && key.control && !key.alt && key.text[0] == letter;
}

}  // namespace

void Editor::clear() {
  buffer_.clear();
  menu_.close();
  search_.reset();
  last_ = Last::Other;
  history_.refresh();
}

Editor::Outcome Editor::on_key(const Key& key) {
  if (search_) {
    if (const auto outcome = search_key(key)) return *outcome;
    search_.reset();
  }
  now_ = Last::Other;
  const bool is_tab = key.code == Code::Tab && !key.alt && !key.control;
  const bool was_open = menu_.is_open();
  if (!is_tab && (menu_.is_choosing() || !was_open)) menu_.close();
  const Outcome outcome = act(key);
  last_ = now_;
  const bool goes_on = now_ == Last::Letter || key.code == Code::Backspace;
  if (!is_tab && (outcome != Outcome::Editing || !goes_on)) menu_.close();
  if (menu_.is_open() && !is_tab) menu_.suggest(buffer_);
  return outcome;
}

void Editor::suggest() {
  if (last_ == Last::Letter && !menu_.is_open()) menu_.suggest(buffer_);
}

Editor::Outcome Editor::act(const Key& key) {
  switch (key.code) {
    case Code::Enter:
      if (key.alt) buffer_.insert("\n");
      return key.alt ? Outcome::Editing : enter();
    case Code::Tab:
      tab(key.shift);
      return Outcome::Editing;
    case Code::Paste:
      buffer_.insert(pasted_text(key.text));
      return Outcome::Editing;
    case Code::Backspace:
      if (key.alt) {
        now_ = Last::KillBackward;
        kill(buffer_.word_left(), buffer_.cursor());
      } else {
        buffer_.cut(buffer_.left(), buffer_.cursor());
      }
      return Outcome::Editing;
    case Code::Letter:
      if (key.alt) return alt(key);
      if (key.control) return control(key.text[0]);
      now_ = Last::Letter;
      if (last_ != Last::Letter) buffer_.end_run();
      buffer_.insert(key.text, true);
      return Outcome::Editing;
    default:
      move(key);
      return Outcome::Editing;
  }
}

void Editor::move(const Key& key) {
  const bool is_word = (key.control != key.alt) && !key.shift;
  const bool is_plain = !key.control && !key.alt && !key.shift;
  if (key.code == Code::Left && is_word) return buffer_.set_cursor(buffer_.word_left());
  if (key.code == Code::Right && is_word) return buffer_.set_cursor(buffer_.word_right());
  if (key.code == Code::Delete && is_word) {
    now_ = Last::KillForward;
    return kill(buffer_.cursor(), buffer_.word_right());
  }
  if (!is_plain) return;
  switch (key.code) {
    case Code::Left:
      return buffer_.set_cursor(buffer_.left());
    case Code::Right:
      return buffer_.set_cursor(buffer_.right());
    case Code::Home:
      return buffer_.set_cursor(buffer_.line_begin());
    case Code::End:
      return buffer_.set_cursor(buffer_.line_end());
    case Code::Delete:
      buffer_.cut(buffer_.cursor(), buffer_.right());
      return;
    case Code::Up:
    case Code::PageUp:
      return recall(true, key.code == Code::PageUp);
    case Code::Down:
    case Code::PageDown:
      return recall(false, key.code == Code::PageDown);
    default:
      return;
  }
}

Editor::Outcome Editor::control(char letter) {
  switch (letter) {
    case 'a':
      buffer_.set_cursor(buffer_.line_begin());
      break;
    case 'e':
      buffer_.set_cursor(buffer_.line_end());
      break;
    case 'b':
      buffer_.set_cursor(buffer_.left());
      break;
    case 'f':
      buffer_.set_cursor(buffer_.right());
      break;
    case 'd':
      return delete_or_end();
    case 'k':
      now_ = Last::KillForward;
      kill(buffer_.cursor(),
           buffer_.cursor() == buffer_.line_end() ? buffer_.right() : buffer_.line_end());
      break;
    case 'u':
      now_ = Last::KillBackward;
      kill(buffer_.line_begin(), buffer_.cursor());
      break;
    case 'w':
      now_ = Last::KillBackward;
      kill(buffer_.blank_left(), buffer_.cursor());
      break;
    case 'y':
      yank();
      break;
    case 'p':
      recall(true, false);
      break;
    case 'n':
      recall(false, false);
      break;
    case 'r':
      search_ = Search{"", history_.entries().size(), true, buffer_.text()};
      break;
    case 't':
      buffer_.transpose();
      break;
    case 'l':
      return Outcome::Redraw;
    case '_':
      buffer_.undo();
      break;
    default:
      break;
  }
  return Outcome::Editing;
}

Editor::Outcome Editor::alt(const Key& key) {
  if (key.control) return Outcome::Editing;
  switch (key.text[0]) {
    case 'b':
      buffer_.set_cursor(buffer_.word_left());
      break;
    case 'f':
      buffer_.set_cursor(buffer_.word_right());
      break;
    case 'd':
      now_ = Last::KillForward;
      kill(buffer_.cursor(), buffer_.word_right());
      break;
    case 'y':
      yank_other();
      break;
    case '<':
      buffer_.set_cursor(0);
      break;
    case '>':
      buffer_.set_cursor(buffer_.text().size());
      break;
    default:
      break;
  }
  return Outcome::Editing;
}

// In the middle of a complete text too: what it would run is all of it.
Editor::Outcome Editor::enter() {
  const std::string& text = buffer_.text();
  if (is_blank(text)) return Outcome::Entry;
  if (asks_.is_complete(text, false)) {
    if (asks_.is_complete(text, true) || !asks_.has_more_keys()) return Outcome::Entry;
  } else {
    const bool is_at_end = buffer_.is_on_last_line();
    const bool is_empty = is_blank(text.substr(buffer_.line_begin()));
    if (is_at_end && is_empty && text.find('\n') != std::string::npos && !asks_.has_more_keys())
      return Outcome::Abandoned;
  }
  buffer_.insert("\n");
  return Outcome::Editing;
}

void Editor::tab(bool backwards) {
  const std::size_t begin = buffer_.line_begin();
  const bool is_indent = is_blank(buffer_.text().substr(begin, buffer_.cursor() - begin));
  if (!is_indent || menu_.is_choosing()) {
    menu_.choose(buffer_, backwards);
  } else if (!backwards) {
    buffer_.insert(kIndent);
  }
}

// An empty entry ends the session; an empty line at the end of a block ends the entry.
Editor::Outcome Editor::delete_or_end() {
  if (buffer_.is_empty()) return Outcome::End;
  const std::size_t begin = buffer_.line_begin();
  if (begin > 0 && begin == buffer_.text().size()) return Outcome::Entry;
  buffer_.cut(buffer_.cursor(), buffer_.right());
  return Outcome::Editing;
}

void Editor::kill(std::size_t begin, std::size_t end) {
  const std::string taken = buffer_.cut(begin, end);
  if (taken.empty()) return;
  if (last_ == Last::KillForward || last_ == Last::KillBackward) {
    kills_.extend(taken, now_ == Last::KillBackward);
  } else {
    kills_.add(taken);
  }
}

void Editor::yank() {
  if (kills_.is_empty()) return;
  buffer_.insert(kills_.newest());
  now_ = Last::Yank;
}

// What has just been put in is replaced by what was cut before it.
void Editor::yank_other() {
  if (last_ != Last::Yank) return;
  const std::size_t begin = buffer_.cursor() - kills_.newest().size();
  const std::size_t end = buffer_.cursor();
  kills_.rotate();
  buffer_.replace(begin, end, kills_.newest());
  now_ = Last::Yank;
}

// A walk goes on while nothing else is typed; its entries begin with what stood before the cursor
// when it began. Within a block the cursor moves by lines first, but not for a `whole` entry.
void Editor::recall(bool older, bool whole) {
  const bool goes_on = last_ == Last::History;
  if (goes_on) now_ = Last::History;
  if (!whole && older && !buffer_.is_on_first_line()) return buffer_.move_up();
  if (!whole && !older && !buffer_.is_on_last_line()) return buffer_.move_down();
  if (!goes_on) {
    if (!older) return;
    history_.refresh();
    at_ = history_.entries().size();
    draft_ = buffer_.text();
    prefix_ = draft_.substr(0, buffer_.cursor());
  }
  const auto fits = [&](const std::string& entry) { return entry.starts_with(prefix_); };
  const auto found =
      older ? history_.older(at_, buffer_.text(), fits) : history_.newer(at_, buffer_.text(), fits);
  now_ = Last::History;
  if (found) {
    at_ = *found;
    buffer_.set(history_.entries()[at_], !goes_on);
  } else if (!older && at_ < history_.entries().size()) {
    at_ = history_.entries().size();
    buffer_.set(draft_, false);
  }
}

void Editor::search(bool again) {
  const auto fits = [&](const std::string& entry) {
    return entry.find(search_->wanted) != std::string::npos;
  };
  const std::size_t from =
      again ? search_->at : std::min(search_->at + 1, history_.entries().size());
  const auto found = history_.older(from, again ? buffer_.text() : "", fits);
  search_->is_found = found.has_value();
  if (!found) return;
  search_->at = *found;
  buffer_.set(history_.entries()[*found], false);
  buffer_.set_cursor(buffer_.text().find(search_->wanted));
}

// Nothing: the key ends the search, and means what it always does.
std::optional<Editor::Outcome> Editor::search_key(const Key& key) {
  if (is_control(key, 'r')) {
    if (!search_->wanted.empty()) search(true);
  } else if (is_control(key, 'g')) {
    buffer_.set(search_->before, false);
    search_.reset();
  } else if (key.code == Code::Backspace && !key.alt) {
    std::string& wanted = search_->wanted;
    wanted.resize(character_before(wanted, wanted.size()));
    search_->at = history_.entries().size();
    if (!wanted.empty()) search(false);
  } else if (key.code == Code::Letter && !key.control && !key.alt) {
    search_->wanted += key.text;
    search(false);
  } else {
    return std::nullopt;
  }
  return Outcome::Editing;
}

Scene Editor::scene() const {
  Scene scene{buffer_.text(), buffer_.cursor(), faces_of(buffer_.text(), buffer_.cursor())};
  if (search_) {
    scene.notes.push_back(
        {fmt::format("search: {}{}", search_->wanted, search_->is_found ? "" : "   (not found)")});
  } else {
    scene.notes = menu_.notes();
  }
  return scene;
}

Scene Editor::last_scene() const {
  // A cursor behind the text is at no bracket, and marks no error as being typed.
  Scene scene{buffer_.text(), buffer_.cursor(), faces_of(buffer_.text(), std::string::npos)};
  for (Face& face : scene.faces)
    if (face == Face::Matched || face == Face::Mistake) face = Face::Plain;
  return scene;
}

}  // namespace relay::repl::editor
