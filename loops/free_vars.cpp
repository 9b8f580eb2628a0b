#include "loops/free_vars.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace relay::loops {

const Vars& FreeVars::operator()(NodeId id) {
  const auto found = known_.find(id);
  if (found != known_.end()) return found->second;
  const Node& node = stages_.nodes[static_cast<std::size_t>(id)];
  Vars vars;
  if (node.kind == NodeKind::IndexVar) vars = {node.ref};
  for (const NodeId arg : stages_.args(node)) {
    const Vars& more = (*this)(arg);
    Vars both;
    std::set_union(vars.begin(), vars.end(), more.begin(), more.end(), std::back_inserter(both));
    vars = std::move(both);
  }
  for (const IndexVarId var : stages_.vars(node)) std::erase(vars, var);
  return known_.emplace(id, std::move(vars)).first->second;
}

Vars FreeVars::among(const Vars& scope, NodeId id) {
  const Vars& free = (*this)(id);
  Vars vars;
  for (const IndexVarId var : scope) {
    if (std::binary_search(free.begin(), free.end(), var)) vars.push_back(var);
  }
  return vars;
}

double points_of(const Stages& stages, const Vars& vars) {
  double product = 1;
  for (const IndexVarId var : vars)
    product *= static_cast<double>(stages.var_extents[static_cast<std::size_t>(var)]);
  return product;
}

}  // namespace relay::loops
