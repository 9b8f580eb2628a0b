// Diagnostics as JSON.

#include "repl/report.h"

#include <catch2/catch.hpp>

#include "lang/source.h"

namespace relay::repl {
namespace {

TEST_CASE("json has places in code points and bytes") {
  const lang::Source source("a.relay", "let x = 1\n\"äö\" + 2\n");
  lang::Diagnostic diagnostic(lang::DiagnosticKind::TypeMismatch, "a `\"` and a number",
                              {&source, 10, 20});
  diagnostic.label({&source, 19, 20}, "`int32`").note("help: take it away").note("note: as said");
  CHECK(render_json(diagnostic) ==
        R"({"kind":"TypeMismatch","class":"mistake","severity":"error",)"
        R"("message":"a `\"` and a number","span":{"file":"a.relay",)"
        R"("begin":{"line":2,"column":1,"offset":10},"end":{"line":2,"column":9,"offset":20}},)"
        R"("labels":[{"span":{"file":"a.relay","begin":{"line":2,"column":8,"offset":19},)"
        R"("end":{"line":2,"column":9,"offset":20}},"text":"`int32`"}],)"
        R"("notes":["as said"],"help":["take it away"]})"
        "\n");
}

TEST_CASE("json of a diagnostic without a place, and of text that is no UTF-8") {
  const lang::Diagnostic diagnostic(lang::DiagnosticKind::Unsupported, "a \xff\nb");
  CHECK(
      render_json(diagnostic) ==
      R"({"kind":"Unsupported","class":"unsupported","severity":"error",)"
      "\"message\":\"a \xef\xbf\xbd\\nb\",\"span\":null,\"labels\":[],\"notes\":[],\"help\":[]}\n");
}

}  // namespace
}  // namespace relay::repl
