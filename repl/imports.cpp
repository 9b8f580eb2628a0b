#include "repl/imports.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lang/op.h"
#include "repl/files.h"
#include "stdlib/library.h"

namespace relay::repl {

namespace fs = std::filesystem;
using lang::Diagnostic;
using lang::DiagnosticKind;

namespace {

std::string key_of(const std::string& path) {
  std::error_code error;
  const fs::path canonical = fs::weakly_canonical(path, error);
  return error ? path : canonical.string();
}

// A file that is there, of nearly that name; empty if there is none.
std::string close_to(const std::string& path, const std::vector<std::string>& places) {
  const std::string whole = path + ".relay";
  for (const std::string& place : places) {
    std::error_code error;
    if (fs::is_regular_file(place + ".relay", error)) return whole;
  }
  std::vector<std::string> library;
  for (const stdlib::EmbeddedFile& file : stdlib::library_files())
    library.push_back(fs::path(file.name).stem().string());
  const std::vector<std::string> close =
      lang::closest_names(fs::path(path).stem().string(), library);
  return close.empty() ? "" : close.front() + ".relay";
}

}  // namespace

void Imports::set_tree(const std::string& folder) {
  using formats::FileAccess;
  access_ = FileAccess::beneath({folder}, "the program's folder").within(files_allowed_);
  if (!files_allowed_.is_none()) access_ = access_.with(FileAccess::beneath(search_path_, ""));
}

std::string Imports::read(const ImportedFile& file, lang::Span span) const {
  if (file.text) return std::string(*file.text);
  if (edited_) {
    if (std::optional<std::string> text = edited_(file.path)) return std::move(*text);
  }
  auto text = read_file(file.path, access_);
  if (text) return std::move(*text);
  refuse(lang::Failure(text.errors()), file.path, span);
}

void Imports::refuse(lang::Failure&& failure, const std::string& path, lang::Span span) const {
  Diagnostic& diagnostic = failure.diagnostics.front();
  diagnostic.span = span;
  if (diagnostic.kind == DiagnosticKind::FileRefused && !files_allowed_.is_none()) {
    std::error_code error;
    const fs::path real = fs::proximate(fs::weakly_canonical(path, error), error);
    const std::string folder = real.has_parent_path() ? real.parent_path().string() : ".";
    diagnostic.note(fmt::format("help: `-I {}` allows imports from there", folder));
  }
  throw std::move(failure);
}

ImportedFile& Imports::find(const std::string& path, const std::string& directory,
                            lang::Span span) {
  std::vector<std::string> places;
  if (fs::path(path).is_absolute()) {
    places.push_back(path);
  } else {
    places.push_back((fs::path(directory) / path).lexically_normal().string());
    for (const std::string& folder : search_path_)
      places.push_back((fs::path(folder) / path).lexically_normal().string());
  }
  const auto found = std::find_if(places.begin(), places.end(), [](const std::string& place) {
    std::error_code error;
    return fs::is_regular_file(place, error);
  });
  if (found == places.end()) {
    if (ImportedFile* library = find_in_library(path)) return *library;
    refuse_other_than_files(places, span);
    places.erase(std::unique(places.begin(), places.end()), places.end());
    Diagnostic diagnostic(DiagnosticKind::FileError, fmt::format("cannot find `{}`", path), span);
    diagnostic.note(fmt::format("note: looked for `{}`", fmt::join(places, "`, `")));
    if (const std::string close = close_to(path, places); !close.empty())
      diagnostic.note(fmt::format("help: did you mean `{}`?", close));
    throw lang::Failure(std::move(diagnostic));
  }
  try {
    access_.open(*found);  // before anything is said of what stands there
  } catch (lang::Failure& failure) {
    refuse(std::move(failure), *found, span);
  }
  std::unique_ptr<ImportedFile>& file = files_[key_of(*found)];
  if (!file) {
    file = std::make_unique<ImportedFile>();
    file->path = *found;
    file->key = key_of(*found);
    file->prefix = new_prefix(*found);
  }
  return *file;
}

void Imports::refuse_other_than_files(const std::vector<std::string>& places,
                                      lang::Span span) const {
  for (const std::string& place : places) {
    std::error_code error;
    if (!fs::exists(place, error)) continue;
    try {
      access_.open(place);  // refuses folders too
    } catch (lang::Failure& failure) {
      refuse(std::move(failure), place, span);
    }
    lang::fail(DiagnosticKind::FileError,
               fmt::format("cannot import `{}`: it is a pipe or device, and no file", place), span);
  }
}

// Its folder is none of the disk's, and its names begin with the file's.
ImportedFile* Imports::find_in_library(const std::string& path) {
  for (const stdlib::EmbeddedFile& embedded : stdlib::library_files()) {
    if (embedded.name != path) continue;
    const std::string shown = fmt::format("{}{}", lang::Source::kLibrary, embedded.name);
    std::unique_ptr<ImportedFile>& file = files_[shown];
    if (!file) {
      file = std::make_unique<ImportedFile>();
      file->path = shown;
      file->key = shown;
      file->prefix = new_prefix(shown);
      file->text = embedded.text;
    }
    return file.get();
  }
  return nullptr;
}

// The file's name as a name, with a number behind it if another file has the same one.
std::string Imports::new_prefix(const std::string& path) {
  std::string stem = fs::path(path).stem().string();
  for (char& c : stem) {
    if (!std::isalnum(static_cast<unsigned char>(c)) || static_cast<unsigned char>(c) >= 0x80)
      c = '_';
  }
  if (stem.empty() || std::isdigit(static_cast<unsigned char>(stem[0]))) stem.insert(0, "file_");
  std::string prefix = stem + ".";
  const auto is_taken = [&] {
    return std::any_of(files_.begin(), files_.end(), [&](const auto& entry) {
      return entry.second && entry.second->prefix == prefix;
    });
  };
  for (int number = 2; is_taken(); ++number) prefix = fmt::format("{}_{}.", stem, number);
  return prefix;
}

Imports::Reading::Reading(Imports& imports, const std::string& path, lang::Span span)
    : imports_(imports) {
  auto& reading = imports.reading_;
  const auto first = std::find_if(reading.begin(), reading.end(), [&](const std::string& other) {
    return key_of(other) == key_of(path);
  });
  if (first != reading.end()) {
    lang::fail(DiagnosticKind::ImportCycle,
               fmt::format("import cycle: {} \u2192 {}",
                           fmt::join(first, reading.end(), " \u2192 "), path),
               span);
  }
  reading.push_back(path);
}

}  // namespace relay::repl
