#include "ad/known_functions.h"

#include <algorithm>
#include <set>

#include "ad/closures.h"
#include "ad/tangent.h"
#include "lang/checkpoint.h"
#include "lang/diagnostic.h"
#include "lang/dot.h"
#include "lang/function_fact.h"
#include "lang/match_dims.h"
#include "lang/op.h"
#include "lang/visit.h"

namespace relay::ad {

using lang::as;
using lang::Expr;
using lang::ExprKind;
using lang::Type;
using lang::VariableRef;

namespace {

bool is_function(const Expr& expr) { return as<lang::FunctionType>(expr->type) != nullptr; }

// A function that is not made when the program runs.
bool is_closed(const Expr& atom) {
  return atom->kind == ExprKind::GlobalVar || atom->kind == ExprKind::Operator ||
         atom->kind == ExprKind::ConstructorRef;
}

// Says that a literal stays a call of what is known, by which it is told from others: inlining
// leaves it alone.
lang::AttrsRef known_mark() { return lang::with_fact(lang::FunctionFact::Known); }

bool is_placed(const lang::Function& fn) { return lang::has_fact(fn, lang::FunctionFact::Place); }

// Which functions a recursion is made of, and whether it hands functions on as they are.
class Recursion {
 public:
  Recursion(lang::Program& program, GrowingRecursion& growing)
      : program_(program), growing_(growing) {}

  // Does every call inside the recursions through this function give the functions that were given?
  // Else there would be no end of copies.
  bool keeps_functions(const std::string& name, const Type& type) {
    const std::size_t root = explore(name, type);
    if (is_too_large_) return false;
    const std::set<std::size_t> members = reaching(root);
    return std::none_of(calls_.begin(), calls_.end(), [&](const Call& call) {
      return call.changes && members.count(call.from) && members.count(call.to);
    });
  }

 private:
  static constexpr std::size_t kMost = 200;
  struct Call {
    std::size_t from, to;
    bool changes;
  };

  std::size_t explore(const std::string& name, const Type& type) {
    // What cannot be specialised says so where it is differentiated.
    const auto own = lang::capture([&] { return program_.function(name, type); });
    const std::string key = name + " : " + lang::to_string(own ? (*own)->type : type);
    const auto [place, is_new] = functions_.try_emplace(key, functions_.size());
    const std::size_t index = place->second;
    is_too_large_ = is_too_large_ || functions_.size() > kMost;
    const auto* function = own ? as<lang::Function>(*own) : nullptr;
    if (!is_new || !function || is_too_large_) return index;
    lang::visit_post_order(function->body, [&](const Expr& node) {
      const auto* call = as<lang::Call>(node);
      const auto* global = call ? growing_.known_callee(call->callee) : nullptr;
      if (!global) return;
      bool changes = global->name == name && !lang::equal(global->type, (*own)->type);
      for (const Expr& arg : call->args)
        changes = changes || (is_function(arg) && !is_closed(arg) && !is_param(arg, *function));
      calls_.push_back({index, explore(global->name, global->type), changes});
    });
    return index;
  }

  static bool is_param(const Expr& arg, const lang::Function& function) {
    const auto* var = as<lang::Var>(arg);
    return var && std::find(function.params.begin(), function.params.end(), var->variable) !=
                      function.params.end();
  }

  std::set<std::size_t> reaching(std::size_t root) const {
    std::set<std::size_t> members = {root};
    for (std::size_t before = 0; before != members.size();) {
      before = members.size();
      for (const Call& call : calls_) {
        if (members.count(call.to)) members.insert(call.from);
      }
    }
    return members;
  }

  lang::Program& program_;
  GrowingRecursion& growing_;
  std::map<std::string, std::size_t> functions_;
  std::vector<Call> calls_;
  bool is_too_large_ = false;
};

}  // namespace

// Puts the copies in place.
class KnownFunctions::Pass final : public lang::Rewriter {
 public:
  explicit Pass(KnownFunctions& owner) : owner_(owner) {}

  Expr run(const Expr& expr) {
    lang::visit_post_order(expr, [this](const Expr& node) {
      const auto* let = as<lang::Let>(node);
      if (let && let->value->kind == ExprKind::Function)
        literals_[let->variable.get()] = {let->variable, let->value};
    });
    return rewrite(expr);
  }

 protected:
  // The adjoint of a placed literal holds those of its captures as they are: another call in it
  // would have others.
  Expr pre(const Expr& expr) override {
    const auto* fn = as<lang::Function>(expr);
    return fn && is_placed(*fn) ? expr : Expr();
  }

  Expr post(const Expr& expr) override {
    const auto* call = as<lang::Call>(expr);
    const auto* global = call ? as<lang::GlobalVar>(call->callee) : nullptr;
    if (!global || !owner_.program_.is_function(global->name)) return expr;
    const auto& args = call->args;
    const auto& params = as<lang::FunctionType>(global->type)->params;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < args.size(); ++i) {
      if (lang::equal(args[i]->type, params[i]) && is_known(args[i])) places.push_back(i);
    }
    if (places.empty() || !owner_.keeps_functions(global->name, global->type)) return expr;
    KnownArguments known;
    for (const std::size_t i : places) known.emplace(i, known_of(args[i]));
    return owner_.copy_for(expr, known);
  }

