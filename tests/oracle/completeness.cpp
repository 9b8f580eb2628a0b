#include "tests/oracle/completeness.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <stdexcept>

#include <fmt/format.h>

#include "lang/op.h"
#include "stdlib/register.h"
#include "tests/oracle/case_table.h"

namespace relay::tests {
namespace {

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(fmt::format("cannot open {}", path));
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

// What stands in backticks in the first column of the ledger's section.
std::vector<std::string> excused_patterns(const std::string& ledger) {
  std::vector<std::string> patterns;
  bool inside = false;
  for (const std::string& line : lines_of(ledger)) {
    if (line.starts_with("## ")) inside = line == "## Operators";
    if (!inside || !line.starts_with("|")) continue;
    const std::string cell = line.substr(1, line.find('|', 1) - 1);
    for (std::size_t at = cell.find('`'); at != std::string::npos;) {
      const std::size_t end = cell.find('`', at + 1);
      if (end == std::string::npos) break;
      patterns.push_back(cell.substr(at + 1, end - at - 1));
      at = cell.find('`', end + 1);
    }
  }
  return patterns;
}

bool matches(const std::string& name, const std::string& pattern) {
  if (!pattern.ends_with('*')) return name == pattern;
  return name.starts_with(pattern.substr(0, pattern.size() - 1));
}

bool is_evaluated(const lang::OpDef& op) {
  return op.definition || op.expansion || !op.static_form.empty() ||
         op.primitive != lang::TensorPrimitive::None;
}

bool has_float64(const std::vector<CaseInput>& inputs) {
  return std::any_of(inputs.begin(), inputs.end(), [](const CaseInput& input) {
    return has_float64(input.fields) || (!input.is_tuple && input.dtype == lang::DType::Float64);
  });
}

}  // namespace

Completeness completeness(const std::string& names, const std::string& ledger,
                          const std::string& cases) {
  stdlib::register_operators();
  std::set<std::string> tried;
  std::set<std::string> differentiated;
  for (const auto& entry : std::filesystem::directory_iterator(cases)) {
    if (entry.path().extension() != ".tsv") continue;
    for (const CaseRow& row : read_cases(entry.path().string())) {
      tried.insert(row.op);
      if (!row.has_note("rough") && has_float64(row.inputs)) differentiated.insert(row.op);
    }
  }
  const std::vector<std::string> patterns = excused_patterns(ledger);
  const auto is_excused = [&](const std::string& name) {
    return std::any_of(patterns.begin(), patterns.end(),
                       [&](const std::string& pattern) { return matches(name, pattern); });
  };
  Completeness found;
  std::set<std::string> relay_names;
  for (const std::string& line : lines_of(names)) {
    const std::string name = line.substr(0, line.find('\t'));
    relay_names.insert(name);
    const lang::OpDef* op = lang::OpRegistry::instance().find(name);
    if (is_excused(name)) {
      found.excused.push_back(name);
      if (tried.contains(name)) found.wrongly_excused.push_back(name);
    } else if (!op) {
      found.without_record.push_back(name);
    } else if (tried.contains(name)) {
      found.working.push_back(name);
    }
  }
  for (const lang::OpDef* op : lang::OpRegistry::instance().all()) {
    if (!is_evaluated(*op) || is_excused(op->name)) continue;
    if (!tried.contains(op->name)) {
      const bool is_ours = !relay_names.contains(op->name);
      (is_ours ? found.ours_without_row : found.without_row).push_back(op->name);
    } else if (op->differentiable && !differentiated.contains(op->name)) {
      found.without_gradient_row.push_back(op->name);
    }
  }
  return found;
}

}  // namespace relay::tests
