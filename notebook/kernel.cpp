#include "notebook/kernel.h"

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <thread>

#include <fmt/format.h>
#include <xeus/xeus_context.hpp>
#include <xeus/xkernel.hpp>
#include <xeus/xkernel_configuration.hpp>
#include <xeus/xserver_zmq.hpp>

#include "notebook/history.h"
#include "notebook/interpreter.h"
#include "notebook/server.h"
#include "repl/output.h"
#include "repl/signals.h"
#include "repl/tools.h"

namespace relay::notebook {

namespace {

// A kernel whose server has gone, as one that was killed, would wait for ever.
void end_with_parent() {
  const char* const parent = std::getenv("JPY_PARENT_PID");
  if (!parent || std::string_view(parent) != std::to_string(getppid())) return;
  std::thread([first = getppid()] {
    constexpr auto kBetween = std::chrono::seconds(1);
    while (getppid() == first) std::this_thread::sleep_for(kBetween);
    repl::Signals::end_by(SIGTERM);
  }).detach();
}

}  // namespace

int run_kernel(const std::string& connection_file) {
  xeus::xconfiguration config;
  try {
    config = xeus::load_configuration(connection_file);
  } catch (const std::exception& error) {
    repl::put_error(fmt::format("relay: {} is no connection file of Jupyter: {}\n", connection_file,
                                error.what()));
    return repl::kMisuse;
  }
  end_with_parent();
  // xeus ends by exit(), while its other threads, and those that compile, still run: what they work
  // with must not be taken down. What is registered last runs first.
  std::atexit([] { std::_Exit(0); });
  xeus::xkernel kernel(config, xeus::get_user_name(), xeus::make_context<zmq::context_t>(),
                       std::make_unique<Interpreter>(), make_server, std::make_unique<History>(),
                       nullptr, xeus::make_null_debugger, nlohmann::json::object(),
                       nlohmann::json::error_handler_t::replace);
  kernel.start();
  return 0;
}

}  // namespace relay::notebook
