#include "stdlib/ops/places.h"

namespace relay::stdlib {

namespace build = lang::build;

Expr position_at(const Expr& indices, const Indices& at, const Expr& extent) {
  const Expr given = build::cast_to(DType::Int64, build::at(indices, at));
  if (lang::is_unsigned_int(tensor_type_of(indices).dtype.known())) return given;
  const Expr is_negative = build::prim(Prim::Lt, {given, build::index_constant(0)});
  return build::select(is_negative, build::add(given, extent), given);
}

Indices element_place(const Expr& data, const Expr& indices, std::size_t axis, const Indices& i) {
  Indices place = i;
  place[axis] = position_at(indices, i, extent_of(data, axis));
  return place;
}

Indices vector_place(const Expr& data, const Expr& indices, const VectorIndex& by, const Indices& y,
                     const Indices& rest) {
  Indices place(y.begin(), y.begin() + static_cast<std::ptrdiff_t>(by.batch));
  for (std::size_t m = 0; m < by.coordinates; ++m) {
    Indices at{build::index_constant(static_cast<std::int64_t>(m))};
    at.insert(at.end(), y.begin(), y.end());
    place.push_back(position_at(indices, at, extent_of(data, by.batch + m)));
  }
  place.insert(place.end(), rest.begin(), rest.end());
  return place;
}

}  // namespace relay::stdlib
