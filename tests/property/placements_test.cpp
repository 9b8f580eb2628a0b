// Where a schedule has tensors computed (`inline`, `compute_at`) changes no bit: chains of nests
// that read one another's rows, drawn at random, give with such steps what they give without, on
// lanes and in native code, on one thread and several. RELAY_COUNT asks for more of them
// (tests/support/replay.h).

#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "tests/support/property.h"
#include "tests/support/random.h"
#include "tests/support/schedule_check.h"

namespace relay::tests {
namespace {

constexpr std::size_t kPipelines = 300;

struct Stage {
  std::string name;
  std::size_t rows;
  std::size_t columns;
};

class Pipeline {
 public:
  explicit Pipeline(std::uint64_t seed) : random_(seed) {
    constexpr std::size_t kExtents[] = {9, 16, 33, 5, 300, 2, 1, 90};
    const std::size_t rows = kExtents[random_.below(8)];
    const std::size_t columns = kExtents[random_.below(8)];
    call_ = fmt::format("f(for p < {}, q < {} {{ sin(cast(p * 7 + q * 3, dtype=\"float64\")) }})",
                        rows, columns);
    stages_.push_back({"a", rows, columns});
    const std::size_t count = 1 + random_.below(4);
    text_ = "def f(a) {\n";
    for (std::size_t i = 0; i < count; ++i) {
      const Stage stage = next_stage(fmt::format("s{}", i));
      const std::string index = std::to_string(i);
      text_ += fmt::format("  let {} = for i{} < {}, j{} < {} {{ {} }};\n", stage.name, index,
                           stage.rows, index, stage.columns, body(stage, "i" + index, "j" + index));
      stages_.push_back(stage);
    }
    const Stage last = next_stage("");
    text_ += fmt::format("  for i < {}, j < {} {{ {} }}\n}}\n", last.rows, last.columns,
                         body(last, "i", "j"));
    draw_schedule();
  }

  const std::string& text() const { return text_; }
  const std::string& call() const { return call_; }
  const std::string& schedule() const { return schedule_; }

 private:
  // Smaller than those before it, or as large.
  Stage next_stage(std::string name) {
    const Stage& from = stages_.back();
    const auto less = [&](std::size_t extent) {
      if (extent > 1 && random_.one_in(5)) return extent / 2;
      return extent - random_.below(std::min<std::size_t>(extent, 3));
    };
    return {std::move(name), less(from.rows), less(from.columns)};
  }

  std::string body(const Stage& stage, const std::string& i, const std::string& j) {
    std::string text = read(stage, stages_.back(), i, j);
    for (std::size_t more = random_.below(3); more > 0; --more) {
      const Stage& from =
          random_.one_in(3) ? stages_[random_.below(stages_.size())] : stages_.back();
      text += fmt::format(" {} {}", random_.one_in(2) ? "*" : "-", read(stage, from, i, j));
    }
    return text;
  }

  // Elements of `from` for the element of `stage`.
  std::string read(const Stage& stage, const Stage& from, const std::string& i,
                   const std::string& j) {
    const auto moved = [&](const std::string& index, std::size_t extent, std::size_t of) {
      const std::size_t room = of - extent;
      if (2 * extent <= of && random_.one_in(2)) return "2 * " + index;
      if (random_.one_in(8)) return fmt::format("{} - {}", of - 1, index);
      return room == 0 ? index : fmt::format("{} + {}", index, random_.below(room + 1));
    };
    const std::string row = moved(i, stage.rows, from.rows);
    const std::string column = moved(j, stage.columns, from.columns);
    switch (random_.below(8)) {
      case 0:
        return fmt::format("(if {} > 0 {{ {}[{} - 1, {}] }} else {{ 0.25 }})", i, from.name, i,
                           column);
      case 1: {
        const std::size_t width = from.rows - stage.rows + 1;
        return fmt::format("(sum k < {} {{ {}[{} + k, {}] * 0.5 }})", width, from.name, i, column);
      }
      case 2:
        return fmt::format("(sum c < {} {{ {}[{}, c] }})", from.columns, from.name, row);
      case 3:
        if (stage.rows > from.columns || stage.columns > from.rows) break;
        return fmt::format("{}[{}, {}]", from.name, j, i);
      default:
        break;
    }
    return fmt::format("{}[{}, {}]", from.name, row, column);
  }

  void draw_schedule() {
    std::string loop = "i";
    constexpr int kSizes[] = {4, 1, 3, 8, 2, 7};
    if (!random_.one_in(3)) {
      schedule_ += fmt::format("split i {}; ", kSizes[random_.below(6)]);
      loop = "i_o";
    } else if (random_.one_in(3)) {
      schedule_ += "reorder j i; ";
      loop = "j";
    }
    if (random_.one_in(2)) schedule_ += fmt::format("parallel {}; ", loop);
    for (std::size_t at = 1; at < stages_.size(); ++at) {
      const std::string& name = stages_[at].name;
      if (random_.one_in(4)) continue;
      schedule_ += random_.one_in(3) ? fmt::format("inline {}; ", name)
                                     : fmt::format("compute_at {} {}; ", name, loop);
    }
  }

  Random random_;
  std::vector<Stage> stages_;  // the argument first
  std::string text_;
  std::string call_;
  std::string schedule_;
};

TEST_CASE("where a schedule has tensors computed changes no bit") {
  ScheduleCheck check("where a schedule has tensors computed changes no bit");
  std::size_t refused = 0;
  const auto all = seeds(kPipelines);
  for (const std::uint64_t seed : all) {
    const Pipeline drawn(seed);
    if (!check.run(seed, drawn.text(), drawn.schedule(), drawn.call())) ++refused;
  }
  INFO(refused << " of " << all.size() << " were refused");
  CHECK(refused * 2 <= all.size());
}

}  // namespace
}  // namespace relay::tests
