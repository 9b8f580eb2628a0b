#include "notebook/server.h"

#include <utility>

#include <xeus/xguid.hpp>

#include "notebook/requests.h"

namespace relay::notebook {

namespace {

xeus::xmessage with_content(const xeus::xmessage& message, nlohmann::json content) {
  return {message.identities(), message.header(),   message.parent_header(),
          message.metadata(),   std::move(content), xeus::buffer_sequence()};
}

}  // namespace

void Server::send_control_impl(xeus::xmessage message) {
  if (message.header().value("msg_type", "") == "interrupt_reply") Request::interrupt();
  nlohmann::json content = message.content();
  if (!content.contains("status")) content["status"] = "ok";  // the protocol asks for it
  xserver_shell_main::send_control_impl(with_content(message, std::move(content)));
}

void Server::send_shell_impl(xeus::xmessage message) {
  if (message.content() != nlohmann::json{{"status", "error"}})
    return xserver_shell_main::send_shell_impl(std::move(message));
  const xeus::xmessage given_up = with_content(message, {{"status", "aborted"}});
  xserver_shell_main::send_shell_impl(with_content(given_up, given_up.content()));
  publish_states(given_up);
}

// Whoever asked waits for the last of them.
void Server::publish_states(const xeus::xmessage& reply) {
  for (const char* const state : {"busy", "idle"}) {
    nlohmann::json header = reply.header();
    header["msg_type"] = "status";
    header["msg_id"] = xeus::new_xguid();
    xserver_shell_main::publish_impl({"status",
                                      std::move(header),
                                      reply.parent_header(),
                                      nlohmann::json::object(),
                                      {{"execution_state", state}},
                                      xeus::buffer_sequence()},
                                     xeus::channel::SHELL);
  }
}

void Server::publish_impl(xeus::xpub_message message, xeus::channel channel) {
  const bool is_end =
      channel == xeus::channel::SHELL && message.content().value("execution_state", "") == "idle";
  xserver_shell_main::publish_impl(std::move(message), channel);
  if (!is_end) return;
  for (xeus::xmessage& question : std::exchange(questions_, {}))
    notify_shell_listener(std::move(question));
}

// What is handled in between would take the place of the cell that has failed, whose end is still
// to be told.
void Server::abort_queue_impl(const listener& give_up, long interval) {
  const auto take = [&](xeus::xmessage message) {
    if (message.header().value("msg_type", "") == "execute_request") {
      give_up(std::move(message));
    } else {
      questions_.push_back(std::move(message));
    }
  };
  xserver_shell_main::abort_queue_impl(take, interval);
}

std::unique_ptr<xeus::xserver> make_server(xeus::xcontext& context,
                                           const xeus::xconfiguration& config,
                                           nlohmann::json::error_handler_t on_bad_text) {
  return std::make_unique<Server>(context.get_wrapped_context<zmq::context_t>(), config,
                                  on_bad_text);
}

}  // namespace relay::notebook
