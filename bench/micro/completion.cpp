// Completion in a session with 10,000 definitions.

#include <string>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "repl/session.h"

namespace {

using namespace relay;  // NOLINT: the program's own file

repl::Session& session() {
  static repl::Session* session = [] {
    auto* made = new repl::Session(repl::SessionOptions{});
    std::string text =
        "type Params { Params { w: Tensor[(4, 3), float32], b: Tensor[(3), float32] } }\n"
        "let p = Params(w = ones([4, 3]), b = zeros([3]))\n";
    for (int i = 0; i < 5000; ++i) {
      text += fmt::format("def plain_{0}(x, y) {{ x * {0}.0 + y }}\n", i);
      text += fmt::format("def typed_{0}(q: Params, x: Tensor[(3), float32]) {{ q.b + x }}\n", i);
    }
    made->run("definitions", std::move(text), {});
    return made;
  }();
  return *session;
}

void complete(benchmark::State& state, const std::string& text) {
  const repl::Session& made = session();
  std::size_t candidates = 0;
  for (auto _ : state) candidates = made.complete(text, text.size()).candidates.size();
  state.counters["candidates"] = static_cast<double>(candidates);
}

}  // namespace

// All names; some; an argument, where those that fit come first; a field; a local; none.
BENCHMARK_CAPTURE(complete, everything, std::string())->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(complete, prefix, std::string("plain_12"))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(complete, argument, std::string("typed_7(p, "))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(complete, field, std::string("typed_7(p."))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(complete, local,
                  std::string("def f(a: Params) { let c = a.w * 2.0; typed_7(a, c"))
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(complete, nothing, std::string("zqxw"))->Unit(benchmark::kMillisecond);
