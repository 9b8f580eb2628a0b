#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "lang/any_dim.h"
#include "lang/call_site.h"
#include "lang/checkpoint.h"
#include "lang/diagnostic.h"
#include "lang/function_fact.h"
#include "lang/match_dims.h"
#include "lang/op.h"
#include "lang/schedule.h"
#include "lang/visit.h"
#include "opt/passes.h"

namespace relay::opt {

using lang::as;
using lang::Expr;
using lang::ExprKind;
using lang::FunctionFact;

namespace {

// Takes apart what has only one form: what it binds are fields.
bool reads_fields(const lang::Match& match) {
  if (match.clauses.size() != 1) return false;
  const lang::Pattern& pattern = *match.clauses[0].pattern;
  return pattern.kind != lang::PatternKind::Constructor ||
         pattern.constructor->owner->constructors.size() == 1;
}

// A test that normalisation has made around what leaves index notation (opt/anf.cpp). What a person
// has written has a place.
bool is_own_test(const Expr& value) { return value->kind == ExprKind::If && !value->span; }

bool has_dim_variables(const lang::Type& type) {
  if (const auto* tuple = as<lang::TupleType>(type))
    return std::any_of(tuple->fields.begin(), tuple->fields.end(), has_dim_variables);
  const auto* tensor = as<lang::TensorType>(type);
  return tensor && tensor->shape.has_rank() &&
         std::any_of(tensor->shape.dims().begin(), tensor->shape.dims().end(),
                     [](const lang::Dim& dim) { return !dim.is_constant() && !dim.is_any(); });
}

// Takes apart data that holds extents which its type does not tell, as the adjoint of a function
// does: they are those of where it was made, and not those at the call.
bool takes_open_extents(const lang::Match& match) {
  return std::any_of(match.clauses.begin(), match.clauses.end(), [](const lang::Clause& clause) {
    const lang::Pattern& pattern = *clause.pattern;
    if (pattern.kind != lang::PatternKind::Constructor ||
        !pattern.constructor->owner->params.empty())
      return false;
    const auto& fields = pattern.constructor->fields;
    return std::any_of(fields.begin(), fields.end(), has_dim_variables);
  });
}

// How many bindings a block without branches and functions has; more than `most` where it is no
// such block, or too long.
int straight_bindings(const Expr& body, int most) {
  const lang::Block block = lang::open_block(body);
  int count = static_cast<int>(block.bindings.size());
  const auto add = [&](const Expr& value) {
    if (count > most) return;
    if (is_own_test(value)) {
      const auto& test = lang::cast<lang::If>(value);
      count += straight_bindings(test.then_branch, most - count);
      count += straight_bindings(test.else_branch, most - count);
      return;
    }
    if (value->kind == ExprKind::If || value->kind == ExprKind::Function) count = most + 1;
    const auto* match = as<lang::Match>(value);
    if (!match) return;
    // One for the match, so that matches in one another come to an end.
    const bool is_straight = reads_fields(*match) && !takes_open_extents(*match);
    count += is_straight ? straight_bindings(match->clauses[0].body, most - count) + 1 : most + 1;
  };
  for (const auto& binding : block.bindings) add(binding.value);
  add(block.result);
  return count;
}

bool is_straight_line(const lang::Function& fn, int max_bindings) {
  return straight_bindings(fn.body, max_bindings) <= max_bindings;
}

// Is it a function that makes a function, `def twice(f) { fn (x) { f(f(x)) } }`, maybe beside other
// results, in few steps? Inlined, what it makes is known where it is called.
bool makes_function(const lang::Function& fn, int max_bindings) {
  const lang::Block block = lang::open_block(fn.body);
  std::unordered_set<const lang::Variable*> literals;
  std::vector<Expr> results = {block.result};
  if (block.bindings.size() > static_cast<std::size_t>(max_bindings)) return false;
  for (const auto& [variable, value, span] : block.bindings) {
    if (value->kind == ExprKind::If || value->kind == ExprKind::Match) return false;
    if (value->kind == ExprKind::Function) literals.insert(variable.get());
    const auto* result = as<lang::Var>(block.result);
    const auto* tuple = as<lang::Tuple>(value);
    if (result && tuple && result->variable == variable) results = tuple->fields;
  }
  if (const auto* tuple = as<lang::Tuple>(block.result)) results = tuple->fields;
  return std::any_of(results.begin(), results.end(), [&](const Expr& result) {
    const auto* var = as<lang::Var>(result);
    return result->kind == ExprKind::Function || (var && literals.contains(var->variable.get()));
  });
}

// Relay's mark of what is to be inlined, whatever its form. Differentiation sets it.
bool is_marked(const lang::Function& fn) {
  const lang::AttrValue* mark = lang::find_fact(fn.attrs, FunctionFact::Inline);
  return mark && mark->as_int() && *mark->as_int() != 0;
}

// At the same extents: what calls itself at others ends, and is no loop.
bool calls_itself(const Expr& function, const std::string& name) {
  bool found = false;
  lang::visit_post_order(lang::cast<lang::Function>(function).body, [&](const Expr& node) {
    const auto* global = as<lang::GlobalVar>(node);
    found = found || (global && global->name == name && lang::equal(global->type, function->type));
  });
  return found;
}

bool has_schedule(const Expr& expr) {
  const auto* fn = as<lang::Function>(expr);
  return fn && lang::schedule_of(*fn);
}

// Which global functions are inlined: all that are small or marked, or those that are marked.
enum class Globals : std::uint8_t { Small, Marked };

// How many nodes a function with all that is inlined in it may have, and still be inlined itself: a
// straight one, and a marked one. Else `def f1(x) { f0(f0(x)) }` and so on would double at each
// level.
constexpr std::size_t kMostNodes = 1 << 11;
constexpr std::size_t kMostMarkedNodes = 1 << 14;

// Is the function made of what index notation may be made of, and of calls, none of which comes
// back to it? Where it is inlined there, a kernel can hold it, or what does not depend on the
// indices can leave the loop.
class PointCode {
 public:
  explicit PointCode(lang::Program& program) : program_(program) {}

