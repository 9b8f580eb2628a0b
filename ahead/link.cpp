#include "ahead/link.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "ahead/interface_files.h"
#include "lang/diagnostic.h"
#include "repl/child.h"
#include "repl/files.h"

namespace relay::ahead {

namespace fs = std::filesystem;
using lang::DiagnosticKind;

namespace {

// Where the run time and its header are: beside this program, built or installed.
fs::path run_time_folder() {
  std::error_code unknown;
  const fs::path self = fs::read_symlink("/proc/self/exe", unknown).parent_path();
  if (fs::exists(self / "librelay_built.a", unknown)) return self;
  lang::fail(DiagnosticKind::FileError,
             fmt::format("there is no `librelay_built.a` in `{}`, which built objects are made of",
                         self.string()));
}

std::string compiler() {
  const char* const given = std::getenv("CXX");
  return given && *given ? given : "c++";
}

std::string export_list(const CText& text) {
  std::string list = "{\n  global:\n";
  for (const std::string& symbol : text.symbols) list += "    " + symbol + ";\n";
  return list + "  local: *;\n};\n";
}

}  // namespace

void link_object(const Request& request, const CText& text, const std::string& folder) {
  const fs::path run_time = run_time_folder();
  const fs::path source = fs::path(folder) / "object.c";
  const fs::path exports = fs::path(folder) / "exports.map";
  repl::write_file(source.string(), text.source).or_throw();
  repl::write_file(exports.string(), export_list(text)).or_throw();
  repl::write_file((fs::path(folder) / "interface.h").string(), interface_text()).or_throw();
  repl::write_file(header_path(request), text.header).or_throw();
  const fs::path header_folder = fs::absolute(header_path(request)).parent_path();
  std::string command = fmt::format("exec {} -shared -fPIC -O1", compiler());
  for (const std::string& word :
       {"-I" + folder, "-I" + header_folder.string(), std::string("-x"), std::string("c"),
        source.string(), std::string("-x"), std::string("none"),
        (run_time / "librelay_built.a").string(), "-Wl,--version-script=" + exports.string(),
        std::string("-o"), request.output})
    command += " " + repl::shell_word(word);
  command +=
      " -static-libstdc++ -static-libgcc -pthread -Wl,--gc-sections -Wl,-z,relro "
      "-Wl,-z,now -Wl,-z,nodelete " RELAY_BUILT_LINK_FLAGS " 2>&1";
  repl::ChildOutput output = repl::output_of({"/bin/sh", "-c", command}, "");
  if (output.ended_well) return;
  while (output.text.ends_with('\n')) output.text.pop_back();
  lang::Diagnostic error(DiagnosticKind::FileError,
                         fmt::format("`{}` does not make `{}`", compiler(), request.output));
  error.note(fmt::format("note: it says: {}", output.text));
  error.note("help: a C++ compiler is needed: `apt-get install -y g++`, or $CXX names another");
  throw lang::Failure(std::move(error));
}

}  // namespace relay::ahead
