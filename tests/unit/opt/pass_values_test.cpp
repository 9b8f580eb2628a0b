#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "opt/pass.h"
#include "tests/support/pass_programs.h"
#include "tests/support/passed_program.h"
#include "tests/support/value_bits.h"

namespace relay::tests {
namespace {

using lang::Value;

// Names that are made follow from what a session has made before.
std::string twice(const PassProgramText& program, const std::string& pass) {
  return PassedProgram(program.text).passed(pass + ", " + pass);
}

// Options other than the defaults that do more, or something else.
const std::vector<std::string>& more_passes() {
  static const std::vector<std::string> kPasses = {
      "CombineParallelDense(min_num_branches=2, to_batch=False)",
      "CombineParallelDense(min_num_branches=2)",
      "CombineParallelConv2D(min_num_branches=2)",
      "CombineParallelBatchMatmul(min_num_branches=2)",
      "EtaExpand(expand_global_var=True)",
      "ToGraphNormalForm, ToANormalForm",
      "LambdaLift, Inline, DeadCodeElimination",
      "SimplifyInference, CanonicalizeOps, FoldConstant, FuseOps, LabelOps, DefuseOps"};
  return kPasses;
}

TEST_CASE("passes keep values and types, and do nothing a second time") {
  for (const PassProgramText& program : pass_programs()) {
    CAPTURE(program.name);
    PassedProgram before(program.text);
    const Value expected = before.value(program.call);
    for (const opt::Pass& pass : opt::passes()) {
      if (pass.keeps == opt::Keeps::Meaning) continue;
      CAPTURE(pass.name);
      const std::string text = before.passed(pass.name);
      CAPTURE(text);
      const Value found = PassedProgram(text).value(program.call);
      if (pass.keeps == opt::Keeps::Bits) {
        CHECK(same_bits(found, expected));
      } else {
        CHECK(is_close(found, expected, 1e-5));
      }
      if (pass.is_idempotent)
        CHECK(twice(program, pass.name) == PassedProgram(program.text).passed(pass.name));
    }
  }
}

TEST_CASE("passes with other options, and one after the other, keep values") {
  for (const PassProgramText& program : pass_programs()) {
    CAPTURE(program.name);
    PassedProgram before(program.text);
    const Value expected = before.value(program.call);
    for (const std::string& passes : more_passes()) {
      const std::string text = before.passed(passes);
      CAPTURE(passes, text);
      CHECK(is_close(PassedProgram(text).value(program.call), expected, 1e-5));
    }
  }
}

TEST_CASE("mixed precision gives about the same numbers") {
  for (const PassProgramText& program : pass_programs()) {
    CAPTURE(program.name);
    PassedProgram before(program.text);
    const Value expected = before.value(program.call);
    for (const auto& [pass, tolerance] :
         {std::pair{"ToMixedPrecision", 1e-2},
          std::pair{"ToMixedPrecision(mixed_precision_type=\"bfloat16\")", 1e-1}}) {
      const std::string text = before.passed(pass);
      CAPTURE(pass, text);
      CHECK(is_close(PassedProgram(text).value(program.call), expected, tolerance, DTypes::Any));
      CHECK(twice(program, pass) == text);
    }
  }
}

}  // namespace
}  // namespace relay::tests
