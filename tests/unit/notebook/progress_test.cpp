#include "notebook/progress.h"

#include <chrono>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

using relay::notebook::Progress;

TEST_CASE("what takes long says so in one place, which is empty at the end", "[notebook]") {
  using std::chrono::milliseconds;
  std::vector<std::string> shown;
  Progress progress([&](const std::string& text, bool is_new) {
    shown.push_back((is_new ? "new " : "") + text);
  });
  const Progress::Clock::time_point start{};
  progress.begin(start);
  progress.tell("1 %", start + milliseconds(900));
  CHECK(shown.empty());
  progress.tell("2 %", start + milliseconds(1100));
  progress.tell("3 %", start + milliseconds(1200));
  progress.tell("4 %", start + milliseconds(1500));
  progress.end();
  progress.end();
  CHECK(shown == std::vector<std::string>{"new 2 %", "4 %", ""});
  progress.begin(start + milliseconds(2000));  // the next cell
  progress.tell("5 %", start + milliseconds(2500));
  progress.end();
  CHECK(shown.size() == 3);
}
