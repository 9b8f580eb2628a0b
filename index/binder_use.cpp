#include "index/binder_use.h"

#include "lang/binders.h"
#include "lang/visit.h"

namespace relay::index {

using lang::as;
using lang::Expr;
using lang::IndexBinder;

BinderUse::BinderUse(const Expr& form) {
  constexpr std::size_t kMost = 64;
  lang::visit_post_order(form, [&](const Expr& node) {
    const auto* own = binders_of(node);
    if (own) binders_.insert(binders_.end(), own->begin(), own->end());
  });
  is_known_ = binders_.size() <= kMost;
  if (!is_known_) return;
  for (std::size_t i = 0; i < binders_.size(); ++i)
    bits_.emplace(binders_[i].variable.get(), std::uint64_t{1} << i);
  lang::visit_post_order(form, [&](const Expr& node) {
    std::uint64_t used = 0;
    if (const auto* var = as<lang::Var>(node)) {
      const auto bit = bits_.find(var->variable.get());
      if (bit != bits_.end()) used = bit->second;
    }
    lang::for_each_child(node, [&](const Expr& child) { used |= used_.at(child.get()); });
    if (const auto* own = binders_of(node)) {
      used &= ~of(*own);
      for (const IndexBinder& binder : *own)
        is_known_ = is_known_ && (!binder.extent || used_.at(binder.extent.get()) == 0);
    }
    used_.emplace(node.get(), used);
  });
}

std::uint64_t BinderUse::of(const Expr& part) const { return used_.at(part.get()); }

std::uint64_t BinderUse::of(const std::vector<IndexBinder>& binders) const {
  std::uint64_t set = 0;
  for (const IndexBinder& binder : binders) set |= bits_.at(binder.variable.get());
  return set;
}

std::vector<IndexBinder> BinderUse::binders_in(std::uint64_t set) const {
  std::vector<IndexBinder> found;
  for (std::size_t i = 0; i < binders_.size(); ++i) {
    if ((set >> i & 1) != 0) found.push_back(binders_[i]);
  }
  return found;
}

bool BinderUse::are_many(std::uint64_t set) const {
  return set != 0 &&
         number_of_points(binders_in(set)).value_or(kShortReduction + 1) > kShortReduction;
}

}  // namespace relay::index
