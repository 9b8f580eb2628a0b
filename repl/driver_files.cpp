// The files of a prompt: loaded, loaded again, saved, edited.

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include <fmt/format.h>

#include "repl/child.h"
#include "repl/columns.h"
#include "repl/driver.h"
#include "repl/environment.h"
#include "repl/files.h"
#include "repl/temporary_folder.h"

namespace relay::repl {

using lang::Diagnostic;
using lang::DiagnosticKind;
using parser::ItemKind;
using Errors = std::vector<Diagnostic>;

namespace {

// The texts of own definitions, by name, of a file or of all.
std::map<std::string, std::string> texts_of(const lang::Module& module, const std::string& path) {
  std::map<std::string, std::string> texts;
  for (const lang::Definition* each : module.definitions()) {
    if (is_written(*each, module) && each->span && each->span.source->name() == path)
      texts.emplace(each->name, each->span.text());
  }
  return texts;
}

std::string listed(const std::vector<std::string>& names) {
  return fmt::format("`{}`", fmt::join(names, "`, `"));
}

// What is to be said of a file that has been loaded again, and now defines these names.
std::string changes(const std::map<std::string, std::string>& before,
                    const std::map<std::string, std::string>& now,
                    const std::vector<std::string>& defined, Session& session) {
  std::vector<std::string> changed;
  std::vector<std::string> gone;
  for (const auto& [name, text] : before) {
    // A `let` is called as its pattern is written.
    const bool is_defined = std::any_of(
        defined.begin(), defined.end(),
        [&name = name](const std::string& each) { return each == name || each.starts_with('('); });
    const auto found = now.find(name);
    if (!is_defined) gone.push_back(name);
    if (is_defined && found != now.end() && found->second != text) changed.push_back(name);
  }
  std::string text;
  if (!changed.empty()) text += fmt::format("changed: {}\n", listed(changed));
  if (!gone.empty())
    text += fmt::format("not in the file any more, but still here: {}\n", listed(gone));
  const auto stale = session.values_made_with({changed.begin(), changed.end()});
  if (!stale.empty()) text += fmt::format("computed with what was before: {}\n", listed(stale));
  return text.empty() ? "nothing has changed\n" : text;
}

std::string editor() {
  for (const char* name : {"VISUAL", "EDITOR"}) {
    const char* const value = std::getenv(name);
    if (value && *value != '\0') return value;
  }
  if (isatty(STDIN_FILENO) == 0) {
    throw lang::Failure(Diagnostic(DiagnosticKind::BadCommand, "an editor needs a terminal")
                            .note("help: `EDITOR` names one that needs none"));
  }
  return "vi";
}

// A file that is gone when it is not needed any more.
class TextToEdit {
 public:
  explicit TextToEdit(const std::string& text) { write_file(path(), text).or_throw(); }
  std::string path() const { return folder_.path() + "/entry.relay"; }

