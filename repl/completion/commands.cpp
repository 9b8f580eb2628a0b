#include "repl/completion/commands.h"

#include <cctype>
#include <string>

#include "lang/diagnostic.h"
#include "opt/analysis.h"
#include "opt/pass.h"
#include "repl/command.h"
#include "repl/completion/files.h"
#include "repl/completion/sources.h"
#include "repl/doc_forms.h"
#include "repl/session.h"

namespace relay::repl::completion {

namespace {

bool is_blank(char c) { return c == ' ' || c == '\t'; }

// The words of a line with where each begins; an empty one at the end where a blank is.
struct Words {
  std::vector<std::string_view> list;
  std::vector<std::size_t> begins;
};
Words words_of(std::string_view text) {
  Words words;
  std::size_t at = 0;
  while (true) {
    while (at < text.size() && is_blank(text[at])) ++at;
    std::size_t end = at;
    while (end < text.size() && !is_blank(text[end])) ++end;
    words.list.push_back(text.substr(at, end - at));
    words.begins.push_back(at);
    if (end == text.size()) return words;
    at = end;
  }
}

// What `usage` says of its argument number `index`: `STAGE` of `STAGE EXPR`. An expression, which
// is last, has all words behind it, too.
std::string usage_word(std::string_view usage, std::size_t index) {
  const Words words = words_of(usage);
  std::string wanted;
  for (std::size_t i = 0; i < words.list.size() && i <= index; ++i) {
    wanted.clear();
    for (const char c : words.list[i]) {
      if (c != '[' && c != ']') wanted += c;
    }
    if (wanted.ends_with("EXPR") || wanted == "CALL") return wanted;
  }
  return index < words.list.size() ? wanted : std::string();
}

const Command* command_called(std::string_view word) {
  const Command* found = nullptr;
  for (const Command& command : commands()) {
    if (command.name == word) return &command;
    if (!command.name.starts_with(word)) continue;
    if (found) return nullptr;
    found = &command;
  }
  return found;
}

void add_documented(const State& state, std::string_view typed, std::vector<Name>& names) {
  add_globals(state, typed, names);
  for (const lang::TypeDef* type : state.module.types())
    names.push_back({type->name, Group::Own, "a data type"});
  add_operators(typed, names);
  for (const std::string& form : form_names())
    names.push_back({form, Group::Word, "a form of the language"});
}

void add_kinds(std::vector<Name>& names) {
  for (std::size_t i = 0; i < lang::kDiagnosticKindCount; ++i)
    names.push_back({std::string(lang::name_of(static_cast<lang::DiagnosticKind>(i))), Group::Word,
                     "a kind of error"});
}

// Words that stand in the usage as they are to be typed: `memory`, `on|off`.
void add_choices(std::string_view word, std::vector<Name>& names) {
  while (!word.empty()) {
    const std::size_t end = std::min(word.find('|'), word.size());
    const std::string_view choice = word.substr(0, end);
    if (!choice.empty() && std::islower(static_cast<unsigned char>(choice.front())))
      names.push_back({std::string(choice), Group::Word, ""});
    word.remove_prefix(std::min(end + 1, word.size()));
  }
}

void add_argument(const State& state, const Command& command, std::string_view kind,
                  std::string_view typed, CommandPlace& place) {
  std::vector<Name>& names = place.names;
  if (kind.ends_with("EXPR") || kind == "CALL") {
    place.is_expression = true;
    if (kind.find('|') != std::string_view::npos) add_choices(kind, names);
    if (kind == "CALL" && command.name == ":trace") {
      names.push_back({"grad", Group::Word, "with the adjoints"});
      names.push_back({"jvp", Group::Word, "with the tangents"});
    }
  } else if (kind == "STAGE") {
    for (const std::string& stage : Session::stages())
      names.push_back({stage, Group::Word, "a stage"});
  } else if (kind == "PASSES") {
    for (const opt::Pass& pass : opt::passes()) names.push_back({pass.name, Group::Word, pass.doc});
  } else if (kind == "NAME" && command.name == ":analyze") {
    for (const opt::Analysis& analysis : opt::analyses())
      names.push_back({analysis.name, Group::Word, analysis.doc});
  } else if (kind.starts_with("FILE") || kind == "PATH") {
    add_files(state, typed, command.name == ":load" ? ".relay" : "", names);
    place.begin += begin_of_last_part(typed);
  } else if (kind.starts_with("NAME|")) {
    add_globals(state, typed, names);
    add_choices(kind, names);
  } else if (kind.starts_with("NAME") || kind == "PART" || kind == "PATTERN") {
    add_documented(state, typed, names);
  } else if (kind == "KIND") {
    add_kinds(names);
  } else if (kind.starts_with("CMD") || kind.starts_with("COMMAND")) {
    for (const Command& each : commands())
      names.push_back({std::string(each.name.substr(typed.starts_with(":") ? 0 : 1)), Group::Word,
                       std::string(each.summary)});
  } else if (kind == "WHAT") {
    names.push_back({"memory", Group::Word, "`2G`, `500M`, `none`"});
    names.push_back({"time", Group::Word, "`10s`, `500ms`, `none`"});
  } else {
    add_choices(kind, names);
  }
}

}  // namespace

std::optional<CommandPlace> command_at_end(const State& state, std::string_view text) {
  const Words words = words_of(text);
  const std::string_view first = words.list.front();
  const bool is_question = first.starts_with("?");
  if ((!first.starts_with(":") && !is_question) || text.find('\n') != std::string_view::npos)
    return std::nullopt;
  CommandPlace place;
  if (is_question) {
    const std::size_t skipped = words.list.size() == 1 ? 1 : 0;
    place.begin = words.begins.back() + skipped;
    add_documented(state, words.list.back().substr(skipped), place.names);
    return place;
  }
  if (words.list.size() == 1) {
    place.begin = words.begins.front();
    for (const Command& command : commands()) {
      const std::string usage(command.usage);
      std::string detail = usage.empty() ? "" : usage + "  ";
      place.names.push_back(
          {std::string(command.name), Group::Word, detail + std::string(command.summary)});
    }
    return place;
  }
  const Command* command = command_called(first);
  place.begin = words.begins.back();
  if (!command) return place;
  const std::size_t index = words.list.size() - 2;
  const std::string kind = usage_word(command->usage, index);
  add_argument(state, *command, kind, words.list.back(), place);
  // An expression begins where its first word does.
  if (place.is_expression) {
    std::size_t start = 0;
    while (start < index && usage_word(command->usage, start) != kind) ++start;
    if (start < index) place.names.clear();
    place.begin = words.begins[start + 1];
  }
  return place;
}

}  // namespace relay::repl::completion
