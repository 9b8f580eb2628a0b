#include "tests/support/random.h"

namespace relay::tests {

std::size_t Choices::size() const {
  std::size_t count = own.size();
  for (const Choices& part : parts) count += part.size();
  return count;
}

std::uint64_t Random::bits() {  // splitmix64
  state_ += 0x9e3779b97f4a7c15;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

std::size_t Random::below(std::size_t limit) {
  if (limit <= 1) return 0;
  std::uint32_t choice = 0;
  if (!replays_) {
    choice = static_cast<std::uint32_t>(bits() % limit);
  } else if (replayed_ && current_->own.size() < replayed_->own.size()) {
    choice = static_cast<std::uint32_t>(replayed_->own[current_->own.size()] % limit);
  }
  current_->own.push_back(choice);
  return choice;
}

Random::Part::Part(Random& random)
    : random_(random), outer_(random.current_), outer_replayed_(random.replayed_) {
  const std::size_t index = outer_->parts.size();
  random.replayed_ = outer_replayed_ && index < outer_replayed_->parts.size()
                         ? &outer_replayed_->parts[index]
                         : nullptr;
  random.current_ = &outer_->parts.emplace_back();
}

Random::Part::~Part() {
  random_.current_ = outer_;
  random_.replayed_ = outer_replayed_;
}

}  // namespace relay::tests
