#include "typecheck/components.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "lang/visit.h"

namespace relay::typecheck {

using namespace lang;

std::vector<std::string> globals_of(const Expr& expr) {
  std::vector<std::string> names;
  std::unordered_set<std::string> seen;
  visit_post_order(expr, [&](const Expr& node) {
    const auto* global = as<GlobalVar>(node);
    if (global && seen.insert(global->name).second) names.push_back(global->name);
  });
  return names;
}

std::vector<std::vector<std::string>> components(
    const std::string& root,
    const std::function<std::vector<std::string>(const std::string&)>& next) {
  struct Node {
    std::size_t number = 0;
    std::size_t low = 0;
    bool on_stack = false;
  };
  struct Frame {
    std::string name;
    std::vector<std::string> neighbours;
    std::size_t position = 0;
  };
  std::unordered_map<std::string, Node> nodes;
  std::vector<std::string> stack;
  std::vector<Frame> frames;
  std::vector<std::vector<std::string>> result;
  std::size_t count = 0;
  auto enter = [&](const std::string& name) {
    nodes[name] = {count, count, true};
    ++count;
    stack.push_back(name);
    frames.push_back({name, next(name)});
  };
  enter(root);
  while (!frames.empty()) {
    Frame& frame = frames.back();
    if (frame.position < frame.neighbours.size()) {
      std::string neighbour = frame.neighbours[frame.position++];
      auto found = nodes.find(neighbour);
      if (found == nodes.end()) {
        enter(neighbour);
      } else if (found->second.on_stack) {
        Node& node = nodes[frame.name];
        node.low = std::min(node.low, found->second.number);
      }
      continue;
    }
    const Node node = nodes[frame.name];
    if (node.low == node.number) {
      std::vector<std::string> component;
      for (bool more = true; more;) {
        component.push_back(stack.back());
        stack.pop_back();
        nodes[component.back()].on_stack = false;
        more = component.back() != frame.name;
      }
      std::reverse(component.begin(), component.end());
      result.push_back(std::move(component));
    }
    frames.pop_back();
    if (!frames.empty()) {
      Node& parent = nodes[frames.back().name];
      parent.low = std::min(parent.low, node.low);
    }
  }
  return result;
}

}  // namespace relay::typecheck
