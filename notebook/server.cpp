#include "notebook/server.h"

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
  if (message.content() == nlohmann::json{{"status", "error"}})
    message = with_content(message, {{"status", "aborted"}});
  xserver_shell_main::send_shell_impl(std::move(message));
}

std::unique_ptr<xeus::xserver> make_server(xeus::xcontext& context,
                                           const xeus::xconfiguration& config,
                                           nlohmann::json::error_handler_t on_bad_text) {
  return std::make_unique<Server>(context.get_wrapped_context<zmq::context_t>(), config,
                                  on_bad_text);
}

}  // namespace relay::notebook
