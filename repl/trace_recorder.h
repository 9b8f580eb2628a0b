#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "repl/instrument.h"
#include "repl/table.h"
#include "repl/watcher.h"

namespace relay::repl {

// What instrumented code has told, in order of evaluation: a line for each value, with the adjoint
// or tangent that came back for it. Of very many the first and the last are kept.
class TraceRecorder final : public Watcher {
 public:
  // `columns`: what the derivatives are, `adjoint` or `tangent`, the inner one first.
  TraceRecorder(const Instrumenter& code, std::vector<std::string> columns)
      : Watcher(code.watch()), places_(code.places()), columns_(std::move(columns)) {}

  // The run has failed: the line that had begun last is marked so. `what`: how it failed.
  void fail(const std::string& what);

  bool is_empty() const { return first_.empty(); }
  Table table() const;

  lang::Result<lang::Value> hear(const std::string& name, std::size_t place,
                                 const std::vector<lang::Value>& values) override;

 private:
  struct Event {
    std::size_t place;
    int depth;
    std::optional<lang::Value> value = {};
    std::vector<std::optional<lang::Value>> derivatives = {};  // as far as they have come
    bool has_derivative = false;                               // may one come?
    std::string failure = {};
  };
  struct Begun {
    std::size_t place;
    int depth;
    std::size_t number;  // of the event that comes next
  };
  std::size_t size() const { return first_.size() + last_.size(); }
  std::size_t count() const { return size() + left_out_; }
  const Event& at(std::size_t index) const {
    return index < first_.size() ? first_[index] : last_[index - first_.size()];
  }
  void add(Event event);
  Event* find(std::size_t number);
  void pass_mark(std::size_t place);
  void end(std::size_t place);
  void end_all(int depth);
  static bool is_kept(const Event& event);
  // Indices of events, in order. In the place of those that are left out stands, once, their
  // number with the highest bit set.
  std::vector<std::size_t> kept() const;

  void add_derivative(Event& event, bool is_tangent, const lang::Value& value) const;

  const std::vector<TracePlace>& places_;
  std::vector<std::string> columns_;
  std::vector<Event> first_;
  std::deque<Event> last_;
  std::size_t left_out_ = 0;  // between those
  std::vector<Begun> begun_;  // lines that are not done
  int depth_ = 0;
};

}  // namespace relay::repl
