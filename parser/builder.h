#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "lang/stop.h"
#include "parser/comments.h"
#include "parser/messages.h"
#include "parser/syntax.h"

namespace relay::parser {

// Nesting of expressions, types and patterns that is read. A level takes a few kilobytes of stack,
// in every stage, so texts that nest deeply are read and handled on the evaluator's stack
// (parse.h).
inline constexpr int kNestingLimit = 20000;

// The state of one reading: the nodes made so far, and what decides about line breaks. Nodes wait
// on a stack; a composite takes what was pushed since its beginning.
class Builder {
 public:
  // `recovers`: errors are collected and reading goes on (recovery.h); else the first one ends it.
  Builder(SyntaxTree& tree, bool recovers)
      : strict(tree.strict),
        recovers(recovers),
        errors(tree.errors),
        tree_(tree),
        base_(tree.source->text().data()) {}

  const bool strict;
  const bool recovers;
  std::vector<lang::Diagnostic>& errors;
  int brackets = 0;  // how many are open: in the light notation line breaks count outside only
  int depth = 0;
  std::vector<Opener> openers;

  // What an error leaves to be put back.
  struct State {
    std::size_t mark;
    std::size_t openers;
    std::size_t errors;
    int brackets;
    int depth;
  };
  State state() const { return {mark(), openers.size(), errors.size(), brackets, depth}; }
  void restore(const State& state, bool drop_nodes) {
    if (drop_nodes) drop_to(state.mark);
    openers.resize(state.openers);
    brackets = state.brackets;
    depth = state.depth;
  }

  const char* begin() const { return base_; }
  const char* end() const { return base_ + tree_.source->text().size(); }
  std::uint32_t offset(const char* p) const { return static_cast<std::uint32_t>(p - base_); }

  void leaf(Syntax kind, const char* begin, const char* end) {
    Node* node = make(kind, offset(begin), offset(end), 0);
    stack_.push_back(node);
  }
  std::size_t mark() const { return stack_.size(); }
  void drop_to(std::size_t mark) { stack_.resize(mark); }
  std::size_t pushed_since(std::size_t mark) const { return stack_.size() - mark; }
  Node* top() { return stack_.back(); }
  void pop() { stack_.pop_back(); }
  Node* at(std::size_t position) { return stack_[position]; }

  // Drops the nodes behind `mark` for which `keep` says no.
  template <class Keep>
  void keep_since(std::size_t mark, const Keep& keep) {
    const auto first = stack_.begin() + static_cast<std::ptrdiff_t>(mark);
    stack_.erase(std::remove_if(first, stack_.end(), [&](Node* node) { return !keep(*node); }),
                 stack_.end());
  }
  void make_broken(Node& node) { node.kind = Syntax::Broken; }

  void wrap(Syntax kind, std::size_t mark, std::uint32_t begin, std::uint32_t end) {
    Node* node = make(kind, begin, end, stack_.size() - mark);
    std::copy(stack_.begin() + static_cast<std::ptrdiff_t>(mark), stack_.end(),
              reinterpret_cast<const Node**>(node + 1));
    stack_.resize(mark);
    stack_.push_back(node);
  }

  // What a node on top, if it is of this kind, has been made of takes its place.
  void unwrap(Syntax kind) {
    if (top()->kind != kind) return;
    const Node* const node = top();
    pop();
    for (const Node* child : node->children()) stack_.push_back(const_cast<Node*>(child));
  }

  Gap gap(const char* begin, const char* end, Breaks breaks, bool want_doc = false) const {
    Gap gap = skip_gap(begin, end, breaks, want_doc);
    if (gap.open_comment)
      throw never_closed(*tree_.source, offset(gap.open_comment), "this comment");
    return gap;
  }
  [[noreturn]] void fail_expected(const char* at, std::string_view what) const {
    throw expected(*tree_.source, offset(at), what, openers.empty() ? nullptr : &openers.back());
  }
  [[noreturn]] void fail_closer(const char* at, std::string_view closer) const {
    throw expected_closer(*tree_.source, offset(at), closer, openers.back());
  }
  [[noreturn]] void fail_never_closed(const char* at, std::string_view what) const {
    throw never_closed(*tree_.source, offset(at), what);
  }
  [[noreturn]] void fail_too_deep(const char* at) const {
    throw too_deep(*tree_.source, offset(at), kNestingLimit);
  }

 private:
  Node* make(Syntax kind, std::uint32_t begin, std::uint32_t end, std::size_t count) {
    lang::poll();
    // NOLINTNEXTLINE(bugprone-sizeof-expression): it is pointers that stand there
    void* memory = tree_.arena.bytes(sizeof(Node) + count * sizeof(const Node*));
    return new (memory) Node{kind, begin, end, static_cast<std::uint32_t>(count)};
  }

  SyntaxTree& tree_;
  const char* base_;
  std::vector<Node*> stack_;
};

}  // namespace relay::parser
