#include "interp/plan.h"

#include <utility>

#include <fmt/format.h>

#include "lang/diagnostic.h"
#include "lang/dtype.h"
#include "loops/generic_schedule.h"

namespace relay::interp {

namespace {

Plan* running_plan = nullptr;

double bytes_of(lang::DType dtype, const std::vector<std::int64_t>& shape) {
  auto bytes = static_cast<double>(lang::size_of(dtype));
  for (const std::int64_t extent : shape) bytes *= static_cast<double>(extent);
  return bytes;
}

std::string counted(std::size_t count, const char* one, const char* many) {
  return count == 1 ? fmt::format("a {}", one) : fmt::format("{} {}", count, many);
}

void add_words(std::string& text, const std::string& words) {
  text += (text.empty() ? "" : ", ") + words;
}

// The steps of a band, or of one that stands alone.
std::string words_for(const loops::LoweredGroup& group, const loops::Band& band) {
  std::size_t kernels = 0;
  std::string text;
  for (std::size_t i = band.first; i < band.first + band.count; ++i) {
    const loops::Launch& launch = group.launches[i];
    if (launch.library) {
      std::string form = loops::to_string(launch.library->form);
      while (!form.empty() && form.back() == '\n') form.pop_back();
      add_words(text, "a library's " + form.substr(0, form.find('\n')));
    } else if (launch.whole) {
      add_words(text, std::string(lang::words_for(launch.whole->primitive)));
    } else {
      ++kernels;
    }
  }
  if (kernels > 0) add_words(text, counted(kernels, "kernel", "kernels"));
  if (!band.windows.empty()) return text + " in steps of the last";
  return band.count > 1 ? text + " in a band" : text;
}

}  // namespace

Plan::Plan() : since_(Clock::now()) {
  RELAY_CHECK(running_plan == nullptr, "there is a plan already");
  running_plan = this;
}
Plan::~Plan() { running_plan = nullptr; }
Plan* Plan::running() { return running_plan; }

void Plan::restart() {
  parts_.clear();
  places_.clear();
  here_ = kNowhere;
  since_ = Clock::now();
}

void Plan::charge() {
  const Clock::time_point now = Clock::now();
  if (here_ != kNowhere)
    parts_[here_].seconds += std::chrono::duration<double>(now - since_).count();
  since_ = now;
}

Plan::Scope::Scope(const void* key, const std::function<Part()>& describe) : plan_(running_plan) {
  if (plan_ == nullptr) return;
  plan_->charge();
  const auto [place, is_new] = plan_->places_.emplace(key, plan_->parts_.size());
  if (is_new) plan_->parts_.push_back(describe());
  outer_ = std::exchange(plan_->here_, place->second);
  ++plan_->parts_[plan_->here_].runs;
  plan_->since_ = Clock::now();  // describing takes long
}

Plan::Scope::~Scope() {
  if (plan_ == nullptr) return;
  plan_->charge();
  plan_->here_ = outer_;
}

Plan::Part part_of(const loops::LoweredGroup& group, std::span<const lang::TensorRef> leaves,
                   std::string text) {
  Plan::Part part;
  part.text = std::move(text);
  for (const loops::Launch& launch : group.launches) {
    part.operations += launch.library ? 2 * loops::products_of(launch.library->form)
                                      : static_cast<double>(launch.cost);
  }
  for (const lang::TensorRef& leaf : leaves) part.bytes += bytes_of(leaf->dtype(), leaf->shape());
  for (const loops::MadeTensor& made : group.made) {
    if (!made.is_temporary) part.bytes += bytes_of(made.dtype, made.shape);
  }
  std::size_t alone = 0;
  for (const loops::Band& band : group.bands) {
    const loops::Launch& first = group.launches[band.first];
    if (band.count == 1 && !first.library && !first.whole) {
      ++alone;
    } else {
      add_words(part.consists_of, words_for(group, band));
    }
  }
  if (alone > 0) add_words(part.consists_of, counted(alone, "kernel", "kernels"));
  if (part.consists_of.empty()) part.consists_of = "a view";
  if (const loops::GenericSchedule* schedule = loops::schedule_of(group))
    part.consists_of += fmt::format(", by `{}`", schedule->name);
  return part;
}

}  // namespace relay::interp
