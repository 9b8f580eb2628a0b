#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lang/diagnostic.h"
#include "server/features.h"
#include "server/uri.h"

namespace relay::server {

using lang::Diagnostic;

namespace {

struct Edit {
  std::size_t begin;
  std::size_t end;
  std::string text;
};

// What stands in backticks, in its order.
std::vector<std::string> quoted_in(std::string_view text) {
  std::vector<std::string> found;
  for (std::size_t at = text.find('`'); at != std::string_view::npos;) {
    const std::size_t end = text.find('`', at + 1);
    if (end == std::string_view::npos) break;
    found.emplace_back(text.substr(at + 1, end - at - 1));
    at = text.find('`', end + 1);
  }
  return found;
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// The edits that a help may mean, the likeliest first. Which of them it is, trying tells.
void add_edits(const Diagnostic& error, const std::string& note, std::string_view text,
               std::vector<Edit>& edits) {
  const std::vector<std::string> quoted = quoted_in(note);
  if (quoted.empty()) return;
  const std::string& written = quoted.front();
  const std::size_t begin = error.span.begin;
  const std::size_t end = error.span.end;
  const std::string_view here = text.substr(begin, end - begin);
  const auto begins = [&](std::string_view words) { return note.starts_with(words); };
  if (begins("help: did you mean `") || note.find(" is written `") != std::string::npos) {
    // The name that the message is about, if there is more at its place.
    for (const std::string& name : quoted_in(error.message)) {
      const std::size_t at = here.find(name);
      if (at == std::string_view::npos || here.find(name, at + 1) != std::string_view::npos)
        continue;
      edits.push_back({begin + at, begin + at + name.size(), written});
    }
    edits.push_back({begin, end, written});
  } else if (begins("help: put `") || begins("help: to compare, write `")) {
    std::size_t behind = begin;  // what stands before
    while (behind > 0 && is_blank(text[behind - 1])) --behind;
    const std::string mark = begins("help: put `") ? written : "=";
    edits.push_back({behind, behind, mark});
    edits.push_back({begin, begin, mark});
    edits.push_back({end, end, mark});
  } else if (begins("help: comments begin with `")) {
    edits.push_back({begin, begin + 1, written});
  } else if (begins("help: for a subtraction")) {
    edits.push_back({begin + 1, begin + 1, " "});
  } else if (begins("help: `")) {
    // An operand in another form: `transpose(b)` for a `b` that a label shows.
    for (const lang::Label& label : error.labels) {
      if (label.span.source != error.span.source) continue;
      const std::string_view operand = label.span.text();
      if (written.find("(" + std::string(operand)) == std::string::npos) continue;
      edits.push_back({label.span.begin, label.span.end, written});
    }
  }
}

std::vector<std::string> errors_of(const Analysis& analysis) {
  std::vector<std::string> errors;
  for (const Diagnostic& each : analysis.diagnostics()) errors.push_back(each.message);
  std::sort(errors.begin(), errors.end());
  return errors;
}

// Tries edits of a text.
class Trial {
 public:
  Trial(Workspace& workspace, Document& document)
      : text_(document.text()), analysis_(workspace.try_out(document.path(), none_)) {
    analysis_->update(text_);
  }

  // Is the error, and nothing else, mended by it?
  bool mends(const Edit& edit, const Diagnostic& error) {
    std::vector<std::string> left = errors_of(*original());
    const auto found = std::find(left.begin(), left.end(), error.message);
    if (found == left.end()) return false;
    left.erase(found);
    std::string text = text_;
    text.replace(edit.begin, edit.end - edit.begin, edit.text);
    analysis_->update(text);
    is_original_ = false;
    return errors_of(*analysis_) == left;
  }

 private:
  Analysis* original() {
    if (!is_original_) analysis_->update(text_);
    is_original_ = true;
    return analysis_.get();
  }

  const std::map<std::string, std::string> none_;
  const std::string text_;
  std::unique_ptr<Analysis> analysis_;
  bool is_original_ = true;
};

}  // namespace

// The computed mends of the errors in the range: each has been tried, and mends its error.
Json code_actions(Workspace& workspace, const Json& params) {
  constexpr std::size_t kMostTries = 12;
  Document& document = workspace.document(params);
  Analysis& analysis = document.analysis();
  const std::string& text = document.text();
  const Json& range = member(params, "range");
  const std::size_t begin = document.lines().offset(text, member(range, "start"));
  const std::size_t end = document.lines().offset(text, member(range, "end"));
  Json actions = Json::array();
  std::optional<Trial> trial;
  std::size_t tries = 0;
  const Json shown = diagnostics_of(document);
  for (std::size_t i = 0; i < analysis.diagnostics().size(); ++i) {
    const Diagnostic& error = analysis.diagnostics()[i];
    if (error.span.source != &analysis.source() || error.span.end < begin || error.span.begin > end)
      continue;
    for (const std::string& note : error.notes) {
      std::vector<Edit> edits;
      add_edits(error, note, text, edits);
      for (const Edit& edit : edits) {
        if (++tries > kMostTries) return actions;
        if (!trial) trial.emplace(workspace, document);
        if (!trial->mends(edit, error)) continue;
        Json change = {{"range", document.lines().range(text, edit.begin, edit.end)},
                       {"newText", edit.text}};
        actions.push_back(
            {{"title", note.substr(std::string_view("help: ").size())},
             {"kind", "quickfix"},
             {"diagnostics", Json::array({shown[i]})},
             {"isPreferred", true},
             {"edit", {{"changes", {{document.uri(), Json::array({std::move(change)})}}}}}});
        break;
      }
    }
  }
  return actions;
}

}  // namespace relay::server
