#pragma once

#include <string>

#include <xeus/xinterpreter.hpp>

#include "notebook/cells.h"
#include "notebook/progress.h"

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
  void show_progress(const std::string& text, bool is_new);
  Json value_of(const std::string& expression);

  int count_ = 0;       // of the cell that runs
  int progresses_ = 0;  // places that say how far something is
  Progress progress_;
  Cells cells_;
};

}  // namespace relay::notebook
