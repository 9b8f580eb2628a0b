#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ad/tangent.h"
#include "lang/expr.h"
#include "lang/module.h"

namespace relay::ad {

// Has the user given it this name? Other variables are made for the steps of an expression.
bool is_named(const lang::Variable& variable);

// Where the values go that a derivative follows: from variable to variable, into functions that are
// called and over calls, up to a place in the text. It is asked only where a derivative failed, and
// then for the sake of the message.
class Flow {
 public:
  // `target`: the place of what is looked for.
  Flow(lang::Program& program, Tangents& tangents, lang::Span target)
      : program_(program), tangents_(tangents), target_(target) {}

  // A move to the variable `to` (null: to the target). Where it is a call or takes a field, `name`
  // is that of the function or field, and `label` says what happens at `place`.
  struct Step {
    const lang::Variable* to = nullptr;
    lang::Span place = {};
    std::string name = {};
    std::string label = {};
  };
  // Follows the code of a function, and of all that it calls. It must outlive this.
  void enter(const lang::Function& function, const std::string& name);
  // The fewest steps from one of the variables to the target, the variable itself first. Empty if
  // nothing that a derivative would follow gets there.
  std::vector<Step> way(const std::vector<lang::VariableRef>& from) const;
  // The calls that lead to the code around the target, innermost first.
  std::vector<lang::Span> calls() const;
  // The name of the function that has this parameter; empty if it has none.
  std::string owner(const lang::Variable& param) const;

 private:
  // A function whose code is followed.
  struct Code {
    lang::Expr function;
    std::string name;
    lang::VariableRef result = nullptr;
    const Code* caller = nullptr;  // one of them, or what is around it
    lang::Span call = {};
  };
  // Over a call, if the callee's parameter has an influence on its result.
  struct Edge {
    Step step;
    const Code* callee = nullptr;
    std::size_t index = 0;
  };
  void follow(const lang::Expr& expr, const lang::VariableRef& sink);
  void look_at(const lang::Expr& found);
  void follow_let(const lang::Let& let);
  void follow_match(const lang::Match& match, const lang::VariableRef& sink);
  void follow_call(const lang::Call& call, const lang::VariableRef& sink);
  void follow_literal(const lang::Expr& literal, const lang::VariableRef& sink);
  void bind(const lang::Expr& value, const lang::PatternRef& pattern, lang::Span span,
            const std::string& field);
  void add(const lang::Expr& from, const lang::VariableRef& to) { add(from, Step{to.get()}); }
  void add(const lang::Expr& from, Step step);
  void add_call(Code& callee, const lang::Call& call, const lang::VariableRef& sink);
  Code* code_of(const lang::Expr& callee);
  Code& make_code(lang::Expr function, std::string name);
  bool carries(const lang::Type& type) const;
  bool reaches(const Code& code, std::size_t index) const;
  bool is_open(const Edge& edge) const { return !edge.callee || reaches(*edge.callee, edge.index); }

  lang::Program& program_;
  Tangents& tangents_;
  lang::Span target_;
  const Code* here_ = nullptr;
  const Code* around_target_ = nullptr;
  std::deque<Code> codes_;
  std::deque<const Code*> waiting_;
  std::map<std::string, Code*> globals_;
  std::unordered_map<const lang::Variable*, Code*> literals_;
  std::unordered_map<const lang::Variable*, std::vector<Edge>> edges_;
  std::set<std::pair<const lang::ExprNode*, const lang::Variable*>> followed_;  // with the sink
  mutable std::map<std::pair<const Code*, std::size_t>, bool> reaches_;
};

}  // namespace relay::ad
