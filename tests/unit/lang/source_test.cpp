#include "lang/source.h"

#include <catch2/catch.hpp>

using namespace relay::lang;

TEST_CASE("positions count lines and bytes from 1") {
  const Source source("a.relay", "one\ntwo\r\n\nlast");
  CHECK(source.position(0).line == 1);
  CHECK(source.position(3).column == 4);  // the line break belongs to its line
  CHECK(source.position(4).line == 2);
  CHECK(source.position(4).column == 1);
  CHECK(source.position(9).line == 3);
  CHECK(source.position(14).line == 4);
  CHECK(source.position(14).column == 5);
  CHECK(source.position(1000).column == 5);  // held at the end
  CHECK(source.line(1) == "one");
  CHECK(source.line(2) == "two");
  CHECK(source.line(3).empty());
  CHECK(source.line(4) == "last");
}

TEST_CASE("spans join and give their text") {
  SourceStore store;
  const Source* source = store.add("<prompt>", "let x = 1");
  const Source* other = store.add("<prompt>", "y");
  const Span x{source, 4, 5};
  const Span one{source, 8, 9};
  CHECK(join(x, one).text() == "x = 1");
  CHECK(join(one, x) == join(x, one));
  CHECK(join({}, x) == x);
  CHECK(join(x, {}) == x);
  CHECK(join(x, {other, 0, 1}) == x);
  CHECK(Span{}.text().empty());
  CHECK(Span{source, 8, 100}.text() == "1");
}
