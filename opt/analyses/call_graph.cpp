#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "lang/visit.h"
#include "opt/analysis_text.h"

namespace relay::opt {

namespace {

// How often each function mentions each of the others, and itself.
using CallCounts = std::map<std::string, std::map<std::string, std::size_t>>;

CallCounts counts_of(const PassProgram& program) {
  CallCounts counts;
  for (const auto& entry : program.functions()) {
    auto& own = counts[entry.name];
    lang::visit_post_order(entry.function, [&](const lang::Expr& node) {
      lang::for_each_child(node, [&](const lang::Expr& child) {
        if (const auto* global = lang::as<lang::GlobalVar>(child)) ++own[global->name];
      });
    });
  }
  return counts;
}

// Does it come back to itself, by way of others or not?
bool is_recursive(const CallCounts& counts, const std::string& name) {
  std::map<std::string, bool> seen;
  std::vector<std::string> open{name};
  while (!open.empty()) {
    const std::string at = open.back();
    open.pop_back();
    const auto found = counts.find(at);
    if (found == counts.end()) continue;
    for (const auto& [called, times] : found->second) {
      if (called == name) return true;
      if (!std::exchange(seen[called], true)) open.push_back(called);
    }
  }
  return false;
}

std::string counted_calls(const std::map<std::string, std::size_t>& calls) {
  std::vector<std::string> names;
  for (const auto& [name, times] : calls)
    names.push_back(times == 1 ? name : fmt::format("{} ({} times)", name, times));
  return listed(names);
}

std::string called_by(const std::vector<std::string>& callers, std::size_t references) {
  if (callers.empty()) return "called by nobody";
  return fmt::format("called {} by {}",
                     references == 1 ? "once" : fmt::format("{} times", references),
                     listed(callers));
}

}  // namespace

Analysis call_graph_analysis() {
  Analysis analysis;
  analysis.name = "call_graph";
  analysis.doc = "which functions each one calls or hands on, how often, and who calls it";
  analysis.example =
      "def half(x: float32) { x / 2.0 }\n"
      "def down(x: float32) -> float32 { if x < 1.0 { half(x) } else { down(half(half(x))) } }";
  analysis.run = [](PassProgram& program) {
    const CallCounts counts = counts_of(program);
    std::string text;
    for (const auto& [name, calls] : counts) {
      std::vector<std::string> callers;
      std::size_t references = 0;
      for (const auto& [other, mentioned] : counts) {
        const auto found = mentioned.find(name);
        if (found == mentioned.end()) continue;
        callers.push_back(other.empty() ? "the expression" : other);
        references += found->second;
      }
      text +=
          fmt::format("{}: calls {}", name.empty() ? "the expression" : name, counted_calls(calls));
      if (!name.empty()) text += "; " + called_by(callers, references);
      text += is_recursive(counts, name) ? "; recursive\n" : "\n";
    }
    return text;
  };
  return analysis;
}

}  // namespace relay::opt
