#pragma once

#include <vector>

#include "interp/code.h"

namespace relay::interp {

// Prepared code of globals that have been forgotten, for as long as it may still run: a value may
// hold a function of it, and code that is under way, or is held by a value, may call it.
class RetiredCode {
 public:
  ~RetiredCode();
  void add(FunctionCodeRef code) { codes_.push_back(std::move(code)); }
  // Lets go what nobody can run any more, with its native code, and those of `function_values`, the
  // closures of globals, that nobody else holds. Cost: linear in what is retired, but only once
  // that has doubled since the last time.
  void release(std::vector<lang::Ref<Closure>>& function_values);
  std::size_t size() const { return codes_.size(); }

 private:
  std::vector<FunctionCodeRef> codes_;
  std::size_t next_ = 8;  // as many are looked through
};

// Code and what it calls hold one another: takes these apart, of `code` and of the code inside.
void take_apart(const FunctionCode& code);

}  // namespace relay::interp
