// The distinct values of a vector: sorted, numbered by a running sum, and scattered back.

#include <string>

#include "stdlib/ops/sorting.h"
#include "stdlib/ops/types.h"

namespace relay::stdlib {

namespace build = lang::build;
using build::op;

namespace {

// Zeros, with value(i) added at place(i) of each i.
Expr scattered(std::int64_t extent, const std::function<std::pair<Expr, Expr>(const Expr&)>& body,
               const std::function<Expr(const Expr&)>& then) {
  const Expr zeros =
      build::comprehension({Dim(extent)}, [](const Indices&) { return build::index_constant(0); });
  return build::let("zeros", zeros, [&](const Expr& init) {
    const Expr sums = build::scatter(ReduceOp::Sum, init, {Dim(extent)}, [&](const Indices& i) {
      auto [place, value] = body(i[0]);
      return std::pair<Indices, Expr>({place}, value);
    });
    return build::let("scattered", sums, then);
  });
}

// The parts of the result, int64 vectors as long as the data: of each distinct value where it
// stands first, of each element which distinct value it is, of each distinct value how often it
// occurs; and how many there are.
struct Distinct {
  Expr first, inverse, counts, number;
};

class Uniquer {
 public:
  using Body = std::function<Expr(const Distinct&)>;
  explicit Uniquer(const Expr& data) : data_(data), extent_(dims_of(data)[0].constant()) {}

  // The distinct values from small to large.
  Expr sorted(const Body& body) const {
    return build::let("order", op("sort_order", {data_}), [&](const Expr& order) {
      const Expr starts = build::comprehension(dims_of(data_), [&](const Indices& i) {
        return build::cast_to(DType::Int64, is_new(order, i[0]));
      });
      return build::let("starts", starts, [&](const Expr& start) {
        return build::let("sums", op("cumsum", {start}, {{"axis", 0}}),
                          [&](const Expr& sums) { return gather(order, start, sums, body); });
      });
    });
  }

  // The same in the order in which they first occur.
  Expr by_occurrence(const Distinct& found, const Body& body) const {
    const Expr places = build::comprehension(dims_of(data_), [&](const Indices& i) {
      const Expr is_one = build::prim(Prim::Lt, {i[0], found.number});
      return build::select(is_one, build::at(found.first, i), build::index_constant(extent_));
    });
    return build::let("places", places, [&](const Expr& place) {
      return build::let("order", op("sort_order", {place}), [&](const Expr& order) {
        const auto moved = [&](const Expr& vector) {
          return build::comprehension(dims_of(data_), [&](const Indices& i) {
            return build::at(vector, {build::at(order, i)});
          });
        };
        const auto place_of = [&](const Expr& i) {
          return std::pair<Expr, Expr>(build::at(order, {i}), i);
        };
        return scattered(extent_, place_of, [&](const Expr& back) {
          const Expr inverse = build::comprehension(dims_of(data_), [&](const Indices& i) {
            return build::at(back, {build::at(found.inverse, i)});
          });
          return body({moved(found.first), inverse, moved(found.counts), found.number});
        });
      });
    });
  }

 private:
  // Does a new value begin at `place` of the order? NaN equals NaN here.
  Expr is_new(const Expr& order, const Expr& place) const {
    const Expr zero = build::index_constant(0);
    const Expr before = build::prim(Prim::Max, {build::sub(place, build::index_constant(1)), zero});
    const Expr a = build::at(data_, {build::at(order, {before})});
    const Expr b = build::at(data_, {build::at(order, {place})});
    Expr differs = build::prim(Prim::Ne, {a, b});
    if (lang::is_float(tensor_type_of(data_).dtype.known())) {
      const Expr both =
          build::prim(Prim::And, {build::prim(Prim::IsNan, {a}), build::prim(Prim::IsNan, {b})});
      differs = build::prim(Prim::And, {differs, build::prim(Prim::Not, {both})});
    }
    return build::prim(Prim::Or, {build::prim(Prim::Eq, {place, zero}), differs});
  }

  Expr gather(const Expr& order, const Expr& start, const Expr& sums, const Body& body) const {
    const auto value_at = [&](const Expr& i) {
      return build::sub(build::at(sums, {i}), build::index_constant(1));
    };
    const auto inverse_at = [&](const Expr& i) {
      return std::pair<Expr, Expr>(build::at(order, {i}), value_at(i));
    };
    // The sort is stable: the first of equal elements in the order is the first in the data.
    const auto first_at = [&](const Expr& i) {
      return std::pair<Expr, Expr>(value_at(i),
                                   build::mul(build::at(start, {i}), build::at(order, {i})));
    };
    const auto count_at = [&](const Expr& i) {
      return std::pair<Expr, Expr>(value_at(i), build::index_constant(1));
    };
    const Expr all = build::at(sums, {build::index_constant(extent_ - 1)});
    return build::let("number", all, [&](const Expr& number) {
      return scattered(extent_, inverse_at, [&](const Expr& inverse) {
        return scattered(extent_, first_at, [&](const Expr& first) {
          return scattered(extent_, count_at, [&](const Expr& counts) {
            return body({first, inverse, counts, number});
          });
        });
      });
    });
  }

