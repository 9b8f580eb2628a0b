#include "built/snapshot.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <set>

#include <catch2/catch.hpp>

#include "interp/stack.h"
#include "lang/print.h"
#include "lang/visit.h"
#include "repl/derivative.h"
#include "repl/pipeline.h"
#include "repl/session.h"
#include "tests/support/pass_programs.h"
#include "tests/support/passed_program.h"

namespace relay::tests {
namespace {

using built::Snapshot;
using lang::Expr;
using lang::Type;

std::unique_ptr<Snapshot> read(const std::string& bytes) {
  auto snapshot = built::read(bytes);
  if (!snapshot) FAIL(lang::render(snapshot.errors().front()));
  return std::move(*snapshot);
}

// What reads back must print alike, and be the same graph: it is written as the same bytes.
void check_round_trip(const Snapshot& before) {
  const std::string bytes = built::write(before);
  const std::unique_ptr<Snapshot> after = read(bytes);
  REQUIRE(after->functions.size() == before.functions.size());
  for (std::size_t i = 0; i < before.functions.size(); ++i) {
    const Snapshot::Function& expected = before.functions[i];
    const Snapshot::Function& found = after->functions[i];
    CHECK(found.name == expected.name);
    CHECK(lang::to_string(found.type) == lang::to_string(expected.type));
    const lang::PrintOptions typed{.types = true, .header = true};
    CHECK(lang::print(found.code, typed) == lang::print(expected.code, typed));
  }
  CHECK((built::write(*after) == bytes));
}

// The finished functions of a program, with those that they call, as the evaluator gets them.
class FinishedProgram {
 public:
  explicit FinishedProgram(const repl::SessionOptions& options)
      : session_(options),
        checker_(session_.module()),
        pipeline_(session_.module(), checker_, session_.options()) {}

  repl::Session& session() { return session_; }
  // Of what the text defines.
  Snapshot functions() {
    interp::EvaluationStack::instance().run([&] {
      for (const lang::Definition* each : session_.module().definitions()) {
        if (each->function && each->origin == lang::Origin::Own) add_plainest(each->name);
      }
    });
    return std::move(snapshot_);
  }

 private:
  void add_plainest(const std::string& name) {
    const auto type = lang::capture([&] {
      return repl::at_plainest_types(lang::make_global_var(name), checker_)->type;
    });
    if (type) add(name, *type);
  }
  void add(const std::string& name, const Type& type) {
    if (!seen_.insert(name + " " + lang::to_string(type)).second) return;
    const auto code = pipeline_.prepared(name, type);
    if (!code) return;
    snapshot_.functions.push_back({name, type, *code});
    lang::visit_post_order(*code, [&](const Expr& node) {
      const auto* global = lang::as<lang::GlobalVar>(node);
      if (global && pipeline_.is_function(global->name)) add(global->name, node->type);
    });
  }

  repl::Session session_;
  typecheck::Checker checker_;
  repl::Pipeline pipeline_;
  std::set<std::string> seen_;
  Snapshot snapshot_;
};

repl::SessionOptions unevaluated() {
  repl::SessionOptions options = quiet_options();
  options.evaluate = false;
  return options;
}

TEST_CASE("finished code of the programs reads back") {
  std::size_t count = 0;
  for (const char* folder : {"examples", "tests/golden/grad","tests/golden/run"}) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() != ".relay") continue;
      CAPTURE(entry.path().string());
      auto t0 = std::chrono::steady_clock::now();
      FinishedProgram program(unevaluated());
      const auto errors = program.session().run_file(entry.path().string(), nullptr);
      const Snapshot snapshot = program.functions();
      count += snapshot.functions.size();
      auto t1 = std::chrono::steady_clock::now();
      try {
      check_round_trip(snapshot);
      } catch (const lang::Failure& f) { std::cerr << f.what() << "\n"; }
      auto t2 = std::chrono::steady_clock::now();
      std::cerr << entry.path() << " " << errors.size() << " errors, " << snapshot.functions.size() << " functions "
                << std::chrono::duration<double>(t1 - t0).count() << " " << std::chrono::duration<double>(t2 - t1).count() << "\n";
    }
  }
  CHECK(count > 200);
}

}  // namespace
}  // namespace relay::tests
