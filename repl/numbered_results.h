#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "lang/value.h"

namespace relay::repl {

// The results of a prompt that are kept under the names `_1`, `_2`, ... Their memory is bounded: of
// results that take much, the oldest are given up first, and the newest stays always.
class NumberedResults {
 public:
  static constexpr std::size_t kMost = 1000;
  static constexpr std::size_t kMostBytes = std::size_t{256} << 20U;

  static std::string name_of(int number);

  // Gives the next result its number: never one that was given, and none whose name is taken.
  int add(const lang::Value& value, const std::function<bool(const std::string&)>& is_taken);
  // The numbers of results to be forgotten now; each is told once.
  std::vector<int> take_given_up();
  // Is it the name of a result that is kept?
  bool has(std::string_view name) const;

 private:
  struct Kept {
    int number;
    std::size_t bytes;
  };
  std::deque<Kept> kept_;
  std::vector<int> given_up_;
  std::size_t bytes_ = 0;
  int last_ = 0;
};

}  // namespace relay::repl
