#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "lang/pointer_map.h"
#include "opt/effect.h"
#include "opt/external.h"

// Private to the passes that look at regions between marks for external compilers.
namespace relay::opt {

// The steps of a block that are marked, and what depends on what. A region is made of marked steps
// that use one another without marks between. Throws Failure: marks that contradict each other.
class CompilerRegions {
 public:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  CompilerRegions(const lang::Block& block, Effects& effects);

  // The region of a binding, which is known by its place; kNone: it is part of none.
  std::size_t region_of(std::size_t place) const { return groups_[place].region; }
  std::size_t size() const { return targets_.size(); }
  // Of regions that have been joined, one stands for all.
  std::size_t joined(std::size_t region) const;
  const std::string& target_of(std::size_t region) const { return targets_[region]; }
  // What the value at a place mentions and does not bind.
  const std::vector<lang::VariableRef>& used_at(std::size_t place) const {
    return groups_[place].used;
  }
  // The value behind marks.
  lang::Expr behind_marks(const lang::VariableRef& variable) const;
  // The place where a variable is bound; kNone: outside.
  std::size_t place_of(const lang::Variable* variable) const;

  // Joins regions of one compiler that use one another, as far as no region comes to depend on what
  // is computed from its own results.
  void join();
  // All bindings but marks in an order in which each comes behind what it uses, those of a region
  // side by side; empty where there is no such order.
  std::vector<std::size_t> in_order() const;

 private:
  struct Group {
    std::size_t region = kNone;
    std::vector<lang::VariableRef> used;
    std::vector<std::size_t> uses;  // places, behind marks; those of effects, too
    std::optional<CompilerMark> mark;
  };
  void read_regions();
  bool is_step(std::size_t place) const;
  bool connect(std::size_t a, std::size_t b);
  void set_target(std::size_t region, const std::string& target, lang::Span place);
  // The group of a binding: its region, or itself.
  std::size_t node_of(std::size_t place) const;
  // The same of a node that has become part of another.
  std::size_t joined_node(std::size_t node) const;
  // Of each node the nodes that use it, one as often as it does.
  using Users = std::vector<std::vector<std::size_t>>;
  Users users() const;
  bool is_reached_around(std::size_t from, std::size_t to, const Users& users) const;

  const lang::Block& block_;
  std::vector<Group> groups_;
  std::vector<std::string> targets_;
  mutable std::vector<std::size_t> joined_;
  lang::PointerMap<lang::Variable, std::size_t> places_;
};

}  // namespace relay::opt
