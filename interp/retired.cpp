// Trial deletion (Bacon and Rajan, "Concurrent Cycle Collection in Reference Counted Systems",
// 2001): code that is counted more often than retired code refers to it is held from outside, and
// what that may call stays, too.

#include "interp/retired.h"

#include <algorithm>
#include <functional>
#include <unordered_map>

#include "interp/native.h"

namespace relay::interp {

using lang::Value;
using lang::ValueKind;

namespace {

using Visit = std::function<void(const FunctionCode& part, std::uint32_t holders)>;

void visit_interpreted(const flow::Function& function, const Visit& visit) {
  for (const auto& each : function.interpreted) {
    if (each->code) visit(static_cast<const FunctionCode&>(*each->code), 1);
  }
  for (const auto& local : function.locals) visit_interpreted(*local, visit);
}

// The code inside, and how often `code` holds it.
void visit_parts(const FunctionCode& code, const Visit& visit) {
  // The list, and what evaluates it.
  for (const FunctionCodeRef& inner : code.inner) visit(*inner, 2);
  if (code.with_pullback) visit(*code.with_pullback, 1);
  if (code.with_tangent) visit(*code.with_tangent, 1);
  if (code.native) visit_interpreted(code.native->flow, visit);
}

void visit_constants(const flow::Function& function,
                     const std::function<void(const Value&)>& visit) {
  for (const Value& value : function.constants) visit(value);
  for (const auto& local : function.locals) visit_constants(*local, visit);
}

void visit_constants(const FunctionCode& code, const std::function<void(const Value&)>& visit) {
  for (const Value& value : code.constants) visit(value);
  if (code.native) visit_constants(code.native->flow, visit);
}

class Search {
 public:
  Search(const std::vector<FunctionCodeRef>& codes,
         const std::vector<lang::Ref<Closure>>& function_values) {
    for (const FunctionCodeRef& code : codes) add(*code, 1);
    while (!added_.empty()) {
      const FunctionCode& code = *added_.back();
      added_.pop_back();
      visit_parts(code,
                  [&](const FunctionCode& part, std::uint32_t holders) { add(part, holders); });
    }
    for (const auto& [code, node] : nodes_) {
      for (const FunctionCodeRef& called : code->calls) {
        if (const auto found = nodes_.find(called.get()); found != nodes_.end())
          ++found->second.holders;
      }
    }
    count_closures(function_values);
    for (auto& [code, node] : nodes_) {
      if (code->count() > node.holders) keep(*code, node);
    }
    while (!kept_.empty()) spread();
  }

  bool stays(const FunctionCode& code) const {
    const auto node = nodes_.find(&code);
    return node == nodes_.end() || node->second.stays;
  }
  std::vector<const FunctionCode*> gone() const {
    std::vector<const FunctionCode*> gone;
    for (const auto& [code, node] : nodes_) {
      if (!node.stays) gone.push_back(code);
    }
    return gone;
  }

 private:
  struct Node {
    std::uint32_t holders = 0;  // that are retired themselves
    bool stays = false;
  };

  void add(const FunctionCode& code, std::uint32_t holders) {
    const auto [node, is_new] = nodes_.try_emplace(&code);
    node->second.holders += holders;
    if (is_new) added_.push_back(&code);
  }

  // A closure that only retired code holds, as a constant, is one more holder of its code.
  void count_closures(const std::vector<lang::Ref<Closure>>& function_values) {
    for (const lang::Ref<Closure>& closure : function_values) closures_[closure.get()] = 1;
    for (const auto& [code, node] : nodes_) {
      visit_constants(*code, [&](const Value& value) {
        if (value.kind() != ValueKind::Closure) return;
        const auto found = closures_.find(static_cast<const Closure*>(&value.as_closure()));
        if (found != closures_.end()) ++found->second;
      });
    }
    std::erase_if(closures_, [](const auto& each) { return each.first->count() > each.second; });
    for (const auto& [closure, holders] : closures_) {
      if (const auto node = nodes_.find(closure->code.get()); node != nodes_.end())
        ++node->second.holders;
    }
  }

  void keep(const FunctionCode& code, Node& node) {
    if (node.stays) return;
    node.stays = true;
    kept_.push_back(&code);
  }
  void keep(const FunctionCode& code) {
    if (const auto node = nodes_.find(&code); node != nodes_.end()) keep(code, node->second);
  }
  void spread() {
    const FunctionCode& code = *kept_.back();
    kept_.pop_back();
    visit_parts(code, [&](const FunctionCode& part, std::uint32_t) { keep(part); });
    for (const FunctionCodeRef& called : code.calls) keep(*called);
    visit_constants(code, [&](const Value& value) {
      if (value.kind() == ValueKind::Closure)
        keep(*static_cast<const Closure&>(value.as_closure()).code);
    });
  }

  std::unordered_map<const FunctionCode*, Node> nodes_;
  std::unordered_map<const Closure*, std::uint32_t> closures_;  // that retired code alone holds
  std::vector<const FunctionCode*> added_;
  std::vector<const FunctionCode*> kept_;
};

}  // namespace

void RetiredCode::release(std::vector<lang::Ref<Closure>>& function_values) {
  if (codes_.size() < next_) return;
  // What goes is held here until nothing looks at it any more.
  std::vector<FunctionCodeRef> calls;
  std::vector<Value> constants;
  std::vector<FunctionCodeRef> codes;
  {
    const Search search(codes_, function_values);
    for (const FunctionCode* code : search.gone()) {
      calls.insert(calls.end(), code->calls.begin(), code->calls.end());
      code->calls.clear();
      constants.insert(constants.end(), code->constants.begin(), code->constants.end());
      code->constants.clear();
    }
    for (FunctionCodeRef& code : codes_) {
      if (!search.stays(*code)) codes.push_back(std::move(code));
    }
  }
  std::erase_if(codes_, [](const FunctionCodeRef& code) { return !code; });
  constants.clear();
  std::erase_if(function_values, [](const lang::Ref<Closure>& each) { return each->is_unique(); });
  next_ = 2 * codes_.size() + 8;
}

RetiredCode::~RetiredCode() {
  for (const FunctionCodeRef& code : codes_) take_apart(*code);
}

void take_apart(const FunctionCode& code) {
  std::vector<FunctionCodeRef> calls = std::move(code.calls);
  code.calls.clear();
  visit_parts(code, [](const FunctionCode& part, std::uint32_t) { take_apart(part); });
}

}  // namespace relay::interp
