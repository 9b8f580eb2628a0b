#include "lang/print_scopes.h"

#include <algorithm>

#include "lang/build.h"
#include "lang/letters.h"
#include "lang/op.h"
#include "lang/visit.h"

namespace relay::lang {

// Parents come before children, so a node's scope is final when its children are placed.
ScopePlan::ScopePlan(const Expr& root) {
  std::vector<Expr> order;
  visit_post_order(root, [&](const Expr& expr) { order.push_back(expr); });
  for (const Expr& expr : order) info_[expr.get()];
  use(root, open(-1, ScopeKind::Root), true);
  for (auto expr = order.rbegin(); expr != order.rend(); ++expr) place_children(*expr);
}

int ScopePlan::open(int parent, ScopeKind kind) {
  const int depth = parent < 0 ? 0 : scopes_[static_cast<std::size_t>(parent)].depth + 1;
  scopes_.push_back({parent, depth, kind});
  return static_cast<int>(scopes_.size()) - 1;
}

int ScopePlan::common(int a, int b) const {
  const auto depth = [this](int scope) { return scopes_[static_cast<std::size_t>(scope)].depth; };
  while (a != b) {
    if (depth(a) >= depth(b)) {
      a = parent(a);
    } else {
      b = parent(b);
    }
  }
  return a;
}

void ScopePlan::use(const Expr& child, int scope, bool is_last) {
  Info& info = info_.at(child.get());
  ++info.uses;
  info.scope = info.scope < 0 ? scope : common(info.scope, scope);
  info.is_last = is_last;
}

void ScopePlan::place_children(const Expr& expr) {
  Info& info = info_.at(expr.get());
  const int scope = info.scope;
  const auto inner = [&](ScopeKind kind) {
    const int opened = open(scope, kind);
    if (info.first_inner < 0) info.first_inner = opened;
    return opened;
  };
  if (const auto* let = as<Let>(expr)) {
    info.is_statement = info.uses == 1 && info.is_last;
    const int own = info.is_statement ? scope : inner(ScopeKind::Let);
    use(let->value, own, false);
    use(let->body, own, true);
    return;
  }
  for (const Expr& operand : operands_of(expr)) use(operand, scope, false);
  switch (expr->kind) {
    case ExprKind::If:
      use(cast<If>(expr).then_branch, inner(ScopeKind::Branch), true);
      use(cast<If>(expr).else_branch, inner(ScopeKind::Branch), true);
      break;
    case ExprKind::Match: {
      for (const Clause& clause : cast<Match>(expr).clauses)
        use(clause.body, inner(ScopeKind::Branch), true);
      break;
    }
    case ExprKind::Function:
      use(cast<Function>(expr).body, inner(ScopeKind::Function), true);
      break;
    case ExprKind::Comprehension:
      use(cast<Comprehension>(expr).body, inner(ScopeKind::Loop), true);
      break;
    case ExprKind::Reduction:
      use(cast<Reduction>(expr).body, inner(ScopeKind::Loop), true);
      break;
    case ExprKind::ScatterReduce: {
      if (is_one_point(expr)) break;
      const int body = inner(ScopeKind::Loop);
      for (const Expr& index : cast<ScatterReduce>(expr).indices) use(index, body, false);
      use(cast<ScatterReduce>(expr).value, body, true);
      break;
    }
    default:
      break;
  }
}

std::vector<Expr> operands_of(const Expr& expr) {
  std::vector<Expr> operands;
  const auto add_extents = [&operands](const std::vector<IndexBinder>& binders) {
    for (const IndexBinder& binder : binders) {
      if (binder.extent) operands.push_back(binder.extent);
    }
  };
  switch (expr->kind) {
    case ExprKind::Let:
    case ExprKind::Function:
      break;
    case ExprKind::If:
      operands.push_back(cast<If>(expr).condition);
      break;
    case ExprKind::Match:
      operands.push_back(cast<Match>(expr).scrutinee);
      break;
    case ExprKind::Comprehension:
      add_extents(cast<Comprehension>(expr).binders);
      break;
    case ExprKind::Reduction:
      add_extents(cast<Reduction>(expr).binders);
      break;
    case ExprKind::ScatterReduce:
      if (!is_one_point(expr)) {
        operands.push_back(cast<ScatterReduce>(expr).init);
        add_extents(cast<ScatterReduce>(expr).binders);
        break;
      }
      [[fallthrough]];
    default:
      for_each_child(expr, [&](const Expr& child) { operands.push_back(child); });
  }
  return operands;
}

std::string UniqueNames::take(const std::string& base) {
  if (taken_.insert(base).second) return base;
  int& suffix = next_[base];
  for (;;) {
    std::string name = base + std::to_string(++suffix);
    if (taken_.insert(name).second) return name;
  }
}

std::string readable_name(std::string_view name) {
  std::string result;
  while (!name.empty()) {
    const std::size_t length = word_length(name);
    result += length == 0 ? "_" : name.substr(0, length);
    name.remove_prefix(std::max<std::size_t>(length, 1));
  }
  if (letter_length(result) == 0 || result.front() == '_') result.insert(0, "v");
  return result;
}

std::string indent(const std::string& text) {
  std::string result;
  result.reserve(text.size() + 16);
  bool at_start = true;
  for (const char c : text) {
    if (at_start && c != '\n') result += "  ";
    at_start = c == '\n';
    result += c;
  }
  return result;
}

std::vector<const Attr*> written_attrs(const Call& call) {
  std::vector<const Attr*> written;
  if (!call.attrs) return written;
  const auto* op = as<Operator>(call.callee);
  if (!op) {
    for (const Attr& attr : call.attrs->list) written.push_back(&attr);
    return written;
  }
  const auto find = [&](const std::string& key) -> const Attr* {
    for (const Attr& attr : call.attrs->list) {
      if (attr.key == key) return &attr;
    }
    return nullptr;
  };
  for (const AttrSpec& spec : op->op->attrs) {
    const Attr* attr = find(spec.name);
    if (!attr) continue;
    const std::optional<AttrValue> value = coerce_attr(spec.kind, attr->value);
    if (spec.default_value &&
        (attr->value == *spec.default_value || (value && *value == *spec.default_value)))
      continue;
    written.push_back(attr);
  }
  for (const Attr& attr : call.attrs->list) {
    const bool known = std::any_of(op->op->attrs.begin(), op->op->attrs.end(),
                                   [&](const AttrSpec& spec) { return spec.name == attr.key; });
    if (!known) written.push_back(&attr);
  }
  return written;
}

}  // namespace relay::lang
