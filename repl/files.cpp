#include "repl/files.h"

#include <cerrno>
#include <cstring>
#include <iostream>
#include <iterator>

#include <fmt/format.h>

#include "formats/bytes.h"
#include "formats/output_file.h"
#include "lang/stop.h"

namespace relay::repl {

using lang::Diagnostic;
using lang::DiagnosticKind;

namespace {

constexpr std::size_t kLongestText = std::size_t{1} << 30U;  // places are numbers of 32 bits

Diagnostic too_long(const std::string& path) {
  return {DiagnosticKind::Unsupported,
          fmt::format("not supported: `{}` is a text of more than 1 GiB", path)};
}

lang::Result<std::string> standard_input() {
  errno = 0;
  std::string text;
  std::string part(std::size_t{1} << 16U, '\0');
  while (std::cin) {
    std::cin.read(part.data(), static_cast<std::streamsize>(part.size()));
    text.append(part, 0, static_cast<std::size_t>(std::cin.gcount()));
    if (text.size() > kLongestText) return too_long("-");
  }
  if (std::cin.bad()) {
    return Diagnostic(DiagnosticKind::FileError,
                      fmt::format("cannot read standard input: {}", std::strerror(errno)));
  }
  return text;
}

}  // namespace

lang::Result<std::string> read_file(const std::string& path, const formats::FileAccess& access) {
  if (path == "-") return standard_input();
  return lang::capture([&] {
    formats::FileReader file({path, "", ",", false, access},
                             [](std::int64_t, std::int64_t) { lang::poll(); });
    std::string text;
    std::string part(std::size_t{1} << 16U, '\0');
    for (std::size_t count = 0;
         (count = file.read_some(std::as_writable_bytes(std::span(part)))) > 0;) {
      text.append(part, 0, count);
      if (text.size() > kLongestText) throw lang::Failure(too_long(path));
    }
    return text;
  });
}

lang::Result<bool> write_file(const std::string& path, const std::string& text) {
  return lang::capture([&] {
    formats::write_whole(path, text);
    return true;
  });
}

}  // namespace relay::repl
