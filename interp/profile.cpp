#include "interp/profile.h"

#include <utility>

#include "lang/call_site.h"
#include "lang/pool.h"
#include "lang/tensor.h"

namespace relay::interp {

namespace {

Profile* the_running = nullptr;
std::uint64_t begun = 0;

// Tensors that are made again are given as well.
std::size_t bytes_given() {
  return lang::Pool::instance().given_bytes() + lang::Tensor::bytes_made_again();
}

}  // namespace

Profile* Profile::running() { return the_running; }

Profile::Profile(std::set<const lang::Source*> hidden)
    : number_(++begun),
      hidden_(std::move(hidden)),
      lines_(2),
      since_(Clock::now()),
      bytes_(bytes_given()) {
  the_running = this;
}

Profile::~Profile() { the_running = nullptr; }

Profile::Place Profile::place_of(lang::Span span) {
  if (!span) return kNowhere;
  const lang::Place place = lang::place_of(span);
  span = place.span;
  // Code that has been moved out of what is hidden is of the call that it was moved to.
  for (auto call = place.calls.begin(); hidden_.contains(span.source); ++call) {
    if (call == place.calls.end()) return kNowhere;
    span = *call;
  }
  const std::uint32_t number = span.source->position(span.begin).line;
  const auto [found, is_new] =
      places_.try_emplace({span.source, number}, static_cast<Place>(lines_.size()));
  if (is_new) lines_.push_back({span.source, number});
  return found->second;
}

void Profile::charge() {
  const auto now = Clock::now();
  const std::size_t bytes = bytes_given();
  Line& line = lines_[static_cast<std::size_t>(here_)];
  line.seconds += std::chrono::duration<double>(now - since_).count();
  line.bytes += bytes - bytes_;
  since_ = now;
  bytes_ = bytes;
}

void Profile::restart() {
  charge();
  for (Line& line : lines_) line = {line.source, line.number};
}

const std::vector<Profile::Line>& Profile::lines() {
  charge();
  return lines_;
}

Profile::Scope::Scope(Profile* profile, Place place)
    : profile_(place == kNowhere ? nullptr : profile) {
  if (!profile_) return;
  profile_->charge();
  outer_ = std::exchange(profile_->here_, place);
  ++profile_->lines_[static_cast<std::size_t>(place)].runs;
}

Profile::Scope::~Scope() {
  if (!profile_) return;
  profile_->charge();
  profile_->here_ = outer_;
}

}  // namespace relay::interp
