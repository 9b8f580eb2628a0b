#include "tests/support/prelude.h"

#include <cstdio>
#include <cstdlib>
#include <string>

#include "lang/source.h"
#include "parser/parse.h"
#include "stdlib/prelude.h"

namespace relay::tests {

const lang::Module& prelude() {
  static lang::SourceStore sources;
  static const lang::Module module = [] {
    lang::Module loaded;
    for (const auto& file : stdlib::embedded_files()) {
      const auto* source = sources.add(std::string(file.name), std::string(file.text));
      auto parsed = parser::parse(*source, loaded);
      if (!parsed) {
        std::fprintf(stderr, "the prelude does not parse\n");
        std::abort();
      }
      for (parser::Item& item : parsed->items) {
        if (item.type_def) loaded.define(item.type_def);
        if (item.kind == parser::ItemKind::Def)
          loaded.define({item.name, item.expr, nullptr, lang::Origin::Prelude, "", item.span});
      }
    }
    return loaded;
  }();
  return module;
}

}  // namespace relay::tests
