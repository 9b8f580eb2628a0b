#include <cctype>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "opt/analysis.h"
#include "tools/table_pages/pages.h"

namespace relay::tools {

namespace {

constexpr std::string_view kIntroduction = R"page(# The analyses

An analysis says something of a program and changes nothing. At the prompt `:analyze` asks it of an expression, or of all
that has been defined; `relay opt --analyze` asks it of a file, after the passes where there are some.

```console
$ printf 'def f(x: float32) { exp(x) * exp(x + 1.0) }\n' > f.relay
$ relay opt --analyze list_op_freqs f.relay
$ relay opt -p "EliminateCommonSubexpr,ToANormalForm" --analyze dependency_graph f.relay
```

The names are Relay's where Relay has the analysis. `:analyze` alone, and `relay opt --analyses`, list them.

This page is made of the table that the program reads, by `./dev docs`.
)page";

std::string section_on(const opt::Analysis& analysis) {
  std::string sentence = analysis.doc + ".";
  sentence.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(sentence.front())));
  return fmt::format("\n## {}\n\n{}\n\n{}", analysis.name, sentence,
                     session(analysis.example, ":analyze " + analysis.name));
}

}  // namespace

std::string page_on_analyses() {
  std::string text(kIntroduction);
  text += "\n| analysis | what it says |\n| --- | --- |\n";
  for (const opt::Analysis& analysis : opt::analyses())
    text += fmt::format("| [`{0}`](#{0}) | {1} |\n", analysis.name, analysis.doc);
  for (const opt::Analysis& analysis : opt::analyses()) text += section_on(analysis);
  return with_outputs(text);
}

}  // namespace relay::tools
