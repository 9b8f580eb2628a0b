#include "tests/support/typed_script.h"

#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "tests/support/typed_program.h"

namespace relay::tests {

namespace {

const std::map<std::string, std::string, std::less<>> kNamed = {{"Enter", "\r"},
                                                                {"Tab", "\t"},
                                                                {"Up", "\x1b[A"},
                                                                {"Down", "\x1b[B"},
                                                                {"Right", "\x1b[C"},
                                                                {"Left", "\x1b[D"},
                                                                {"Home", "\x1b[H"},
                                                                {"End", "\x1b[F"},
                                                                {"PageUp", "\x1b[5~"},
                                                                {"PageDown", "\x1b[6~"},
                                                                {"Delete", "\x1b[3~"},
                                                                {"Backspace", "\x7f"},
                                                                {"S-Tab", "\x1b[Z"},
                                                                {"C-Left", "\x1b[1;5D"},
                                                                {"C-Right", "\x1b[1;5C"},
                                                                {"M-Enter", "\x1b\r"},
                                                                {"Paste", "\x1b[200~"},
                                                                {"/Paste", "\x1b[201~"},
                                                                {"Break", "\n"},
                                                                {"Esc", "\x1b"},
                                                                {"lt", "<"},
                                                                {"C-_", "\x1f"},
                                                                {"M-Backspace", "\x1b\x7f"}};

std::string bytes_of_name(std::string_view name) {
  if (const auto found = kNamed.find(name); found != kNamed.end()) return found->second;
  if (name.size() == 3 && name.starts_with("C-")) return {static_cast<char>(name[2] & 0x1F)};
  if (name.size() == 3 && name.starts_with("M-")) return {'\x1b', name[2]};
  throw std::runtime_error(fmt::format("no key is called <{}>", name));
}

constexpr std::string_view kCursor = "█";

// The screen from its first line to the last one with text or the cursor, which `mark` shows.
std::vector<std::string> shown_lines(const Screen& screen, bool mark) {
  std::vector<std::string> lines = screen.lines();
  std::size_t last = screen.row();
  for (std::size_t i = last; i < lines.size(); ++i)
    if (!lines[i].empty()) last = i;
  lines.resize(last + 1);
  if (!mark) return lines;
  const auto& cells = screen.table()[static_cast<std::size_t>(screen.cursor_row())];
  std::string text;
  for (std::size_t i = 0; i <= cells.size(); ++i) {
    if (i == static_cast<std::size_t>(screen.column())) text += kCursor;
    if (i < cells.size()) text += cells[i].text;
  }
  lines[screen.row()] = text.erase(text.find_last_not_of(' ') + 1);
  return lines;
}

std::string last_lines(const Screen& screen, bool mark, std::size_t count) {
  const auto lines = shown_lines(screen, mark);
  std::string text;
  for (std::size_t i = lines.size() - std::min(count, lines.size()); i < lines.size(); ++i)
    text += "| " + lines[i] + '\n';
  return text;
}

// Is the text on the screen now, the lowest of its places, and does all of it look so?
bool has_look(const Screen& screen, std::string_view text, std::string_view look) {
  const auto& table = screen.table();
  for (std::size_t row = table.size(); row-- > 0;) {
    std::string line;
    std::vector<std::size_t> cell_of_byte;
    for (std::size_t i = 0; i < table[row].size(); ++i) {
      line += table[row][i].text;
      cell_of_byte.resize(line.size(), i);
    }
    const std::size_t at = line.rfind(text);
    if (at == std::string::npos) continue;
    for (std::size_t i = at; i < at + text.size(); ++i)
      if (table[row][cell_of_byte[i]].look != look) return false;
    return true;
  }
  return false;
}

// A line of a script with the lines `| …` that belong to it.
struct Step {
  std::size_t number;
  std::string word;
  std::string rest;
  std::vector<std::string> lines;
};

std::vector<Step> steps_of(const std::string& path) {
  std::vector<Step> steps;
  std::ifstream file(path);
  if (!file) throw std::runtime_error("it cannot be read");
  std::string line;
  for (std::size_t number = 1; std::getline(file, line); ++number) {
    if (line.empty() || line[0] == '#') continue;
    if (line[0] == '|') {
      if (steps.empty()) throw std::runtime_error("lines that belong to nothing");
      steps.back().lines.push_back(line.size() > 2 ? line.substr(2) : "");
      continue;
    }
    const std::size_t space = line.find(' ');
    steps.push_back({number,
                     line.substr(0, space),
                     space == std::string::npos ? "" : line.substr(space + 1),
                     {}});
  }
  return steps;
}

std::string joined(const std::vector<std::string>& lines, std::string_view before) {
  std::string text;
  for (const std::string& line : lines) text += fmt::format("{}{}\n", before, line);
  return text;
}

class Script {
 public:
  // What is wrong with a step, or empty.
  std::string run(const Step& step);
  const TypedProgram* program() const { return program_.get(); }

 private:
  bool set(const Step& step);
  TypedProgram& started();
  std::string check_screen(const Step& step);
  bool waits(const std::function<bool(const Screen&)>& is_wanted) {
    return started().wait(is_wanted, kPatience);
  }

