#include "lang/op_traits.h"

#include <catch2/catch.hpp>

#include "lang/op.h"
#include "stdlib/register.h"

namespace relay::tests {
namespace {

using lang::OpTrait;

// Making the table asks for each of its names, of which there must be an operator.
TEST_CASE("the table of traits speaks of operators that there are") {
  stdlib::register_operators();
  const auto& ops = lang::OpRegistry::instance();
  CHECK(lang::has_trait(ops.get("nn.batch_flatten"), OpTrait::Reshapes));
  CHECK(lang::has_trait(ops.get("reshape_like"), OpTrait::TakesShape));
  CHECK_FALSE(lang::has_trait(ops.get("nn.batch_flatten"), OpTrait::KeepsShape));
}

}  // namespace
}  // namespace relay::tests
