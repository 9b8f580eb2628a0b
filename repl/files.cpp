#include "repl/files.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <system_error>

#include <fmt/format.h>

namespace relay::repl {

namespace fs = std::filesystem;
using lang::Diagnostic;
using lang::DiagnosticKind;

namespace {

std::string rest_of(std::istream& in) {
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

Diagnostic cannot(std::string_view what, const std::string& path, const std::string& why) {
  return {DiagnosticKind::FileError, fmt::format("cannot {} `{}`: {}", what, path, why)};
}

}  // namespace

lang::Result<std::string> read_file(const std::string& path) {
  if (path == "-") return rest_of(std::cin);
  std::error_code error;
  if (fs::is_directory(path, error)) return cannot("open", path, "it is a directory");
  std::ifstream file(path, std::ios::binary);
  if (!file) return cannot("open", path, std::strerror(errno));
  return rest_of(file);
}

lang::Result<bool> write_file(const std::string& path, const std::string& text) {
  std::error_code error;
  const fs::path target = fs::canonical(path, error);  // a link stays one
  if (error) return cannot("write", path, error.message());
  const fs::path beside = target.string() + ".new";
  std::ofstream file(beside, std::ios::binary);
  if (!file) return cannot("write", path, std::strerror(errno));
  file << text;
  file.close();
  if (!file) {
    fs::remove(beside, error);
    return cannot("write", path, "the text could not be written whole");
  }
  fs::permissions(beside, fs::status(target).permissions(), error);
  fs::rename(beside, target, error);
  if (error) return cannot("write", path, error.message());
  return true;
}

}  // namespace relay::repl
