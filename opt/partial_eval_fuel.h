#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "opt/partial_eval_value.h"

namespace relay::opt::partial {

// What must fall at each call of a function that comes back to it, as long as the calls are
// evaluated: how many constructions of data and closures are known in an argument, or in what the
// function has captured; the distance of a known integer from 0, or that of two known integers from
// each other (a counter and its bound, which a function may have captured).
using Measures = std::vector<std::optional<std::uint64_t>>;
// `callee`: the function, where it is a closure; else null.
Measures measures_of(const std::vector<const Value*>& args, const Value* callee,
                     Captures& captures);
// Is there data, or an integer, that may fall?
bool has_data(const std::vector<const Value*>& args);
// The place of the integer, where it is all of the arguments that has a measure, and it is not
// below 0 and has nothing to come closer to.
std::optional<std::size_t> sole_integer(const std::vector<const Value*>& args,
                                        const Measures& measures);

// The calls that are being evaluated, each in the one before.
class ActiveCalls {
 public:
  // By the function: the node of its code, or its name.
  using Key = const void*;
  // May the call be evaluated where it stands?
  bool may_enter(Key function, const Measures& measures) const;
  // Is it being evaluated?
  bool is_active(Key function) const;
  void enter(Key function, Measures measures);
  // How many there are; leaves all but the first so many.
  std::size_t depth() const { return order_.size(); }
  void leave_to(std::size_t depth);

 private:
  std::unordered_map<Key, std::vector<Measures>> active_;
  std::vector<Key> order_;
};

// The value of a known integer of rank 0.
std::optional<std::int64_t> known_integer(const Value* value);

}  // namespace relay::opt::partial
