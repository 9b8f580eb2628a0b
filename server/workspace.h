#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/analysis.h"
#include "server/position.h"
#include "server/protocol.h"

namespace relay::server {

// A text that the client has open.
class Document {
 public:
  Document(std::string uri, std::string text, Json version, const AnalysisOptions& options);

  const std::string& uri() const { return uri_; }
  const std::string& path() const { return path_; }
  const std::string& text() const { return text_; }
  const Json& version() const { return version_; }
  const Lines& lines() const { return lines_; }

  // Carries out the changes of a `didChange`, in their order; none where one is wrong. Throws
  // RequestError.
  void change(const Json& changes, Json version);
  // What it imports may have changed.
  void look_again() { is_old_ = true; }

  // Of the text as it is now.
  Analysis& analysis();

  Json range(lang::Span span) const { return lines_.range(text_, span.begin, span.end); }

 private:
  const std::string uri_;
  const std::string path_;
  std::string text_;
  Json version_;
  Lines lines_;
  std::unique_ptr<Analysis> analysis_;
  bool is_old_ = true;
};

// The texts that are open, and the files around them.
class Workspace {
 public:
  explicit Workspace(std::vector<std::string> search_path);

  void set_folders(std::vector<std::string> folders) { folders_ = std::move(folders); }

  void open(const std::string& uri, std::string text, Json version);
  void close(const std::string& uri);
  // The open text that a request is about: `params.textDocument.uri`. Throws RequestError.
  Document& document(const Json& params);
  Document* find(const std::string& uri);
  // How texts are looked at here: as they are where they are open. The result is for as long as the
  // workspace.
  AnalysisOptions options();
  std::map<std::string, Document>& documents() { return documents_; }

  // A text that may mention what another one defines: one that is open, or a file beneath the
  // folders of the workspace.
  struct Text {
    std::string uri;
    std::string text;
    Lines lines;
    Analysis* analysis;
  };
  // Visits the open texts, then the files in which `name` stands, `.relay` files beneath the
  // folders, at most 2,000 of them. Cost: reading these, and a look at each that has the name.
  void for_each_text(const std::string& name, const std::function<void(const Text&)>& visit);
  // Looks at texts as if some files had others, which stand under their canonical paths: for trying
  // out what an edit would do. `texts` must live as long as the result.
  std::unique_ptr<Analysis> try_out(const std::string& path,
                                    const std::map<std::string, std::string>& texts);
  // The URI of a file: the client's own, where it has it open.
  std::string uri_for(const std::string& path) const;
  // The text of a file, be it open or not; nothing where it cannot be read.
  std::optional<std::string> text_of(const std::string& path) const;

 private:
  std::vector<std::string> search_path_;
  std::vector<std::string> folders_;
  std::map<std::string, Document> documents_;  // by URI
};

}  // namespace relay::server
