#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lang/expr.h"

namespace relay::typecheck {

// The globals that an expression mentions, each once, in order of appearance.
std::vector<std::string> globals_of(const lang::Expr& expr);

// Strongly connected components of what is reachable from `root` (Tarjan), each before those that
// depend on it. `next` lists the neighbours of a node. Needs no stack in proportion to the graph.
std::vector<std::vector<std::string>> components(
    const std::string& root,
    const std::function<std::vector<std::string>(const std::string&)>& next);

}  // namespace relay::typecheck
