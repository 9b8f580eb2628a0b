#include <algorithm>
#include <set>
#include <string>

#include <fmt/format.h>

#include "lang/familiar_names.h"
#include "lang/op.h"
#include "repl/command.h"
#include "repl/doc_forms.h"
#include "repl/environment.h"

namespace relay::repl {

namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return result;
}

std::string first_line(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

// `help: …` and `note: …` are for diagnostics.
std::string_view without_mark(std::string_view note) {
  for (const std::string_view mark : {"help: ", "note: "}) {
    if (note.starts_with(mark)) note.remove_prefix(mark.size());
  }
  return note;
}

class Search {
 public:
  explicit Search(std::string_view word) : word_(lower(word)) {}

  // `text`: all that is searched; its first line is shown.
  void look_at(const std::string& name, const std::string& text) {
    const bool is_named = lower(name).find(word_) != std::string::npos;
    if (!is_named && lower(text).find(word_) == std::string::npos) return;
    if (seen_.insert(name).second) (is_named ? named_ : told_).push_back({name, first_line(text)});
  }

  // Under a name that is known elsewhere.
  void look_at(const lang::FamiliarName& name) {
    const bool is_meant =
        lower(lang::without_library(name.theirs)) == word_ || lower(name.theirs) == word_;
    if (!is_meant) return;
    const auto* op = lang::OpRegistry::instance().find(name.ours);
    if (op) {
      look_at_named(op->name, first_line(op->doc));
    } else if (!name.help.empty()) {
      look_at_named(std::string(name.theirs), std::string(without_mark(name.help)));
    } else if (!name.ours.empty()) {
      look_at_named(std::string(name.theirs), fmt::format("is {} here", name.ours));
    }
  }

  std::vector<Row> rows() && {
    std::move(told_.begin(), told_.end(), std::back_inserter(named_));
    return std::move(named_);
  }

 private:
  void look_at_named(const std::string& name, const std::string& text) {
    if (seen_.insert(name).second) named_.push_back({name, text});
  }

  const std::string word_;
  std::set<std::string> seen_;
  std::vector<Row> named_;
  std::vector<Row> told_;
};

}  // namespace

std::vector<Row> find_apropos(const std::string& word, const lang::Module& module) {
  Search search(word);
  for (const lang::Definition* each : module.definitions()) {
    const bool is_listed = is_written(*each, module) || each->origin == lang::Origin::Prelude;
    if (is_listed) search.look_at(each->name, each->doc);
  }
  for (const lang::FamiliarName& name : lang::familiar_names()) search.look_at(name);
  for (const lang::OpDef* op : lang::OpRegistry::instance().all()) {
    if (!op->is_step) search.look_at(op->name, op->doc);
  }
  for (const std::string& name : form_names()) search.look_at(name, form_summary(name));
  for (const Command& command : commands())
    search.look_at(std::string(command.name), fmt::format("{}\n{}", command.summary, command.text));
  return std::move(search).rows();
}

}  // namespace relay::repl
