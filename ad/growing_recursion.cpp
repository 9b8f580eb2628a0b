#include "ad/growing_recursion.h"

#include <unordered_map>

#include "lang/diagnostic.h"
#include "lang/visit.h"

namespace relay::ad {

using lang::as;
using lang::Expr;

namespace {

// So many times on one way, each at a larger type: that will go on.
constexpr std::size_t kGrowthSteps = 4;

}  // namespace

std::vector<GrowingRecursion::Callee> GrowingRecursion::callees_of(const Callee& caller) {
  std::vector<Callee> callees;
  // What cannot be specialised says so where it is differentiated.
  const auto body = lang::capture([&] { return program_.function(caller.name, caller.type); });
  if (!body) return callees;
  lang::visit_post_order(*body, [&](const Expr& node) {
    const auto* call = as<lang::Call>(node);
    const auto* global = call ? as<lang::GlobalVar>(call->callee) : nullptr;
    if (global && program_.is_function(global->name))
      callees.push_back({global->name, global->type});
  });
  return callees;
}

bool GrowingRecursion::includes(const std::string& name, const lang::Type& type) {
  struct Frame {
    std::string name;
    std::vector<Callee> callees;
  };
  std::vector<Frame> way;
  std::unordered_map<std::string, std::vector<std::uint32_t>> sizes;  // of the types on the way
  const auto enter = [&](const Callee& callee) {
    if (growing_.count(callee.name) != 0) return;
    if (!seen_.insert(callee.name + " : " + lang::to_string(callee.type)).second) return;
    std::vector<std::uint32_t>& on_way = sizes[callee.name];
    if (!on_way.empty() && on_way.back() >= callee.type->size) on_way.clear();
    on_way.push_back(callee.type->size);
    if (on_way.size() > kGrowthSteps) {
      growing_.insert(callee.name);
      return;
    }
    way.push_back({callee.name, callees_of(callee)});
  };
  enter({name, type});
  while (!way.empty()) {
    if (way.back().callees.empty()) {
      std::vector<std::uint32_t>& on_way = sizes[way.back().name];
      if (!on_way.empty()) on_way.pop_back();
      way.pop_back();
      continue;
    }
    const Callee next = std::move(way.back().callees.back());
    way.back().callees.pop_back();
    enter(next);
  }
  return growing_.count(name) != 0;
}

}  // namespace relay::ad
