#pragma once

#include <cstddef>

namespace relay::kernels {

// Memory for the length of a call, aligned to 64 bytes, from a pool: fresh memory costs more than
// what is done with it. Any thread may take some.
class Scratch {
 public:
  explicit Scratch(std::size_t bytes);
  ~Scratch();
  Scratch(Scratch&& other) noexcept;
  Scratch& operator=(Scratch&&) = delete;
  std::byte* data() const { return data_; }

 private:
  std::size_t bytes_;
  std::byte* data_;
};

}  // namespace relay::kernels
