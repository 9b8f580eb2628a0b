#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/file_access.h"
#include "lang/diagnostic.h"
#include "lang/module.h"

namespace relay::repl {

// What an importing text sees of a file: its definitions, and those it imports. The module has
// them by their full names; `names` are the others, with what they stand for.
struct Exports {
  lang::Module module;
  std::map<std::string, std::string> names;
};

// A file that has been imported, or is being imported.
struct ImportedFile {
  std::string path;                           // as shown to the user
  std::string key;                            // the same for all ways to write the path
  std::string prefix;                         // of its globals' names: `other.`
  std::optional<std::string_view> text = {};  // of a file of the standard library
  Exports exports = {};
  bool is_loaded = false;
  const lang::Source* source = nullptr;     // what was loaded
  std::vector<ImportedFile*> imports = {};  // those of the text itself
  std::uint64_t looked_at = 0;              // Imports::is_to_be_looked_at
};

// The files of a session: where they are found, which are loaded, which are being loaded. The
// session loads them; here is only the bookkeeping.
class Imports {
 public:
  using EditedText = std::function<std::optional<std::string>(const std::string& path)>;
  // `files`: what may be opened in all. `edited`: texts that are read instead of what the disk has;
  // null: none.
  Imports(std::vector<std::string> search_path, const formats::FileAccess& files,
          EditedText edited = nullptr)
      : search_path_(std::move(search_path)), files_allowed_(files), edited_(std::move(edited)) {
    set_tree("");
  }

  // Imports may lead into the folder of the main text, as far as its files may be opened, into the
  // folders of the search path, and nowhere else.
  void set_tree(const std::string& folder);

  // The file that `import "path"` means in a text whose folder is `directory`: relative to that
  // folder, then to each folder of the search path, then in the standard library. Throws
  // Failure(FileError, FileRefused) at `span`.
  ImportedFile& find(const std::string& path, const std::string& directory, lang::Span span);
  // The text of a file that is imported at `span`. Throws as `find`.
  std::string read(const ImportedFile& file, lang::Span span) const;

  // A new text begins: files may have been edited since.
  void look_again() { ++texts_; }
  // True once for each text, so that all that one text imports is of one time.
  bool is_to_be_looked_at(ImportedFile& file) const {
    return std::exchange(file.looked_at, texts_) != texts_;
  }

  // Around the reading of a file. Throws Failure(ImportCycle) if it is being read already.
  class Reading {
   public:
    Reading(Imports& imports, const std::string& path, lang::Span span);
    ~Reading() { imports_.reading_.pop_back(); }
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;

   private:
    Imports& imports_;
  };

 private:
  ImportedFile* find_in_library(const std::string& path);  // null: not there
  std::string new_prefix(const std::string& path);
  // What stands at one of these places cannot be imported; returns if there is nothing.
  void refuse_other_than_files(const std::vector<std::string>& places, lang::Span span) const;

  [[noreturn]] void refuse(lang::Failure&& failure, const std::string& path, lang::Span span) const;

  std::vector<std::string> search_path_;
  formats::FileAccess files_allowed_;
  EditedText edited_;
  formats::FileAccess access_;
  std::map<std::string, std::unique_ptr<ImportedFile>> files_;  // by key
  std::uint64_t texts_ = 1;
  std::vector<std::string> reading_;  // paths, outermost first
};

}  // namespace relay::repl
