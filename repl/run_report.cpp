#include "repl/run_report.h"

#include <fmt/format.h>

#include "interp/loaded_code.h"
#include "lang/cell_memory.h"
#include "lang/memory.h"
#include "lang/pool.h"
#include "repl/compiled.h"

namespace relay::repl {

std::string describe_run(Session& session) {
  const interp::Statistics& statistics = session.evaluator().statistics();
  const std::string copies =
      statistics.tensors_copied == 0
          ? ""
          : fmt::format("copies between devices {}\n", statistics.tensors_copied);
  const std::string counts = fmt::format(
      "functions specialised  {}\n"
      "functions compiled     {}\n"
      "kernels compiled       {}\n"
      "time of compiling      {:.1f} ms\n"
      "kernels run natively   {}\n"
      "kernels run on lanes   {}\n"
      "kernels of libraries   {}\n"
      "{}"
      "tensor memory, peak    {:.1f} MiB\n",
      statistics.functions_specialised, statistics.functions_compiled, statistics.kernels_compiled,
      session.evaluator().compile_seconds() * 1e3, statistics.kernels_run_native,
      statistics.kernels_run_lanes, statistics.kernels_run_library, copies,
      static_cast<double>(lang::Pool::instance().peak_bytes()) / (1 << 20));
  return counts + describe_loops(session.evaluator().loops());
}

std::string describe_memory(Session& session) {
  return fmt::format(
      "memory in use          {:.1f} MiB\n"
      "memory of the system   {} blocks for tensors, {} for cells\n"
      "other memory           {} allocations in evaluations\n"
      "native code            {} B\n",
      static_cast<double>(lang::memory_used()) / (1 << 20), lang::Pool::instance().fresh_blocks(),
      lang::cell_blocks_cut(), session.evaluator().statistics().allocations,
      interp::LoadedCode::bytes_in_use());
}

}  // namespace relay::repl
