// Edits texts at random and holds the language server to this: whatever the edits, what it says of
// the text is what a new server says of the same text. The text is kept here in UTF-16, as a client
// would have it, so that positions are computed twice. And of golden files it says what is wrong as
// `relay check` does.
//
//   lsp_edits [SEED [COUNT]]
//
// COUNT texts; each failure prints its seed, the text and the answers.

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "repl/session.h"
#include "server/server.h"

namespace {

using namespace relay;  // NOLINT: the program's own file
using server::Json;

constexpr int kEdits = 12;
const std::string kUri = "file:///nowhere/edited.relay";

std::u16string utf16(const std::string& text) {
  std::u16string units;
  for (std::size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i]);
    const std::size_t bytes = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    char32_t point = bytes == 1 ? first : first & (0xFFU >> (bytes + 1));
    for (std::size_t k = 1; k < bytes; ++k)
      point = (point << 6) | (static_cast<unsigned char>(text[i + k]) & 0x3FU);
    i += bytes;
    if (point < 0x10000) {
      units += static_cast<char16_t>(point);
    } else {
      units += static_cast<char16_t>(0xD800 + ((point - 0x10000) >> 10));
      units += static_cast<char16_t>(0xDC00 + ((point - 0x10000) & 0x3FF));
    }
  }
  return units;
}

std::string utf8(const std::u16string& units) {
  std::string text;
  for (std::size_t i = 0; i < units.size(); ++i) {
    char32_t point = units[i];
    if (point >= 0xD800 && point < 0xDC00 && i + 1 < units.size())
      point = 0x10000 + ((point - 0xD800) << 10) + (units[++i] - 0xDC00U);
    const auto put = [&](char32_t bits) { text += static_cast<char>(bits); };
    if (point < 0x80) {
      put(point);
    } else if (point < 0x800) {
      put(0xC0 | (point >> 6));
      put(0x80 | (point & 0x3F));
    } else if (point < 0x10000) {
      put(0xE0 | (point >> 12));
      put(0x80 | ((point >> 6) & 0x3F));
      put(0x80 | (point & 0x3F));
    } else {
      put(0xF0 | (point >> 18));
      put(0x80 | ((point >> 12) & 0x3F));
      put(0x80 | ((point >> 6) & 0x3F));
      put(0x80 | (point & 0x3F));
    }
  }
  return text;
}

// The end of each line is "\n", or "\r\n".
Json position_of(const std::u16string& text, std::size_t at) {
  std::size_t line = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < at; ++i) {
    if (text[i] != u'\n') continue;
    ++line;
    begin = i + 1;
  }
  return {{"line", line}, {"character", at - begin}};
}

// A server and what it has said of a text.
class Client {
 public:
  explicit Client(const std::string& text, const std::string& uri = kUri)
      : server_({}, [this](const Json& message) { said_.push_back(message); }) {
    ask("initialize", {{"capabilities", Json::object()}});
    tell("initialized", Json::object());
    tell("textDocument/didOpen",
         {{"textDocument",
           {{"uri", uri}, {"languageId", "relay"}, {"version", 1}, {"text", text}}}});
  }

  void tell(const std::string& method, const Json& params) {
    server_.receive(Json{{"jsonrpc", "2.0"}, {"method", method}, {"params", params}}.dump());
    while (server_.step()) {
    }
  }