 private:
  using Literal = std::pair<VariableRef, Expr>;

  const Literal* literal_of(const Expr& atom) const {
    const auto* var = as<lang::Var>(atom);
    const auto found = var ? literals_.find(var->variable.get()) : literals_.end();
    return found == literals_.end() ? nullptr : &found->second;
  }

  bool is_known(const Expr& arg) const {
    if (!is_function(arg)) return false;
    if (const auto* global = as<lang::GlobalVar>(arg))
      return owner_.program_.is_function(global->name);
    if (is_closed(arg)) return true;
    // A global with a gradient of its own is a value that knows it.
    const Literal* literal = literal_of(arg);
    if (!literal) return false;
    const auto& fn = lang::cast<lang::Function>(literal->second);
    return !lang::gradient_of(fn) && (!is_placed(fn) || called(literal->second).callee);
  }

  Known known_of(const Expr& arg) const {
    const Literal* literal = literal_of(arg);
    if (!literal) return closed(arg, nullptr);
    Known known = called(literal->second);
    return known.callee ? known : owner_.lifted(literal->first, literal->second);
  }

  KnownFunctions& owner_;
  std::unordered_map<const lang::Variable*, Literal> literals_;
};

Expr KnownFunctions::specialised(const Expr& function) { return Pass(*this).run(function); }

Expr KnownFunctions::prepared(const Expr& function) {
  const auto found = prepared_.find(function.get());
  if (found != prepared_.end()) return found->second.second;
  const auto inlined_again = [this](const Expr& known, const Expr& before) {
    return known == before ? before : program_.inlined(known);
  };
  constexpr int kRounds = 4;  // of functions of functions of functions
  Expr result = lang::dots_as_sums(program_.inlined(function));
  for (int round = 0; round < kRounds; ++round) {
    const Expr before = result;
    result = inlined_again(derivatives_.resolved(result), result);
    result = inlined_again(specialised(result), result);
    if (result == before) break;
  }
  prepared_[function.get()] = {function, result};
  return result;
}

void KnownFunctions::forget() {
  copies_.clear();
  origins_.clear();
  counts_.clear();
  keeps_.clear();
  prepared_.clear();
  lifted_.clear();
}

KnownFunctions::Known KnownFunctions::closed(const Expr& function, lang::AttrsRef attrs) {
  Known known{function, std::move(attrs), {}, {}};
  if (const auto* op = as<lang::Operator>(function)) {
    if (!known.attrs) known.attrs = lang::complete_attrs(*op->op, nullptr, function->span);
    known.identity = op->op->name;
    for (const lang::Attr& attr : known.attrs ? known.attrs->list : std::vector<lang::Attr>())
      known.identity += " " + attr.key + "=" + attr.value.to_string();
  } else if (const auto* constructor = as<lang::ConstructorRef>(function)) {
    known.identity = constructor->constructor->owner->name + "." + constructor->constructor->name;
  } else {
    known.identity = lang::cast<lang::GlobalVar>(function).name;
  }
  return known;
}

// fn (x, y) { @global(a, b, x, y) }, as copies have them; without a callee if the literal is none.
KnownFunctions::Known KnownFunctions::called(const Expr& literal) {
  const auto& fn = lang::cast<lang::Function>(literal);
  const auto* call = as<lang::Call>(fn.body);
  if (!call || !is_closed(call->callee) || call->args.size() < fn.params.size() ||
      lang::is_checkpoint(fn))
    return {};
  const std::size_t captured = call->args.size() - fn.params.size();
  for (std::size_t i = 0; i < call->args.size(); ++i) {
    const auto* var = as<lang::Var>(call->args[i]);
    if (!var) return {};
    const auto& params = fn.params;
    const auto param = std::find(params.begin(), params.end(), var->variable);
    const bool is_own = param != params.end();
    if (is_own != (i >= captured)) return {};
    if (is_own && param - params.begin() != static_cast<std::ptrdiff_t>(i - captured)) return {};
  }
  Known known = closed(call->callee, call->attrs);
  if (is_placed(fn)) {
    known.place = fn.attrs;
    known.identity +=
        " placed " + lang::find_fact(fn.attrs, lang::FunctionFact::Place)->to_string();
  }
  known.captures = {call->args.begin(), call->args.begin() + static_cast<std::ptrdiff_t>(captured)};
  return known;
}

