#include "repl/numbered_results.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace relay::repl {

namespace {

using lang::Value;
using lang::ValueKind;

// About what a value holds. A value of very many cells counts as one that takes all there is, so
// that this costs little whatever the value is.
std::size_t bytes_of(const Value& root) {
  constexpr std::size_t kMostCells = 100'000;
  constexpr std::size_t kCell = 32;
  std::size_t bytes = 0;
  std::size_t cells = 0;
  std::vector<const Value*> work{&root};
  while (!work.empty()) {
    const Value& value = *work.back();
    work.pop_back();
    if (++cells > kMostCells) return NumberedResults::kMostBytes;
    bytes += kCell;
    if (value.kind() == ValueKind::Tensor) {
      const lang::Tensor& tensor = value.as_tensor();
      bytes += static_cast<std::size_t>(tensor.element_count()) *
               static_cast<std::size_t>(lang::size_of(tensor.dtype()));
    } else if (value.kind() == ValueKind::Tuple) {
      for (const Value& field : value.as_tuple().fields()) work.push_back(&field);
    } else if (value.kind() == ValueKind::Adt) {
      for (const Value& field : value.as_adt().fields()) work.push_back(&field);
    }
  }
  return bytes;
}

}  // namespace

std::string NumberedResults::name_of(int number) { return fmt::format("_{}", number); }

int NumberedResults::add(const Value& value,
                         const std::function<bool(const std::string&)>& is_taken) {
  do {
    ++last_;
  } while (is_taken(name_of(last_)));
  kept_.push_back({last_, bytes_of(value)});
  bytes_ += kept_.back().bytes;
  while (kept_.size() > 1 && (kept_.size() > kMost || bytes_ > kMostBytes)) {
    given_up_.push_back(kept_.front().number);
    bytes_ -= kept_.front().bytes;
    kept_.pop_front();
  }
  return last_;
}

std::vector<int> NumberedResults::take_given_up() { return std::exchange(given_up_, {}); }

bool NumberedResults::has(std::string_view name) const {
  return std::any_of(kept_.begin(), kept_.end(),
                     [&](const Kept& each) { return name_of(each.number) == name; });
}

}  // namespace relay::repl
