#include "tools/operator_pages/pages.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "lang/call_form.h"
#include "lang/op.h"
#include "repl/display.h"
#include "repl/driver.h"
#include "stdlib/register.h"
#include "tests/support/text_diff.h"
#include "tools/operator_pages/pattern_at.h"

namespace relay::tools {
namespace {

using lang::AttrKind;
using lang::OpDef;
using loops::Pattern;

constexpr std::string_view kOurs = "beyond_relay";

struct RelayFact {
  std::string category;
  std::string pattern;
};

std::map<std::string, RelayFact> read_facts(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(fmt::format("cannot open {}", path));
  std::map<std::string, RelayFact> facts;
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find('\t');
    const std::size_t second = line.find('\t', first + 1);
    if (second == std::string::npos) throw std::runtime_error(fmt::format("{}: {}", path, line));
    facts[line.substr(0, first)] = {line.substr(first + 1, second - first - 1),
                                    line.substr(second + 1)};
  }
  return facts;
}

// --- Patterns ---

// Each operator's pattern: of those at the shapes of its rows the one that fuses least. Extents of
// 1 and operands of one shape hide what another row shows.
std::map<std::string, Pattern> patterns_of_cases(const std::string& folder) {
  std::map<std::string, Pattern> patterns;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".tsv") continue;
    for (const tests::CaseRow& row : tests::read_cases(entry.path().string())) {
      const auto pattern = pattern_at(row);
      if (!pattern) continue;
      const auto at = patterns.emplace(row.op, *pattern).first;
      at->second = std::max(at->second, *pattern);
    }
  }
  return patterns;
}

// Relay's word for a pattern.
std::string_view relay_name(Pattern pattern) {
  switch (pattern) {
    case Pattern::Elementwise:
      return "elemwise";
    case Pattern::Broadcast:
      return "broadcast";
    case Pattern::Injective:
      return "injective";
    case Pattern::Reduction:
      return "comm_reduce";
    case Pattern::Contraction:
      return "out_elemwise_fusable";
    case Pattern::Opaque:
      return "opaque";
  }
  return "";
}

using Patterns = std::map<std::string, Pattern>;

std::string pattern_text(const OpDef& op, const Patterns& patterns, const RelayFact* fact) {
  // What is lowered is the form whose attributes are the values of the inputs.
  const auto found = patterns.find(op.static_form.empty() ? op.name : op.static_form);
  const bool is_opaque = op.primitive != lang::TensorPrimitive::None || op.expansion;
  if (found == patterns.end() && !is_opaque) return "";
  const Pattern pattern = is_opaque ? Pattern::Opaque : found->second;
  std::string text = fmt::format(" · fusion: {}", loops::name_of(pattern));
  if (fact && fact->pattern != "none" && fact->pattern != relay_name(pattern))
    text += fmt::format(" (Relay registers `{}`)", fact->pattern);
  return text;
}

// --- One operator ---

std::string_view kind_text(AttrKind kind) {
  switch (kind) {
    case AttrKind::Bool:
      return "bool";
    case AttrKind::Int:
      return "integer";
    case AttrKind::Float:
      return "float";
    case AttrKind::String:
      return "string";
    case AttrKind::DType:
      return "dtype";
    case AttrKind::IntList:
      return "list of integers";
    case AttrKind::IntOrIntList:
      return "integer or list of integers";
    case AttrKind::FloatList:
      return "list of floats";
    case AttrKind::Any:
      return "any value";
  }
  return "";
}

std::string signature(const OpDef& op) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < op.inputs.size(); ++i)
    parts.push_back(lang::input_usage(op, i) + (op.inputs[i].is_optional ? "?" : ""));
  for (const auto& attr : op.attrs) parts.push_back(lang::attr_usage(op, attr));
  return fmt::format("{}({})", op.name, fmt::join(parts, ", "));
}

std::string derivative_text(const OpDef& op) {
  if (op.gradient) return "given";
  if (op.effect != lang::Effect::None) return "none";
  return op.differentiable ? "derived" : "zero";
}

// The example as it looks at the prompt.
std::string transcript(const OpDef& op) {
  std::string text;
  repl::SessionOptions options;
  options.jit = interp::JitMode::Off;
  options.write = [&](std::string_view written) { text += written; };
  repl::Session session(std::move(options));
  repl::DriverEvents events;
  events.on_item = [&](const repl::ItemResult& result) { text += repl::describe(result); };
  events.on_errors = [&](const std::vector<lang::Diagnostic>& errors) {
    throw std::runtime_error(
        fmt::format("the example of {} fails: {}", op.name, errors.front().message));
  };
  repl::Driver driver(session, std::move(events), 0);
  bool goes_on = false;
  for (const std::string& line : tests::split_lines(op.example)) {
    if (line.starts_with("//")) continue;
    const std::string code = line.substr(0, line.find(" // expect"));
    text += (goes_on ? "  ...> " : "relay> ") + code + "\n";
    goes_on = driver.feed(code) == repl::Driver::State::NeedsMore;
  }
  driver.finish();
  return text;
}