  Expr data_;
  std::int64_t extent_;
};

Expr unique_fields(const DefinitionCall& call, const Distinct& found) {
  const Expr& data = call.args[0];
  const DType dtype = call.tensor(0).dtype.known();
  const auto each = [&](const std::function<Expr(const Indices&)>& element) {
    return build::comprehension(dims_of(data), [&](const Indices& i) {
      const Expr value = element(i);
      const DType own = tensor_type_of(value).dtype.known();
      const Expr is_one = build::prim(Prim::Lt, {i[0], found.number});
      return build::select(is_one, value, build::constant(own, 0));
    });
  };
  const auto narrow = [](const Expr& value) { return build::cast_to(DType::Int32, value); };
  std::vector<Expr> fields;
  fields.push_back(each([&](const Indices& i) {
    return build::cast_to(dtype, build::at(data, {build::at(found.first, i)}));
  }));
  fields.push_back(each([&](const Indices& i) { return narrow(build::at(found.first, i)); }));
  fields.push_back(build::comprehension(
      dims_of(data), [&](const Indices& i) { return narrow(build::at(found.inverse, i)); }));
  fields.push_back(
      build::comprehension({Dim(1)}, [&](const Indices&) { return narrow(found.number); }));
  if (call.attrs->get_bool("return_counts"))
    fields.push_back(each([&](const Indices& i) { return narrow(build::at(found.counts, i)); }));
  return build::tuple(std::move(fields));
}

Expr unique(const DefinitionCall& call) {
  const Uniquer uniquer(call.args[0]);
  const Expr zero = build::constant_int(DType::Int32, 0);
  if (dims_of(call.args[0])[0].is_constant(0)) {
    const auto nothing = [](const Expr& value) {
      return build::comprehension({Dim(0)}, [&](const Indices&) { return value; });
    };
    std::vector<Expr> fields = {
        nothing(build::constant(call.tensor(0).dtype.known(), 0)), nothing(zero), nothing(zero),
        build::comprehension({Dim(1)}, [&](const Indices&) { return zero; })};
    if (call.attrs->get_bool("return_counts")) fields.push_back(nothing(zero));
    return build::tuple(std::move(fields));
  }
  return uniquer.sorted([&](const Distinct& found) {
    if (call.attrs->get_bool("sorted")) return unique_fields(call, found);
    return uniquer.by_occurrence(found, [&](const Distinct& moved) {
      return build::let("first", moved.first, [&](const Expr& first) {
        return build::let("inverse", moved.inverse, [&](const Expr& inverse) {
          return build::let("counts", moved.counts, [&](const Expr& counts) {
            return unique_fields(call, {first, inverse, counts, moved.number});
          });
        });
      });
    });
  });
}

}  // namespace

void add_unique() {
  OpDef def;
  def.name = "unique";
  def.level = 3;
  def.doc =
      "The distinct values of a vector, where each stands first, which of them each element is, "
      "how "
      "many there are, and how often each occurs.\n"
      "A tuple of four fields, or five with `return_counts`. All are as long as the data, and "
      "padded with zeros, but for the number of values, a vector of one element. NaN equals NaN.";
  def.example =
      "unique([3.0, 1.0, 3.0])\n"
      "// expect: ([1.0, 3.0, 0.0], [1, 0, 0], [1, 0, 1], [2])\n"
      "unique([3.0, 1.0, 3.0], sorted=False, return_counts=True).4\n// expect: [2, 1, 0]";
  def.inputs = {{"data", "a vector"}};
  def.attrs = {
      optional_attr("sorted", AttrKind::Bool, true,
                    "from small to large, not in the order of their first places"),
      optional_attr("return_counts", AttrKind::Bool, false, "also say how often each occurs")};
  def.type_rule = [](TypeCall& call) {
    const Type data = call.tensor(0);
    const Shape& shape = as_tensor(data).shape;
    if (shape.has_rank() && shape.rank() != 1) {
      call.fail(DiagnosticKind::RankMismatch, "`unique` takes a vector, and `" + to_string(shape) +
                                                  "` has rank " + std::to_string(shape.rank()));
    }
    const Shape vector = with_rank(call, shape, 1);
    const Type positions = lang::tensor_type(vector, DTypeTerm(DType::Int32));
    std::vector<Type> fields = {lang::tensor_type(vector, as_tensor(data).dtype), positions,
                                positions, lang::tensor_type({Dim(1)}, DType::Int32)};
    if (call.attrs->get_bool("return_counts")) fields.push_back(positions);
    call.returns(lang::tuple_type(std::move(fields)));
    return RuleOutcome::Solved;
  };
  def.definition = unique;
  lang::OpRegistry::instance().add(std::move(def));
}

}  // namespace relay::stdlib
