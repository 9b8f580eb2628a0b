#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lang/module.h"
#include "opt/partial_eval_fuel.h"

namespace relay::opt::partial {

// What the partial evaluator asks about the functions that are called.
class Functions {
 public:
  using Prepare = std::function<lang::Expr(const lang::Expr& function)>;
  // `prepare`: what is done to each function that the program gives, before it is evaluated.
  Functions(lang::Program& program, Prepare prepare)
      : program_(program), prepare_(std::move(prepare)) {}

  // The function of that name and type; null where there is none at hand.
  lang::Expr global(const lang::GlobalVar& global);
  // The same, its extents being those of these arguments; null where they do not tell them.
  lang::Expr global_at(const lang::GlobalVar& global, const std::vector<const Value*>& args,
                       const lang::Type& result);
  bool is_recursive(const lang::GlobalVar& global);
  bool is_pure(const lang::GlobalVar& global) { return program_.is_pure(global.name); }
  // Each name has one.
  ActiveCalls::Key key_of(const std::string& name) { return &*names_.insert(name).first; }
  // How many nodes it has. The function must live as long as this.
  std::size_t nodes(const lang::Expr& function);
  // May its code be taken to another place and evaluated there? Not that of groups, of functions
  // with a gradient of their own, of checkpoints, and of derivatives that count steps.
  bool is_movable(const lang::Expr& function);
  // May its code be evaluated where it is? Not that of groups, and of derivatives that count steps.
  static bool is_open(const lang::Expr& function);
  // Does the parameter at the place only grow, by a constant at each call of the function by
  // itself?
  using IsSelf = std::function<bool(const lang::Expr& callee)>;
  static bool counts_up(const lang::Expr& function, std::size_t place, const IsSelf& is_self);
  // Does it hold what tells the steps of derivatives apart by how often references were written?
  static bool counts_steps(const lang::Expr& function);

 private:
  lang::Program& program_;
  const Prepare prepare_;
  std::set<std::string> names_;
  std::map<std::string, std::vector<lang::Expr>> globals_;  // by name
  std::map<std::string, bool> recursive_;
  std::unordered_map<const lang::ExprNode*, std::size_t> nodes_;
  std::unordered_map<const lang::ExprNode*, bool> movable_;
};

}  // namespace relay::opt::partial
