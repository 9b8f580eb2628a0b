#include "lang/function_fact.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

namespace relay::lang {

namespace {

struct FactRow {
  FunctionFact fact;
  std::string_view name;  // as an attribute
  bool is_for_people;
};
constexpr std::array kFacts = {
    FactRow{FunctionFact::Closure, "Closure", true},
    FactRow{FunctionFact::Checkpoint, "Checkpoint", true},
    FactRow{FunctionFact::GlobalSymbol, "global_symbol", true},
    FactRow{FunctionFact::Gradient, kGradientAttr, true},
    FactRow{FunctionFact::Hash, "Hash", true},
    FactRow{FunctionFact::InheritedSchedule, "InheritedSchedule", true},
    FactRow{FunctionFact::Inline, "Inline", false},
    FactRow{FunctionFact::Known, "Known", false},
    FactRow{FunctionFact::Place, "place", false},
    FactRow{FunctionFact::Primitive, "Primitive", true},
    FactRow{FunctionFact::Schedule, "Schedule", true},
    FactRow{FunctionFact::StepSchedule, "StepSchedule", true},
    FactRow{FunctionFact::StopFusion, "StopFusion", true},
    FactRow{FunctionFact::VirtualDevice, "virtual_device", true},
    FactRow{FunctionFact::Compiler, "Compiler", true},
    FactRow{FunctionFact::Composite, "Composite", true},
    FactRow{FunctionFact::Extern, "Extern", true},
    FactRow{FunctionFact::PartitionedFromPattern, "PartitionedFromPattern", true},
    FactRow{FunctionFact::WantsCompiler, "compiler", true},
};
constexpr bool are_in_order() {
  for (std::size_t i = 0; i < kFacts.size(); ++i) {
    if (static_cast<std::size_t>(kFacts[i].fact) != i) return false;
  }
  return true;
}
static_assert(are_in_order(), "a row for each fact, in the order of FunctionFact");

std::string_view name_of(FunctionFact fact) { return kFacts[static_cast<std::size_t>(fact)].name; }

template <class Drop>
Expr without(const Expr& function, const Drop& is_dropped) {
  const auto& fn = cast<Function>(function);
  if (!fn.attrs) return function;
  std::vector<Attr> kept;
  for (const Attr& attr : fn.attrs->list) {
    if (!is_dropped(attr.key)) kept.push_back(attr);
  }
  if (kept.size() == fn.attrs->list.size()) return function;
  return with_attrs(fn, kept.empty() ? nullptr : make_attrs(std::move(kept)));
}

}  // namespace

Expr with_attrs(const Function& function, AttrsRef attrs) {
  return make_function(function.params, function.result, function.body, function.type_params,
                       std::move(attrs), function.span, function.type);
}

bool is_fact_for_people(std::string_view name) {
  return std::any_of(kFacts.begin(), kFacts.end(),
                     [&](const FactRow& fact) { return fact.is_for_people && fact.name == name; });
}

const AttrValue* find_fact(const AttrsRef& attrs, FunctionFact fact) {
  return attrs ? attrs->find(name_of(fact)) : nullptr;
}

bool has_fact(const Function& function, FunctionFact fact) {
  return find_fact(function.attrs, fact) != nullptr;
}

const std::string* find_text(const Function& function, FunctionFact fact) {
  const AttrValue* value = find_fact(function.attrs, fact);
  return value ? value->as_string() : nullptr;
}

const std::string* compiler_of(const Expr& function) {
  const auto* fn = as<Function>(function);
  return fn ? find_text(*fn, FunctionFact::Compiler) : nullptr;
}

bool is_group(const Expr& expr) {
  const auto* fn = as<Function>(expr);
  return fn && has_fact(*fn, FunctionFact::Primitive) && !has_fact(*fn, FunctionFact::Compiler);
}

bool is_unit(const Expr& expr) {
  const auto* fn = as<Function>(expr);
  return fn && (has_fact(*fn, FunctionFact::Primitive) || has_fact(*fn, FunctionFact::Compiler) ||
                has_fact(*fn, FunctionFact::Composite));
}

AttrsRef with_fact(FunctionFact fact, AttrValue value, const AttrsRef& others) {
  std::vector<Attr> list;
  if (others) list = others->list;
  list.push_back({std::string(name_of(fact)), std::move(value), {}});
  return make_attrs(std::move(list));
}

Expr without_facts(const Expr& function, std::initializer_list<FunctionFact> facts) {
  return without(function, [&](const std::string& key) {
    return std::any_of(facts.begin(), facts.end(),
                       [&](FunctionFact fact) { return key == name_of(fact); });
  });
}

Expr without_marks(const Expr& function) {
  return without(function, [](const std::string& key) {
    return std::any_of(kFacts.begin(), kFacts.end(), [&](const FactRow& fact) {
      return !fact.is_for_people && key == fact.name;
    });
  });
}

}  // namespace relay::lang
