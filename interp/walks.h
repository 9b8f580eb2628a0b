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

  // A walk back; one forward, which has a name.
  void begin() { walks_.push_back({++walk_count_, true}); }
  std::uint64_t begin_forward();
  void end();  // the one that began last
  // A replay of what began when the time was `since`.
  void begin_replay(std::uint64_t since);
  void end_replay();

  // Why a replay must not do it; empty where it may.
  std::string_view trouble_reading(const lang::ReferenceCell& cell) const;
  std::string_view trouble_writing(const lang::ReferenceCell& cell) const;
  std::string_view trouble_walking(const lang::ReferenceCell& cell) const;

  // The cell of the walk back that began last, which there must be; `type` is that of the cell.
  lang::Value adjoint_cell(lang::ReferenceCell& reference, const lang::Type& type);
  // That of a walk forward.
  lang::Value tangent_cell(lang::ReferenceCell& reference, std::uint64_t walk,
                           const lang::Type& type);

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
    bool is_back;
  };
  std::size_t last_back() const;
  lang::Value cell(lang::ReferenceCell& reference, std::uint64_t walk, const lang::Type& type);
  std::vector<Walk> walks_;  // under way
  std::vector<Replay> replays_;
};

}  // namespace relay::interp
