#include "opt/purity.h"

#include <unordered_set>

#include "lang/op.h"
#include "lang/visit.h"

namespace relay::opt {

using lang::Expr;
using lang::ExprKind;

// Whatever stands in the code counts as if it ran, function literals and operators too: so the
// values that are called and that nobody knows are made of code that has been looked at, or are
// among the arguments.
Purity::Own Purity::own_of(const Expr& code) {
  Own own;
  lang::visit_post_order(code, [&](const Expr& node) {
    switch (node->kind) {
      case ExprKind::RefCreate:
      case ExprKind::RefRead:
      case ExprKind::RefWrite:
        own.acts = true;
        return;
      case ExprKind::Differentiate:
        own.acts =
            own.acts || lang::cast<lang::Differentiate>(node).mode == lang::DiffMode::CheckGrad;
        return;
      case ExprKind::Operator: {
        const lang::Effect effect = lang::cast<lang::Operator>(node).op->effect;
        own.acts = own.acts || (effect != lang::Effect::None && effect != lang::Effect::CheckDims &&
                                effect != lang::Effect::CheckShape);
        return;
      }
      case ExprKind::GlobalVar:
        own.mentions.push_back(lang::cast<lang::GlobalVar>(node).name);
        return;
      case ExprKind::Function:
        // A derivative calls it.
        if (const std::string* gradient = lang::gradient_of(lang::cast<lang::Function>(node)))
          own.mentions.push_back(*gradient);
        return;
      default:
        return;
    }
  });
  return own;
}

bool Purity::is_pure(const std::string& name) {
  if (const auto found = known_.find(name); found != known_.end()) return found->second;
  // All that it reaches and that is not known, with who mentions it.
  std::unordered_map<std::string, std::vector<std::string>> users;
  std::vector<std::string> open = {name};
  std::vector<std::string> acting;
  bool is_all_there = true;
  users[name];
  while (!open.empty()) {
    const std::string next = std::move(open.back());
    open.pop_back();
    const auto code = code_of_(next);
    is_all_there = is_all_there && code;
    const Own own = code && *code ? own_of(*code) : Own{!code, {}};
    if (own.acts) acting.push_back(next);
    for (const std::string& mention : own.mentions) {
      if (const auto found = known_.find(mention); found != known_.end()) {
        if (!found->second) acting.push_back(next);
        continue;
      }
      const auto [place, is_new] = users.try_emplace(mention);
      place->second.push_back(next);
      if (is_new) open.push_back(mention);
    }
  }
  std::unordered_set<std::string> impure;
  while (!acting.empty()) {
    const std::string next = std::move(acting.back());
    acting.pop_back();
    if (!impure.insert(next).second) continue;
    for (const std::string& user : users[next]) acting.push_back(user);
  }
  for (const auto& [each, of] : users) {
    // What is not there now may be made later.
    if (is_all_there || !impure.contains(each)) known_[each] = !impure.contains(each);
  }
  return !impure.contains(name);
}

}  // namespace relay::opt
