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

// `$CXX` is a program, and may have arguments.
bool is_found(const std::string& compiler) {
  const std::string program = compiler.substr(0, compiler.find(' '));
  const std::string look = "command -v -- " + repl::shell_word(program);
  return repl::output_of({"/bin/sh", "-c", look}, "").ended_well;
}

[[noreturn]] void fail_compiling(const Request& request, std::string said) {
  while (said.ends_with('\n')) said.pop_back();
  lang::Diagnostic error(DiagnosticKind::FileError,
                         fmt::format("`{}` does not make `{}`", compiler(), request.output));
  if (!said.empty()) error.note(fmt::format("note: it says: {}", said));
  if (!is_found(compiler()))
    error.note("help: a C++ compiler is needed: `apt-get install -y g++`, or $CXX names another");
  throw lang::Failure(std::move(error));
}

}  // namespace

void link_object(const Request& request, const CText& text, const std::string& folder) {
  const fs::path run_time = run_time_folder();
  const auto in_folder = [&](const std::string& name) {
    return (fs::path(folder) / name).string();
  };
  const std::string header = fs::path(header_path(request)).filename().string();
  repl::write_file(in_folder("object.c"), text.source).or_throw();
  repl::write_file(in_folder("exports.map"), export_list(text)).or_throw();
  repl::write_file(in_folder("relay_built_interface.h"), interface_text()).or_throw();
  repl::write_file(in_folder(header), text.header).or_throw();
  // In the folder: the assembler finds the snapshot there, whatever its name is.
  std::string command = fmt::format("cd {} && exec {} -shared -fPIC -O1 -iquote . -x c object.c",
                                    repl::shell_word(folder), compiler());
  command += " -x none " + repl::shell_word((run_time / "librelay_built.a").string());
  command += " -o " + repl::shell_word(fs::absolute(request.output).string());
  command +=
      " -Wl,--version-script=exports.map -static-libstdc++ -static-libgcc -pthread"
      " -Wl,--gc-sections -Wl,-z,relro -Wl,-z,now -Wl,-z,nodelete " RELAY_BUILT_LINK_FLAGS " 2>&1";
  const repl::ChildOutput output = repl::output_of({"/bin/sh", "-c", command}, "");
  if (!output.ended_well) fail_compiling(request, output.text);
  repl::write_file(header_path(request), text.header).or_throw();
}

}  // namespace relay::ahead
