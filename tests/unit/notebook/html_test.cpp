#include "notebook/html.h"

#include <catch2/catch.hpp>

using namespace relay;
using notebook::escaped;
using notebook::highlighted;

TEST_CASE("what HTML would take for its own is escaped", "[notebook]") {
  CHECK(escaped("a < b && c > \"d\" 'e'") ==
        "a &lt; b &amp;&amp; c &gt; &quot;d&quot; &#39;e&#39;");
  CHECK(escaped("größe ∇") == "größe ∇");
  CHECK(escaped("") == "");
}

namespace {

// Of a highlighted text, what stands between the tags around it.
std::string inner(std::string_view text) {
  const std::string html = highlighted(text);
  const std::string begin = "<pre style=\"white-space:pre-wrap\">";
  REQUIRE(html.starts_with(begin));
  REQUIRE(html.ends_with("</pre>"));
  return html.substr(begin.size(), html.size() - begin.size() - 6);
}

}  // namespace

TEST_CASE("a text of the language is coloured, and nothing of it is lost", "[notebook]") {
  CHECK(inner("let x = 3.0;\n") ==
        "<span style=\"color:#a855c7\">let</span> x = "
        "<span style=\"color:#1f8a9e\">3.0</span>;");
  CHECK(inner("// <b>\n") == "<span style=\"color:#808080\">// &lt;b&gt;</span>");
  CHECK(inner("f(\"</pre><script>\")") ==
        "f(<span style=\"color:#4c8c2b\">&quot;&lt;/pre&gt;&lt;script&gt;&quot;</span>)");
  CHECK(inner("a < b") == "a &lt; b");
}

TEST_CASE("a table has a cell for each heading, the first as deep as its line", "[notebook]") {
  const repl::Table table = {{"source", "value"}, {{0, {"a < b"}}, {2, {"c", "1"}}}};
  const std::string html = notebook::html_of(table);
  CHECK(html.find(">source</th>") != std::string::npos);
  CHECK(html.find(">a &lt; b</td>") != std::string::npos);
  CHECK(html.find("padding-left:32px\">c</td>") != std::string::npos);
  std::size_t cells = 0;
  for (std::size_t at = html.find("<td"); at != std::string::npos; at = html.find("<td", at + 1))
    ++cells;
  CHECK(cells == 4);
}
