#include "repl/inputs.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lang/letters.h"
#include "lang/op.h"
#include "parser/resolve.h"
#include "repl/numbered_results.h"

namespace relay::repl {

namespace {

bool mentions(const std::string& text, const std::string& name) {
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    const bool begins = at == 0 || !lang::is_word_byte(text[at - 1]);
    const bool ends =
        at + name.size() == text.size() || !lang::is_word_byte(text[at + name.size()]);
    if (begins && ends) return true;
  }
  return false;
}

// The words of `x`, or of a pattern such as `(a, (b, _))`.
std::vector<std::string> names_in(const std::string& pattern) {
  std::vector<std::string> names;
  std::string word;
  for (const char c : pattern + " ") {
    if (lang::is_word_byte(c) || c == '.') {
      word += c;
    } else if (!word.empty()) {
      if (word != "_") names.push_back(word);
      word.clear();
    }
  }
  return names;
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string as_comment(const std::string& text, const std::string& reason) {
  std::string comment = fmt::format("// left out: {}\n// ", reason);
  for (const char c : text) comment += c == '\n' ? std::string("\n// ") : std::string(1, c);
  return comment;
}

// The first error of a text, and where in it; nothing where it runs.
struct Trouble {
  std::size_t place;
  std::string reason;
};
std::optional<Trouble> trouble_in(const std::string& text, SessionOptions options) {
  options.evaluate = false;
  options.interactive = false;
  options.warn = nullptr;
  Session session(std::move(options));
  const auto errors = session.run("<saved>", text, nullptr);
  for (const lang::Diagnostic& error : errors) {
    if (lang::is_stop(error.kind)) throw lang::Failure(errors);
    if (error.span && error.span.source->name() == "<saved>")
      return Trouble{error.span.begin, error.message};
  }
  if (errors.empty()) return std::nullopt;
  throw lang::Failure(errors);
}

}  // namespace

void Inputs::add(std::string text, const std::vector<ItemResult>& results) {
  Entry entry{std::move(text), {}, {}, 0};
  for (const ItemResult& result : results) {
    if (result.number > 0) entry.number = result.number;
    const bool names = result.kind == parser::ItemKind::Def ||
                       result.kind == parser::ItemKind::Let ||
                       result.kind == parser::ItemKind::Type;
    if (!names) continue;
    // Of a function, too: the next one may be made of it.
    const bool is_let = result.kind == parser::ItemKind::Let ||
                        (result.span && result.span.text().starts_with("let"));
    for (std::string& name : names_in(result.name)) {
      if (is_let) entry.lets.push_back(name);
      entry.names.push_back(std::move(name));
    }
  }
  entries_.push_back(std::move(entry));
}

std::size_t Inputs::next_of(const std::string& name, std::size_t first) const {
  const auto defines = [&](const Entry& entry) { return has(entry.names, name); };
  const auto begin = entries_.begin() + static_cast<std::ptrdiff_t>(first);
  return static_cast<std::size_t>(std::find_if(begin, entries_.end(), defines) - entries_.begin());
}

// The name, and those that may be made of it, or call it.
std::vector<std::string> Inputs::dependents_of(const std::string& name) const {
  std::vector<std::string> found{name};
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (const Entry& entry : entries_) {
      if (!mentions(entry.text, found[i])) continue;
      for (const std::string& each : entry.names) {
        if (!has(found, each)) found.push_back(each);
      }
    }
  }
  return found;
}

bool Inputs::is_superseded(std::size_t entry) const {
  const Entry& own = entries_[entry];
  return !own.names.empty() &&
         std::all_of(own.names.begin(), own.names.end(), [&](const std::string& name) {
           const std::size_t next = next_of(name, entry + 1);
           if (next == entries_.size()) return false;
           if (!has(own.lets, name) && !has(entries_[next].lets, name)) return true;
           const std::vector<std::string> dependents = dependents_of(name);
           const auto begin = entries_.begin() + static_cast<std::ptrdiff_t>(entry) + 1;
           const auto end = entries_.begin() + static_cast<std::ptrdiff_t>(next) + 1;
           return std::none_of(begin, end, [&](const Entry& later) {
             const bool binds = has(later.names, name);  // in front of the first `=`
             const std::string text =
                 binds ? later.text.substr(later.text.find('=') + 1) : later.text;
             return std::any_of(dependents.begin(), dependents.end(),
                                [&](const std::string& each) { return mentions(text, each); });
           });
         });
}

// A file has a `def` of a name and nothing else of it; the prompt may have a `let` after it.
std::string Inputs::as_let(std::size_t entry) const {
  const Entry& own = entries_[entry];
  if (own.names.size() != 1 || !own.lets.empty()) return own.text;
  const std::string& name = own.names[0];
  const std::string def = "def " + name;
  const std::size_t at = own.text.find(def);
  const bool is_bound = std::any_of(entries_.begin(), entries_.end(),
                                    [&](const Entry& other) { return has(other.lets, name); });
  if (!is_bound || at == std::string::npos) return own.text;
  return own.text.substr(0, at) + fmt::format("let {} = fn ", name) +
         own.text.substr(at + def.size());
}

std::vector<std::string> Inputs::changed_names(std::size_t entry,
                                               const lang::Module& module) const {
  std::vector<std::string> changed;
  for (std::size_t later = entry + 1; later < entries_.size(); ++later) {
    for (const std::string& name : entries_[later].names) {
      if (has(entries_[later].lets, name) || has(entries_[entry].names, name) ||
          has(changed, name) || !mentions(entries_[entry].text, name))
        continue;
      // Something had the name before: an entry, or the language.
      const bool is_known = next_of(name, 0) < entry || lang::OpRegistry::instance().find(name) ||
                            module.find(parser::name_in_prelude(name));
      if (is_known) changed.push_back(name);
    }
  }
  return changed;
}

std::string Inputs::as_file(const SessionOptions& options, const lang::Module& module) const {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (is_superseded(i)) continue;
    std::string text = as_let(i);
    const std::string result = NumberedResults::name_of(entries_[i].number);
    const bool is_used = entries_[i].number > 0 && entries_[i].names.empty() &&
                         std::any_of(entries_.begin(), entries_.end(), [&](const Entry& other) {
                           return mentions(other.text, result);
                         });
    if (is_used) {
      text.erase(text.find_last_not_of("; \n") + 1);
      text = fmt::format("let {} = {}\n{}", result, text, result);
    }
    const std::vector<std::string> changed = changed_names(i, module);
    if (!changed.empty())
      text = fmt::format("// entered when `{}` meant something else\n{}",
                         fmt::join(changed, "`, `"), text);
    texts.push_back(std::move(text));
  }
  while (true) {
    std::string whole;
    std::vector<std::size_t> ends;
    for (const std::string& text : texts) {
      whole += text + "\n";
      ends.push_back(whole.size());
    }
    const auto trouble = trouble_in(whole, options);
    if (!trouble) return whole;
    const auto found = std::upper_bound(ends.begin(), ends.end(), trouble->place);
    std::string& text =
        texts[static_cast<std::size_t>(std::min(found, ends.end() - 1) - ends.begin())];
    if (text.starts_with("// left out: "))
      lang::fail(lang::DiagnosticKind::BadCommand,
                 fmt::format("what was entered is no file that runs: {}", trouble->reason));
    text = as_comment(text, trouble->reason);
  }
}

}  // namespace relay::repl
