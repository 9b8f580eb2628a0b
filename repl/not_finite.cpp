#include "repl/not_finite.h"

#include <cmath>
#include <vector>

#include "lang/stop.h"

namespace relay::repl {

using lang::Value;
using lang::ValueKind;

namespace {

template <class T>
void add(T number, NotFinite& found) {
  found.nans += std::isnan(number) ? 1 : 0;
  found.infinities += std::isinf(number) ? 1 : 0;
}

template <class T>
void count(const T* elements, std::int64_t size, NotFinite& found) {
  for (std::int64_t i = 0; i < size; ++i) add(elements[i], found);
}

void count(const lang::Tensor& tensor, NotFinite& found) {
  if (!lang::is_float(tensor.dtype())) return;
  lang::poll();
  const std::int64_t size = tensor.element_count();
  const bool is_plain = tensor.is_contiguous();
  if (is_plain && tensor.dtype() == lang::DType::Float32)
    return count(tensor.data_as<float>(), size, found);
  if (is_plain && tensor.dtype() == lang::DType::Float64)
    return count(tensor.data_as<double>(), size, found);
  for (std::int64_t i = 0; i < size; ++i) add(tensor.number_at(i), found);
}

}  // namespace

NotFinite count_not_finite(const Value& root) {
  NotFinite found;
  std::vector<const Value*> work{&root};
  while (!work.empty()) {
    const Value& value = *work.back();
    work.pop_back();
    switch (value.kind()) {
      case ValueKind::Scalar:
        if (lang::is_float(value.dtype()))
          add(lang::double_from_bits(value.dtype(), value.bits()), found);
        break;
      case ValueKind::Tensor:
        count(value.as_tensor(), found);
        break;
      case ValueKind::Tuple:
        for (const Value& field : value.as_tuple().fields()) work.push_back(&field);
        break;
      case ValueKind::Adt:
        for (const Value& field : value.as_adt().fields()) work.push_back(&field);
        break;
      default:
        break;
    }
  }
  return found;
}

}  // namespace relay::repl