  bool operator()(const Expr& function) { return look_at(function).is_point_code; }

 private:
  static constexpr std::size_t kMostNodes = 512;

  struct Known {
    Expr function;  // keeps the key alive
    bool is_open = true;
    bool calls_itself = false;
    bool is_point_code = false;
  };

  Known& look_at(const Expr& function) {
    const auto [place, is_new] = known_.try_emplace(function.get(), Known{function});
    Known& known = place->second;
    if (known.is_open && !is_new) {  // all that led here since
      for (std::size_t i = open_.size(); i-- > 0;) {
        open_[i]->calls_itself = true;
        if (open_[i] == &known) break;
      }
    }
    if (!is_new) return known;
    open_.push_back(&known);
    std::size_t nodes = 0;
    bool is_it = true;
    lang::visit_post_order(lang::cast<lang::Function>(function).body, [&](const Expr& node) {
      is_it = is_it && ++nodes <= kMostNodes && may_hold(node);
    });
    open_.pop_back();
    known.is_open = false;
    known.is_point_code = is_it && !known.calls_itself;
    return known;
  }

  bool may_hold(const Expr& node) {
    switch (node->kind) {
      case ExprKind::Var:
      case ExprKind::Constant:
      case ExprKind::DimTerm:
      case ExprKind::Tuple:
      case ExprKind::Projection:
      case ExprKind::Primitive:
      case ExprKind::Index:
      case ExprKind::Let:
      case ExprKind::If:
      case ExprKind::Reduction:
      case ExprKind::Comprehension:
      case ExprKind::ScatterReduce:
      case ExprKind::Operator:
      case ExprKind::GlobalVar:
      case ExprKind::ConstructorRef:
      case ExprKind::Match:
        return true;
      case ExprKind::Call:
        return may_call(lang::cast<lang::Call>(node));
      default:
        return false;
    }
  }

  bool may_call(const lang::Call& call) {
    if (const auto* op = as<lang::Operator>(call.callee))
      return op->op->effect == lang::Effect::None && op->op->definition;
    if (call.callee->kind == ExprKind::ConstructorRef) return true;
    const auto* global = as<lang::GlobalVar>(call.callee);
    if (!global || !program_.is_function(global->name)) return false;
    const auto callee =
        lang::capture([&] { return program_.function(global->name, call.callee->type); });
    return callee && !look_at(*callee).is_open;
  }