std::string section(const OpDef& op, const Patterns& patterns, const RelayFact* fact) {
  std::string text = fmt::format("## {}\n\n    {}\n\n{}\n\n", op.name, signature(op), op.doc);
  for (const auto& input : op.inputs)
    text += fmt::format("- `{}`: {}{}\n", input.name, input.doc,
                        input.is_optional ? "; may be left out" : "");
  for (const auto& attr : op.attrs) {
    text += fmt::format("- `{}` ({}{}): {}\n", attr.name, kind_text(attr.kind),
                        attr.default_value             ? ""
                        : lang::attr_default(op, attr) ? ", required in strict text"
                                                       : ", required",
                        attr.doc);
  }
  if (!op.inputs.empty() || !op.attrs.empty()) text += "\n";
  text += op.level > 0 ? fmt::format("Level {}", op.level) : std::string("No level of Relay's");
  text +=
      fmt::format(" · derivative: {}{}\n\n", derivative_text(op), pattern_text(op, patterns, fact));
  return text + fmt::format("```relay\n{}```\n\n", transcript(op));
}

std::string_view category_title(const std::string& category) {
  static const std::map<std::string, std::string_view, std::less<>> kTitles = {
      {"algorithm", "Sorting and searching"},
      {"annotation", "Annotations"},
      {"beyond_relay", "Beyond Relay"},
      {"contrib", "Contributed"},
      {"dyn", "Shapes that are values"},
      {"image", "Images"},
      {"internal", "Internal to Relay"},
      {"memory", "Memory"},
      {"nn", "Neural networks"},
      {"qnn", "Quantized networks"},
      {"random", "Random numbers"},
      {"reduce", "Reductions"},
      {"tensor", "Tensors, element by element"},
      {"transform", "Shapes and indices"},
      {"vision", "Vision"},
      {"vm", "Virtual machine"},
  };
  const auto found = kTitles.find(category);
  if (found == kTitles.end()) throw std::runtime_error("no title for the category " + category);
  return found->second;
}

constexpr std::string_view kIntroduction =
    "# Operators\n\n"
    "Each operator is one record in `stdlib/ops`; these pages are made from the records by `./dev "
    "docs`, and a test\nsays when they are old. `:doc NAME` says the same at the prompt.\n\n"
    "An attribute stands behind the inputs by its name, with its default; a required one has "
    "none. The derivative is *given* by\na rule, *derived* from the definition, *zero* "
    "everywhere, or there is *none*, as of what acts on the world. Fusion is read off the index "
    "maps of the definition at the\nshapes of the table "
    "of "
    "cases: *elementwise*, *broadcast*, *injective* (single elements of the operands, wherever), "
    "*reduction*\n(a fold over whole axes), *contraction* (a fold over products or windows, which "
    "what follows can join) or *opaque*. Where\nRelay registers another pattern, the page says "
    "so.\n\n";

}  // namespace

std::map<std::string, std::string> operator_pages(const PageSources& sources) {
  stdlib::register_operators();
  const auto facts = read_facts(sources.facts);
  const auto patterns = patterns_of_cases(sources.cases);
  std::map<std::string, std::vector<const OpDef*>> categories;
  for (const OpDef* op : lang::OpRegistry::instance().all()) {
    const auto fact = facts.find(op->name);
    categories[fact == facts.end() ? std::string(kOurs) : fact->second.category].push_back(op);
  }
  std::map<std::string, std::string> pages;
  std::string index(kIntroduction);
  index += "| page | operators |\n| --- | --- |\n";
  for (const auto& [category, operators] : categories) {
    std::string page = fmt::format("# {}\n\n", category_title(category));
    std::vector<std::string> names;
    for (const OpDef* op : operators) {
      const auto fact = facts.find(op->name);
      page += section(*op, patterns, fact == facts.end() ? nullptr : &fact->second);
      names.push_back(fmt::format("`{}`", op->name));
    }
    page.pop_back();
    pages[category + ".md"] = page;
    index += fmt::format("| [{}]({}.md) | {} |\n", category_title(category), category,
                         fmt::join(names, ", "));
  }
  pages["README.md"] = index;
  return pages;
}

}  // namespace relay::tools
