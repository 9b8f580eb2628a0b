#include "typecheck/unify.h"

#include <catch2/catch.hpp>

using namespace relay::lang;
using relay::typecheck::Solver;

namespace {

std::string failure_of(const std::function<void()>& action) {
  try {
    action();
    return "";
  } catch (const Failure& failure) {
    return std::string(name_of(failure.diagnostics.front().kind)) + ": " + failure.what();
  }
}

}  // namespace

TEST_CASE("unknowns are bound through each other", "[typecheck]") {
  Solver solver;
  Type a = solver.fresh_type();
  Type b = solver.fresh_type();
  solver.unify(a, b);
  solver.unify(tuple_type({b, scalar_type(DType::Int32)}),
               tuple_type({scalar_type(DType::Bool), solver.fresh_type()}));
  CHECK(to_string(solver.resolve(a)) == "bool");
  CHECK(failure_of([&] { solver.unify(a, scalar_type(DType::Int8)); }) ==
        "DTypeMismatch: dtype `bool` is not `int8`");
  Type c = solver.fresh_type();
  CHECK(failure_of([&] { solver.unify(c, function_type({c}, a)); }).substr(0, 12) ==
        "InfiniteType");
}

TEST_CASE("equations between dims", "[typecheck]") {
  Solver solver;
  Dim n = solver.fresh_dim();
  Dim m = solver.fresh_dim();
  solver.unify(n + Dim(2), m);
  solver.unify(m, Dim(5));
  CHECK(solver.resolve(n) == Dim(3));
  Dim k = solver.fresh_dim();
  solver.unify(k * Dim(2), Dim(8));
  CHECK(solver.resolve(k) == Dim(4));
  Dim l = solver.fresh_dim();
  CHECK(failure_of([&] { solver.unify(l + Dim(4), Dim(3)); }).substr(0, 13) == "ShapeMismatch");
  Dim rigid = Dim::variable(TypeVar::rigid(VarKind::Dim, "n"));
  CHECK(failure_of([&] { solver.unify(rigid, Dim(3)); }) == "ShapeMismatch: `n` is not `3`");
  CHECK(failure_of([&] { solver.unify(rigid, Dim::any()); }) == "");

  // A product waits until one factor is known.
  Dim p = solver.fresh_dim();
  Dim q = solver.fresh_dim();
  solver.unify(p * q, Dim(12));
  CHECK(solver.open_equations().size() == 1);
  solver.unify(p, Dim(3));
  solver.retry_equations();
  CHECK(solver.resolve(q) == Dim(4));
}

TEST_CASE("requirements on dtypes meet", "[typecheck]") {
  Solver solver;
  DTypeTerm d = solver.fresh_dtype();
  DTypeTerm e = solver.fresh_dtype();
  solver.require(d, PrimOperands::kNumeric);
  solver.require(e, PrimOperands::kFloat);
  solver.unify(d, e);
  CHECK(failure_of([&] { solver.unify(d, DTypeTerm(DType::Int32)); }) ==
        "DTypeMismatch: dtype `int32` is not a float");
  solver.unify(e, DTypeTerm(DType::Float16));
  CHECK(solver.resolve(d) == DTypeTerm(DType::Float16));
}
