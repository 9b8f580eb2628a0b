#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "lang/diagnostic.h"
#include "parser/parse.h"

namespace relay::repl {

// The errors of one text, in the order of their places. What uses something that is wrong fails
// with the same errors; they are kept once.
class TextErrors {
 public:
  // `item`: the place of what they were found in, for errors that have none or lie in other texts.
  void add(const std::vector<lang::Diagnostic>& found, lang::Span item);
  // Was there a request to stop among them?
  bool is_stopped() const { return is_stopped_; }
  std::vector<lang::Diagnostic> take();

 private:
  std::multimap<std::uint32_t, lang::Diagnostic> by_place_;
  std::set<std::tuple<const lang::Source*, std::uint32_t, std::uint32_t, std::string>> seen_;
  bool is_stopped_ = false;
};

// What is unknown may be bound further down, by one of `items` that has no value yet: says where.
void help_with_order(std::vector<lang::Diagnostic>& errors, const std::vector<parser::Item>& items,
                     const std::function<bool(const std::string&)>& is_pending);

}  // namespace relay::repl
