// Finished code of whole programs.
#include <filesystem>
#include <set>

#include <catch2/catch.hpp>

#include "interp/stack.h"
#include "lang/visit.h"
#include "repl/derivative.h"
#include "repl/pipeline.h"
#include "repl/session.h"
#include "tests/support/passed_program.h"
#include "tests/unit/built/round_trip.h"

namespace relay::tests {
namespace {

using built::Snapshot;
using lang::Expr;
using lang::Type;

repl::SessionOptions unevaluated() {
  repl::SessionOptions options = quiet_options();
  options.evaluate = false;
  return options;
}

// The finished functions of a program, with those that they call, as the evaluator gets them.
class FinishedProgram {
 public:
  explicit FinishedProgram(const std::string& path)
      : session_(unevaluated()),
        checker_(session_.module()),
        pipeline_(session_.module(), checker_, session_.options()) {
    // Some files are there for their errors; what they define besides is as good as any.
    (void)session_.run_file(path, nullptr);
    interp::EvaluationStack::instance().run([&] {
      for (const lang::Definition* each : session_.module().definitions()) {
        if (each->function && each->origin == lang::Origin::Own) add_plainest(each->name);
      }
    });
  }

  Snapshot snapshot;

 private:
  void add_plainest(const std::string& name) {
    const auto type = lang::capture(
        [&] { return repl::at_plainest_types(lang::make_global_var(name), checker_)->type; });
    if (type) add(name, *type);
  }

  void add(const std::string& name, const Type& type) {
    constexpr std::size_t kMost = 100;  // some never end
    if (seen_.size() == kMost || !seen_.insert(name + " " + lang::to_string(type)).second) return;
    const auto code = pipeline_.prepared(name, type);
    if (!code) return;
    snapshot.functions.push_back({name, type, *code});
    lang::visit_post_order(*code, [&](const Expr& node) {
      const auto* global = lang::as<lang::GlobalVar>(node);
      if (global && pipeline_.is_function(global->name)) add(global->name, node->type);
    });
  }

  repl::Session session_;
  typecheck::Checker checker_;
  repl::Pipeline pipeline_;
  std::set<std::string> seen_;
};

// Is it one of those that have no bytes, and for a known reason?
bool is_refused(const Snapshot& snapshot) {
  try {
    built::write(snapshot);
    return false;
  } catch (const lang::Failure& failure) {
    const std::string message = failure.what();
    CAPTURE(message);
    const bool is_known = message.starts_with(
                              "not supported: the derivative of a function that is "
                              "known only when the program runs") ||
                          message.ends_with("(`add.tangent`)");
    CHECK(is_known);
    return true;
  }
}

TEST_CASE("finished code of the programs reads back") {
  std::size_t written = 0;
  std::size_t refused = 0;
  for (const char* folder : {"examples", "tests/golden/run", "tests/golden/grad"}) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() != ".relay") continue;
      CAPTURE(entry.path().string());
      const FinishedProgram program(entry.path().string());
      if (is_refused(program.snapshot)) {
        ++refused;
      } else {
        check_round_trip(program.snapshot);
        written += program.snapshot.functions.size();
      }
    }
  }
  CHECK(written > 700);
  CHECK(refused < 12);
}

}  // namespace
}  // namespace relay::tests
