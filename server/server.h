#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "server/evaluation.h"
#include "server/protocol.h"
#include "server/workspace.h"

namespace relay::server {

// One conversation with a client: its messages in, ours out. Who owns it hands in what has come,
// and says when nothing more waits.
class Server {
 public:
  using Send = std::function<void(const Json& message)>;
  Server(std::vector<std::string> search_path, Send send);

  // A message that has come; it is dealt with in `step`.
  void receive(std::string_view content);
  // What came was no message.
  void receive_broken(const std::string& what);
  // Deals with the first message that waits. False if none does.
  bool step();
  // Nothing waits: tells the client what is wrong with the texts that have changed.
  void idle();

  // Values for lenses that are being computed, for whoever waits for input (server/evaluation.h).
  Evaluations& evaluations() { return evaluations_; }

  // What the process ends with, once it is to end.
  std::optional<int> exit_status() const { return exit_status_; }
  int status_at_end() const { return state_ == State::ShutDown ? 0 : 1; }

 private:
  enum class State { New, Running, ShutDown };

  void handle(const Json& message);
  void handle_request(const Json& id, const std::string& method, const Json& params);
  void handle_notification(const std::string& method, const Json& params);
  bool was_cancelled(const Json& id);
  Json initialize(const Json& params);
  void publish(Document& document);
  void answer(const Json& id, Json result);
  void refuse(const Json& id, ErrorCode code, const std::string& message);
  void notify(const std::string& method, Json params);

  Send send_;
  State state_ = State::New;
  std::deque<Json> waiting_;
  std::optional<int> exit_status_;
  Workspace workspace_;
  Evaluations evaluations_;
  std::set<std::string> changed_;  // URIs of texts about which the client has to be told
};

}  // namespace relay::server
