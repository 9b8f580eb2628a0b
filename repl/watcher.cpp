#include "repl/watcher.h"

#include "repl/trace_operators.h"

namespace relay::repl {

using lang::Value;

lang::Result<Value> Watcher::tell(const std::string& name, const lang::Attrs& attrs,
                                  const std::vector<Value>& values) {
  const TracePlaceNumber place = trace_place_of(attrs);
  if (place.watch != watch_) return unheard(name, values);
  return hear(name, place.index, values);
}

Value Watcher::unheard(const std::string& name, const std::vector<Value>& values) {
  if (name == kTraceStep) return Value::scalar(lang::DType::Int64, 0);
  return values.empty() ? Value::unit() : values.front();
}

}  // namespace relay::repl
