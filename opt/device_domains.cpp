#include "opt/device_domains.h"

#include <utility>

#include <fmt/format.h>

#include "lang/diagnostic.h"

namespace relay::opt {

using lang::VirtualDevice;
using Id = DeviceDomains::Id;

Id DeviceDomains::add(Domain domain) {
  domain.parent = static_cast<Id>(domains_.size());
  domains_.push_back(std::move(domain));
  return domains_.back().parent;
}

Id DeviceDomains::fresh(const lang::Type& type) { return fixed(type, {}, {}); }

Id DeviceDomains::fixed(const lang::Type& type, const VirtualDevice& device, lang::Span where) {
  const auto* function_type = lang::as<lang::FunctionType>(type);
  if (!function_type) return add({.parent = 0, .device = device, .where = where});
  std::vector<Id> params;
  for (const lang::Type& param : function_type->params)
    params.push_back(fixed(param, device, where));
  return function(std::move(params), fixed(function_type->result, device, where));
}

Id DeviceDomains::function(std::vector<Id> params, Id result) {
  return add({.parent = 0, .is_function = true, .params = std::move(params), .result = result});
}

Id DeviceDomains::root(Id id) {
  while (domains_[id].parent != id) {
    const Id above = domains_[domains_[id].parent].parent;
    if (above != domains_[id].parent) changing(id).parent = above;
    id = above;
  }
  return id;
}

DeviceDomains::Domain& DeviceDomains::changing(Id id) {
  if (is_trying_) before_.emplace_back(id, domains_[id]);
  return domains_[id];
}

bool DeviceDomains::settles_all(Id function, Id place) {
  for (const Id param : std::vector<Id>(params(function))) {
    if (!agrees(param, place)) return false;
  }
  return agrees(result(function), place);
}

bool DeviceDomains::agrees(Id a, Id b) {
  a = root(a);
  b = root(b);
  if (a == b) return true;
  if (domains_[a].is_function != domains_[b].is_function)
    return domains_[a].is_function ? settles_all(a, b) : settles_all(b, a);
  if (domains_[a].is_function) {
    const std::vector<Id> left = params(a);
    const std::vector<Id> right = params(b);
    if (left.size() != right.size()) return false;
    const Id left_result = result(a);
    const Id right_result = result(b);
    changing(b).parent = a;
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (!agrees(left[i], right[i])) return false;
    }
    return agrees(left_result, right_result);
  }
  const auto both = lang::join(domains_[a].device, domains_[b].device);
  if (!both) {
    left_ = a;
    right_ = b;
    return false;
  }
  Domain& joined = changing(a);
  if (!joined.where) joined.where = domains_[b].where;
  joined.device = *both;
  changing(b).parent = a;
  return true;
}

void DeviceDomains::unify(Id a, Id b, lang::Span where) {
  if (agrees(a, b)) return;
  const Domain& left = domains_[left_];
  const Domain& right = domains_[right_];
  lang::Diagnostic diagnostic(
      lang::DiagnosticKind::BadAttribute,
      fmt::format("a value would have to be on `{}` and on `{}`", lang::to_string(left.device),
                  lang::to_string(right.device)),
      where);
  if (left.where) diagnostic.label(left.where, fmt::format("`{}`", lang::to_string(left.device)));
  if (right.where)
    diagnostic.label(right.where, fmt::format("`{}`", lang::to_string(right.device)));
  diagnostic.note(
      "help: `on_device(e, virtual_device=…)` without `constrain_result` lets the pass copy `e`");
  throw lang::Failure(std::move(diagnostic));
}

void DeviceDomains::try_unify(Id a, Id b) {
  is_trying_ = true;
  const bool are_one = agrees(a, b);
  is_trying_ = false;
  if (!are_one) {
    for (auto change = before_.rbegin(); change != before_.rend(); ++change)
      domains_[change->first] = std::move(change->second);
  }
  before_.clear();
}

void DeviceDomains::settle(Id id, const VirtualDevice& device) {
  Domain& domain = domains_[root(id)];
  if (!domain.is_function) {
    domain.device = lang::filled_from(domain.device, device);
    return;
  }
  settle(domain.result, device);
  const VirtualDevice by_result = this->device(domains_[root(id)].result);
  for (const Id param : std::vector<Id>(params(id))) settle(param, by_result);
}

const VirtualDevice& DeviceDomains::device(Id id) {
  const Domain* domain = &domains_[root(id)];
  while (domain->is_function) domain = &domains_[root(domain->result)];
  return domain->device;
}

}  // namespace relay::opt
