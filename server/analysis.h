#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lang/diagnostic.h"
#include "lang/module.h"
#include "parser/occurrences.h"
#include "repl/read_text.h"
#include "repl/session.h"
#include "server/unchanged_items.h"
#include "typecheck/infer.h"

namespace relay::server {

// How texts are looked at.
struct AnalysisOptions {
  std::vector<std::string> search_path;  // of imports, behind the folder of the text
  std::function<std::optional<std::string>(const std::string& path)> edited;
  double seconds = 10;  // that one look may take
};

// What one text means, kept up to date while it changes. What a version gives is what a new
// analysis of it would give; items that mean the same as before are not checked again. Nothing is
// run, and no data file is opened.
class Analysis {
 public:
  Analysis(std::string path, AnalysisOptions options);
  ~Analysis();

  // Reads and checks a text. Cost: reading it, and inference of what has changed.
  void update(const std::string& text);

  const std::string& path() const { return path_; }
  // The path, written as it is for everyone (server/uri.h).
  const std::string& canonical_path() const { return canonical_path_; }
  const lang::Source& source() const { return *source_; }
  // Of the text: errors and warnings in its order.
  const std::vector<lang::Diagnostic>& diagnostics() const { return diagnostics_; }
  // Items as they were read; those with errors are not among them.
  const std::vector<parser::Item>& items() const { return text_.reading.parsed.items; }
  bool has_imports() const { return !imports_.empty(); }
  // In the order of the text, each place once.
  const parser::Occurrences& occurrences() const { return text_.occurrences; }
  // That which holds the byte, or ends there; null if none does.
  const parser::Occurrence* occurrence_at(std::size_t offset) const;

  // What inference has found inside of an item.
  const std::vector<typecheck::TypeAt>& types_in(const parser::Item& item);
  // The item that holds the byte, or ends there; null if none does.
  const parser::Item* item_at(std::size_t offset) const;
  // Of the innermost expression that holds the byte, with its place.
  std::optional<typecheck::TypeAt> type_at(std::size_t offset);

  const lang::Module& module() const { return module_; }
  typecheck::Checker& checker() { return *checker_; }
  repl::Session& session() { return *session_; }
  // Runs what asks the checker; what takes too long is left where it is.
  void within_limits(const std::function<void()>& body) { session_->within_limits(body); }

 private:
  void start_session();
  void forget_all();
  void read_and_check();
  void read();
  void check();
  std::string environment() const;

  const std::string path_;
  const std::string canonical_path_;
  const std::string directory_;
  const AnalysisOptions options_;
  std::unique_ptr<repl::Session> session_;
  std::vector<std::string> imports_;  // those of the text that the session is for
  std::unique_ptr<lang::Source> source_;
  repl::ReadText text_;
  lang::Module module_;
  std::unique_ptr<typecheck::Checker> checker_;
  std::vector<lang::Diagnostic> diagnostics_;
  // What items are checked in besides the other items: what is imported, and the text of its types.
  std::string environment_;
  std::string types_text_;
  // What was right in the last version, by what it says and means.
  RightItems right_;
  std::map<const parser::Item*, std::vector<typecheck::TypeAt>> types_;
};

}  // namespace relay::server
