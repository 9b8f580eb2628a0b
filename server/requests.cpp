#include "server/requests.h"

#include <array>

#include "server/features.h"

namespace relay::server {

namespace {

constexpr auto kRequests = std::to_array<Request>({
    {"textDocument/hover", hover},
    {"textDocument/completion", completion},
    {"textDocument/signatureHelp", signature_help},
    {"textDocument/definition", definition},
    {"textDocument/references", references},
    {"textDocument/documentHighlight", document_highlight},
    {"textDocument/documentSymbol", document_symbols},
    {"textDocument/formatting", formatting},
    {"textDocument/semanticTokens/full", semantic_tokens},
    {"textDocument/semanticTokens/range", semantic_tokens},
    {"textDocument/prepareRename", prepare_rename},
    {"textDocument/rename", rename},
    {"textDocument/codeAction", code_actions},
    {"textDocument/inlayHint", inlay_hints},
    {"textDocument/codeLens", code_lenses},
});

}  // namespace

std::span<const Request> requests() { return kRequests; }

Json capabilities() {
  constexpr int kIncremental = 2;
  return {
      {"positionEncoding", "utf-16"},
      {"textDocumentSync",
       {{"openClose", true}, {"change", kIncremental}, {"save", {{"includeText", false}}}}},
      {"hoverProvider", true},
      {"completionProvider", {{"triggerCharacters", {".", "\"", "%", "@"}}}},
      {"signatureHelpProvider", {{"triggerCharacters", {"(", ","}}}},
      {"definitionProvider", true},
      {"referencesProvider", true},
      {"documentHighlightProvider", true},
      {"documentSymbolProvider", true},
      {"documentFormattingProvider", true},
      {"semanticTokensProvider", {{"legend", semantic_legend()}, {"full", true}, {"range", true}}},
      {"renameProvider", {{"prepareProvider", true}}},
      {"codeActionProvider", {{"codeActionKinds", {"quickfix"}}}},
      {"inlayHintProvider", true},
      {"codeLensProvider", {{"resolveProvider", true}}},
  };
}

}  // namespace relay::server
