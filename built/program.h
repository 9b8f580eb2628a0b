#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "built/host.h"
#include "built/signature.h"
#include "built/snapshot.h"

namespace relay::built {

// A snapshot that runs: its entries, as C calls them.
class Program {
 public:
  // The bytes of a snapshot, which stay. Throws Failure.
  explicit Program(std::string_view bytes);

  // Calls an entry with values for its signature's dims, and a pointer for each leaf of its
  // arguments and results: to a scalar, or to the first element of a row-major tensor. Results are
  // written there when all is computed, so that they may lie where arguments do; those whose
  // pointer is null are left out. Throws Failure.
  void call(std::size_t entry, const std::int64_t* dims, const void* const* args,
            void* const* results);

  void set_threads(int threads) { evaluator_.set_threads(threads); }
  // How many kernels have run without native code so far: for extents that nobody expected.
  std::size_t kernels_without_code() const {
    return evaluator_.statistics().kernels_fallen_back.size();
  }

 private:
  struct Entry {
    Signature signature;
    lang::Value function;
  };
  const Entry& entry(std::size_t number);

  std::unique_ptr<Snapshot> snapshot_;
  Host host_;
  interp::Evaluator evaluator_;
  const bool keeps_;  // arguments, from one call to the next
  std::vector<std::optional<Entry>> entries_;
};

}  // namespace relay::built
