#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace relay::tests {

// What a maker of random things has chosen: its own choices, and those of its parts.
struct Choices {
  std::vector<std::uint32_t> own;
  std::vector<Choices> parts;
  std::size_t size() const;  // how many there are
};

// Numbers that are the same with every library. Each choice is recorded, and recorded choices can
// be replayed, also with some cut away: what is missing is 0. A maker of things that takes 0 for
// the simplest choice is thereby one whose failures can be shrunk.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  explicit Random(const Choices& replayed) : replays_(true), replayed_(&replayed) {}
  Random(const Random&) = delete;
  Random& operator=(const Random&) = delete;

  std::size_t below(std::size_t limit);
  bool one_in(std::size_t n) { return below(n) + 1 == n; }
  // In [-2, 2], with three digits; not 0, which hides mistakes.
  double number() { return static_cast<double>((below(4000) + 2500) % 4001) / 1000.0 - 2.0 + 1e-4; }

  // While it lives, choices belong to a part of what is being made.
  class Part {
   public:
    explicit Part(Random& random);
    ~Part();
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;

   private:
    Random& random_;
    Choices* const outer_;
    const Choices* const outer_replayed_;
  };
  Choices take_choices() { return std::move(root_); }

 private:
  std::uint64_t bits();

  std::uint64_t state_ = 0;
  bool replays_ = false;
  const Choices* replayed_ = nullptr;  // of the current part; null if it was cut
  Choices root_;
  Choices* current_ = &root_;
};

}  // namespace relay::tests
