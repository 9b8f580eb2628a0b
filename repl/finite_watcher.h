#pragma once

#include <optional>
#include <string>
#include <vector>

#include "repl/finite_marks.h"
#include "repl/watcher.h"

namespace relay::repl {

// Ends what runs with FiniteMarks at the first operator that makes a NaN or an infinity: in a
// value, of operands that have none, or in an adjoint or a tangent, by its rule.
class FiniteWatcher final : public Watcher {
 public:
  explicit FiniteWatcher(const FiniteMarks& code)
      : Watcher(code.watch()), places_(code.places()), seen_(places_.size()) {}

  // The index notation that has made it, which may be looked into.
  lang::Span index_notation() const { return index_notation_; }
  bool has_found() const { return has_found_; }

  lang::Result<lang::Value> hear(const std::string& name, std::size_t place,
                                 const std::vector<lang::Value>& values) override;

 private:
  struct Seen {
    std::string value;         // as it was told last, on a line
    std::string adjoint = {};  // likewise
    bool has_nan = false, has_infinity = false;
  };
  lang::Diagnostic made(std::size_t place, const lang::Value& value);
  lang::Diagnostic derived(std::size_t place, std::string_view what, const lang::Value& value);
  void describe_operands(std::size_t result, lang::Diagnostic& diagnostic) const;
  bool makes(std::size_t result, const lang::Value& value) const;
  void found(std::size_t place);

  const std::vector<FinitePlace>& places_;
  std::vector<Seen> seen_;  // by place
  lang::Span index_notation_;
  bool has_found_ = false;
};

}  // namespace relay::repl
