#include "server/server.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "lang/diagnostic.h"
#include "server/expectations.h"
#include "server/features.h"
#include "server/requests.h"
#include "server/uri.h"

namespace relay::server {

namespace {

constexpr int kMostLevels = 500;

}  // namespace

Server::Server(std::vector<std::string> search_path, Send send)
    : send_(std::move(send)), workspace_(std::move(search_path)) {}

void Server::receive(std::string_view content) {
  // A message is copied and written by recursion.
  int depth = 0;
  const auto note_depth = [&](int level, Json::parse_event_t, Json&) {
    depth = std::max(depth, level);
    return level <= kMostLevels;
  };
  Json message = Json::parse(content, note_depth, false);
  if (depth > kMostLevels) {
    // Whoever asked is told so under the question's own number: it stands above what is too deep.
    const Json* id = message.is_object() && message.contains("id") ? &message["id"] : nullptr;
    const bool is_question = id && (id->is_string() || id->is_number());
    return refuse(is_question ? *id : Json(),
                  is_question ? ErrorCode::InvalidRequest : ErrorCode::ParseError,
                  fmt::format("the message is nested more than {} levels deep", kMostLevels));
  }
  if (message.is_discarded()) return receive_broken("the message is no JSON");
  waiting_.push_back(std::move(message));
}

void Server::receive_broken(const std::string& what) {
  refuse(nullptr, ErrorCode::ParseError, what);
}

bool Server::step() {
  if (waiting_.empty()) return false;
  const Json message = std::move(waiting_.front());
  waiting_.pop_front();
  handle(message);
  return true;
}

void Server::idle() {
  for (const std::string& uri : std::exchange(changed_, {})) {
    if (Document* document = workspace_.find(uri)) publish(*document);
  }
}

void Server::publish(Document& document) {
  Json params = {{"uri", document.uri()}, {"diagnostics", diagnostics_of(document)}};
  if (document.version().is_number()) params["version"] = document.version();
  notify("textDocument/publishDiagnostics", std::move(params));
}

void Server::answer(const Json& id, Json result) {
  send_({{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}});
}

void Server::refuse(const Json& id, ErrorCode code, const std::string& message) {
  send_({{"jsonrpc", "2.0"},
         {"id", id},
         {"error", {{"code", static_cast<int>(code)}, {"message", message}}}});
}

void Server::notify(const std::string& method, Json params) {
  send_({{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}});
}

// A batch is refused: the protocol does without them since JSON-RPC's first use in it.
void Server::handle(const Json& message) {
  const auto method = message.is_object() ? message.find("method") : message.end();
  const bool is_object = message.is_object();
  Json id;
  if (is_object && message.contains("id")) id = message["id"];
  const bool has_id = is_object && message.contains("id");
  if (has_id && !id.is_string() && !id.is_number() && !id.is_null())
    return refuse(nullptr, ErrorCode::InvalidRequest, "`id` is neither a number nor a string");
  if (!is_object || method == message.end() || !method->is_string()) {
    // What answers us: we ask for nothing.
    if (is_object && (message.contains("result") || message.contains("error"))) return;
    return refuse(id, ErrorCode::InvalidRequest, "the message has no `method`");
  }
  const Json params = message.value("params", Json::object());
  if (!has_id) return handle_notification(method->get<std::string>(), params);
  try {
    handle_request(id, method->get<std::string>(), params);
  } catch (const RequestError& error) {
    refuse(id, error.code, error.what());
  } catch (const lang::Failure& failure) {
    refuse(id, ErrorCode::RequestFailed, failure.what());
  } catch (const std::exception& error) {
    refuse(id, ErrorCode::InternalError, fmt::format("internal error: {}", error.what()));
  }
}

bool Server::was_cancelled(const Json& id) {
  for (const Json& message : waiting_) {
    if (!message.is_object() || message.value("method", Json()) != "$/cancelRequest") continue;
    const Json params = message.value("params", Json::object());
    if (params.is_object() && params.value("id", Json()) == id) return true;
  }
  return false;
}

void Server::handle_request(const Json& id, const std::string& method, const Json& params) {
  if (state_ == State::ShutDown)
    throw RequestError(ErrorCode::InvalidRequest, "the server has been shut down");
  if (method == "initialize") {
    if (state_ == State::Running)
      throw RequestError(ErrorCode::InvalidRequest, "the server has been initialized already");
    return answer(id, initialize(params));
  }
  if (state_ == State::New)
    throw RequestError(ErrorCode::ServerNotInitialized, "`initialize` comes first");
  if (was_cancelled(id)) throw RequestError(ErrorCode::RequestCancelled, "cancelled");
  if (method == "shutdown") {
    state_ = State::ShutDown;
    return answer(id, nullptr);
  }
  if (method == "codeLens/resolve") {
    const Json& data = member(params, "data");
    Document* document = workspace_.find(string_member(data, "uri"));
    if (!document) throw RequestError(ErrorCode::ContentModified, "the text is not open any more");
    const std::string text = document->text();
    evaluations_.start(document->path(), text, workspace_.options(),
                       [this, id, lens = params, text](const Json& outcome) {
                         if (outcome.is_null())
                           return refuse(id, ErrorCode::ContentModified, "the text has changed");
                         answer(id, with_value(lens, text, outcome));
                       });
    return;
  }
  for (const Request& request : requests()) {
    if (request.method == method) return answer(id, request.answer(workspace_, params));
  }
  throw RequestError(ErrorCode::MethodNotFound, fmt::format("`{}` is not known here", method));
}

// What is wrong with one is nobody's to be told.
void Server::handle_notification(const std::string& method, const Json& params) {
  if (method == "exit") {
    exit_status_ = status_at_end();
    return;
  }
  if (state_ != State::Running) return;
  try {
    if (method == "textDocument/didOpen") {
      const Json& item = member(params, "textDocument");
      const std::string uri = string_member(item, "uri");
      workspace_.open(uri, string_member(item, "text"), item.value("version", Json()));
      evaluations_.forget(path_of(uri));
      changed_.insert(uri);
    } else if (method == "textDocument/didChange") {
      Document& document = workspace_.document(params);
      evaluations_.forget(document.path());
      document.change(member(params, "contentChanges"),
                      member(params, "textDocument").value("version", Json()));
      changed_.insert(document.uri());
    } else if (method == "textDocument/didClose") {
      Document& document = workspace_.document(params);
      const std::string uri = document.uri();
      evaluations_.forget(document.path());
      workspace_.close(uri);
      changed_.erase(uri);
      // The client shows nothing of what it does not have open.
      notify("textDocument/publishDiagnostics", {{"uri", uri}, {"diagnostics", Json::array()}});
    } else if (method != "workspace/didChangeWatchedFiles" && method != "textDocument/didSave") {
      return;
    }
    for (auto& [uri, document] : workspace_.documents()) {
      if (document.text().find("import") == std::string::npos) continue;
      document.look_again();
      // What is saved has been read before, as it is here.
      if (method != "textDocument/didSave") evaluations_.forget(document.path());
      changed_.insert(uri);
    }
  } catch (const std::exception& error) {
    notify("window/logMessage",
           {{"type", 1}, {"message", fmt::format("{}: {}", method, error.what())}});
  }
}

Json Server::initialize(const Json& params) {
  std::vector<std::string> folders;
  const auto add = [&](const Json& uri) {
    if (uri.is_string()) folders.push_back(path_of(uri.get<std::string>()));
  };
  if (params.is_object()) {
    const Json listed = params.value("workspaceFolders", Json());
    if (listed.is_array()) {
      for (const Json& folder : listed) {
        if (folder.is_object()) add(folder.value("uri", Json()));
      }
    }
    if (folders.empty()) add(params.value("rootUri", Json()));
  }
  workspace_.set_folders(std::move(folders));
  state_ = State::Running;
  return {{"capabilities", capabilities()},
          {"serverInfo", {{"name", "relay"}, {"version", RELAY_VERSION}}}};
}

}  // namespace relay::server
