// Bytes as terminals send them, and the keys that they are.

#include "repl/editor/keys.h"

#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

namespace relay::repl::editor {
namespace {

using Code = Key::Code;

std::vector<Key> keys_of(std::string_view bytes) {
  KeyDecoder decoder;
  std::vector<Key> keys;
  for (const char byte : bytes) {
    decoder.feed(byte);
    while (auto key = decoder.next()) keys.push_back(*key);
  }
  return keys;
}

Key letter(std::string text, bool alt = false, bool control = false) {
  return {Code::Letter, std::move(text), false, alt, control};
}

Key named(Code code, bool shift = false, bool alt = false, bool control = false) {
  return {code, {}, shift, alt, control};
}

TEST_CASE("keys: letters of all alphabets, and what is no UTF-8") {
  CHECK(keys_of("aé日😀") == std::vector{letter("a"), letter("é"), letter("日"), letter("😀")});
  const std::string bad = "\xEF\xBF\xBD";
  CHECK(keys_of("\xff\xfe") == std::vector{letter(bad), letter(bad)});
  CHECK(keys_of("\xe6\x97!") == std::vector{letter(bad), letter("!")});
  CHECK(keys_of("\xc3\x1b[A") == std::vector{letter(bad), named(Code::Up)});
  CHECK(keys_of("\xf0\x9f\x98").empty());
  CHECK(keys_of(std::string_view("\0", 1)).empty());
}

TEST_CASE("keys: ctrl, alt, and those with names of their own") {
  CHECK(keys_of("\x01\x12\x1f") ==
        std::vector{letter("a", false, true), letter("r", false, true), letter("_", false, true)});
  CHECK(keys_of("\r\n\t\x7f\x08") == std::vector{named(Code::Enter), named(Code::Enter),
                                                 named(Code::Tab), named(Code::Backspace),
                                                 named(Code::Backspace)});
  CHECK(keys_of("\x1b"
                "f\x1b\r\x1b\x7f\x1b"
                "é") == std::vector{letter("f", true), named(Code::Enter, false, true),
                                    named(Code::Backspace, false, true), letter("é", true)});
}

TEST_CASE("keys: sequences of several terminals, with their modifiers") {
  CHECK(keys_of("\x1b[A\x1bOA\x1b[1;5C\x1b[1;3D\x1b[1;2D\x1b[5C\x1bOd") ==
        std::vector{named(Code::Up), named(Code::Up), named(Code::Right, false, false, true),
                    named(Code::Left, false, true), named(Code::Left, true),
                    named(Code::Right, false, false, true), named(Code::Left, false, false, true)});
  CHECK(keys_of("\x1b[H\x1b[1~\x1b[7~\x1bOF\x1b[8~\x1b[3~\x1b[3;5~\x1b[5~\x1b[6~\x1b[Z") ==
        std::vector{named(Code::Home), named(Code::Home), named(Code::Home), named(Code::End),
                    named(Code::End), named(Code::Delete), named(Code::Delete, false, false, true),
                    named(Code::PageUp), named(Code::PageDown), named(Code::Tab, true)});
  CHECK(keys_of("\x1b\x1b[D") == std::vector{named(Code::Left, false, true)});
}

TEST_CASE("keys: sequences that mean nothing here are dropped whole") {
  CHECK(keys_of("\x1b[15~\x1bOP\x1b[I\x1b[2~\x1b[1;2;3A\x1b[<0;1;2Mx").size() == 1);
  CHECK(keys_of("\x1b[9999999999999999999999999999999999999999999999A").size() > 0);
}

TEST_CASE("keys: a pasted text is one key") {
  const std::string text = "def f(x) {\r\n\tx \x1b[A\n}\n";
  CHECK(keys_of("a\x1b[200~" + text + "\x1b[201~b") ==
        std::vector{letter("a"), Key{Code::Paste, text}, letter("b")});
  KeyDecoder decoder;
  for (const char byte : std::string_view("\x1b[200~never")) decoder.feed(byte);
  CHECK(decoder.is_inside());
  decoder.reset();
  decoder.feed('x');
  CHECK(decoder.next() == letter("x"));
}

}  // namespace
}  // namespace relay::repl::editor
