#include "ahead/c_text.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "ahead/c_functions.h"
#include "lang/diagnostic.h"

namespace relay::ahead {

namespace {

std::string header(const Request& request, const CFunctions& functions) {
  std::string text = fmt::format(
      "{}, from {}.\n"
      "\n"
      "   Tensors are row-major, and the caller's: arguments are read, and results written, "
      "before\n"
      "   a function ends. A result whose pointer is NULL is left out. Functions give 0, or 1 "
      "after\n"
      "   an error, of which {}_error() tells. They may be called by any thread, and are "
      "carried\n"
      "   out one after the other. */\n"
      "#pragma once\n\n"
      "#include <stdbool.h>\n"
      "#include <stdint.h>\n\n"
      "#ifdef __cplusplus\n"
      "extern \"C\" {{\n"
      "#endif\n\n",
      kHeaderBegins, std::filesystem::path(request.path).filename().string(), object_name(request));
  text += functions.structs + functions.declarations;
  text += fmt::format(
      "/* Of this thread's last call that failed. */\n"
      "const char *{0}_error(void);\n\n"
      "/* How many threads share the work of a call, from the next one on; 0: all cores. */\n"
      "int {0}_set_threads(int threads);\n\n"
      "/* Kernels that have run so far without native code, because they met extents for which "
      "it\n"
      "   was not made: `relay build --size NAME=EXTENT` makes it for these. */\n"
      "int64_t {0}_slow_kernels(void);\n\n"
      "#ifdef __cplusplus\n"
      "}}\n"
      "#endif\n",
      object_name(request));
  return text;
}

std::string source(const Request& request, const CFunctions& functions) {
  std::string text = fmt::format(
      "#include \"{}\"\n"
      "#include \"relay_built_interface.h\"\n\n"
      "__asm__(\".section .rodata\\n\"\n"
      "        \".balign 64\\n\"\n"
      "        \"relay_built_bytes: .incbin \\\"snapshot\\\"\\n\"\n"
      "        \"relay_built_end:\\n\"\n"
      "        \".text\\n\");\n"
      "extern const unsigned char relay_built_bytes[] __attribute__((visibility(\"hidden\")));\n"
      "extern const unsigned char relay_built_end[] __attribute__((visibility(\"hidden\")));\n"
      "static struct relay_built relay_object;\n"
      "__attribute__((constructor)) static void relay_begin(void) {{\n"
      "  relay_object.bytes = relay_built_bytes;\n"
      "  relay_object.size = (size_t)(relay_built_end - relay_built_bytes);\n"
      "}}\n\n",
      std::filesystem::path(header_path(request)).filename().string());
  text += functions.bodies;
  text += fmt::format(
      "const char *{0}_error(void) {{ return relay_built_error(); }}\n"
      "int {0}_set_threads(int threads) {{ return relay_built_threads(&relay_object, threads); }}\n"
      "int64_t {0}_slow_kernels(void) {{ return relay_built_slow_kernels(&relay_object); }}\n",
      object_name(request));
  return text;
}

}  // namespace

std::vector<std::string> own_functions(const std::string& object) {
  return {object + "_error", object + "_set_threads", object + "_slow_kernels"};
}

CText c_text(const Request& request, const std::vector<Exported>& functions) {
  const CFunctions parts = c_functions(object_name(request), functions);
  CText text{header(request, parts), source(request, parts), own_functions(object_name(request))};
  for (const Exported& each : functions) {
    if (std::find(text.symbols.begin(), text.symbols.end(), each.name) != text.symbols.end()) {
      lang::fail(lang::DiagnosticKind::Unsupported,
                 fmt::format("not supported: two functions that are `{}` in C", each.name));
    }
    text.symbols.push_back(each.name);
  }
  return text;
}

}  // namespace relay::ahead