 private:
  TemporaryFolder folder_;
};

}  // namespace

void Driver::say(const std::string& text) const {
  events_.replay->add_output(text);
  if (events_.on_text) events_.on_text(text);
}

void Driver::load_file(const std::string& path) {
  surviving([&] { report(load(path)); });
}

Errors Driver::carry_out(const CommandOutcome& outcome) {
  try {
    switch (outcome.request) {
      case CommandOutcome::Request::Load:
        return load(outcome.argument);
      case CommandOutcome::Request::Reload:
        return reload(outcome.argument);
      case CommandOutcome::Request::Save:
        return save(outcome.argument);
      case CommandOutcome::Request::Edit:
        return edit(outcome.argument);
      case CommandOutcome::Request::Bug:
        return write_replay(outcome.argument);
      case CommandOutcome::Request::None:
        break;
    }
  } catch (lang::Failure& failure) {
    return std::move(failure.diagnostics);
  }
  return {};
}

Errors Driver::load(const std::string& path) {
  const auto before = texts_of(session_.module(), path);
  std::string text;
  std::vector<std::string> names;
  std::vector<ItemResult> results;
  bool shows = false;
  const auto on_item = [&](const ItemResult& result) {
    results.push_back({result.kind, result.name, "", {}, true, result.span, result.number});
    const bool is_value = result.kind == ItemKind::Expression;
    if (is_value) {
      shows = true;
      // In a text a `;` only ends an item.
      ItemResult shown = result;
      shown.hide_value = false;
      if (events_.on_item) events_.on_item(shown);
    } else if (result.kind != ItemKind::Import &&
               std::find(names.begin(), names.end(), result.name) == names.end()) {
      names.push_back(result.name);
    }
  };
  const auto on_read = [&](const lang::Source& source) {
    text = source.text();
    return Errors();
  };
  Errors errors = session_.run_file(path, on_item, on_read);
  if (!errors.empty()) return errors;
  inputs_.add(text, results);
  std::erase(loaded_, path);
  loaded_.push_back(path);
  if (!names.empty()) {
    say(wrapped(fmt::format("{} defines {}", path, fmt::join(names, ", ")), session_.columns()) +
        "\n");
  }
  const bool has_main = std::find(names.begin(), names.end(), "main") != names.end();
  if (!shows && has_main) say("`main()` is what `relay FILE` would run\n");
  if (!before.empty()) say(changes(before, texts_of(session_.module(), path), names, session_));
  return {};
}

Errors Driver::reload(const std::string& path) {
  const std::vector<std::string> files = path.empty() ? loaded_ : std::vector<std::string>{path};
  if (files.empty()) {
    return {Diagnostic(DiagnosticKind::BadCommand, "no file has been loaded")
                .note("help: `:load FILE` loads one")};
  }
  for (const std::string& file : files) {
    Errors errors = load(file);
    if (!errors.empty()) return errors;
  }
  return {};
}

Errors Driver::save(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) {
    return {Diagnostic(DiagnosticKind::FileError, fmt::format("`{}` is there already", path))
                .note("help: save under another name")};
  }
  static_cast<void>(session_.options().files.place(path));  // throws where it may not be written
  write_file(path, inputs_.as_file(session_.options(), session_.module())).or_throw();
  say(fmt::format("saved as {}\n", path));
  return {};
}

Errors Driver::edit(const std::string& name) {
  // An editor opens what it likes: it is started where every file may be written. Throws otherwise.
  static_cast<void>(session_.options().files.place(
      (std::filesystem::temp_directory_path() / "entry.relay").string()));
  const std::string before =
      name.empty() ? last_entry_ : session_.source(std::string(name)).or_throw();
  const std::string program = editor();
  const TextToEdit file(before.ends_with('\n') ? before : before + "\n");
  if (!run_on_terminal(fmt::format("{} {}", program, shell_word(file.path()))))
    return {Diagnostic(DiagnosticKind::BadCommand, fmt::format("`{}` has failed", program))
                .note("help: `EDITOR` names the editor to be used")};
  std::string text = read_file(file.path()).or_throw();
  text.erase(text.find_last_not_of(" \t\r\n") + 1);
  std::string old = before;
  old.erase(old.find_last_not_of(" \t\r\n") + 1);
  if (text.empty() || text == old) {
    say("nothing has changed\n");
    return {};
  }
  last_entry_ = text;
  if (events_.on_entry) events_.on_entry(text);
  run_text(text);
  return {};
}

Errors Driver::write_replay(const std::string& given) {
  std::string path = given.empty() ? "relay-bug.relay" : given;
  std::error_code ignored;
  for (int i = 2; given.empty() && std::filesystem::exists(path, ignored); ++i)
    path = fmt::format("relay-bug-{}.relay", i);
  if (std::filesystem::exists(path, ignored)) {
    return {Diagnostic(DiagnosticKind::FileError, fmt::format("`{}` is there already", path))
                .note("help: `:bug` finds a name itself")};
  }
  static_cast<void>(session_.options().files.place(path));  // throws where it may not be written
  write_file(path, events_.replay->as_text(session_.options(), path)).or_throw();
  say(fmt::format(
      "written to {}\n"
      "`relay < {}` runs it again. Please look through it, cut down what has nothing to "
      "do with the mistake, and send it with the files that it reads.\n",
      path, path));
  return {};
}

}  // namespace relay::repl
