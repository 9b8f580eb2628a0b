// The `relay-import` program, which carries out `relay import` and `relay export`: the word that it
// is called by says which.

#include <string_view>

#include "models/commands.h"
#include "repl/output.h"

int main(int count, char** texts) {
  relay::repl::prepare_streams();
  const bool is_export = count > 0 && std::string_view(texts[0]) == "export";
  return is_export ? relay::models::run_export(count, texts)
                   : relay::models::run_import(count, texts);
}
