#pragma once

#include <memory>
#include <span>
#include <vector>

#include "lang/value.h"
#include "loops/lower.h"

namespace relay::interp {

// A short group that has native code, or a library's, for all of its kernels: what interp/launch
// does for one that is worth no second thread, without memory of its own. A loop over rows begins a
// kernel or two in each step.
class QuickLaunch {
 public:
  // Null where the group is not of that kind. `result` is its type; what it is made of has to live
  // as long.
  static std::unique_ptr<const QuickLaunch> of(const loops::LoweredGroup& group,
                                               std::span<const loops::Layout> args,
                                               std::span<const loops::KernelFunction> native,
                                               const lang::Type& result);

  // Are these values, of which the group's arguments are made one by one, of the layouts?
  bool fits(std::span<const lang::Value> args) const;
  // The value; `args` are moved from where it takes their memory. Empty if a kernel fails: then
  // `args` are as they were.
  lang::Value run(std::span<lang::Value> args) const;
  std::size_t kernels() const { return group_.launches.size() - libraries_; }
  std::size_t libraries() const { return libraries_; }

 private:
  QuickLaunch(const loops::LoweredGroup& group, std::span<const loops::Layout> args,
              std::span<const loops::KernelFunction> native, const lang::Type& result);
  struct Run;

  const loops::LoweredGroup& group_;
  std::span<const loops::Layout> args_;
  std::span<const loops::KernelFunction> native_;
  const lang::Type& result_;
  std::vector<std::int64_t> outer_;  // by launch: points of axis 0
  std::size_t libraries_ = 0;        // launches that are a library's
};

}  // namespace relay::interp
