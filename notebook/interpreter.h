#pragma once

#include <chrono>
#include <string>

#include <xeus/xinterpreter.hpp>

#include "notebook/cells.h"

namespace relay::notebook {

// Cells in the words of the protocol.
class Interpreter final : public xeus::xinterpreter {
 public:
  Interpreter();

 private:
  using Json = nlohmann::json;
  void configure_impl() override {}
  Json execute_request_impl(int count, const std::string& code, bool is_silent, bool stores_history,
                            Json user_expressions, bool allows_input) override;
  Json complete_request_impl(const std::string& code, int cursor) override;
  Json inspect_request_impl(const std::string& code, int cursor, int detail_level) override;
  Json is_complete_request_impl(const std::string& code) override;
  Json kernel_info_request_impl() override;
  void shutdown_request_impl() override;  // on the thread of the control channel

  CellEvents events();
  void show_progress(const std::string& text);
  Json value_of(const std::string& expression);

  int count_ = 0;         // of the cell that runs
  std::string progress_;  // the display that says how far something is; empty: none yet
  int progresses_ = 0;
  std::chrono::steady_clock::time_point progress_shown_;
  Cells cells_;
};

}  // namespace relay::notebook
