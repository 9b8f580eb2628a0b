#include "ad/threading.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "lang/diagnostic.h"
#include "lang/record.h"
#include "lang/visit.h"

namespace relay::ad {

using lang::as;
using lang::Expr;
using lang::ExprKind;
using lang::Variable;

namespace {

void find_loop_calls(const Expr& expr, const std::string& name, const lang::Type& type,
                     std::vector<const lang::Call*>& calls) {
  const Expr* rest = &expr;
  while (const auto* let = as<lang::Let>(*rest)) rest = &let->body;
  const Expr& result = *rest;
  const auto* call = as<lang::Call>(result);
  const auto* global = call ? as<lang::GlobalVar>(call->callee) : nullptr;
  if (global && global->name == name && lang::equal(global->type, type)) calls.push_back(call);
  if (const auto* branch = as<lang::If>(result)) {
    find_loop_calls(branch->then_branch, name, type, calls);
    find_loop_calls(branch->else_branch, name, type, calls);
  }
  if (const auto* match = as<lang::Match>(result)) {
    for (const auto& clause : match->clauses) find_loop_calls(clause.body, name, type, calls);
  }
}

// Which parameters a function's variables are, or parts of them: fields of records and tuples.
class ParameterNames {
 public:
  explicit ParameterNames(const lang::Function& function) {
    for (std::size_t i = 0; i < function.params.size(); ++i)
      numbers_[function.params[i].get()] = static_cast<std::ptrdiff_t>(i);
  }

  // In the order of the code.
  void note(const lang::Let& let) {
    const std::ptrdiff_t number = of(part(let.value));
    if (number >= 0) numbers_[let.variable.get()] = number;
  }
  void note(const lang::Match& match) {
    const std::ptrdiff_t number = of(match.scrutinee);
    if (number < 0) return;
    for (const lang::Clause& clause : match.clauses) {
      lang::for_each_variable(clause.pattern, [&](const lang::VariableRef& variable) {
        numbers_[variable.get()] = number;
      });
    }
  }
  // -1: none.
  std::ptrdiff_t of(const Expr& atom) const {
    const auto* var = as<lang::Var>(atom);
    const auto found = var ? numbers_.find(var->variable.get()) : numbers_.end();
    return found == numbers_.end() ? -1 : found->second;
  }