  lang::Program& program_;
  std::unordered_map<const lang::ExprNode*, Known> known_;
  std::vector<Known*> open_;  // functions that are being looked at, each called by the one before
};

// What the inliners of one run share.
struct Run {
  lang::Program& program;
  int max_bindings;
  CustomGradients custom;
  Globals globals;
  // The function that it is inlined in has a schedule, which is about the nests of its own text.
  bool is_scheduled = false;
  std::vector<std::string> stack = {};  // the functions whose bodies are being inlined
  // How many nodes functions have with what they call inlined, outside and inside of index
  // notation. The keys are kept alive.
  using Sizes = std::unordered_map<const lang::ExprNode*, std::pair<Expr, std::size_t>>;
  std::array<Sizes, 2> sizes = {};
  PointCode is_point_code{program};
};

// What is known of the code in which calls are inlined.
struct Root {
  std::unordered_map<const lang::Variable*, Expr> literals;
  std::unordered_map<const lang::Variable*, int> uses;
  std::unordered_set<const lang::ExprNode*> called;  // values whose parts, or which, are called
  // The literals whose only use is a call that they are inlined at. Nothing is inlined in them
  // where they are bound, and then once more where they are called: that would double at each level
  // of literals in literals.
  std::unordered_set<const lang::Function*> moved;
};

class Inliner final : public lang::Rewriter {
 public:
  explicit Inliner(Run& run, bool is_in_index_notation = false)
      : run_(run), is_in_index_notation_(is_in_index_notation) {}
  // Of index notation in the same root.
  Inliner(Run& run, std::shared_ptr<Root> root)
      : run_(run), root_(std::move(root)), is_in_index_notation_(true) {}

  // `is_called`: whoever has the result calls the function that it is, or takes it out of it.
  Expr run(const Expr& root, bool is_called = false) {
    find_literals(root);
    find_called(root, is_called);
    return rewrite(root);
  }

 protected:
  Expr pre(const Expr& expr) override {
    if (is_index_notation(expr) && !is_in_index_notation_) return in_index_notation(expr);
    if (is_made_for_others(expr)) return expr;
    const auto* fn = as<lang::Function>(expr);
    if (!fn) return nullptr;
    const bool stays = lang::has_fact(*fn, FunctionFact::Primitive) ||
                       lang::has_fact(*fn, FunctionFact::Compiler) ||
                       lang::has_fact(*fn, FunctionFact::Place) ||
                       lang::has_fact(*fn, FunctionFact::Known);
    return stays || root_->moved.contains(fn) ? expr : Expr();
  }

  Expr post(const Expr& expr) override {
    const auto* call = as<lang::Call>(expr);
    if (!call) return expr;
    if (const auto* global = as<lang::GlobalVar>(call->callee))
      return inline_global(expr, *call, *global);
    if (const auto* fn = as<lang::Function>(call->callee);
        fn && !lang::has_fact(*fn, FunctionFact::Primitive) && !is_kept_apart(*fn) &&
        fits(*fn, call->args)) {
      return body_with(call->callee, call->args);
    }
    if (const auto* var = as<lang::Var>(call->callee)) {
      const auto found = root_->literals.find(var->variable.get());
      if (found == root_->literals.end()) return expr;
      const auto& fn = lang::cast<lang::Function>(found->second);
      if (is_kept_apart(fn)) return expr;
      const bool is_wanted = root_->moved.contains(&fn) ||
                             is_straight_line(fn, run_.max_bindings) || lang::is_checkpoint(fn) ||
                             lang::has_fact(fn, FunctionFact::StopFusion) ||
                             (is_in_index_notation_ && run_.is_point_code(found->second)) ||
                             (root_->uses[var->variable.get()] == 1 && !lang::gradient_of(fn));
      if (!is_wanted || !fits(fn, call->args)) return expr;
      // The literal as it was: what it calls is inlined here once more.
      return Inliner(run_, is_in_index_notation_)
          .run(body_with(found->second, call->args, expr->span), root_->called.contains(call));
    }
    return expr;
  }

 private:
  static constexpr std::size_t kMaxDepth = 16;

  static bool is_index_notation(const Expr& expr) {
    return expr->kind == ExprKind::Comprehension || expr->kind == ExprKind::Reduction ||
           expr->kind == ExprKind::ScatterReduce;
  }

  Expr in_index_notation(const Expr& expr) { return Inliner(run_, root_).rewrite(expr); }

  // What is computed for one element is nothing to save.
  bool is_kept_apart(const lang::Function& fn) const {
    return lang::has_fact(fn, FunctionFact::Compiler) ||
           ((lang::is_checkpoint(fn) || lang::has_fact(fn, FunctionFact::StopFusion)) &&
            !is_in_index_notation_);
  }

