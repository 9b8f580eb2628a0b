#include "kernels/panels.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <iterator>

namespace relay::kernels {

namespace {

constexpr std::size_t kMostKeptPanels = std::size_t{256} << 20;
constexpr std::int64_t kPackedAtOnce = 65536;  // elements that are worth waking a thread

std::atomic<std::size_t> kept_panels = 0;

// How many right matrices there are.
std::int64_t matrices_of(const ContractionPlan& plan) {
  std::int64_t count = 1;
  for (const loops::ContractionAxis& axis : plan.outer) count *= axis.b == 0 ? 1 : axis.extent;
  return count;
}

}  // namespace

template <class T>
std::size_t Panels<T>::bytes(const ContractionPlan& plan, const Product<T>& product) {
  return static_cast<std::size_t>(matrices_of(plan)) * product.packed() * sizeof(T);
}

template <class T>
Panels<T>::Panels(const ContractionPlan& plan, const Product<T>& product, const T* b,
                  const loops::LibraryKernel::Parallel& parallel)
    : axes_(plan.outer), each_(product.packed()), memory_(bytes(plan, product)) {
  std::int64_t matrices = 1;
  steps_.assign(axes_.size(), 0);
  for (std::size_t i = axes_.size(); i-- > 0;) {
    if (axes_[i].b == 0) continue;
    steps_[i] = matrices;
    matrices *= axes_[i].extent;
  }
  if (each_ == 0) return;
  auto* const panels = reinterpret_cast<T*>(memory_.data());
  std::vector<loops::ContractionAxis> moving;
  for (const loops::ContractionAxis& axis : axes_) {
    if (axis.b != 0) moving.push_back(axis);
  }
  const std::int64_t apart = product.columns_apart();
  const std::int64_t columns = std::max<std::int64_t>(kPackedAtOnce / (plan.k * apart), 1) * apart;
  const std::int64_t parts = (plan.n + columns - 1) / columns;
  std::atomic<std::int64_t> packed = 0;
  const auto pack = [&](int part) {
    const std::int64_t matrix = part / parts;
    const std::int64_t from = part % parts * columns;
    product.pack(b + offsets_of(moving, matrix).b, from, std::min(from + columns, plan.n),
                 panels + static_cast<std::size_t>(matrix) * each_);
    ++packed;
  };
  parallel(static_cast<int>(matrices * parts), std::cref(pack));
  are_whole_ = packed == matrices * parts;
}

template <class T>
const T* Panels<T>::of(std::int64_t outer) const {
  std::int64_t matrix = 0;
  for (std::size_t i = axes_.size(); i-- > 0;) {
    matrix += outer % axes_[i].extent * steps_[i];
    outer /= axes_[i].extent;
  }
  return reinterpret_cast<const T*>(memory_.data()) + static_cast<std::size_t>(matrix) * each_;
}

template <class T>
std::shared_ptr<const Panels<T>> KeptPanels<T>::find(
    const ContractionPlan& plan, const Product<T>& product, const loops::LibraryOperand& b,
    const loops::LibraryKernel::Parallel& parallel) {
  if (b.content == 0 || product.packed() == 0) return nullptr;
  const std::lock_guard lock(mutex_);
  const auto is_it = [&](const Kept& each) {
    return each.data == b.data && each.content == b.content;
  };
  const auto found = std::find_if(kept_.begin(), kept_.end(), is_it);
  const bool is_new = found == kept_.end();
  Kept& kept = is_new ? place_for(b) : *found;
  kept.last_use = ++uses_;
  if (is_new || kept.panels) return kept.panels;
  const std::size_t bytes = Panels<T>::bytes(plan, product);
  if (kept_panels + bytes > kMostKeptPanels) return nullptr;
  auto made =
      std::make_shared<const Panels<T>>(plan, product, static_cast<const T*>(b.data), parallel);
  if (!made->are_whole()) return nullptr;
  kept.panels = std::move(made);
  kept.bytes = bytes;
  kept_panels += bytes;
  return kept.panels;
}

// That of the matrix that stood at the same place, or the one that has not been used for longest.
template <class T>
typename KeptPanels<T>::Kept& KeptPanels<T>::place_for(const loops::LibraryOperand& b) {
  auto place = std::find_if(kept_.begin(), kept_.end(),
                            [&](const Kept& each) { return each.data == b.data; });
  if (place == kept_.end() && kept_.size() < kMostKept) {
    kept_.emplace_back();
    place = std::prev(kept_.end());
  } else if (place == kept_.end()) {
    place = std::min_element(kept_.begin(), kept_.end(), [](const Kept& a, const Kept& other) {
      return a.last_use < other.last_use;
    });
  }
  drop(*place);
  place->data = b.data;
  place->content = b.content;
  return *place;
}

template <class T>
void KeptPanels<T>::drop(Kept& kept) {
  if (kept.panels) kept_panels -= kept.bytes;
  kept = {};
}

template <class T>
KeptPanels<T>::~KeptPanels() {
  for (Kept& each : kept_) drop(each);
}

template class Panels<float>;
template class Panels<double>;
template class KeptPanels<float>;
template class KeptPanels<double>;

}  // namespace relay::kernels