 private:
  static const Expr& part(const Expr& value) {
    if (const auto* projection = as<lang::Projection>(value)) return projection->tuple;
    const auto* match = as<lang::Match>(value);
    return match && lang::as_field_read(*match) ? match->scrutinee : value;
  }
  std::unordered_map<const Variable*, std::ptrdiff_t> numbers_;
};

// Is each element read once, as the indices go round?
bool reads_all(const lang::Index& index, const std::unordered_set<const Variable*>& indices) {
  std::unordered_set<const Variable*> seen;
  return std::all_of(index.indices.begin(), index.indices.end(), [&](const Expr& each) {
    const auto* var = as<lang::Var>(each);
    return var && indices.contains(var->variable.get()) && seen.insert(var->variable.get()).second;
  });
}

std::unordered_set<const Variable*> indices_in(const Expr& body) {
  std::unordered_set<const Variable*> indices;
  lang::visit_post_order(body, [&](const Expr& node) {
    if (node->kind != ExprKind::Comprehension && node->kind != ExprKind::Reduction &&
        node->kind != ExprKind::ScatterReduce)
      return;
    lang::for_each_binder(
        node, [&](const lang::VariableRef& variable) { indices.insert(variable.get()); });
  });
  return indices;
}

}  // namespace

std::vector<const lang::Call*> loop_calls(const Expr& body, const std::string& name,
                                          const lang::Type& type) {
  std::vector<const lang::Call*> calls;
  find_loop_calls(body, name, type, calls);
  return calls;
}

Threading::Uses Threading::look_at(const lang::Function& function, const std::string& name,
                                   const lang::Type& type) {
  Uses uses;
  uses.read_in_parts.resize(function.params.size());
  uses.changed.resize(function.params.size());
  for (const lang::Call* call : loop_calls(function.body, name, type)) {
    for (std::size_t i = 0; i < call->args.size(); ++i) {
      const auto* var = as<lang::Var>(call->args[i]);
      uses.changed[i] = uses.changed[i] || !var || !(var->variable == function.params[i]);
    }
  }
  ParameterNames names(function);
  std::vector<Expr> nodes;
  lang::visit_post_order(function.body, [&](const Expr& node) { nodes.push_back(node); });
  // Lets and matches come behind what they are around.
  for (std::size_t i = nodes.size(); i-- > 0;) {
    if (const auto* let = as<lang::Let>(nodes[i])) names.note(*let);
    if (const auto* match = as<lang::Match>(nodes[i])) names.note(*match);
  }
  const auto indices = indices_in(function.body);
  for (const Expr& node : nodes) {
    if (const auto* index = as<lang::Index>(node)) {
      const std::ptrdiff_t number = names.of(index->tensor);
      if (number >= 0 && !reads_all(*index, indices))
        uses.read_in_parts[static_cast<std::size_t>(number)] = true;
    }
    const auto* call = as<lang::Call>(node);
    const auto* global = call ? growing_.known_callee(call->callee) : nullptr;
    if (!global) continue;
    Handing handing{global->name, global->type, {}, {}};
    for (const Expr& arg : call->args) {
      const std::ptrdiff_t number = names.of(arg);
      const bool is_whole = number >= 0 && lang::cast<lang::Var>(arg).variable ==
                                               function.params[static_cast<std::size_t>(number)];
      handing.from.push_back(is_whole ? number : -1);
      handing.part_of.push_back(number);
    }
    uses.calls.push_back(std::move(handing));
  }
  return uses;
}

// Null for what cannot be specialised, which says so where it is differentiated.
const Threading::Uses* Threading::uses_of(const std::string& name, const lang::Type& type) {
  const std::string key = name + " : " + lang::to_string(type);
  const auto found = uses_.find(key);
  if (found != uses_.end()) return &found->second;
  const auto own = lang::capture([&] { return program_.function(name, type); });
  if (!own) return nullptr;
  const auto body = lang::capture([&] { return functions_.prepared(*own); });
  const auto* function = body ? as<lang::Function>(*body) : nullptr;
  Uses uses = function ? look_at(*function, name, (*own)->type) : Uses();
  return &uses_.emplace(key, std::move(uses)).first->second;
}

bool Threading::has_accumulator(const std::string& name, const lang::Type& type, std::size_t index,
                                bool is_expected) {
  if (is_threaded(name, type, index)) return true;
  const Uses* uses = uses_of(name, type);
  const bool is_changed = uses && index < uses->changed.size() && uses->changed[index];
  return !is_changed && (is_expected || is_read_in_parts(name, type, index));
}

bool Threading::is_threaded(const std::string& name, const lang::Type& type, std::size_t index) {
  const Uses* uses = uses_of(name, type);
  if (!uses) return false;
  const Place place{name + " : " + lang::to_string(type), index};
  const auto [mark, is_new] = threaded_.try_emplace(place, Mark::UnderWay);
  if (!is_new) return mark->second != Mark::No;  // back where the search came from: a recursion
  bool is_threaded = false;
  for (const Handing& call : uses->calls) {
    for (std::size_t i = 0; i < call.from.size() && !is_threaded; ++i) {
      if (call.from[i] == static_cast<std::ptrdiff_t>(index))
        is_threaded = this->is_threaded(call.name, call.type, i);
    }
  }
  threaded_[place] = is_threaded ? Mark::Yes : Mark::No;
  return is_threaded;
}

bool Threading::is_read_in_parts(const std::string& name, const lang::Type& type,
                                 std::size_t index) {
  const Uses* uses = uses_of(name, type);
  if (!uses || index >= uses->read_in_parts.size()) return false;
  const Place place{name + " : " + lang::to_string(type), index};
  const auto [mark, is_new] = parts_.try_emplace(place, Mark::UnderWay);
  if (!is_new) return mark->second == Mark::Yes;
  bool is_read = uses->read_in_parts[index];
  for (const Handing& call : uses->calls) {
    for (std::size_t i = 0; i < call.part_of.size() && !is_read; ++i) {
      if (call.part_of[i] == static_cast<std::ptrdiff_t>(index))
        is_read = is_read_in_parts(call.name, call.type, i);
    }
  }
  parts_[place] = is_read ? Mark::Yes : Mark::No;
  return is_read;
}

}  // namespace relay::ad
