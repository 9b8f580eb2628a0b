#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "api/turn.h"
#include "repl/session.h"

namespace relay::api {

// What an engine is, and its values keep alive: their types and constructors belong to it.
struct Core {
  explicit Core(const relay_options& options);

  Caller caller;
  double seconds;
  std::uint64_t bytes;
  std::unique_ptr<repl::Session> session;          // is taken down in a turn
  bool is_closed = false;                          // the engine has been freed
  std::uint64_t generation = 0;                    // counts what may have changed definitions
  int held_values = 0;                             // that have names of their own
  std::mutex names_mutex;                          // of the rest, which any thread reads
  std::vector<const std::string*> names;           // what the program has defined
  std::map<std::string, const std::string*> docs;  // by name
  std::set<std::string> texts;                     // of both; what was given out stays
};
// Held by values, too. The last one that goes waits for no turn.
using CoreRef = std::shared_ptr<Core>;
CoreRef make_core(const relay_options& options);

// Runs `body` in a turn of its own within the engine's limits; what it throws becomes an error.
// `core` may be null.
relay_error* enter(Core* core, const std::function<relay_error*()>& body) noexcept;

}  // namespace relay::api

struct relay_engine {
  relay::api::CoreRef core;
};