  static constexpr std::chrono::milliseconds kPatience{10000};
  TemporaryFolder home_;
  TypedProgram::Settings settings_;
  std::vector<std::string> arguments_;
  std::unique_ptr<TypedProgram> program_;
};

TypedProgram& Script::started() {
  if (program_) return *program_;
  std::vector<std::string> command = {relay_program()};
  command.insert(command.end(), arguments_.begin(), arguments_.end());
  settings_.folder = home_.path();
  for (const auto& [name, value] : std::map<std::string, std::string>{
           {"HOME", home_.path()}, {"TERM", "xterm"}, {"LC_ALL", "C.UTF-8"}})
    settings_.environment.try_emplace(name, value);
  program_ = std::make_unique<TypedProgram>(command, settings_);
  program_->wait_for("relay>");
  return *program_;
}

// What changes the place where the program runs, and expects nothing.
bool Script::set(const Step& step) {
  if (step.word == "env") {
    const std::size_t at = step.rest.find('=');
    settings_.environment[step.rest.substr(0, at)] =
        at == std::string::npos ? "" : step.rest.substr(at + 1);
  } else if (step.word == "arguments") {
    std::istringstream words(step.rest);
    for (std::string word; words >> word;) arguments_.push_back(word);
  } else if (step.word == "size") {
    std::istringstream numbers(step.rest);
    numbers >> settings_.rows >> settings_.columns;
    if (program_) program_->resize(settings_.rows, settings_.columns);
  } else if (step.word == "file") {
    const std::filesystem::path path = std::filesystem::path(home_.path()) / step.rest;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << joined(step.lines, "");
  } else if (step.word == "again") {
    program_.reset();
    started();
  } else {
    return false;
  }
  return true;
}

std::string Script::check_screen(const Step& step) {
  const std::string wanted = joined(step.lines, "| ");
  const bool mark = wanted.find(kCursor) != std::string::npos;
  const auto actual = [&](const Screen& screen) {
    return last_lines(screen, mark, step.lines.size());
  };
  if (waits([&](const Screen& screen) { return actual(screen) == wanted; })) return "";
  return fmt::format("expected\n{}but there is\n{}", wanted, actual(program_->screen()));
}

std::string Script::run(const Step& step) {
  if (set(step)) return "";
  if (step.word == "keys") {
    started().type(bytes_of_keys(step.rest));
    return "";
  }
  if (step.word == "screen") return check_screen(step);
  if (step.word == "shows") return started().wait_for(step.rest) ? "" : "this is not on the screen";
  if (step.word == "matches") {
    const std::regex wanted(step.rest);
    const bool is_there =
        waits([&](const Screen& screen) { return std::regex_search(screen.text(), wanted); });
    return is_there ? "" : "nothing on the screen matches";
  }
  if (step.word == "absent")
    return started().screen().text().find(step.rest) == std::string::npos ? ""
                                                                          : "it is on the screen";
  if (step.word == "look") {
    const std::size_t colon = step.rest.find(": ");
    if (colon == std::string::npos) return "`look LOOK: TEXT` is how it is written";
    const std::string look =
        step.rest.substr(0, colon) == "plain" ? "" : step.rest.substr(0, colon);
    const std::string text = step.rest.substr(colon + 2);
    return waits([&](const Screen& screen) { return has_look(screen, text, look); })
               ? ""
               : "nothing on the screen looks so";
  }
  if (step.word == "text") {  // of a file
    const std::string wanted = joined(step.lines, "");
    std::string actual;
    waits([&](const Screen&) {
      return (actual = text_of_file(home_.path() + '/' + step.rest)) == wanted;
    });
    return actual == wanted ? "" : fmt::format("the file has\n{}", actual);
  }
  if (step.word == "ends") {
    const auto status = started().wait_for_end();
    if (!status) return "it still runs";
    const int code = WIFEXITED(*status) ? WEXITSTATUS(*status) : 128 + WTERMSIG(*status);
    return std::to_string(code) == step.rest ? "" : fmt::format("it ended with {}", code);
  }
  return "no step is called so";
}

}  // namespace

std::string bytes_of_keys(std::string_view keys) {
  std::string bytes;
  while (!keys.empty()) {
    const std::size_t end = keys.find('>');
    if (keys[0] == '<' && end != std::string_view::npos) {
      bytes += bytes_of_name(keys.substr(1, end - 1));
      keys.remove_prefix(end + 1);
    } else {
      bytes += keys[0];
      keys.remove_prefix(1);
    }
  }
  return bytes;
}

std::string run_typed_script(const std::string& path, std::optional<Screen>* last) {
  Script script;
  std::size_t number = 0;
  try {
    for (const Step& step : steps_of(path)) {
      number = step.number;
      const std::string wrong = script.run(step);
      if (wrong.empty()) continue;
      const std::string screen =
          script.program() ? last_lines(script.program()->screen(), true, 40) : "";
      return fmt::format("{}:{}: {} {}: {}\nthe screen:\n{}", path, number, step.word, step.rest,
                         wrong, screen);
    }
    if (last && script.program()) *last = script.program()->screen();
  } catch (const std::exception& error) {
    return fmt::format("{}:{}: {}", path, number, error.what());
  }
  return "";
}

}  // namespace relay::tests