  // Let-bound function literals that are not recursive, and how often they are used.
  void find_literals(const Expr& root) {
    lang::visit_post_order(root, [&](const Expr& node) {
      const auto* let = as<lang::Let>(node);
      if (!let || let->value->kind != ExprKind::Function) return;
      for (const auto& variable : lang::free_variables(let->value)) {
        if (variable == let->variable) return;
      }
      root_->literals[let->variable.get()] = let->value;
    });
    if (root_->literals.empty()) return;
    std::unordered_map<const lang::Variable*, const lang::Call*> calls;
    std::unordered_set<const lang::ExprNode*> in_index_notation;
    lang::visit_post_order(root, [&](const Expr& node) {
      lang::for_each_child(node, [&](const Expr& child) {
        const auto* var = as<lang::Var>(child);
        if (var && root_->literals.contains(var->variable.get()))
          ++root_->uses[var->variable.get()];
      });
      const auto* call = as<lang::Call>(node);
      const auto* var = call ? as<lang::Var>(call->callee) : nullptr;
      if (var && root_->literals.contains(var->variable.get())) calls[var->variable.get()] = call;
      if (is_index_notation(node) && !in_index_notation.contains(node.get())) {
        lang::visit_post_order(node,
                               [&](const Expr& inner) { in_index_notation.insert(inner.get()); });
      }
    });
    for (const auto& [variable, call] : calls) {
      const auto& fn = lang::cast<lang::Function>(root_->literals.at(variable));
      // Where it is bound, or where it is called, it may have to be something that a kernel holds.
      const bool is_moved = root_->uses[variable] == 1 &&
                            in_index_notation.contains(call) == in_index_notation.contains(&fn) &&
                            !is_kept_apart(fn) && !lang::gradient_of(fn) && fits(fn, call->args);
      if (is_moved) root_->moved.insert(&fn);
    }
  }

  // Which calls give what is called, or taken apart, here.
  void find_called(const Expr& root, bool is_called) {
    std::unordered_set<const lang::Variable*> called;
    lang::visit_post_order(root, [&](const Expr& node) {
      if (node->kind != ExprKind::Call && node->kind != ExprKind::Projection) return;
      lang::for_each_child(node, [&](const Expr& child) {
        if (const auto* var = as<lang::Var>(child)) called.insert(var->variable.get());
      });
    });
    lang::visit_post_order(root, [&](const Expr& node) {
      const auto* let = as<lang::Let>(node);
      if (let && called.contains(let->variable.get())) root_->called.insert(let->value.get());
    });
    if (!is_called) return;
    const lang::Block block = lang::open_block(root);
    root_->called.insert(block.result.get());
    const auto* result = as<lang::Var>(block.result);
    for (const auto& binding : block.bindings) {
      if (result && binding.variable == result->variable) root_->called.insert(binding.value.get());
    }
  }

  // A call of what makes a function that nobody calls here: it would only be code made twice.
  bool is_made_for_others(const Expr& expr) {
    const auto* call = as<lang::Call>(expr);
    const auto* global = call ? as<lang::GlobalVar>(call->callee) : nullptr;
    if (!global || root_->called.contains(expr.get())) return false;
    const Expr callee = callee_of(*call, *global);
    if (!callee) return false;
    const auto& fn = lang::cast<lang::Function>(callee);
    return !is_marked(fn) && !is_straight_line(fn, run_.max_bindings) &&
           makes_function(fn, run_.max_bindings);
  }

  // The body is typed for `?` extents. Where more is known of an argument, its operators would have
  // to be typed anew, and what they find could be wrong only now.
  static bool fits(const lang::Function& fn, const std::vector<Expr>& args) {
    for (std::size_t i = 0; i < args.size(); ++i) {
      if (has_any_dim(fn.params[i]->type) && !lang::equal(fn.params[i]->type, args[i]->type))
        return false;
    }
    return true;
  }

  static bool has_any_dim(const lang::Type& type) {
    const auto any_of = [](const std::vector<lang::Type>& types) {
      return std::any_of(types.begin(), types.end(), has_any_dim);
    };
    if (const auto* tuple = as<lang::TupleType>(type)) return any_of(tuple->fields);
    if (const auto* adt = as<lang::AdtType>(type)) return any_of(adt->args);
    return lang::has_any_dim(type);
  }

  // The types first: in a call of itself the function's dims are in those of the arguments, too,
  // which keep them.
  static Expr body_with(const Expr& function, const std::vector<Expr>& args, lang::Span call = {}) {
    lang::TypeSubstitution dims;
    const auto& own = lang::cast<lang::Function>(function);
    for (std::size_t i = 0; i < args.size(); ++i)
      lang::match_dims(own.params[i]->type, args[i]->type, dims);
    const Expr copy = lang::substitute_types(lang::rename_bound(function), dims);
    const auto& fn = lang::cast<lang::Function>(copy);
    lang::Substitution substitution;
    for (std::size_t i = 0; i < args.size(); ++i) substitution[fn.params[i].get()] = args[i];
    return lang::substitute(lang::moved_to_call(fn.body, call), substitution);
  }