  Json ask(const std::string& method, const Json& params) {
    server_.receive(
        Json{{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", params}}.dump());
    while (server_.step()) {
    }
    Json answer = std::move(said_.back());
    said_.clear();
    return answer;
  }

  // What is wrong with the text, without its version.
  Json diagnostics() {
    server_.idle();
    Json found;
    for (const Json& message : said_) {
      if (message.value("method", "") == "textDocument/publishDiagnostics")
        found = message["params"]["diagnostics"];
    }
    said_.clear();
    return found;
  }

 private:
  std::vector<Json> said_;
  server::Server server_;
};

struct Question {
  std::string method;
  Json params;
};

std::vector<Question> questions(const std::u16string& text, std::mt19937& random) {
  const Json document = {{"uri", kUri}};
  const Json whole = {{"start", {{"line", 0}, {"character", 0}}},
                      {"end", position_of(text, text.size())}};
  std::vector<Question> list = {
      {"textDocument/documentSymbol", {{"textDocument", document}}},
      {"textDocument/semanticTokens/full", {{"textDocument", document}}},
      {"textDocument/inlayHint", {{"textDocument", document}, {"range", whole}}},
      {"textDocument/formatting", {{"textDocument", document}, {"options", Json::object()}}},
      {"textDocument/codeLens", {{"textDocument", document}}},
  };
  if (random() % 4 == 0) {
    list.push_back({"textDocument/codeAction",
                    {{"textDocument", document}, {"range", whole}, {"context", Json::object()}}});
  }
  for (const char* method :
       {"textDocument/hover", "textDocument/hover", "textDocument/completion",
        "textDocument/signatureHelp", "textDocument/definition", "textDocument/references",
        "textDocument/documentHighlight", "textDocument/prepareRename"}) {
    const Json position = position_of(text, random() % (text.size() + 1));
    list.push_back({method, {{"textDocument", document}, {"position", position}}});
  }
  return list;
}

const std::vector<std::string> kPieces = {
    "x",
    "1.0",
    " + ",
    "(",
    ")",
    "{",
    "}",
    "\n",
    "\r\n",
    "é",
    "𝒳",
    "// ∂\n",
    "y",
    ";",
    "let y = 2.0\n",
    "\"",
    ", ",
    "[1, 2]",
    "nn.softmax",
    ".",
    "def ",
    "foo(",
    ": Tensor[(n, 2), float32]",
    "def g(a, k = 2.0) = a * k\n",
    "g(1.0, k = 3.0)\n",
    "type P { P { w: float32 } }\n",
    "let p = P(w = 1.0)\np.w\n",
    "/* ",
    "%",
    "import \"linalg.relay\" as l;\n",
    "sum i { v[i] }",
    "grad(g)(2.0)\n",
    "match l { Nil => 0, Cons(h, _) => h }\n",
    "relu",
};

std::size_t outside_of_pair(const std::u16string& text, std::size_t at) {
  const bool is_inside = at > 0 && at < text.size() && text[at] >= 0xDC00 && text[at] < 0xE000;
  // A line break of two units is one.
  const bool is_break = at > 0 && at < text.size() && text[at] == u'\n' && text[at - 1] == u'\r';
  return is_inside || is_break ? at - 1 : at;
}

// One change, carried out on the text, as the protocol has it.
Json edit(std::u16string& text, std::mt19937& random) {
  const std::size_t begin = outside_of_pair(text, random() % (text.size() + 1));
  std::size_t length = random() % 3 == 0 ? random() % 12 : 0;
  if (random() % 40 == 0) length = random() % 400;
  const std::size_t end =
      std::max(begin, outside_of_pair(text, std::min(text.size(), begin + length)));
  const std::string piece = random() % 4 == 0 ? "" : kPieces[random() % kPieces.size()];
  const Json change = {
      {"range", {{"start", position_of(text, begin)}, {"end", position_of(text, end)}}},
      {"text", piece}};
  text.replace(begin, end - begin, utf16(piece));
  // A lone "\r" would be a line break of its own.
  for (std::size_t at = text.find(u'\r'); at != std::u16string::npos;
       at = text.find(u'\r', at + 1)) {
    if (at + 1 < text.size() && text[at + 1] == u'\n') continue;
    return nullptr;
  }
  return change;
}

bool agree(const std::string& what, const Json& found, const Json& wanted,
           const std::u16string& text, unsigned seed) {
  if (found == wanted) return true;
  fmt::print("seed {}: {} differs\n--- text\n{}\n--- after edits\n{}\n--- new\n{}\n", seed, what,
             utf8(text), found.dump(1), wanted.dump(1));
  return false;
}

bool is_right(const std::string& start, unsigned seed) {
  std::mt19937 random(seed);
  std::u16string text = utf16(start);
  Client client(start);
  for (int i = 1; i <= kEdits; ++i) {
    const std::u16string before = text;
    Json changes = Json::array();
    for (std::size_t k = 0; k <= random() % 3; ++k) {
      const std::u16string kept = text;
      const Json change = edit(text, random);
      if (change.is_null()) {
        text = kept;
      } else {
        changes.push_back(change);
      }
    }
    client.tell("textDocument/didChange", {{"textDocument", {{"uri", kUri}, {"version", i + 1}}},
                                           {"contentChanges", changes}});
    // Sometimes versions go by that nobody looks at.
    if (random() % 3 == 0 && i < kEdits) continue;
    Client fresh(utf8(text));
    if (!agree("diagnostics", client.diagnostics(), fresh.diagnostics(), text, seed)) return false;
    for (const Question& each : questions(text, random)) {
      if (!agree(each.method + " " + each.params.dump(), client.ask(each.method, each.params),
                 fresh.ask(each.method, each.params), text, seed))
        return false;
    }
  }
  return true;
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream input(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(input), {}};
}

// The errors of a file as a session has them that runs it without evaluating.
std::vector<std::string> errors_in_session(const std::filesystem::path& path) {
  repl::SessionOptions options;
  options.jit = interp::JitMode::Off;
  options.evaluate = false;
  options.reads_headers = false;
  repl::Session session(options);
  std::vector<std::string> errors;
  for (const lang::Diagnostic& each :
       session.run_file(std::filesystem::canonical(path).string(), nullptr))
    errors.push_back(fmt::format("{}: {}", lang::name_of(each.kind), each.message));
  std::sort(errors.begin(), errors.end());
  return errors;
}

std::vector<std::string> errors_in_server(const std::filesystem::path& path) {
  constexpr int kError = 1;
  Client client(text_of(path), "file://" + std::filesystem::canonical(path).string());
  std::vector<std::string> errors;
  for (const Json& each : client.diagnostics()) {
    const std::string message = each["message"].get<std::string>();
    const std::size_t end = std::min(message.find("\nnote: "), message.find("\nhelp: "));
    if (each["severity"] == kError)
      errors.push_back(
          fmt::format("{}: {}", each["code"].get<std::string>(), message.substr(0, end)));
  }
  std::sort(errors.begin(), errors.end());
  return errors;
}

// Of each of the golden files that must fail, `step` apart.
bool says_what_check_says(std::size_t first, std::size_t step) {
  std::vector<std::filesystem::path> paths;
  for (const auto& each : std::filesystem::directory_iterator("tests/golden/check")) {
    const std::string name = each.path().filename().string();
    // Commands of the prompt are no part of a program.
    const bool has_commands = text_of(each.path()).find("\n:") != std::string::npos;
    if (name.starts_with("bad_") && name.ends_with(".relay") && !has_commands)
      paths.push_back(each.path());
  }
  std::sort(paths.begin(), paths.end());
  bool is_right = !paths.empty();
  for (std::size_t i = first % step; i < paths.size(); i += step) {
    const std::vector<std::string> wanted = errors_in_session(paths[i]);
    const std::vector<std::string> found = errors_in_server(paths[i]);
    if (wanted == found) continue;
    is_right = false;
    fmt::print("{}: the server says\n  {}\nand `relay check`\n  {}\n", paths[i].string(),
               fmt::join(found, "\n  "), fmt::join(wanted, "\n  "));
  }
  return is_right;
}

std::vector<std::string> texts() {
  std::vector<std::string> found = {
      "def f(x) = x * 2.0\nlet v = [1.0, 2.0]\nf(v)\n",
      "type P { P { w: Tensor[(2), float32], b: float32 } }\n"
      "def g(p, k = 2.0) { let w = p.w * k; sum(w) + p.b }\nlet p = P(w = [1.0, 2.0], b = 0.5)\n"
      "g(p, k = 3.0)\n// expect: 9.5f : float32\n",
      "import \"linalg.relay\" as l;\ndef h[n](a: Tensor[(n, n), float32]) { for i { a[i, i] } }\n"
      "def even(n) { if n == 0 { True } else { odd(n - 1) } }\n"
      "def odd(n) { if n == 0 { False } else { even(n - 1) } }\neven(4)\n",
      "#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(3), float32]) {\n  let %y = add(%x, %x);\n"
      "  %0 = nn.relu(%y);\n  multiply(%0, %0)\n}\n",
  };
  std::vector<std::filesystem::path> paths;
  for (const auto& each : std::filesystem::directory_iterator("tests/golden/run")) {
    if (each.path().extension() == ".relay" && each.file_size() < 3000)
      paths.push_back(each.path());
  }
  std::sort(paths.begin(), paths.end());
  for (const auto& path : paths) found.push_back(text_of(path));
  return found;
}

}  // namespace

int main(int argc, char** argv) {
  const unsigned seed = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 1;
  const int count = argc > 2 ? std::atoi(argv[2]) : 48;
  // A quarter of them, another one with the next seed.
  if (!says_what_check_says(seed, 4)) return 1;
  const std::vector<std::string> starts = texts();
  for (int i = 0; i < count; ++i) {
    const unsigned each = seed + static_cast<unsigned>(i);
    // The first ones are those about which most is asked.
    const std::size_t place = each % 2 == 0 ? each / 2 % 4 : each % starts.size();
    if (!is_right(starts[place], each)) {
      fmt::print("again: {} {} 1\n", argv[0], each);
      return 1;
    }
  }
  return 0;
}
