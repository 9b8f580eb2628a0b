#include "opt/partial_eval_fuel.h"

#include <algorithm>

namespace relay::opt::partial {

namespace {

constexpr std::size_t kMostIntegers = 8;

std::uint64_t distance(std::int64_t a, std::int64_t b) {
  return a < b ? static_cast<std::uint64_t>(b) - static_cast<std::uint64_t>(a)
               : static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b);
}

using Integers = std::vector<std::optional<std::int64_t>>;

void add_captured(const Value* closure, Captures& captures, Integers& integers) {
  for (const auto& variable : captures.of(closure->code)) {
    const Value* value = closure->frame->find(variable.get());
    if (value && integers.size() < kMostIntegers && known_integer(value))
      integers.push_back(known_integer(value));
  }
}

}  // namespace

std::optional<std::int64_t> known_integer(const Value* value) {
  if (value->known != Known::Constant) return std::nullopt;
  const auto* constant = lang::as<lang::Constant>(value->atom);
  if (!constant || constant->value->rank() != 0 || !lang::is_int(constant->value->dtype()))
    return std::nullopt;
  return lang::int_from_bits(constant->value->dtype(), constant->value->bits_at(0));
}

Measures measures_of(const std::vector<const Value*>& args, const Value* callee,
                     Captures& captures) {
  Measures measures = {callee ? std::optional(callee->size) : std::nullopt};
  Integers integers;
  for (const Value* arg : args) {
    measures.push_back(arg->size > 0 ? std::optional(arg->size) : std::nullopt);
    if (integers.size() < kMostIntegers) integers.push_back(known_integer(arg));
  }
  const std::size_t own = integers.size();
  if (callee) add_captured(callee, captures, integers);
  for (const Value* arg : args) {
    if (arg->known == Known::Closure) add_captured(arg, captures, integers);
  }
  for (std::size_t i = 0; i < own; ++i) {
    const auto& one = integers[i];
    measures.push_back(one ? std::optional(distance(*one, 0)) : std::nullopt);
    for (std::size_t j = i + 1; j < integers.size(); ++j) {
      const bool are_known = one && integers[j];
      measures.push_back(are_known ? std::optional(distance(*one, *integers[j])) : std::nullopt);
    }
  }
  return measures;
}

bool has_data(const std::vector<const Value*>& args) {
  return std::any_of(args.begin(), args.end(), [](const Value* arg) {
    return known_integer(arg) || (arg->size > 0 && arg->known != Known::Closure);
  });
}

std::optional<std::size_t> sole_integer(const std::vector<const Value*>& args,
                                        const Measures& measures) {
  std::optional<std::size_t> place;
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (args[i]->size > 0 && args[i]->known != Known::Closure) return std::nullopt;
    const auto integer = known_integer(args[i]);
    if (integer && *integer < 0) return std::nullopt;
    if (integer) place = i;
  }
  // Behind the sizes of the callee and of the arguments.
  const auto first = measures.begin() + static_cast<std::ptrdiff_t>(args.size() + 1);
  const auto distances =
      std::count_if(first, measures.end(), [](const auto& each) { return each.has_value(); });
  return distances == 1 ? place : std::nullopt;
}

bool ActiveCalls::is_active(Key function) const {
  const auto found = active_.find(function);
  return found != active_.end() && !found->second.empty();
}

bool ActiveCalls::may_enter(Key function, const Measures& measures) const {
  if (!is_active(function)) return true;
  const Measures& before = active_.at(function).back();
  if (before.size() != measures.size()) return false;
  for (std::size_t i = 0; i < measures.size(); ++i) {
    if (before[i] && measures[i] && *measures[i] < *before[i]) return true;
  }
  return false;
}

// Each measure is the least that it has been, so that their sum falls and the calls come to an end.
void ActiveCalls::enter(Key function, Measures measures) {
  auto& calls = active_[function];
  if (!calls.empty() && calls.back().size() == measures.size()) {
    const Measures& before = calls.back();
    for (std::size_t i = 0; i < measures.size(); ++i) {
      if (before[i] && (!measures[i] || *before[i] < *measures[i])) measures[i] = before[i];
    }
  }
  calls.push_back(std::move(measures));
  order_.push_back(function);
}

void ActiveCalls::leave_to(std::size_t depth) {
  while (order_.size() > depth) {
    active_[order_.back()].pop_back();
    order_.pop_back();
  }
}

}  // namespace relay::opt::partial
