#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "lang/source.h"

namespace relay::interp {

// Where the time of a run goes, and the memory of its tensors, line by line. What is evaluated
// while one runs says where it stands; the time is charged to the innermost that does. Of
// interpreted code this is each expression that a line names or ends with, of native code each
// function that the interpreter enters, and each kernel that begins. Cost: two looks at the clock
// for each.
class Profile {
 public:
  // What stands in `hidden`, such as the prelude, is charged to who calls it.
  explicit Profile(std::set<const lang::Source*> hidden);
  // One at a time runs.
  ~Profile();
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;
  // The one that runs, or null.
  static Profile* running();
  // No other has the same.
  std::uint64_t number() const { return number_; }

  // A line of the text, or one of these; kNowhere is charged to what is around it.
  using Place = std::int32_t;
  static constexpr Place kNowhere = -1;
  static constexpr Place kMakingCode = 0;  // specialising, deriving, optimising, lowering
  static constexpr Place kOutside = 1;     // not in an evaluation
  Place place_of(lang::Span span);

  struct Line {
    const lang::Source* source = nullptr;  // null: one of those above
    std::uint32_t number = 0;
    double seconds = 0;
    std::int64_t runs = 0;  // of the expressions on it
    std::size_t bytes = 0;  // of tensors made there
  };
  // Begins anew; places stay.
  void restart();
  // By place, up to now.
  const std::vector<Line>& lines();

  // What happens while it lives is at this place.
  class Scope {
   public:
    explicit Scope(Place place) : Scope(running(), place) {}
    Scope(Profile* profile, Place place);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Profile* profile_;  // null: nothing to do
    Place outer_ = kNowhere;
  };

 private:
  using Clock = std::chrono::steady_clock;
  void charge();

  const std::uint64_t number_;
  std::set<const lang::Source*> hidden_;
  std::map<std::pair<const lang::Source*, std::uint32_t>, Place> places_;
  std::vector<Line> lines_;
  Place here_ = kOutside;
  Clock::time_point since_;
  std::size_t bytes_;
};

}  // namespace relay::interp
