#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "lang/type.h"
#include "lang/value.h"

namespace relay::interp {

// What derivatives ask of references at run time. A walk back through code has adjoint cells of its
// own (ad/adjoint_cells). A replay computes something again (ad/replay), which gives the same only
// where the references that it uses are its own, or have not been written.
class Walks {
 public:
  // The count of references made and written, before and after one more.
  std::uint64_t time() const { return time_; }
  std::uint64_t tick() { return ++time_; }

  // `number`: 0 for walks back, else that of the code that goes forward.
  void begin(std::int64_t number);
  void end();
  // A replay of what began when the time was `since`.
  void begin_replay(std::uint64_t since);
  void end_replay();

  // Why a replay must not do it; empty where it may.
  std::string_view trouble_reading(const lang::ReferenceCell& cell) const;
  std::string_view trouble_writing(const lang::ReferenceCell& cell) const;
  std::string_view trouble_walking(const lang::ReferenceCell& cell, std::int64_t number) const;

  // The cell of the walk with that number which began last; `type` is that of the cell. Needs one.
  lang::Value cell(lang::ReferenceCell& reference, std::int64_t number, const lang::Type& type);

  // What is under way, and going back to it after an error.
  struct Mark {
    std::size_t walks, replays;
  };
  Mark mark() const { return {walks_.size(), replays_.size()}; }
  void restore(Mark mark);

 private:
  struct Replay {
    std::uint64_t since;  // when it was computed first
    std::uint64_t begun;  // when this began
    std::size_t walks;    // with its own
  };
  std::uint64_t time_ = 0;
  std::uint64_t walk_count_ = 0;
  struct Walk {
    std::uint64_t id;  // increasing
    std::int64_t number;
  };
  std::size_t place_of(std::int64_t number) const;
  std::vector<Walk> walks_;  // under way
  std::vector<Replay> replays_;
};

}  // namespace relay::interp
