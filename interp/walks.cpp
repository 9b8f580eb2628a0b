#include "interp/walks.h"

#include <algorithm>

#include "lang/diagnostic.h"
#include "lang/module.h"

namespace relay::interp {

using lang::ReferenceCell;
using lang::Value;

std::uint64_t Walks::begin_forward() {
  walks_.push_back({++walk_count_, false});
  return walk_count_;
}

void Walks::end() {
  RELAY_CHECK(!walks_.empty(), "a walk ends that has not begun");
  walks_.pop_back();
}

// References that a replay makes have adjoints of their own, if it walks back itself.
void Walks::begin_replay(std::uint64_t since) {
  begin();
  replays_.push_back({since, time_, walks_.size()});
}

void Walks::end_replay() {
  RELAY_CHECK(!replays_.empty(), "a replay ends that has not begun");
  replays_.pop_back();
  end();
}

std::string_view Walks::trouble_reading(const ReferenceCell& cell) const {
  const bool is_changed = std::any_of(replays_.begin(), replays_.end(), [&](const Replay& replay) {
    return cell.made <= replay.begun && cell.written > replay.since;
  });
  return is_changed ? "computing again, for a derivative, what reads a reference that has been "
                      "written since"
                    : "";
}

std::string_view Walks::trouble_writing(const ReferenceCell& cell) const {
  const bool is_outer = std::any_of(replays_.begin(), replays_.end(), [&](const Replay& replay) {
    return cell.made <= replay.begun;
  });
  return is_outer ? "computing again, for a derivative, what writes a reference from outside" : "";
}

std::string_view Walks::trouble_walking(const ReferenceCell& cell) const {
  const bool is_outer = !replays_.empty() && last_back() + 1 == replays_.back().walks &&
                        cell.made <= replays_.back().begun;
  return is_outer
             ? "a second derivative of what is computed again and reads a reference from outside"
             : "";
}

std::size_t Walks::last_back() const {
  std::size_t place = walks_.size();
  while (place > 0 && !walks_[place - 1].is_back) --place;
  RELAY_CHECK(place > 0, "an adjoint outside of a walk");
  return place - 1;
}

Value Walks::adjoint_cell(ReferenceCell& reference, const lang::Type& type) {
  return cell(reference, walks_[last_back()].id, type);
}

Value Walks::tangent_cell(ReferenceCell& reference, std::uint64_t walk, const lang::Type& type) {
  return cell(reference, walk, type);
}

Value Walks::cell(ReferenceCell& reference, std::uint64_t walk, const lang::Type& type) {
  auto& adjoints = reference.adjoints;
  const auto of_walk = [&](const ReferenceCell::Adjoint& adjoint) { return adjoint.walk == walk; };
  auto found = std::find_if(adjoints.begin(), adjoints.end(), of_walk);
  if (found == adjoints.end()) {
    std::erase_if(adjoints, [this](const ReferenceCell::Adjoint& adjoint) {
      return std::none_of(walks_.begin(), walks_.end(),
                          [&](const Walk& walk) { return walk.id == adjoint.walk; });
    });
    const auto* content = lang::as<lang::AdtType>(lang::as<lang::ReferenceType>(type)->content);
    Value zero = Value::adt(lang::AdtCell::make(&content->def->constructors.front(), {}));
    adjoints.push_back(
        {walk, lang::Ref<ReferenceCell>(new ReferenceCell(std::move(zero), tick()))});
    found = adjoints.end() - 1;
  }
  return Value::reference(found->cell);
}

void Walks::restore(Mark mark) {
  walks_.resize(mark.walks);
  replays_.resize(mark.replays);
}

}  // namespace relay::interp
