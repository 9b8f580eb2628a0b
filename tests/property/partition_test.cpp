// Generated programs whose parts oneDNN and BLAS run mean what they meant, up to rounding.

#include <string>

#include <catch2/catch.hpp>

#include "tests/support/passed_program.h"
#include "tests/support/property.h"

namespace relay::tests {
namespace {

constexpr std::uint64_t kPrograms = 60;

TEST_CASE("programs keep their values where oneDNN and BLAS run parts of them") {
  for (const std::uint64_t seed : seeds(kPrograms)) {
    ProgramOptions options;
    options.dtype = lang::DType::Float32;
    options.references = seed % 3 == 0;
    const RandomProgram program = random_program(seed, options);
    PassedProgram written(program.text);
    const std::string made = written.passed(
        seed % 2 == 0 ? "AnnotateExternalCompiler(dnnl, blas), PartitionGraph"
                      : "MergeComposite(dnnl), AnnotateTarget(blas, dnnl, "
                        "include_non_call_ops=False), PartitionGraph(bind_constants=False)");
    INFO(made);
    PassedProgram partitioned(made);
    if (is_close(partitioned.value(program.call), written.value(program.call), 1e-4)) continue;
    FAIL_CHECK(
        replay(program, "programs keep their values where oneDNN and BLAS run parts of them"));
  }
}

}  // namespace
}  // namespace relay::tests
