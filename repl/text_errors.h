#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "lang/diagnostic.h"

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

}  // namespace relay::repl
