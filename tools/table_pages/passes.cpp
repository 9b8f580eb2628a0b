#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "opt/pass.h"
#include "tools/table_pages/pages.h"

namespace relay::tools {

namespace {

constexpr std::string_view kIntroduction = R"page(# The passes

A pass takes the functions of a program and gives them back changed. `relay opt` runs a list of them over a file and prints
what became of it, in the notation of the file; at the prompt `:opt` does the same with an expression, or with all that has
been defined. A list is written as the arguments of a call are; a string that is one word needs no quotes.

```console
$ printf 'def f(x: float32) { x * (exp(0.0) + 1.0) }\ndef g(x: float32) { x }\n' > f.relay
$ relay opt -p "FoldConstant,RemoveUnusedFunctions(entry=f)" f.relay
$ relay opt --print-after -p "Inline(max_bindings=4),FoldConstant" f.relay
```

Each pass has a level, Relay's where Relay has the pass: `-O N` passes over those of a higher one, and without a list it runs all
that make code faster, in the order in which the program itself does.

`--list` names all passes, `--print-after` prints the program after each, and `--time` says on stderr how long each took.
After each pass the functions are typed once more: one that is not what it was typed as is a mistake of the pass, and nobody
sees it. Functions that are generic have no types yet; they stay as they are, and `relay opt` says so.
The light notation, as here, writes a step where it is used if that is once; strict text shows each by its name.

This page is made of the table that the program reads, by `./dev docs`.
)page";

std::string_view kept(opt::Keeps keeps) {
  switch (keeps) {
    case opt::Keeps::Bits:
      return "Values keep every bit.";
    case opt::Keeps::Rounding:
      return "Values may be rounded in another way.";
    case opt::Keeps::Meaning:
      break;
  }
  return "Functions become other functions.";
}

std::string section_on(const opt::Pass& pass) {
  std::string text = fmt::format("\n## {}\n\n`{}`, level {}: {}. {}{}\n", pass.name,
                                 opt::usage_of(pass), pass.level, pass.doc, kept(pass.keeps),
                                 pass.is_idempotent ? " A second time it changes nothing." : "");
  if (!pass.options.empty()) text += "\n| option | |\n| --- | --- |\n";
  for (const lang::AttrSpec& option : pass.options)
    text += fmt::format("| `{}` | {} |\n", option.name, option.doc);
  return text + "\n" + session(pass.example, ":opt " + pass.name);
}

}  // namespace

std::string page_on_passes() {
  std::string text(kIntroduction);
  text += "\n| pass | what it does |\n| --- | --- |\n";
  for (const opt::Pass& pass : opt::passes()) {
    std::string anchor = pass.name;
    std::transform(anchor.begin(), anchor.end(), anchor.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    text += fmt::format("| [`{}`](#{}) | {} |\n", opt::usage_of(pass), anchor, pass.doc);
  }
  for (const opt::Pass& pass : opt::passes()) text += section_on(pass);
  return with_outputs(text);
}

}  // namespace relay::tools
