#include "server/workspace.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "repl/files.h"
#include "server/uri.h"

namespace relay::server {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMostFiles = 2000;
constexpr std::size_t kMostBytes = std::size_t{64} << 20;
constexpr std::string_view kMark = "\xEF\xBB\xBF";  // a byte order mark, which is no text

std::string without_mark(std::string text) {
  if (text.starts_with(kMark)) text.erase(0, kMark.size());
  return text;
}

// The `.relay` files beneath a folder, in order of their names; hidden ones are left out.
void add_files(const std::string& folder, std::vector<std::string>& files) {
  std::error_code error;
  std::vector<fs::path> found;
  fs::recursive_directory_iterator each(folder, fs::directory_options::skip_permission_denied,
                                        error);
  for (; !error && each != fs::recursive_directory_iterator(); each.increment(error)) {
    const fs::path& path = each->path();
    if (path.filename().string().starts_with('.')) {
      each.disable_recursion_pending();
      continue;
    }
    std::error_code unknown;
    if (path.extension() == ".relay" && each->is_regular_file(unknown)) found.push_back(path);
    if (found.size() == kMostFiles) break;
  }
  std::sort(found.begin(), found.end());
  for (const fs::path& path : found) files.push_back(canonical(path.string()));
}

}  // namespace

Document::Document(std::string uri, std::string text, Json version, const AnalysisOptions& options)
    : uri_(std::move(uri)),
      path_(path_of(uri_)),
      text_(without_mark(std::move(text))),
      version_(std::move(version)),
      lines_(text_),
      analysis_(std::make_unique<Analysis>(path_, options)) {}

void Document::change(const Json& changes, Json version) {
  if (!changes.is_array())
    throw RequestError(ErrorCode::InvalidParams, "`contentChanges` is no list");
  // All of them or none.
  std::string changed = text_;
  Lines lines = lines_;
  for (const Json& change : changes) {
    std::string text = string_member(change, "text");
    if (change.contains("range") && !change["range"].is_null()) {
      const Json& range = change["range"];
      const std::size_t begin = lines.offset(changed, member(range, "start"));
      const std::size_t end = lines.offset(changed, member(range, "end"));
      if (end < begin)
        throw RequestError(ErrorCode::InvalidParams, "a range that ends before it begins");
      changed.replace(begin, end - begin, text);
    } else {
      changed = without_mark(std::move(text));
    }
    lines = Lines(changed);
  }
  text_ = std::move(changed);
  lines_ = std::move(lines);
  version_ = std::move(version);
  is_old_ = true;
}

Analysis& Document::analysis() {
  if (std::exchange(is_old_, false)) analysis_->update(text_);
  return *analysis_;
}

Workspace::Workspace(std::vector<std::string> search_path) : search_path_(std::move(search_path)) {}

AnalysisOptions Workspace::options() {
  AnalysisOptions options;
  options.search_path = search_path_;
  options.edited = [this](const std::string& path) -> std::optional<std::string> {
    const std::string wanted = canonical(path);
    for (const auto& [uri, document] : documents_) {
      if (canonical(document.path()) == wanted) return document.text();
    }
    return std::nullopt;
  };
  return options;
}

void Workspace::open(const std::string& uri, std::string text, Json version) {
  documents_.erase(uri);
  documents_.try_emplace(uri, uri, std::move(text), std::move(version), options());
}

void Workspace::close(const std::string& uri) { documents_.erase(uri); }

Document* Workspace::find(const std::string& uri) {
  const auto found = documents_.find(uri);
  return found == documents_.end() ? nullptr : &found->second;
}

Document& Workspace::document(const Json& params) {
  const std::string uri = string_member(member(params, "textDocument"), "uri");
  if (Document* found = find(uri)) return *found;
  throw RequestError(ErrorCode::InvalidParams, fmt::format("`{}` is not open", uri));
}

std::unique_ptr<Analysis> Workspace::try_out(const std::string& path,
                                             const std::map<std::string, std::string>& texts) {
  AnalysisOptions trying = options();
  trying.edited =
      [&texts, otherwise = trying.edited](const std::string& file) -> std::optional<std::string> {
    const auto found = texts.find(canonical(file));
    return found == texts.end() ? otherwise(file) : std::optional(found->second);
  };
  return std::make_unique<Analysis>(path, std::move(trying));
}

std::string Workspace::uri_for(const std::string& path) const {
  const std::string wanted = canonical(path);
  for (const auto& [uri, document] : documents_) {
    if (canonical(document.path()) == wanted) return uri;
  }
  return uri_of(path);
}

std::optional<std::string> Workspace::text_of(const std::string& path) const {
  const std::string wanted = canonical(path);
  for (const auto& [uri, document] : documents_) {
    if (canonical(document.path()) == wanted) return document.text();
  }
  std::error_code unknown;
  if (!fs::is_regular_file(path, unknown) || fs::file_size(path, unknown) > kMostBytes)
    return std::nullopt;
  auto text = repl::read_file(path);
  if (!text) return std::nullopt;
  return without_mark(std::move(*text));
}

void Workspace::for_each_text(const std::string& name,
                              const std::function<void(const Text&)>& visit) {
  std::vector<std::string> seen;
  for (auto& [uri, document] : documents_) {
    seen.push_back(canonical(document.path()));
    visit({uri, document.text(), document.lines(), &document.analysis()});
  }
  std::vector<std::string> files;
  for (const std::string& folder : folders_) add_files(folder, files);
  for (const std::string& path : files) {
    if (std::find(seen.begin(), seen.end(), path) != seen.end()) continue;
    seen.push_back(path);
    std::optional<std::string> text = text_of(path);
    if (!text || text->find(name) == std::string::npos) continue;
    Analysis analysis(path, options());
    analysis.update(*text);
    visit({uri_of(path), *text, Lines(*text), &analysis});
  }
}

}  // namespace relay::server
