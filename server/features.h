#pragma once

#include "server/protocol.h"
#include "server/workspace.h"

// What the server answers requests about texts with; each is in a file of its own, of that name.
// They take the request's parameters and give its result, or throw RequestError.
namespace relay::server {

Json hover(Workspace& workspace, const Json& params);
Json completion(Workspace& workspace, const Json& params);
Json signature_help(Workspace& workspace, const Json& params);
Json definition(Workspace& workspace, const Json& params);          // navigation.cpp
Json references(Workspace& workspace, const Json& params);          // navigation.cpp
Json document_highlight(Workspace& workspace, const Json& params);  // navigation.cpp
Json document_symbols(Workspace& workspace, const Json& params);
Json formatting(Workspace& workspace, const Json& params);
Json semantic_tokens(Workspace& workspace, const Json& params);
Json semantic_legend();                                         // semantic_tokens.cpp
Json prepare_rename(Workspace& workspace, const Json& params);  // rename.cpp
Json rename(Workspace& workspace, const Json& params);
Json code_actions(Workspace& workspace, const Json& params);
Json inlay_hints(Workspace& workspace, const Json& params);
Json code_lenses(Workspace& workspace, const Json& params);

// What is wrong with a text, for `textDocument/publishDiagnostics` (diagnostics.cpp).
Json diagnostics_of(Document& document);

}  // namespace relay::server
