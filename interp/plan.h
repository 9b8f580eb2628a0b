#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "lang/tensor.h"
#include "loops/lower.h"

namespace relay::interp {

// What a run launches, while one of these lives: groups of tensor operators, with the kernels,
// bands and library products that they are made of, and functions of native code; what each is
// estimated to do, and how long it has taken, without what it calls. Cost: two looks at the clock
// for each.
class Plan {
 public:
  struct Part {
    std::string text;         // the code as it was written
    std::string consists_of;  // "2 kernels in a band"
    double operations = 0;    // of scalars, in one run
    double bytes = 0;         // that one run reads and writes at least
    std::int64_t runs = 0;
    double seconds = 0;
  };

  Plan();  // one at a time
  ~Plan();
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
  static Plan* running();
  // Begins anew.
  void restart();
  // In the order in which they ran first.
  const std::vector<Part>& parts() const { return parts_; }

  // What happens while it lives belongs to the part of this key.
  class Scope {
   public:
    Scope(const void* key, const std::function<Part()>& describe);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Plan* plan_;  // null: nothing to do
    std::size_t outer_ = 0;
  };

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kNowhere = SIZE_MAX;
  void charge();

  std::vector<Part> parts_;
  std::unordered_map<const void*, std::size_t> places_;
  std::size_t here_ = kNowhere;
  Clock::time_point since_;
};

// A group, for these leaf arguments.
Plan::Part part_of(const loops::LoweredGroup& group, std::span<const lang::TensorRef> leaves,
                   std::string text);

}  // namespace relay::interp
