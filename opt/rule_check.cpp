#include "opt/rule_check.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "lang/build.h"
#include "lang/diagnostic.h"
#include "lang/print.h"
#include "lang/value.h"
#include "lang/visit.h"
#include "opt/rule_samples.h"

namespace relay::opt {

using lang::as;
using lang::Diagnostic;
using lang::DiagnosticKind;
using lang::DType;
using lang::Expr;

namespace {

constexpr int kTries = 1500;  // to find code that the pattern matches
constexpr int kSamples = 96;  // that are evaluated
constexpr std::uint64_t kSeed = 20;

Expr closed(const Expr& expr, const RuleSample& sample) {
  lang::Substitution values;
  for (const RuleSample::Input& input : sample.inputs)
    values.emplace(input.variable.get(), lang::make_constant(input.value));
  return lang::substitute(expr, values);
}

// The tensors of a value: itself, or the fields of a tuple.
std::vector<Expr> parts_of(const Expr& expr) {
  const auto* tuple = as<lang::TupleType>(expr->type);
  if (!tuple) return {expr};
  std::vector<Expr> parts;
  for (std::size_t i = 0; i < tuple->fields.size(); ++i)
    parts.push_back(lang::build::project(expr, static_cast<std::uint32_t>(i)));
  return parts;
}

// Of what a type leaves open, the values may have different extents.
bool same_form(const lang::Tensor& a, const lang::Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape();
}

bool same_bits(const lang::Tensor& a, const lang::Tensor& b) {
  for (std::int64_t i = 0; i < a.element_count(); ++i) {
    const bool are_nan =
        lang::is_float(a.dtype()) && std::isnan(a.number_at(i)) && std::isnan(b.number_at(i));
    if (a.bits_at(i) != b.bits_at(i) && !are_nan) return false;
  }
  return true;
}

double tolerance(DType dtype) {
  switch (dtype) {
    case DType::Float16:
      return 2e-2;
    case DType::BFloat16:
      return 1e-1;
    case DType::Float32:
      return 2e-5;
    case DType::Float64:
      return 1e-12;
    default:
      return 0;
  }
}

// Up to rounding, which is as large as the largest number makes it.
bool is_close(const lang::Tensor& a, const lang::Tensor& b) {
  double largest = 1;
  for (std::int64_t i = 0; i < a.element_count(); ++i) {
    if (!std::isfinite(a.number_at(i))) return true;  // says nothing of finite numbers
    largest = std::max(largest, std::abs(a.number_at(i)));
  }
  for (std::int64_t i = 0; i < a.element_count(); ++i) {
    const double difference = std::abs(a.number_at(i) - b.number_at(i));
    if (!(difference <= tolerance(a.dtype()) * largest)) return false;
  }
  return true;
}

std::string text_of(const lang::TensorRef& tensor) {
  return lang::to_string(lang::Value::tensor(tensor)) + " : " +
         lang::to_string(lang::type_of_tensor(*tensor));
}

Diagnostic changes_value(const PatternRule& rule, const RuleSample& sample, const Expr& before,
                         const Expr& after) {
  Diagnostic diagnostic(DiagnosticKind::BadRule,
                        fmt::format("rule `{}` changes a value", rule.written.name),
                        rule.written.span);
  for (const RuleSample::Input& input : sample.inputs)
    diagnostic.note(fmt::format("note: where {} = {}", input.variable->name, text_of(input.value)));
  if (sample.has_choices)
    diagnostic.note(fmt::format("note: for example `{}`", lang::print_light(sample.before)));
  const auto value = [](const Expr& expr) {
    const auto* constant = as<lang::Constant>(expr);
    return constant ? text_of(constant->value) : std::string("an error");
  };
  diagnostic.note(fmt::format("note: the pattern gives {}", value(before)));
  diagnostic.note(fmt::format("note: the replacement gives {}", value(after)));
  return diagnostic;
}

struct Fault {
  Diagnostic diagnostic;
  std::vector<RuleSample::Attribute> attributes = {};  // of the sample
};

// Nothing where the rule keeps the value of the sample.
std::optional<Fault> fault_at(const PatternRule& rule, const RuleSample& sample,
                              const RuleHost& host) {
  const std::vector<Expr> before = parts_of(closed(sample.before, sample));
  const std::vector<Expr> after = parts_of(closed(sample.after, sample));
  for (std::size_t i = 0; i < before.size(); ++i) {
    const Expr expected = host.evaluate(before[i]);
    const auto* wanted = as<lang::Constant>(expected);
    if (!wanted) return std::nullopt;  // what fails need not fail afterwards
    const Expr made = host.evaluate(after[i]);
    const auto* found = as<lang::Constant>(made);
    const bool is_kept =
        found && same_form(*wanted->value, *found->value) &&
        (rule.written.kind == lang::RuleKind::Exact ? same_bits(*wanted->value, *found->value)
                                                    : is_close(*wanted->value, *found->value));
    if (!is_kept) return Fault{changes_value(rule, sample, expected, made), sample.attributes};
  }
  return std::nullopt;
}

std::int64_t elements_of(const RuleSample& sample) {
  std::int64_t count = 0;
  for (const RuleSample::Input& input : sample.inputs) count += input.value->element_count();
  return count;
}

// The same, or what is found at a sample of fewer elements, which is easier to read.
Fault smallest_fault(Fault fault, std::int64_t elements, const PatternRule& rule,
                     SampleValues values, const DefaultAttrs& defaults, const RuleHost& host) {
  RuleRandom random(kSeed);
  std::vector<Diagnostic> why;
  for (int i = 0; i < kTries / 2; ++i) {
    const auto sample = sample_of(rule, random, values, defaults, i % 2 == 0, host, why);
    if (!sample || elements_of(*sample) >= elements) continue;
    auto found = fault_at(rule, *sample, host);
    if (!found) continue;
    fault = std::move(*found);
    elements = elements_of(*sample);
  }
  return fault;
}

std::optional<Fault> fault_of(const PatternRule& rule, const RuleHost& host,
                              const DefaultAttrs& defaults = {}) {
  const bool is_exact = rule.written.kind == lang::RuleKind::Exact;
  RuleRandom random(kSeed);
  std::vector<Diagnostic> why;
  int samples = 0;
  for (int i = 0; i < kTries && samples < kSamples; ++i) {
    const auto values = is_exact && i % 2 == 1 ? SampleValues::Special : SampleValues::Moderate;
    const bool is_small = samples < kSamples / 4 && i < kTries / 4;
    const auto sample = sample_of(rule, random, values, defaults, is_small, host, why);
    if (!sample) continue;
    ++samples;
    if (auto fault = fault_at(rule, *sample, host))
      return smallest_fault(std::move(*fault), elements_of(*sample), rule, values, defaults, host);
  }
  if (samples > 0) return std::nullopt;
  if (!why.empty()) return Fault{why.front()};
  return Fault{
      Diagnostic(DiagnosticKind::BadRule,
                 fmt::format("rule `{}` was tried on nothing: of {} calls of random types, its "
                             "pattern matches none that its replacement fits",
                             rule.written.name, kTries),
                 rule.written.span)
          .note("help: give its operands types, as in `x: Tensor[(n, m), float32]`")};
}

bool is_good_up_to_rounding(PatternRule rule, const RuleHost& host) {
  rule.written.kind = lang::RuleKind::Approximate;
  return !fault_of(rule, host);
}

// The attributes that the pattern leaves open and whose defaults make the rule hold; none where it
// holds for no defaults, or all its attributes have them.
DefaultAttrs mending_defaults(const PatternRule& rule, const Fault& first, const RuleHost& host) {
  DefaultAttrs defaults;
  std::optional<Fault> fault = first;
  while (fault) {
    const std::size_t before = defaults.size();
    for (const RuleSample::Attribute& each : fault->attributes) {
      defaults.emplace(std::pair(each.op->name, each.name), each.default_value);
    }
    if (defaults.size() == before) return {};
    fault = fault_of(rule, host, defaults);
  }
  return defaults;
}

// What is sure to mend the rule.
std::optional<std::string> help_for(const PatternRule& rule, const Fault& fault,
                                    const RuleHost& host) {
  std::vector<std::string> missing;
  for (const auto& [name, value] : mending_defaults(rule, fault, host))
    missing.push_back(fmt::format("`{}={}` of `{}`", name.second, value.to_string(), name.first));
  if (!missing.empty()) {
    return fmt::format("help: attributes that a pattern does not write may be any: write {} in it",
                       fmt::join(missing, " and "));
  }
  if (rule.written.kind == lang::RuleKind::Exact && is_good_up_to_rounding(rule, host))
    return "help: of finite numbers it holds up to rounding: declare it an `approximate rule`";
  return std::nullopt;
}

}  // namespace

void check_rules(const std::vector<PatternRule>& rules, const RuleHost& host) {
  std::vector<Diagnostic> errors;
  for (const PatternRule& rule : rules) {
    if (!rule.written.replacement) continue;
    auto fault = fault_of(rule, host);
    if (!fault) continue;
    if (auto help = help_for(rule, *fault, host)) fault->diagnostic.note(std::move(*help));
    errors.push_back(std::move(fault->diagnostic));
  }
  if (!errors.empty()) throw lang::Failure(std::move(errors));
}

}  // namespace relay::opt
