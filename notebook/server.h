#pragma once

#include <memory>
#include <vector>

#include <xeus/xserver_shell_main.hpp>

namespace relay::notebook {

// xeus' server with the control channel on a thread of its own, beside the thread that runs cells.
// xeus answers a request to interrupt and tells nobody: the answer is where we hear of it. Of a
// cell that was waiting behind one that failed it says that it has failed, too, and not that it is
// done with it: it was given up. Questions that wait there it would give up as well: they are
// answered when the one that failed has ended.
class Server final : public xeus::xserver_shell_main {
 public:
  using xeus::xserver_shell_main::xserver_shell_main;

 private:
  void send_control_impl(xeus::xmessage message) override;
  void send_shell_impl(xeus::xmessage message) override;
  void publish_impl(xeus::xpub_message message, xeus::channel channel) override;
  void abort_queue_impl(const listener& give_up, long interval) override;
  void publish_states(const xeus::xmessage& reply);

  std::vector<xeus::xmessage> questions_;  // that waited behind a cell that has failed
};

std::unique_ptr<xeus::xserver> make_server(xeus::xcontext& context,
                                           const xeus::xconfiguration& config,
                                           nlohmann::json::error_handler_t on_bad_text);

}  // namespace relay::notebook