KnownFunctions::Known KnownFunctions::lifted(const VariableRef& variable, const Expr& literal) {
  const auto found = lifted_.find(literal.get());
  if (found != lifted_.end()) return found->second.second;
  const auto free = lang::free_variables(literal);
  const bool is_recursive = std::find(free.begin(), free.end(), variable) != free.end();
  const Lifted lifted =
      lift(program_, variable->name, literal, is_recursive ? variable : VariableRef());
  const Known known{lang::make_global_var(lifted.name, literal->span, lifted.type), nullptr,
                    uses_of(lifted.captures), lifted.name};
  lifted_[literal.get()] = {literal, known};
  return known;
}

bool KnownFunctions::keeps_functions(const std::string& name, const Type& type) {
  const std::string key = name + " : " + lang::to_string(type);
  const auto found = keeps_.find(key);
  if (found != keeps_.end()) return found->second;
  if (growing_.includes(name, type)) return keeps_[key] = false;
  const auto own = lang::capture([&] { return program_.function(name, type); });
  const bool keeps = own && !lang::gradient_of(lang::cast<lang::Function>(*own)) &&
                     Recursion(program_, growing_).keeps_functions(name, type);
  keeps_[key] = keeps;
  return keeps;
}

// The call of the copy, which is made where there is none yet.
Expr KnownFunctions::copy_for(const Expr& expr, const KnownArguments& known) {
  const auto& call = lang::cast<lang::Call>(expr);
  const auto& global = lang::cast<lang::GlobalVar>(call.callee);
  std::string key = global.name + " : " + lang::to_string(global.type);
  std::vector<Expr> args;
  std::vector<Expr> captured;
  std::vector<Type> types;
  for (std::size_t i = 0; i < call.args.size(); ++i) {
    const auto found = known.find(i);
    if (found == known.end()) {
      args.push_back(call.args[i]);
      types.push_back(as<lang::FunctionType>(global.type)->params[i]);
      continue;
    }
    key += " / " + std::to_string(i) + " " + found->second.identity;
    const auto& captures = found->second.captures;
    captured.insert(captured.end(), captures.begin(), captures.end());
  }
  for (const Expr& capture : captured) {
    args.push_back(capture);
    types.push_back(capture->type);
  }
  const auto origin = origins_.find(global.name);
  const std::string root = origin == origins_.end() ? global.name : origin->second;
  const auto known_copy = copies_.find(key);
  // Recursions through functions that are handed around may change functions unseen.
  constexpr int kMostCopies = 200;
  if (known_copy == copies_.end() && ++counts_[root] > kMostCopies) return expr;
  const auto [place, is_new] = copies_.try_emplace(key);
  if (is_new) place->second = program_.reserve_name(global.name);  // the copy may call itself
  const std::string name = place->second;
  origins_.emplace(name, root);
  if (is_new) program_.add_function(name, copy_of(global, known, expr->span));
  return lang::make_call(lang::make_global_var(name, call.callee->span,
                                               lang::function_type(std::move(types), expr->type)),
                         std::move(args), nullptr, expr->span, expr->type);
}

// Its known functions are bound in front of the body, to literals of what has been captured.
Expr KnownFunctions::copy_of(const lang::GlobalVar& global, const KnownArguments& known,
                             lang::Span span) {
  const Expr own = program_.function(global.name, global.type);
  lang::TypeSubstitution dims;
  lang::match_dims(own->type, global.type, dims);
  const Expr copy = lang::substitute_types(lang::rename_bound(own), dims);
  const auto& fn = lang::cast<lang::Function>(copy);
  std::vector<VariableRef> params;
  std::vector<VariableRef> captured;
  std::vector<lang::Binding> bindings;
  for (std::size_t i = 0; i < fn.params.size(); ++i) {
    const auto found = known.find(i);
    if (found == known.end()) {
      params.push_back(fn.params[i]);
      continue;
    }
    std::vector<VariableRef> captures;
    for (const Expr& capture : found->second.captures)
      captures.push_back(lang::cast<lang::Var>(capture).variable);
    captures = fresh(captures);
    captured.insert(captured.end(), captures.begin(), captures.end());
    const auto& type = *as<lang::FunctionType>(fn.params[i]->type);
    std::vector<VariableRef> own_params;
    for (const Type& param : type.params) own_params.push_back(lang::make_variable("x", param));
    std::vector<Expr> args = uses_of(captures);
    for (const Expr& use : uses_of(own_params)) args.push_back(use);
    // Without a place: the function is called where the copy calls its parameter, and nowhere else.
    const Expr body = lang::make_call(found->second.callee, std::move(args), found->second.attrs,
                                      {}, type.result);
    bindings.push_back(
        {fn.params[i], lang::make_function(own_params, body->type, body, {},
                                           found->second.place ? found->second.place : known_mark(),
                                           span, fn.params[i]->type)});
  }
  params.insert(params.end(), captured.begin(), captured.end());
  const lang::Block block = lang::open_block(fn.body);
  bindings.insert(bindings.end(), block.bindings.begin(), block.bindings.end());
  const Expr body = lang::close_block({std::move(bindings), block.result});
  return specialised(lang::make_function(params, fn.result, body, {}, fn.attrs, own->span));
}

}  // namespace relay::ad
