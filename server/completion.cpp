#include <algorithm>
#include <cctype>
#include <string>

#include "lang/op.h"
#include "repl/session.h"
#include "server/features.h"

namespace relay::server {

namespace {

enum class CompletionKind : int {
  Function = 3,
  Variable = 6,
  Module = 9,
  Keyword = 14,
  File = 17,
  Text = 1
};

// By what the candidate says of itself, which is for people: the kind is only for the picture.
CompletionKind kind_of(const repl::Candidate& candidate) {
  const std::string& detail = candidate.detail;
  if (candidate.text.ends_with('.')) return CompletionKind::Module;
  if (detail.starts_with("fn ") || lang::OpRegistry::instance().find(candidate.text))
    return CompletionKind::Function;
  if (detail.empty() || std::islower(static_cast<unsigned char>(detail[0])))
    return CompletionKind::Keyword;
  return CompletionKind::Variable;
}

}  // namespace

Json completion(Workspace& workspace, const Json& params) {
  Document& document = workspace.document(params);
  const std::string& text = document.text();
  const std::size_t offset = document.lines().offset(text, member(params, "position"));
  const repl::Completions found = document.analysis().session().complete(text, offset);
  Json items = Json::array();
  std::size_t place = 0;
  for (const repl::Candidate& each : found.candidates) {
    std::string order = std::to_string(++place);
    order.insert(0, 6 - std::min<std::size_t>(order.size(), 6), '0');
    Json item = {
        {"label", each.text},
        {"kind", static_cast<int>(kind_of(each))},
        {"sortText", order},
        {"textEdit",
         {{"range", document.lines().range(text, found.begin, found.end)}, {"newText", each.text}}},
        // What has been typed has been compared already.
        {"filterText", text.substr(found.begin, found.end - found.begin) + each.text}};
    if (!each.detail.empty()) item["detail"] = each.detail;
    items.push_back(std::move(item));
  }
  return {{"isIncomplete", true}, {"items", std::move(items)}};
}

}  // namespace relay::server
