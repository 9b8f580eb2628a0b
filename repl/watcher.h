#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lang/attrs.h"
#include "lang/diagnostic.h"
#include "lang/value.h"

namespace relay::repl {

// Who is told what instrumented code computes (repl/trace_operators.h).
class Watcher {
 public:
  // `watch`: of the code that it watches (InstrumentedCopies::watch).
  explicit Watcher(std::int64_t watch) : watch_(watch) {}
  virtual ~Watcher() = default;

  // interp::Host::trace: the value of the operator's call, or why the evaluation ends here. A
  // function value that was made under another watch, or under one that is over, is not heard.
  lang::Result<lang::Value> tell(const std::string& name, const lang::Attrs& attrs,
                                 const std::vector<lang::Value>& values);
  // What the call gives where nobody watches.
  static lang::Value unheard(const std::string& name, const std::vector<lang::Value>& values);

 protected:
  virtual lang::Result<lang::Value> hear(const std::string& name, std::size_t place,
                                         const std::vector<lang::Value>& values) = 0;

 private:
  std::int64_t watch_;
};

}  // namespace relay::repl
