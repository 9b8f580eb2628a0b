#include "ad/growing_recursion.h"

#include <unordered_map>
#include <utility>

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
  // The innermost function of a name on the way: the size of its type, and how often in a row that
  // has grown.
  struct Growth {
    std::uint32_t size = 0;
    std::size_t steps = 0;
  };
  struct Frame {
    std::string name;
    Growth around;  // of the one of that name outside of it
    std::vector<Callee> callees;
  };
  std::vector<Frame> way;
  std::unordered_map<std::string, Growth> innermost;
  const auto enter = [&](const Callee& callee) {
    if (growing_.count(callee.name) != 0) return;
    if (!seen_.insert(callee.name + " : " + lang::to_string(callee.type)).second) return;
    Growth& growth = innermost[callee.name];
    const Growth around = growth;
    const std::uint32_t size = callee.type->size;
    growth = {size, around.size < size ? around.steps + 1 : 1};
    if (growth.steps > kGrowthSteps) growing_.insert(callee.name);
    way.push_back({callee.name, around,
                   growing_.count(callee.name) != 0 ? std::vector<Callee>() : callees_of(callee)});
  };
  enter({name, type});
  while (!way.empty()) {
    if (way.back().callees.empty()) {
      innermost[way.back().name] = way.back().around;
      way.pop_back();
      continue;
    }
    const Callee next = std::move(way.back().callees.back());
    way.back().callees.pop_back();
    enter(next);
  }
  return growing_.count(name) != 0;
}

const lang::GlobalVar* GrowingRecursion::known_callee(const Expr& callee) {
  const auto* global = as<lang::GlobalVar>(callee);
  const bool is_known =
      global && program_.is_function(global->name) && !includes(global->name, global->type);
  return is_known ? global : nullptr;
}

}  // namespace relay::ad
