#include "tests/support/conformance_record.h"

#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "lang/op.h"

namespace relay::tests {
namespace {

using Json = nlohmann::json;

std::string text_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::string first_of(const Json& object, std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    std::string text = text_of(object, key);
    if (!text.empty()) return text;
  }
  return {};
}

Record record_of(const Json& object) {
  Record record;
  record.id = object.at("id").get<std::string>();
  record.kind = object.at("kind").get<std::string>();
  record.accepted = object.at("ok").get<bool>();
  record.has_verdict = record.accepted || object.contains("error_type");
  record.pass = text_of(object, "pass");
  record.init_module = text_of(object, "init_module");
  record.is_expression = text_of(object, "api") == "expr";
  record.error = first_of(object, {"error", "error_type"});
  const bool has_source = object.contains("source");
  record.source = object.at(has_source ? "source" : "text").get<std::string>();
  record.result = has_source ? text_of(object, "text") : first_of(object, {"typed", "out"});
  if (record.kind == "eval") {
    record.evaluation = Json{{"entry", object.at("entry")},
                             {"inputs", object.at("inputs")},
                             {"output", object.at("output")}}
                            .dump();
  }
  return record;
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_name(char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '.' || c == '/'; }

bool is_reserved(std::string_view name) {
  for (const std::string_view word : {"let", "fn", "def", "if", "else", "type", "match", "extern",
                                      "free_var", "ref", "ref_read", "ref_write", "meta"}) {
    if (name == word) return true;
  }
  return false;
}

// The program without its metadata.
std::string_view code_of(const std::string& text) {
  return std::string_view(text).substr(0, text.find("#[metadata]"));
}

// Calls `visit(name, character after it)` for each bare name outside strings
// and comments.
template <class Visit>
void each_name(std::string_view text, Visit&& visit) {
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '"') {
      i = std::min(text.find('"', i + 1), text.size() - 1) + 1;
    } else if (text.substr(i, 2) == "//") {
      i = std::min(text.find('\n', i), text.size());
    } else if (text.substr(i, 2) == "/*") {
      i = std::min(text.find("*/", i + 2), text.size() - 2) + 2;
    } else if (is_letter(c) || c == '%' || c == '@' || (c >= '0' && c <= '9')) {
      const std::size_t begin = i++;
      while (i < text.size() && is_name(text[i])) ++i;
      if (is_letter(c)) visit(text.substr(begin, i - begin), i < text.size() ? text[i] : '\0');
    } else {
      ++i;
    }
  }
}

// Names that the program gives to constructors: those in the braces of its types.
std::set<std::string, std::less<>> declared(std::string_view text) {
  std::set<std::string, std::less<>> names;
  for (std::size_t at = 0; (at = text.find("type ", at)) != std::string_view::npos; at += 5) {
    const std::size_t open = text.find_first_of("{(;=", at);
    if (open == std::string_view::npos || text[open] != '{') continue;
    const std::size_t close = std::min(text.find('}', open), text.size());
    each_name(text.substr(open, close - open),
              [&](std::string_view name, char) { names.emplace(name); });
  }
  return names;
}

template <class Visit>
void each_call(const Record& record, Visit&& visit) {
  const std::string_view text = code_of(record.source);
  const auto constructors = declared(text);
  each_name(text, [&](std::string_view name, char next) {
    // A bare name with a dot is an operator wherever it stands, but for the keys of attributes and
    // of the metadata.
    const bool is_dotted = next != '=' && next != ']' && name.find('.') != std::string_view::npos;
    if ((next == '(' || is_dotted) && !is_reserved(name) && !constructors.contains(name))
      visit(name);
  });
}

}  // namespace

std::vector<Record> read_records(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(fmt::format("cannot open {}", path));
  std::vector<Record> records;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.empty()) continue;
    try {
      records.push_back(record_of(Json::parse(line)));
    } catch (const Json::exception& error) {
      throw std::runtime_error(fmt::format("{}:{}: {}", path, number, error.what()));
    }
  }
  return records;
}

std::set<std::string> missing_operators(const std::vector<Record>& records) {
  std::set<std::string> missing;
  for (const Record& record : records) {
    if (!record.accepted) continue;
    each_call(record, [&](std::string_view name) {
      if (!lang::OpRegistry::instance().find(name)) missing.emplace(name);
    });
  }
  return missing;
}

std::string mentioned(const Record& record, const std::set<std::string>& names) {
  std::string found;
  each_call(record, [&](std::string_view name) {
    if (found.empty() && names.contains(std::string(name))) found = name;
  });
  return found;
}

}  // namespace relay::tests
