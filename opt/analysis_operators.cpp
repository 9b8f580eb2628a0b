#include "opt/analysis_operators.h"

#include "lang/op.h"
#include "lang/visit.h"

namespace relay::opt {

// An operator is one node wherever it is called.
std::map<std::string, std::size_t> operators_in(const lang::Expr& root) {
  std::map<std::string, std::size_t> counts;
  lang::visit_post_order(root, [&](const lang::Expr& node) {
    lang::for_each_child(node, [&](const lang::Expr& child) {
      if (const auto* op = lang::as<lang::Operator>(child)) ++counts[op->op->name];
    });
    if (const auto* primitive = lang::as<lang::Primitive>(node))
      ++counts[std::string(lang::info(primitive->prim).text)];
  });
  return counts;
}

}  // namespace relay::opt
