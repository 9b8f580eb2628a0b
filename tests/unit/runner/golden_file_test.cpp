// The golden runner on deliberately wrong files: each must be found wrong, and mended by the text
// that the runner would write.

#include "tests/support/golden_file.h"

#include <catch2/catch.hpp>

#include "tests/support/page.h"
#include "tests/support/text_diff.h"

namespace relay::tests {
namespace {

Event line(std::string text) { return {false, std::move(text)}; }
Event error(Place place, std::string text) {
  return {true, std::move(text), std::move(place), {" --> <entry>:1:1", "", "1 | x"}};
}

// One expression on line 1 that gives `7 : int32`.
std::string mended(std::string_view text) {
  return with_expectations(text, {{{1, {line("7 : int32")}}}, false});
}
const std::string kRight = "3 + 4\n// expect: 7 : int32\n";

TEST_CASE("a right golden file stays as it is") {
  CHECK(mended(kRight) == kRight);
  CHECK(mended("3 + 4  // expect: 7 : int32\n") == "3 + 4  // expect: 7 : int32\n");
  CHECK(mended("3 + 4\n// expect-match: ^\\d : int\n") == "3 + 4\n// expect-match: ^\\d : int\n");
  CHECK(mended("3 + 4\n// Because.\n// expect: 7 : int32\n") ==
        "3 + 4\n// Because.\n// expect: 7 : int32\n");
}

TEST_CASE("a file that is known to fail says what is right") {
  CHECK(when_mended("3 + 4\n// expect: 8 : int32\n// right: 7 : int32\n") ==
        "3 + 4\n// expect: 7 : int32\n//\n");
  CHECK(when_mended("3 + 4\n// expect: 8\n// expect: 9\n// right-match: ^7\n") ==
        "3 + 4\n// expect: 8\n// expect-match: ^7\n//\n");
  CHECK(when_mended("3 + 4\n// expect: 8\n// expect: 9\n// right: 7\n// right: 6\n") ==
        "3 + 4\n// expect: 7\n// expect: 6\n//\n//\n");
  CHECK(when_mended("x\n// expect-error @-1:1-1 UnknownName: x\n// | x\n// right: 7\n") ==
        "x\n// expect: 7\n//\n//\n");
  CHECK(when_mended(kRight).empty());
}

TEST_CASE("a wrong golden file is found and mended") {
  CHECK(mended("3 + 4\n// expect: 8 : int32\n") == kRight);
  CHECK(mended("3 + 4\n") == kRight);  // nothing expected
  CHECK(mended("3 + 4\n// expect: 7 : int32\n// expect: 7 : int32\n") == kRight);  // too much
  CHECK(mended("3 + 4\n// expect:  7 : int32\n") == kRight);  // a blank too many
  CHECK(mended("3 + 4\n// expect-match: ^8\n") == kRight);
  CHECK(mended("3 + 4\n// expect-error @-1:1-5 TypeMismatch: no\n") == kRight);
  CHECK(mended("3 + 4  // expect: 8\n") == "3 + 4  // expect: 7 : int32\n");
  const GoldenRun silent{{{1, {}}}, false};
  CHECK(with_expectations(kRight, silent) == "3 + 4\n");
  CHECK(with_expectations("// expect: 1\n\n3 + 4\n", {{{3, {}}}, false}) == "\n3 + 4\n");
}

TEST_CASE("expectations belong to the item before them") {
  const GoldenRun run{{{1, {line("1")}}, {2, {line("2"), line("3")}}}, false};
  const std::string right = "a\n// expect: 1\nb\n// expect: 2\n// expect: 3\n";
  const GoldenRun placed{{{1, {line("1")}}, {3, {line("2"), line("3")}}}, false};
  CHECK(with_expectations("a\nb\n", run) == right);
  CHECK(with_expectations(right, placed) == right);
  CHECK(with_expectations("a\n\nb\n// expect: 1\n// expect: 2\n// expect: 3\n", placed) ==
        "a\n// expect: 1\n\nb\n// expect: 2\n// expect: 3\n");
  const GoldenRun documented{{{1, {line("1")}}, {4, {}}}, false};
  CHECK(with_expectations("a\n\n/// About b.\nb\n", documented) ==
        "a\n// expect: 1\n\n/// About b.\nb\n");
}

TEST_CASE("an error names its lines relative to itself") {
  const GoldenRun run{{{1, {line("1")}}, {2, {error({1, 3, 1, 5, ""}, "Kind: text")}}}, false};
  CHECK(with_expectations("a\nb\n", run) ==
        "a\n// expect: 1\nb\n// expect-error @-3:3-5 Kind: text\n");
  const std::string wrong_columns = "a\n// expect-error @-1:3-6 Kind: text\n";
  const GoldenRun one{{{1, {error({1, 3, 1, 5, ""}, "Kind: text")}}}, false};
  CHECK(with_expectations(wrong_columns, one) == "a\n// expect-error @-1:3-5 Kind: text\n");
  const GoldenRun wide{{{1, {error({1, 3, 2, 5, ""}, "Kind: text")}}}, false};
  CHECK(with_expectations("a\nb\n", wide) == "a\nb\n// expect-error @-2:3-@-1:5 Kind: text\n");
  const GoldenRun elsewhere{{{1, {error({0, 0, 0, 0, "prelude.relay"}, "Kind: text")}}}, false};
  CHECK(with_expectations("a\n", elsewhere) == "a\n// expect-error @prelude.relay Kind: text\n");
}

TEST_CASE("a rendering is checked where one is asked for") {
  const GoldenRun run{{{1, {error({1, 1, 1, 1, ""}, "Kind: text")}}}, false};
  const std::string right =
      "x\n// expect-error @-1:1-1 Kind: text\n// |  --> <entry>:1:1\n// |\n// | 1 | x\n";
  CHECK(with_expectations(right, run) == right);
  CHECK(with_expectations("x\n// expect-error @-1:1-1 Kind: text\n// |\n", run) == right);
}

TEST_CASE("unknown keys and missing reasons are problems") {
  const auto problems = [](std::string_view text) {
    std::vector<std::string> found;
    golden_options(text, found);
    return found.size();
  };
  CHECK(problems("// expects: 1\n") == 1);
  CHECK(problems("// expect-eror: 1\n") == 1);
  CHECK(problems("// only: interp\n") == 1);
  CHECK(problems("// only: gpu — there is none\n") == 1);
  CHECK(problems("// skip:\n") == 1);
  CHECK(problems("// expect-match: (\n") == 1);
  CHECK(problems(
            "// A sentence: with a colon.\n// only: jit — it is about the JIT\n// expect:\n") == 0);
}

TEST_CASE("errors of a run point into the file") {
  const std::string text = "let a = 1\n\nnosuch + a\n// expect-error @-1:1-6 \n:type nosuch\n";
  const GoldenRun run = run_golden("", text, interp::JitMode::Off);
  REQUIRE(run.entries.size() == 3);
  REQUIRE(run.entries[1].events.size() == 1);
  CHECK(run.entries[1].events[0].place.line == 3);
  CHECK(run.entries[1].events[0].place.column == 1);
  CHECK(run.entries[1].events[0].place.last_column == 6);
  REQUIRE(run.entries[2].events.size() == 1);
  CHECK(run.entries[2].events[0].place.line == 5);
  CHECK(run.entries[2].events[0].place.column == 7);
}

TEST_CASE("a page shows what its blocks give") {
  const auto page = [](const std::string& text) { return run_page(text, interp::JitMode::Off); };
  const std::string transcript = "```relay\nrelay> 1 + 1\n2 : int32\n```\n";
  CHECK(page(transcript).text == transcript);
  CHECK(page("```relay\nrelay> 1 + 1\n3 : int32\n```\n").text == transcript);
  const std::string wildcard = "```relay\nrelay> 1 + 1\n… : int32\n```\n";
  CHECK(page(wildcard).text == wildcard);
  CHECK(page("```relay\nrelay> 1 + 1\n… : int64\n```\n").text == transcript);
  CHECK(page("```sh\nrm\n```\n").blocks == 0);
  CHECK(page("```relay\n1 + 1\n```\n").problems.empty());
  CHECK(page("```relay\nnosuch\n```\n").problems.size() == 1);
}

TEST_CASE("a transcript of a page may go on") {
  const auto page = [](const std::string& text) { return run_page(text, interp::JitMode::Off); };
  const std::string first = "```relay\nrelay> let a = 2\na : int32\n```\n";
  const std::string second = "```relay continued\nrelay> a\n2 : int32\n```\n";
  CHECK(page(first + second).text == first + second);
  CHECK(page(first + second).problems.empty());
  CHECK(page(second).problems.size() == 1);
  CHECK(page(first + "```relay\nrelay> a\n```\n").text.find("UnknownName") != std::string::npos);
}

TEST_CASE("a page shows what commands of a shell print") {
  const auto page = [](const std::string& text) { return run_page(text, interp::JitMode::Off); };
  const std::string text = "```console\n$ echo one; echo two >&2\none\ntwo\n$ true\n```\n";
  CHECK(page(text).text == text);
  CHECK(page("```console\n$ echo one\n```\n").text == "```console\n$ echo one\none\n```\n");
}

TEST_CASE("a diff shows what changed with three lines around it") {
  CHECK(unified_diff("a\n", "a\n", "x", "y").empty());
  CHECK(unified_diff("1\n2\n3\n4\n5\n6\n", "1\n2\n3\n4\n5\n7\n", "x", "y") ==
        "--- x\n+++ y\n@@ -3,4 +3,4 @@\n 3\n 4\n 5\n-6\n+7\n");
}

}  // namespace
}  // namespace relay::tests
