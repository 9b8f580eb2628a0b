// Replays recorded conversations with the language server, and compares all that it says.
//
//   lsp_runner [--update] FILE...
//
// A file has the messages of both sides in their order: `> ` before a client's, `< ` before one of
// the server's, which are JSON over as many lines as they take; `# ` before a comment. In strings
// `$DIR` is the folder of the file, and `{"$lines": [...]}` is a string of several lines. A line
// `# -I FOLDER` is the server's option, of a folder beside the file. The server has dealt with a
// message, and with all that it takes time for, before the next one comes; those that begin with
// `>> ` come together with the next, and of those that begin with `>- ` the answers are not
// compared.
//
// Exits with 0 if all is as expected, 1 if not, 2 if it was called wrongly.

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "server/server.h"
#include "tests/support/text_diff.h"

namespace {

using namespace relay;  // NOLINT: the program's own file
using tests::join_lines;
using tests::split_lines;
using Json = nlohmann::ordered_json;

constexpr std::size_t kWidth = 110;

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

template <class F>
Json with_strings(const Json& value, const F& change) {
  if (value.is_string()) return change(value.get<std::string>());
  if (value.is_object() && value.contains("$lines")) {
    std::string text;
    for (const Json& line : value["$lines"])
      text +=
          (text.empty() && &line == &value["$lines"].front() ? "" : "\n") + line.get<std::string>();
    return change(text);
  }
  Json result = value;
  if (value.is_object()) {
    result = Json::object();
    for (const auto& [key, part] : value.items()) {
      const Json name = change(key);
      result[name.is_string() ? name.get<std::string>() : key] = with_strings(part, change);
    }
  } else if (value.is_array()) {
    for (Json& part : result) part = with_strings(part, change);
  }
  return result;
}

// On one line if that fits, else its parts on lines of their own.
std::string shown(const Json& value, std::size_t indent) {
  std::string flat = value.dump();
  if (flat.size() + indent <= kWidth || value.empty() || !value.is_structured()) return flat;
  const bool is_numbers = value.is_array() && value.front().is_number();
  if (is_numbers) return flat;
  const std::string blank(indent + 2, ' ');
  std::string text = value.is_object() ? "{" : "[";
  std::string_view before = "\n";
  for (const auto& [key, part] : value.items()) {
    text += fmt::format("{}{}", before, blank);
    if (value.is_object()) text += Json(key).dump() + ": ";
    text += shown(part, indent + 2);
    before = ",\n";
  }
  return text + "\n" + std::string(indent, ' ') + (value.is_object() ? "}" : "]");
}

std::string as_lines(const Json& message, const std::string& folder) {
  const Json readable = with_strings(message, [&](const std::string& text) -> Json {
    const std::string plain = replaced(text, folder, "$DIR");
    if (plain.find('\n') == std::string::npos) return plain;
    Json lines = Json::array();
    for (std::size_t begin = 0;;) {
      const std::size_t end = plain.find('\n', begin);
      lines.push_back(plain.substr(begin, end - begin));
      if (end == std::string::npos) break;
      begin = end + 1;
    }
    return {{"$lines", std::move(lines)}};
  });
  return "< " + shown(readable, 2);
}

std::vector<std::string> search_path_of(const std::vector<std::string>& lines,
                                        const std::string& folder) {
  constexpr std::string_view kOption = "# -I ";
  std::vector<std::string> path;
  for (const std::string& line : lines) {
    if (line.starts_with(kOption)) path.push_back(folder + "/" + line.substr(kOption.size()));
  }
  return path;
}

struct Replay {
  std::string text;  // the file, with what the server has said
  std::vector<std::string> problems;
};

Replay replay(const std::string& file, const std::string& folder) {
  Replay result;
  const std::vector<std::string> lines = split_lines(file);
  std::vector<std::string> said;
  server::Server server(search_path_of(lines, folder), [&](const server::Json& message) {
    said.push_back(as_lines(Json::parse(message.dump()), folder));
  });
  const auto settle = [&](bool shows) {
    while (server.step()) {
    }
    server.evaluations().finish();
    server.idle();
    for (const std::string& each : said) {
      if (shows) result.text += each + "\n";
    }
    said.clear();
  };
  for (std::size_t i = 0; i < lines.size();) {
    const std::string& line = lines[i];
    const bool is_message =
        line.starts_with("> ") || line.starts_with(">> ") || line.starts_with(">- ");
    if (!is_message && !line.starts_with("< ")) {
      result.text += line + "\n";
      ++i;
      continue;
    }
    const std::size_t first = i;
    std::string message = line.substr(line.find(' ') + 1);
    for (++i; i < lines.size() && (lines[i].starts_with("  ") || lines[i].starts_with("}")); ++i)
      message += "\n" + lines[i];
    if (line.starts_with("< ")) continue;
    for (std::size_t at = first; at < i; ++at) result.text += lines[at] + "\n";
    const Json json = Json::parse(message, nullptr, false);
    if (json.is_discarded()) {
      server.receive(message);  // what a client that errs would send
    } else {
      server.receive(with_strings(json, [&](const std::string& text) -> Json {
                       return replaced(text, "$DIR", folder);
                     }).dump());
    }
    if (!line.starts_with(">> ")) settle(!line.starts_with(">- "));
  }
  settle(true);
  if (const auto status = server.exit_status()) result.text += fmt::format("# exit {}\n", *status);
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  bool is_update = false;
  std::vector<std::string> files;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--update") {
      is_update = true;
    } else {
      files.emplace_back(argv[i]);
    }
  }
  if (files.empty()) {
    fmt::print(stderr, "usage: lsp_runner [--update] FILE...\n");
    return 2;
  }
  bool all_right = true;
  for (const std::string& path : files) {
    std::ifstream input(path, std::ios::binary);
    if (!input) {
      fmt::print(stderr, "cannot read {}\n", path);
      return 2;
    }
    std::string text{std::istreambuf_iterator<char>(input), {}};
    const std::string folder =
        std::filesystem::canonical(std::filesystem::path(path).parent_path()).string();
    // What the run says at the end is no line of the file's author.
    std::vector<std::string> lines = split_lines(text);
    std::erase_if(lines, [](const std::string& line) { return line.starts_with("# exit "); });
    const Replay found = replay(join_lines(lines), folder);
    if (split_lines(found.text) == split_lines(text)) continue;
    if (is_update) {
      std::ofstream(path, std::ios::binary) << found.text;
      continue;
    }
    all_right = false;
    fmt::print("{}", tests::unified_diff(text, found.text, path, "what the server says"));
    fmt::print("rerun:  {0} {1}\nupdate: {0} --update {1}\n", argv[0], path);
  }
  return all_right ? 0 : 1;
}
