// What a terminal is told to show, on a screen that is emulated.

#include "repl/editor/view.h"

#include <string>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "tests/support/random.h"
#include "tests/support/screen.h"

namespace relay::repl::editor {
namespace {

using tests::Screen;

struct Shown {
  explicit Shown(int rows = 10, int columns = 20, bool has_colours = true, bool has_cursor = true)
      : screen(rows, columns),
        view({static_cast<std::size_t>(rows), static_cast<std::size_t>(columns), has_colours,
              has_cursor}) {}

  // The bytes that it took.
  std::string draw(const Scene& scene) {
    std::string bytes = view.draw(scene);
    screen.feed(bytes);
    return bytes;
  }

  Screen screen;
  View view;
};

Scene at_end(std::string_view text) { return {text, text.size()}; }

TEST_CASE("view: a letter at the end costs that letter") {
  Shown shown(10, 20, false);
  shown.draw(at_end("1 +"));
  CHECK(shown.draw(at_end("1 + ")) == " ");
  CHECK(shown.draw(at_end("1 + 2")) == "2");
  CHECK(shown.screen.text() == "relay> 1 + 2");
  CHECK(shown.draw(at_end("1 + 2")).empty());
}

TEST_CASE("view: lines have prompts, wide ones go on in the next row") {
  Shown shown;
  shown.draw(at_end("1234567890123"));
  CHECK(shown.screen.text() == "relay> 1234567890123");
  CHECK(shown.screen.row() == 1);
  CHECK(shown.screen.column() == 0);
  shown.draw(at_end("12345678901234\nx"));
  CHECK(shown.screen.text() == "relay> 1234567890123\n4\n  ...> x");
  shown.draw({"12345678901234\nx", 0});
  CHECK(shown.screen.row() == 0);
  CHECK(shown.screen.column() == 7);
}

TEST_CASE("view: characters take the columns that they take") {
  Shown shown;
  shown.draw(at_end("日本e\xCC\x81😀"));
  CHECK(shown.screen.column() == 14);
  CHECK(shown.screen.text() == "relay> 日本e\xCC\x81😀");
  shown.draw(at_end("aaaaaaaaaaaa日"));  // one column is left in the row
  CHECK(shown.screen.text() == "relay> aaaaaaaaaaaa\n日");
  shown.draw(at_end("\tx"));
  CHECK(shown.screen.text() == "relay>     x");
  shown.draw(
      at_end("a\xE2\x80\xAE"
             "b"));
  CHECK(shown.screen.text() ==
        "relay> a\xEF\xBF\xBD"
        "b");
}

TEST_CASE("view: notes stand below, and go") {
  Shown shown;
  Scene scene = at_end("so");
  scene.notes = {{"softmax", "fn (Tensor) -> Tensor"}, {"sort", "b", true}};
  shown.draw(scene);
  CHECK(shown.screen.text() == "relay> so\n  softmax  fn (Ten…\n> sort     b");
  CHECK(shown.screen.row() == 0);
  shown.draw(at_end("so"));
  CHECK(shown.screen.text() == "relay> so");
}

TEST_CASE("view: colours are for those who want them") {
  Shown coloured;
  Scene scene = at_end("let");
  scene.faces.assign(3, Face::Keyword);
  coloured.draw(scene);
  CHECK(coloured.screen.table()[0][7].look == "magenta");
  CHECK(coloured.screen.table()[0][0].look == "bold");
  Shown plain(10, 20, false);
  plain.draw(scene);
  CHECK(plain.screen.looks() == 0);
}

TEST_CASE("view: of a block that is taller than the window the part with the cursor") {
  Shown shown(4, 20);
  const std::string text = "1\n2\n3\n4\n5\n6";
  shown.draw(at_end(text));
  CHECK(shown.screen.text() == "  ...> 3\n  ...> 4\n  ...> 5\n  ...> 6");
  shown.draw({text, 2});
  CHECK(shown.screen.text() == "  ...> 2\n  ...> 3\n  ...> 4\n  ...> 5");
  shown.draw({text, 0});
  shown.screen.feed(shown.view.finish({text, 0}, "^C"));
  CHECK(shown.screen.text() == "relay> 1\n  ...> 2\n  ...> 3\n  ...> 4\n  ...> 5\n  ...> 6^C");
}

TEST_CASE("view: a terminal whose cursor cannot be moved is sent no sequence") {
  Shown shown(10, 20, false, false);
  shown.draw(at_end("abc"));
  shown.draw({"abcd", 1});
  CHECK(shown.screen.text() == "relay> abcd");
  CHECK(shown.screen.column() == 8);
  shown.draw({"ad", 1});
  CHECK(shown.screen.text() == "relay> ad");
  shown.draw(at_end("ad\n0123456789abcdef"));
  CHECK(shown.screen.text() == "relay> ad\n  ...> 456789abcdef");
  shown.screen.feed(shown.view.finish(at_end("ad\nx")));
  CHECK(shown.screen.text() == "relay> ad\n  ...> x");
  CHECK(shown.screen.sequences() == 0);
}

// The rows that a scene has when it is drawn on an empty screen.
std::string drawn_anew(const Scene& scene, int rows, int columns) {
  Shown shown(rows, columns);
  shown.draw(scene);
  return fmt::format("{}\ncursor {} {}", shown.screen.text(), shown.screen.row(),
                     shown.screen.column());
}

TEST_CASE("view: what is drawn over something else looks as if it were drawn anew") {
  tests::Random random(20261125);
  constexpr std::string_view kPieces[] = {"a",         " ",   "日", "\n",
                                          "e\xCC\x81", "(x)", "\t", "long word "};
  for (int round = 0; round < 60; ++round) {
    const int columns = 9 + static_cast<int>(random.below(20));
    Shown shown(12, columns);
    for (int step = 0; step < 12; ++step) {
      std::string text;
      for (std::size_t i = random.below(9); i > 0; --i)
        text += kPieces[random.below(std::size(kPieces))];
      Scene scene = at_end(text);
      scene.faces.resize(text.size());
      for (Face& face : scene.faces) face = static_cast<Face>(random.below(11));
      for (std::size_t i = random.below(3); i > 0; --i) scene.notes.push_back({"note", "detail"});
      shown.draw(scene);
      const std::string wanted = drawn_anew(scene, 12, columns);
      INFO("columns " << columns << ", text " << text);
      REQUIRE(fmt::format("{}\ncursor {} {}", shown.screen.text(), shown.screen.row(),
                          shown.screen.column()) == wanted);
    }
  }
}

}  // namespace
}  // namespace relay::repl::editor
