#include "ad/known_derivatives.h"

#include <algorithm>

#include "ad/closures.h"
#include "ad/function_tangent.h"
#include "ad/pairs.h"
#include "ad/tangent.h"
#include "lang/visit.h"

namespace relay::ad {

using lang::as;
using lang::Expr;
using lang::ExprKind;
using lang::VariableRef;

// Which functions code calls, by way of others too, and which of them ask for a derivative.
class KnownDerivatives::Reach {
 public:
  explicit Reach(KnownDerivatives& owner) : owner_(owner) {}

  // Comes a call of it back to a function that asks, or to one that calls such a one?
  bool comes_back_to_asking(const Expr& code) {
    functions_.push_back({code});
    for (std::size_t next = 0; next < functions_.size(); ++next) {
      if (functions_.size() > kMost) return true;
      add_calls(next, Expr(functions_[next].code));  // of which the list may be moved
      if (is_unknown_) return true;
    }
    for (std::size_t i = 1; i < functions_.size(); ++i) {
      const std::vector<bool> reached = reached_from(i);
      if (!reached[i]) continue;
      for (std::size_t j = 0; j < reached.size(); ++j) {
        if (reached[j] && functions_[j].asks) return true;
      }
    }
    return false;
  }

 private:
  static constexpr std::size_t kMost = 200;
  struct Known {
    Expr code;
    bool asks = false;
    std::vector<std::size_t> calls = {};
  };

  void add_calls(std::size_t from, const Expr& code) {
    lang::visit_post_order(code, [&](const Expr& node) {
      if (owner_.mode_of(node)) functions_[from].asks = true;
      const auto* global = as<lang::GlobalVar>(node);
      if (!global || !owner_.program_.is_function(global->name)) return;
      const auto [place, is_new] = places_.try_emplace(
          global->name + " : " + lang::to_string(global->type), functions_.size());
      functions_[from].calls.push_back(place->second);
      if (!is_new) return;
      // What is being made just now cannot be looked into.
      const auto own =
          lang::capture([&] { return owner_.program_.function(global->name, global->type); });
      is_unknown_ = is_unknown_ || !own;
      functions_.push_back({own ? *own : node});
    });
  }

  // By one call or more.
  std::vector<bool> reached_from(std::size_t root) const {
    std::vector<bool> reached(functions_.size());
    std::vector<std::size_t> open = {root};
    while (!open.empty()) {
      const std::size_t from = open.back();
      open.pop_back();
      for (const std::size_t to : functions_[from].calls) {
        if (reached[to]) continue;
        reached[to] = true;
        open.push_back(to);
      }
    }
    return reached;
  }

  KnownDerivatives& owner_;
  std::vector<Known> functions_;  // the first is the code itself
  std::map<std::string, std::size_t> places_;
  bool is_unknown_ = false;
};

bool KnownDerivatives::asks_for_itself(const Expr& literal) {
  return Reach(*this).comes_back_to_asking(literal);
}

std::optional<KnownDerivatives::Mode> KnownDerivatives::mode_of(const Expr& expr) const {
  const auto* call = as<lang::Call>(expr);
  const auto* op = call ? as<lang::Operator>(call->callee) : nullptr;
  if (op && op->op == &pairs_.tangents().pullback_operator()) return Mode::Pullback;
  if (op && op->op == &pairs_.tangents().tangent_operator()) return Mode::Tangent;
  return std::nullopt;
}

// Puts the literals in place.
class KnownDerivatives::Pass final : public lang::Rewriter {
 public:
  explicit Pass(KnownDerivatives& owner) : owner_(owner) {}

  Expr run(const Expr& expr) {
    bool asks = false;
    lang::visit_post_order(expr, [&](const Expr& node) {
      asks = asks || owner_.mode_of(node).has_value();
      const auto* let = as<lang::Let>(node);
      if (let && let->value->kind == ExprKind::Function)
        literals_[let->variable.get()] = {let->variable, let->value};
    });
    return asks ? rewrite(expr) : expr;
  }

 protected:
  Expr post(const Expr& expr) override {
    const auto mode = owner_.mode_of(expr);
    if (!mode) return expr;
    const auto* var = as<lang::Var>(lang::cast<lang::Call>(expr).args[0]);
    const auto found = var ? literals_.find(var->variable.get()) : literals_.end();
    if (found == literals_.end()) return expr;
    const auto& [variable, literal] = found->second;
    const auto free = lang::free_variables(literal);
    const bool is_recursive = std::find(free.begin(), free.end(), variable) != free.end();
    const Expr known = owner_.of_literal(literal, is_recursive ? variable : VariableRef(), *mode);
    return known ? lang::rename_bound(known) : expr;
  }

 private:
  KnownDerivatives& owner_;
  std::unordered_map<const lang::Variable*, std::pair<VariableRef, Expr>> literals_;
};

Expr KnownDerivatives::resolved(const Expr& expr) { return Pass(*this).run(expr); }

Expr KnownDerivatives::of_literal(const Expr& literal, const VariableRef& self, Mode mode) {
  const std::pair key(literal.get(), mode);
  if (const auto found = known_.find(key); found != known_.end()) return found->second.second;
  if (asks_for_itself(literal)) return (known_[key] = {literal, Expr()}).second;
  const auto made = lang::capture([&] {
    return mode == Mode::Pullback ? pullback_literal(program_, pairs_, literal, self)
                                  : tangent_literal(program_, pairs_, literal, self);
  });
  const Expr derived = made ? *made : Expr();
  known_[key] = {literal, derived};
  return derived;
}

}  // namespace relay::ad
