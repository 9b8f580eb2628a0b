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
  // The powers lie where their shares are stored.
  CHECK(bands[0].row_bytes >= 2 * 40 * 4);
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

TEST_CASE("bands: rows of what goes over single elements are as long as those of its neighbours") {
  stdlib::register_operators();
  const auto x = matrix(64, 48);
  // Stored, as it is read twice, by a kernel whose two axes have become one.
  const Expr doubled = build::op("exp", {lang::make_var(x)});
  const auto bands = bands_of(build::op("nn.softmax", {doubled}), x, 64, 48);
  REQUIRE(bands.size() == 1);
  CHECK(bands[0].rows == 64);
  CHECK(bands[0].count >= 4);
}

// Takes all products; their rows are those of the left operand.
class RowKernel final : public LibraryKernel {
 public:
  explicit RowKernel(const Contraction& form) : form_(form) {}
  void run(const LibraryOperand&, const LibraryOperand&, void*, const Parallel&) const override {}
  std::optional<RowWise> by_rows() const override {
    const ContractionAxis& row = form_.rows.front();
    const ContractionAxis& inner = form_.contracted.front();
    return RowWise{row.extent, {row.a, true, inner.extent}, {0, false, 1}, {row.c, true, row.c}};
  }

 private:
  Contraction form_;
};

class RowLibrary final : public KernelLibrary {
 public:
  std::shared_ptr<const LibraryKernel> choose(const NormalForm& form) override {
    const auto* contraction = std::get_if<Contraction>(&form);
    return contraction ? std::make_shared<RowKernel>(*contraction) : nullptr;
  }
};

std::vector<Band> bands_with_library(const Expr& body, const lang::VariableRef& x,
                                     std::int64_t size) {
  RowLibrary library;
  const Expr function = lang::make_function({x}, body->type, body);
  const Layout layout{lang::DType::Float32, {size, size}, {size, 1}};
  return lower(lang::cast<lang::Function>(function), std::vector<Layout>{layout}, &library)
      .or_throw()
      .bands;
}

TEST_CASE("bands: a product goes over its rows with what made them and what reads them") {
  stdlib::register_operators();
  const auto x = matrix(40, 40);
  const Expr var = lang::make_var(x);
  const Expr product = build::op("nn.dense", {build::op("exp", {var}), var});
  const auto bands = bands_with_library(build::op("nn.softmax", {product}), x, 40);
  REQUIRE(bands.size() == 1);
  CHECK(bands[0].rows == 40);
}

TEST_CASE("bands: a product waits for all of the operand that each of its rows reads") {
  stdlib::register_operators();
  const auto x = matrix(40, 40);
  const Expr var = lang::make_var(x);
  const Expr product = build::op("nn.dense", {var, build::op("exp", {var})});
  const auto bands = bands_with_library(build::op("nn.softmax", {product}), x, 40);
  REQUIRE(bands.size() == 2);
  CHECK(bands[0].count == 1);
  CHECK(bands[1].count >= 4);
}

}  // namespace
}  // namespace relay::loops
