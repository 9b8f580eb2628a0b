#include "loops/bands.h"

#include <catch2/catch.hpp>

#include "lang/build.h"
#include "loops/lower.h"
#include "stdlib/register.h"

namespace relay::loops {
namespace {

namespace build = lang::build;
using lang::Expr;

std::vector<Band> bands_of(const Expr& body, const lang::VariableRef& x, std::int64_t rows,
                           std::int64_t columns) {
  const Expr function = lang::make_function({x}, body->type, body);
  const Layout layout{lang::DType::Float32, {rows, columns}, {columns, 1}};
  return lower(lang::cast<lang::Function>(function), std::vector<Layout>{layout}).or_throw().bands;
}

lang::VariableRef matrix(std::int64_t rows, std::int64_t columns) {
  return lang::make_variable("x",
                             lang::tensor_type(lang::Shape({rows, columns}), lang::DType::Float32));
}

TEST_CASE("bands: the kernels of a softmax along rows go over them together") {
  stdlib::register_operators();
  const auto x = matrix(100, 40);
  const auto bands = bands_of(build::op("nn.softmax", {lang::make_var(x)}), x, 100, 40);
  REQUIRE(bands.size() == 1);
  CHECK(bands[0].first == 0);
  CHECK(bands[0].count >= 3);
  CHECK(bands[0].rows == 100);
  CHECK(bands[0].row_bytes >= 3 * 40 * 4);
}

TEST_CASE("bands: what reads other rows than its own waits for all") {
  stdlib::register_operators();
  const auto x = matrix(40, 40);
  const auto along_columns =
      bands_of(build::op("nn.softmax", {lang::make_var(x)}, {{"axis", 0}}), x, 40, 40);
  CHECK(along_columns.size() >= 3);
  std::size_t launches = 0;
  for (const Band& band : along_columns) {
    CHECK(band.first == launches);
    launches += band.count;
  }
}

}  // namespace
}  // namespace relay::loops
