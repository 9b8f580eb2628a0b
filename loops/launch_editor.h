#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "loops/schedule.h"

namespace relay::loops {

// Changes the axes of a launch's kernel. None of it changes what is stored, but for cut().
// Numbers of axes stay what they are until put_in_order().
class LaunchEditor {
 public:
  explicit LaunchEditor(NamedLaunch nest);

  // -1: there is no such axis, for it has one step.
  std::int32_t axis(const std::string& name) const;
  std::int64_t extent(std::int32_t axis) const;
  void rename(std::int32_t axis, std::string name);

  // The points [begin, end) of a domain axis only.
  void cut(std::int32_t axis, std::int64_t begin, std::int64_t end);
  // `size`, which divides the extent, becomes the literal extent of the inner axis.
  void split(std::int32_t axis, std::int64_t size, std::string outer, std::string inner);
  // Two neighbours of the domain. Can they be one axis of the result?
  bool fuse(std::int32_t outer, std::int32_t inner, std::string name);
  // The domain's axes from now on, all of them; one of extent 1 is put before where `begins_anew`.
  void put_in_order(const std::vector<std::int32_t>& domain, bool begins_anew);

  Kernel& kernel() { return launch_.kernel; }
  Launch& launch() { return launch_; }
  // By axis; empty: it is part of another.
  const std::vector<std::string>& names() const { return names_; }
  Launch take() { return std::move(launch_); }

 private:
  std::size_t define(std::int32_t axis, ValueId& id);
  bool is_operand(ValueId id) const;
  template <class F>
  void for_all_addresses(F f);
  Instruction constant(std::int64_t number);
  Instruction primitive(Prim prim, ValueId a, ValueId b);

  Launch launch_;
  std::vector<std::string> names_;
};

}  // namespace relay::loops
