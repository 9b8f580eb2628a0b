#include "notebook/interpreter.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <xeus/xguid.hpp>
#include <xeus/xhelper.hpp>

#include "notebook/positions.h"
#include "notebook/requests.h"
#include "repl/version.h"

namespace relay::notebook {

using Json = nlohmann::json;

namespace {

Json bundle_of(const Shown& shown) {
  Json data = {{"text/plain", shown.plain}};
  if (!shown.html.empty()) data["text/html"] = shown.html;
  if (!shown.svg.empty()) data["image/svg+xml"] = shown.svg;
  return data;
}

// What one error says for all: several are told in the traceback.
std::pair<std::string, std::string> name_and_message(const CellEnd& end) {
  if (!end.internal_error.empty()) return {"InternalError", end.internal_error};
  const lang::Diagnostic& first = end.errors.front();
  return {std::string(lang::name_of(first.kind)), first.message};
}

// xeus' own exchanges the name and the message.
Json error_reply(const CellEnd& end) {
  const auto [name, message] = name_and_message(end);
  return {
      {"status", "error"}, {"ename", name}, {"evalue", message}, {"traceback", traceback_of(end)}};
}

// Without one the place is the end of the text.
std::size_t byte_of_cursor(const std::string& code, int cursor) {
  return cursor < 0 ? code.size() : byte_at(code, static_cast<std::size_t>(cursor));
}

}  // namespace

Interpreter::Interpreter()
    : progress_([this](const std::string& text, bool is_new) { show_progress(text, is_new); }),
      cells_(events()) {
  xeus::register_interpreter(this);
}

CellEvents Interpreter::events() {
  CellEvents events;
  events.on_text = [this](Streams::Name name, const std::string& text) {
    publish_stream(name == Streams::Name::Output ? "stdout" : "stderr", text);
  };
  events.on_result = [this](const Shown& shown) {
    publish_execution_result(count_, bundle_of(shown), Json::object());
  };
  events.on_shown = [this](const Shown& shown) {
    display_data(bundle_of(shown), Json::object(), Json::object());
  };
  events.on_progress = [this](const std::string& text) { progress_.tell(text); };
  return events;
}

void Interpreter::show_progress(const std::string& text, bool is_new) {
  if (is_new) ++progresses_;
  const Json place = {{"display_id", fmt::format("relay-progress-{}", progresses_)}};
  const Json data = {{"text/plain", text}};
  if (is_new) return display_data(data, Json::object(), place);
  update_display_data(data, Json::object(), place);
}

Json Interpreter::execute_request_impl(int count, const std::string& code, bool is_silent, bool,
                                       Json user_expressions, bool) {
  count_ = count;
  progress_.begin();
  const CellEnd end = cells_.run(code, is_silent);
  progress_.end();
  if (!end.is_good()) {
    const auto [name, message] = name_and_message(end);
    publish_execution_error(name, message, traceback_of(end));
    return error_reply(end);
  }
  Json payload = Json::array();
  if (end.asks_to_quit) {
    // A console ends; a notebook has a menu for it.
    payload.push_back({{"source", "ask_exit"}, {"keepkernel", false}});
    if (!is_silent)
      publish_stream("stderr", "`:quit` ends a console; in a notebook, shut the kernel down\n");
  }
  Json values = Json::object();
  for (const auto& [name, expression] : user_expressions.items())
    values[name] = value_of(expression.is_string() ? expression.get<std::string>() : "");
  return xeus::create_successful_reply(payload, values);
}

Json Interpreter::value_of(const std::string& expression) {
  const auto value = cells_.evaluate(expression);
  if (value) return {{"status", "ok"}, {"data", bundle_of(*value)}, {"metadata", Json::object()}};
  CellEnd end;
  end.errors = value.errors();
  return error_reply(end);
}

Json Interpreter::complete_request_impl(const std::string& code, int cursor) {
  const auto found = cells_.complete(code, byte_of_cursor(code, cursor));
  const auto begin = static_cast<int>(code_point_at(code, found.begin));
  const auto end = static_cast<int>(code_point_at(code, found.end));
  Json matches = Json::array();
  Json details = Json::array();
  for (const repl::Candidate& each : found.candidates) {
    matches.push_back(each.text);
    details.push_back({{"start", begin},
                       {"end", end},
                       {"text", each.text},
                       {"type", ""},
                       {"signature", each.detail}});
  }
  return xeus::create_complete_reply(matches, begin, end,
                                     {{"_jupyter_types_experimental", std::move(details)}});
}

Json Interpreter::inspect_request_impl(const std::string& code, int cursor, int detail_level) {
  const std::string text = cells_.inspect(code, byte_of_cursor(code, cursor), detail_level > 0);
  if (text.empty()) return xeus::create_inspect_reply();
  return xeus::create_inspect_reply(true, {{"text/plain", text}});
}

Json Interpreter::is_complete_request_impl(const std::string& code) {
  using State = Cells::Completeness::State;
  const auto [state, indent] = Cells::completeness_of(code);
  if (state == State::Incomplete) return xeus::create_is_complete_reply("incomplete", indent);
  return xeus::create_is_complete_reply(state == State::Complete ? "complete" : "invalid");
}

// Editors colour a cell by the mode of CodeMirror: that of Rust has the keywords and comments of
// the light notation.
Json Interpreter::kernel_info_request_impl() {
  const Json links = Json::array();
  return xeus::create_info_reply(
      "", "relay", RELAY_VERSION, "relay", RELAY_VERSION, "text/x-relay", ".relay", "text", "rust",
      "", fmt::format("Relay {} (:help for commands)", RELAY_VERSION), false, links);
}

// A cell that runs gives way.
void Interpreter::shutdown_request_impl() { Request::interrupt(); }

}  // namespace relay::notebook
