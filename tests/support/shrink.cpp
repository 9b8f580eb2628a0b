#include "tests/support/shrink.h"

#include <algorithm>
#include <utility>

namespace relay::tests {

namespace {

// One attempt is one change of one part. Parts are numbered in the order in which they are met.
struct Change {
  enum class Kind : std::uint8_t { Clear, Hoist, Remove, Zero };
  Kind kind;
  std::size_t index = 0;  // of the inner part, or of the choice
};

Choices* part_at(Choices& root, std::size_t& number) {
  if (number == 0) return &root;
  --number;
  for (Choices& part : root.parts) {
    if (Choices* found = part_at(part, number)) return found;
  }
  return nullptr;
}

std::vector<Change> changes_of(const Choices& part) {
  std::vector<Change> changes;
  if (part.size() > 0) changes.push_back({Change::Kind::Clear});
  for (std::size_t i = 0; i < part.parts.size(); ++i) changes.push_back({Change::Kind::Hoist, i});
  for (std::size_t i = 0; i < part.parts.size(); ++i) changes.push_back({Change::Kind::Remove, i});
  for (std::size_t i = 0; i < part.own.size(); ++i) {
    if (part.own[i] != 0) changes.push_back({Change::Kind::Zero, i});
  }
  return changes;
}

void apply(const Change& change, Choices& part) {
  const auto at = static_cast<std::ptrdiff_t>(change.index);
  switch (change.kind) {
    case Change::Kind::Clear:
      part = {};
      break;
    case Change::Kind::Hoist:
      part = Choices(part.parts[change.index]);
      break;
    case Change::Kind::Remove:
      part.parts.erase(part.parts.begin() + at);
      break;
    case Change::Kind::Zero:
      part.own[change.index] = 0;
      break;
  }
}

std::size_t weight(const Choices& part) {
  std::size_t sum =
      part.own.size() - static_cast<std::size_t>(std::count(part.own.begin(), part.own.end(), 0U));
  for (const Choices& inner : part.parts) sum += weight(inner);
  return sum;
}

}  // namespace

RandomProgram shrunk(const RandomProgram& program, const ProgramOptions& options,
                     const std::function<bool(const RandomProgram&)>& fails, std::size_t attempts) {
  RandomProgram best = program;
  const auto size = [](const RandomProgram& p) {
    return std::pair(p.text.size() + p.call.size(), weight(p.choices));
  };
  for (bool progress = true; progress && attempts > 0;) {
    progress = false;
    for (std::size_t number = 0; attempts > 0; ++number) {
      std::size_t left = number;
      const Choices* part = part_at(best.choices, left);
      if (!part) break;
      for (const Change& change : changes_of(*part)) {
        if (attempts == 0) break;
        Choices cut = best.choices;
        left = number;
        apply(change, *part_at(cut, left));
        RandomProgram smaller = program_of_choices(cut, options);
        if (size(smaller) >= size(best)) continue;
        --attempts;
        smaller.seed = program.seed;
        if (!fails(smaller)) continue;
        best = std::move(smaller);
        progress = true;
        break;  // the part has changed
      }
    }
  }
  return best;
}

}  // namespace relay::tests
