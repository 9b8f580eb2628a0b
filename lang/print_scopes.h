#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "lang/expr.h"

// Private to the printers.
namespace relay::lang {

// Where each node of a graph is computed: the innermost scope that contains all its uses. Scopes
// are function bodies, branches, match arms, bodies of index notation, and lets that are operands.
class ScopePlan {
 public:
  enum class ScopeKind : std::uint8_t { Root, Function, Branch, Loop, Let };
  static constexpr int kRoot = 0;

  explicit ScopePlan(const Expr& root);

  int uses(const Expr& expr) const { return info_.at(expr.get()).uses; }
  int scope_of(const Expr& expr) const { return info_.at(expr.get()).scope; }
  // Is this Let a statement of the scope it is in, and not an operand with a scope of its own?
  bool is_statement(const Expr& let) const { return info_.at(let.get()).is_statement; }
  // The scope that `expr` opens for its part number `part`: branch, match arm; 0 for a single one.
  int inner_scope(const Expr& expr, std::size_t part = 0) const {
    return info_.at(expr.get()).first_inner + static_cast<int>(part);
  }
  int parent(int scope) const { return scopes_[static_cast<std::size_t>(scope)].parent; }
  ScopeKind kind(int scope) const { return scopes_[static_cast<std::size_t>(scope)].kind; }
  std::size_t scope_count() const { return scopes_.size(); }

 private:
  struct Scope {
    int parent;
    int depth;
    ScopeKind kind;
  };
  struct Info {
    int uses = 0;
    int scope = -1;
    int first_inner = -1;
    bool is_last = false;  // its use is the last expression of a scope
    bool is_statement = false;
  };
  int open(int parent, ScopeKind kind);
  int common(int a, int b) const;
  void use(const Expr& child, int scope, bool is_last);
  void place_children(const Expr& expr);
  std::unordered_map<const ExprNode*, Info> info_;
  std::vector<Scope> scopes_;
};

// The sub-expressions that are computed before `expr` in its own scope, in order.
std::vector<Expr> operands_of(const Expr& expr);

// Names no longer free in a text.
class UniqueNames {
 public:
  void reserve(std::string name) { taken_.insert(std::move(name)); }
  bool is_taken(const std::string& name) const { return taken_.contains(name); }
  // `base` itself, or with 1, 2, ... behind it.
  std::string take(const std::string& base);
  // The name is free again: its scope is printed.
  void release(const std::string& name) { taken_.erase(name); }

 private:
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, int> next_;
};

// `name` as a name that every grammar reads: letters, digits and `_`, beginning with a letter.
std::string readable_name(std::string_view name);

// Each line but empty ones moved to the right by two.
std::string indent(const std::string& text);

// The attributes that must be written: all but those that equal the default of the operator's
// record.
std::vector<const Attr*> written_attrs(const Call& call);

// All elements of a constant, each with its dtype: `[[1f, 2f], [3f, 4f]]`, `3i64`. `is_light`: a
// tensor's dtype is left out when it is the one that undecorated numbers get.
std::string print_constant(const Tensor& tensor, bool is_light = false);

// Has Relay's notation a literal for it, from which it reads back? Others stand in the metadata.
bool has_strict_literal(const Tensor& tensor);

// `1.5`, `2.0`
std::string float_literal(double value);

// A literal without its dtype, `[1, 2]`; in strict text, which has no such tensors, with the one
// that it gets where nothing else is said.
std::string print_literal(const Literal& literal, bool is_light = false);

}  // namespace relay::lang
