#include "flow/tables.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "flow/function.h"
#include "lang/visit.h"

namespace relay::flow {

namespace {

using lang::as;
using lang::Expr;

// Of fewer, one is chosen as fast as it is read, and nothing is stored before.
constexpr std::size_t kFewElements = 4;

class Tables {
 public:
  Tables(const lang::Function& source, const std::vector<lang::VariableRef>& taken,
         const std::string& name, const lang::Variable* self)
      : source_(source), taken_(taken), name_(name), self_(self) {
    for (std::size_t i = 0; i < taken.size(); ++i) {
      if (small_elements(taken[i]->type) > kFewElements) places_[taken[i].get()] = i;
    }
  }

  std::vector<lang::Type> types() {
    if (!places_.empty()) look();
    std::vector<lang::Type> types;
    for (const lang::VariableRef& each : taken_) {
      const bool is_table = calls_itself_ && places_.contains(each.get()) &&
                            is_read_.contains(each.get()) && !has_other_use_.contains(each.get());
      types.push_back(is_table ? of_unknown_extents(each->type) : each->type);
    }
    return types;
  }

 private:
  static lang::Type of_unknown_extents(const lang::Type& type) {
    const auto& tensor = *as<lang::TensorType>(type);
    return lang::tensor_type(
        lang::Shape(std::vector<lang::Dim>(tensor.shape.rank(), lang::Dim::any())), tensor.dtype);
  }

  void look() {
    lang::visit_post_order(source_.body, [&](const Expr& node) {
      if (const auto* let = as<lang::Let>(node)) values_[let->variable.get()] = let->value;
      lang::for_each_binder(node, [&](const lang::VariableRef& binder) {
        if (is_index_notation(node)) points_.insert(binder.get());
      });
      nodes_.push_back(node);
    });
    for (const Expr& node : nodes_) use(node);
    if (const auto* result = as<lang::Var>(source_.body))
      has_other_use_.insert(result->variable.get());
  }

  static bool is_index_notation(const Expr& node) {
    return node->kind == lang::ExprKind::Comprehension || node->kind == lang::ExprKind::Reduction ||
           node->kind == lang::ExprKind::ScatterReduce;
  }

  const lang::Variable* table(const Expr& expr) const {
    const auto* var = as<lang::Var>(expr);
    return var && places_.contains(var->variable.get()) ? var->variable.get() : nullptr;
  }

  void use(const Expr& node) {
    if (const auto* index = as<lang::Index>(node)) {
      const lang::Variable* const tensor = table(index->tensor);
      if (tensor && !index->indices.empty()) {
        if (!std::all_of(index->indices.begin(), index->indices.end(),
                         [&](const Expr& at) { return is_known(at); }))
          is_read_.insert(tensor);
        return;
      }
    }
    const auto* call = as<lang::Call>(node);
    if (call && is_self(call->callee)) {
      calls_itself_ = true;
      // What is captured goes along by itself.
      for (std::size_t i = 0; i < source_.params.size() && i < call->args.size(); ++i) {
        const auto* var = as<lang::Var>(call->args[i]);
        if (!var || var->variable != source_.params[i])
          has_other_use_.insert(source_.params[i].get());
        if (const lang::Variable* const given = table(call->args[i]); given && places_[given] != i)
          has_other_use_.insert(given);
      }
      return;
    }
    lang::for_each_child(node, [&](const Expr& child) {
      if (const lang::Variable* const given = table(child)) has_other_use_.insert(given);
    });
  }

  bool is_self(const Expr& callee) const {
    if (const auto* global = as<lang::GlobalVar>(callee)) return global->name == name_;
    const auto* var = as<lang::Var>(callee);
    return var && self_ && var->variable.get() == self_;
  }

  // Does it depend on nothing but constants and points of index notation, which may be written out?
  bool is_known(const Expr& at) {
    bool is_it = true;
    lang::visit_post_order(at, [&](const Expr& node) {
      const auto* var = as<lang::Var>(node);
      if (!is_it || !var || points_.contains(var->variable.get())) return;
      const auto value = values_.find(var->variable.get());
      is_it = value != values_.end() && is_known_value(*var->variable, value->second);
    });
    return is_it;
  }
  bool is_known_value(const lang::Variable& variable, const Expr& value) {
    if (const auto found = known_.find(&variable); found != known_.end()) return found->second;
    known_[&variable] = false;  // as long as it is looked at: a local function may call itself
    return known_[&variable] = is_known(value);
  }

  const lang::Function& source_;
  const std::vector<lang::VariableRef>& taken_;
  const std::string& name_;
  const lang::Variable* self_;
  std::vector<Expr> nodes_;
  std::unordered_map<const lang::Variable*, std::size_t> places_;  // that may be tables
  std::unordered_map<const lang::Variable*, Expr> values_;         // of `let`s
  std::unordered_set<const lang::Variable*> points_;               // binders of index notation
  std::unordered_map<const lang::Variable*, bool> known_;          // of `let`s
  std::unordered_set<const lang::Variable*> is_read_;              // at indices that are not known
  std::unordered_set<const lang::Variable*> has_other_use_;  // than to be read, and to go round
  bool calls_itself_ = false;
};

}  // namespace

std::vector<lang::Type> slot_types(const lang::Function& source,
                                   const std::vector<lang::VariableRef>& taken,
                                   const std::string& name, const lang::Variable* self) {
  return Tables(source, taken, name, self).types();
}

}  // namespace relay::flow
