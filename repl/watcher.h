#pragma once

#include <string>
#include <vector>

#include "lang/attrs.h"
#include "lang/diagnostic.h"
#include "lang/value.h"

namespace relay::repl {

// Who is told what instrumented code computes (repl/trace_operators.h).
class Watcher {
 public:
  virtual ~Watcher() = default;
  // interp::Host::trace: the value of the operator's call, or why the evaluation ends here.
  virtual lang::Result<lang::Value> tell(const std::string& name, const lang::Attrs& attrs,
                                         const std::vector<lang::Value>& values) = 0;
};

}  // namespace relay::repl
