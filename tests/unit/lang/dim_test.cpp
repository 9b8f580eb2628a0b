#include "lang/dim.h"

#include <catch2/catch.hpp>

#include "lang/diagnostic.h"

using namespace relay::lang;

namespace {

const TypeVarRef kN = TypeVar::rigid(VarKind::Dim, "n");
const TypeVarRef kM = TypeVar::rigid(VarKind::Dim, "m");
const Dim n = Dim::variable(kN);
const Dim m = Dim::variable(kM);

}  // namespace

TEST_CASE("dims that are equal as polynomials compare equal") {
  CHECK((n + m) * (n - m) == n * n - m * m);
  CHECK(n - n == Dim(0));
  CHECK((n + 1) * 2 == n + n + 2);
  CHECK_FALSE(n == m);
  CHECK_FALSE(n + 1 == n);
}

TEST_CASE("a floor division carries out what it can") {
  CHECK(Dim::floor_div(-7, 2) == Dim(-4));
  CHECK(Dim::floor_div(n * 4 + 6, 4) == n + 1 + Dim::floor_div(1, 2));
  CHECK(Dim::floor_div(n + 5, 3) == Dim::floor_div(n + 2, 3) + 1);
  CHECK(Dim::floor_div(n * 2 + 1, 4) == Dim::floor_div(n, 2));
  CHECK(Dim::floor_div(Dim::floor_div(n, 2), 3) == Dim::floor_div(n, 6));
  CHECK(Dim::floor_div(n * m * 6, n * 2) == m * 3);
  CHECK_THROWS_AS(Dim::floor_div(n, 0), Failure);
}

TEST_CASE("`?` swallows arithmetic") {
  CHECK((Dim::any() + 1).is_any());
  CHECK((n * Dim::any()).is_any());
  CHECK(Dim::any() == Dim::any());
  CHECK_FALSE(Dim::any() == n);
}

TEST_CASE("substitution computes") {
  const Dim dim = Dim::floor_div(n + 2, 3) * m;
  const Dim result = dim.substitute([](const TypeVarRef& var) -> std::optional<Dim> {
    if (var == kN) return Dim(7);
    return std::nullopt;
  });
  CHECK(result == m * 3);
  CHECK(dim.substitute([](const TypeVarRef&) { return std::nullopt; }) == dim);
}

TEST_CASE("dims print so that they can be read") {
  CHECK(Dim(3).to_string() == "3");
  CHECK(n.to_string() == "n");
  CHECK((n + 1).to_string() == "n + 1");
  CHECK((m - n).to_string() == "m - n");
  CHECK((Dim(4) - n).to_string() == "4 - n");
  CHECK((Dim(-1) * n).to_string() == "-1 * n");
  CHECK((n * 2 - 1).to_string() == "2 * n - 1");
  CHECK(Dim::floor_div(n + 2, 3).to_string() == "(n + 2) / 3");
  CHECK((Dim::floor_div(n, 3) * 2).to_string() == "2 * (n / 3)");
  CHECK(Dim::any().to_string() == "?");
}

TEST_CASE("a dim that does not fit is an error, not a wrong dim") {
  CHECK_THROWS_AS(Dim(INT64_MAX) + 1, Failure);
  CHECK_THROWS_AS(Dim(INT64_MAX) * n * 2, Failure);
}
