// The text that is edited, without keys and without a terminal.

#include "repl/editor/buffer.h"

#include <catch2/catch.hpp>

namespace relay::repl::editor {
namespace {

Buffer holding(std::string text, std::size_t cursor) {
  Buffer buffer;
  buffer.set(std::move(text));
  buffer.set_cursor(cursor);
  return buffer;
}

TEST_CASE("buffer: a step is a character with what combines with it") {
  const std::string text = "e\xCC\x81日😀";  // e and a combining acute
  Buffer buffer = holding(text, text.size());
  for (const std::size_t at : {6U, 3U, 0U, 0U}) {
    buffer.set_cursor(buffer.left());
    CHECK(buffer.cursor() == at);
  }
  for (const std::size_t at : {3U, 6U, 10U, 10U}) {
    buffer.set_cursor(buffer.right());
    CHECK(buffer.cursor() == at);
  }
}

TEST_CASE("buffer: bytes that are no UTF-8 are passed one by one") {
  const std::string text = "a\xff\x80\x80z";
  Buffer buffer = holding(text, text.size());
  for (std::size_t at = text.size(); at > 0; --at) {
    CHECK(buffer.cursor() == at);
    buffer.set_cursor(buffer.left());
  }
}

TEST_CASE("buffer: words, and lines") {
  const Buffer buffer = holding("let größe_1 = 2.5\nx + y", 11);
  CHECK(buffer.word_left() == 4);
  CHECK(buffer.word_right() == 13);
  CHECK(buffer.blank_left() == 4);
  CHECK(buffer.line_begin() == 0);
  CHECK(buffer.line_end() == 19);
  CHECK(buffer.is_on_first_line());
  CHECK_FALSE(buffer.is_on_last_line());
}

TEST_CASE("buffer: up and down keep the column that is seen, as far as the line has it") {
  Buffer buffer = holding("日本abc\nxy\nlonger", 7);  // behind `a`, column 5
  buffer.move_down();
  CHECK(buffer.cursor() == 12);
  buffer.move_down();
  CHECK(buffer.cursor() == 15);
  buffer.set_cursor(18);  // column 5
  buffer.move_up();
  CHECK(buffer.cursor() == 12);
  buffer.move_up();
  CHECK(buffer.cursor() == 3);
  buffer.move_up();
  CHECK(buffer.cursor() == 3);
}

TEST_CASE("buffer: undo takes back letters as one, other changes one by one") {
  Buffer buffer;
  for (const char* key : {"a", "b", "c"}) buffer.insert(key, true);
  buffer.insert("pasted");
  CHECK(buffer.cut(0, 3) == "abc");
  CHECK(buffer.text() == "pasted");
  CHECK(buffer.undo());
  CHECK(buffer.text() == "abcpasted");
  CHECK(buffer.cursor() == 9);
  CHECK(buffer.undo());
  CHECK(buffer.text() == "abc");
  CHECK(buffer.undo());
  CHECK(buffer.text().empty());
  CHECK_FALSE(buffer.undo());
}

TEST_CASE("buffer: two characters change places") {
  Buffer buffer = holding("日a", 4);
  buffer.transpose();
  CHECK(buffer.text() == "a日");
  CHECK(buffer.cursor() == 4);
  buffer.set_cursor(0);
  buffer.transpose();
  CHECK(buffer.text() == "a日");
}

TEST_CASE("buffer: the kill ring joins, and turns") {
  KillRing ring;
  ring.add("b");
  ring.extend("c", false);
  ring.extend("a", true);
  CHECK(ring.newest() == "abc");
  ring.add("second");
  ring.rotate();
  CHECK(ring.newest() == "abc");
  ring.rotate();
  CHECK(ring.newest() == "second");
}

}  // namespace
}  // namespace relay::repl::editor
