#include "opt/composite.h"

#include <algorithm>

#include <fmt/format.h>

namespace relay::opt {

namespace {

// Is what the steps give used by one another only, but for the last?
bool is_closed_match(const CompositeMatch& match, const lang::Block& block, const BlockUses& uses) {
  return std::all_of(match.steps.begin(), match.steps.end() - 1, [&](std::size_t step) {
    const std::vector<std::size_t>& users = uses.users_of(block.bindings[step].variable.get());
    return std::all_of(users.begin(), users.end(), [&](std::size_t user) {
      return std::binary_search(match.steps.begin(), match.steps.end(), user);
    });
  });
}

CompositeRule read_composite(const lang::CompositePattern& written,
                             const lang::ExternalCompiler& compiler, const PassHost& host) {
  const auto patterns = lang::capture([&] {
    const std::string text = fmt::format("pattern {}{}", written.name, written.pattern);
    return pattern_rules(host.parse_rules(written.name, text, RuleScope::Operators));
  });
  if (!patterns || patterns->size() != 1) {
    lang::fail(
        lang::DiagnosticKind::BadCompiler,
        fmt::format("the pattern `{}` of the external compiler `{}` is none: {}", written.name,
                    compiler.name(),
                    patterns ? "there is more behind it" : patterns.errors().front().message));
  }
  return {written.name, patterns->front(), written.refusal};
}

}  // namespace

const std::vector<CompositeRule>& Composites::of(lang::ExternalCompiler& compiler) {
  if (const auto found = read_.find(&compiler); found != read_.end()) return found->second;
  std::vector<CompositeRule> rules;
  for (const lang::CompositePattern& each : compiler.composites())
    rules.push_back(read_composite(each, compiler, host_));
  return read_[&compiler] = std::move(rules);
}

std::optional<CompositeMatch> match_composite(const PatternRule& pattern, const lang::Block& block,
                                              const Definitions& definitions, const BlockUses& uses,
                                              std::size_t place) {
  const lang::Binding& result = block.bindings[place];
  const auto found = match(*pattern.pattern, result.value, definitions, result.variable);
  if (!found) return std::nullopt;
  CompositeMatch composite;
  for (const ExprMatch::Step& step : found->steps) {
    const auto at = step.variable ? uses.place_of(step.variable.get()) : std::nullopt;
    if (!at) return std::nullopt;
    composite.steps.push_back(*at);
  }
  std::sort(composite.steps.begin(), composite.steps.end());
  if (!is_closed_match(composite, block, uses)) return std::nullopt;
  for (const lang::VariableRef& param : pattern.written.params) {
    const auto value = found->values.find(param.get());
    if (value == found->values.end()) continue;
    // What a step of the match gives is not known before its call.
    const auto at = uses.place_of(variable_of(value->second));
    if (at && std::binary_search(composite.steps.begin(), composite.steps.end(), *at))
      return std::nullopt;
    composite.values.push_back(value->second);
  }
  return composite;
}

}  // namespace relay::opt