  // The function that a call may be replaced by; null where it stays.
  Expr callee_of(const lang::Call& call, const lang::GlobalVar& global) {
    if (!run_.program.is_function(global.name) || run_.stack.size() >= kMaxDepth) return nullptr;
    for (const std::string& name : run_.stack) {
      if (name == global.name) return nullptr;
    }
    const Expr callee = run_.program.function(global.name, call.callee->type);
    const auto& fn = lang::cast<lang::Function>(callee);
    if (!is_wanted(global, callee) || !fits(fn, call.args) || is_kept_apart(fn)) return nullptr;
    return run_.custom == CustomGradients::Keep && lang::gradient_of(fn) ? Expr() : callee;
  }

  // With all that is inlined in it.
  std::size_t size_of(const std::string& name, const Expr& callee) {
    Run::Sizes& sizes = run_.sizes[is_in_index_notation_ ? 1 : 0];
    const auto found = sizes.find(callee.get());
    if (found != sizes.end()) return found->second.second;
    std::size_t size = 0;
    run_.stack.push_back(name);
    lang::visit_post_order(lang::cast<lang::Function>(callee).body, [&](const Expr& node) {
      ++size;
      const auto* call = as<lang::Call>(node);
      const auto* global = call ? as<lang::GlobalVar>(call->callee) : nullptr;
      if (!global || size > kMostMarkedNodes) return;
      // Where its dims are still those of this function, a callee may have no meaning yet.
      const auto inner = lang::capture([&] { return callee_of(*call, *global); });
      if (!inner || !*inner) return;
      const std::size_t more = size_of(global->name, *inner);
      if (more <= most_of(*inner)) size += more;
    });
    run_.stack.pop_back();
    sizes.emplace(callee.get(), std::pair{callee, size});
    return size;
  }
  static std::size_t most_of(const Expr& callee) {
    return is_marked(lang::cast<lang::Function>(callee)) ? kMostMarkedNodes : kMostNodes;
  }

  bool is_wanted(const lang::GlobalVar& global, const Expr& callee) const {
    const auto& fn = lang::cast<lang::Function>(callee);
    // Its nests keep their schedule where they are. What is computed for one element has none.
    if (lang::schedule_of(fn) && !is_in_index_notation_) return false;
    if (!is_marked(fn) && !is_small(fn, callee)) return false;
    // A loop's first turn, written out, doubles its code, and its derivative's at each order.
    return !calls_itself(callee, global.name);
  }

  bool is_small(const lang::Function& fn, const Expr& callee) const {
    if (run_.is_scheduled && !is_in_index_notation_ && !lang::nests_of(fn).empty()) return false;
    if (run_.globals != Globals::Small) return false;
    return is_straight_line(fn, run_.max_bindings) || makes_function(fn, run_.max_bindings) ||
           (is_in_index_notation_ && run_.is_point_code(callee));
  }

  Expr inline_global(const Expr& expr, const lang::Call& call, const lang::GlobalVar& global) {
    const Expr callee = callee_of(call, global);
    if (!callee || size_of(global.name, callee) > most_of(callee)) return expr;
    Expr body = body_with(callee, call.args, expr->span);
    if (!lang::equal(body->type, expr->type)) return expr;  // a dimension that no argument tells
    run_.stack.push_back(global.name);
    Expr result = Inliner(run_, is_in_index_notation_).run(body, root_->called.contains(&call));
    run_.stack.pop_back();
    return result;
  }

  Run& run_;
  std::shared_ptr<Root> root_ = std::make_shared<Root>();
  const bool is_in_index_notation_;
};

}  // namespace

Expr inline_literals(const Expr& expr, lang::Program& program, int max_bindings,
                     CustomGradients custom) {
  Run run{program, max_bindings, custom, Globals::Marked, has_schedule(expr)};
  return Inliner(run).run(expr);
}

Expr inline_calls(const Expr& expr, lang::Program& program, int max_bindings,
                  CustomGradients custom) {
  Run run{program, max_bindings, custom, Globals::Small, has_schedule(expr)};
  return Inliner(run).run(expr);
}

namespace {

class GroupInliner final : public lang::Rewriter {
 protected:
  Expr post(const Expr& expr) override {
    const auto* call = as<lang::Call>(expr);
    const auto* fn = call ? as<lang::Function>(call->callee) : nullptr;
    if (!fn || !lang::has_fact(*fn, FunctionFact::Primitive)) return expr;
    lang::Substitution substitution;
    for (std::size_t i = 0; i < call->args.size(); ++i)
      substitution[fn->params[i].get()] = call->args[i];
    return lang::substitute(lang::rename_bound(fn->body), substitution);
  }
};

}  // namespace

Expr inline_groups(const Expr& expr) { return GroupInliner().rewrite(expr); }

}  // namespace relay::opt
