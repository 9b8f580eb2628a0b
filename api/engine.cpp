#include "api/engine.h"

#include <algorithm>

#include "api/value.h"
#include "lang/memory.h"
#include "lang/stop.h"
#include "repl/search_path.h"

namespace relay::api {

namespace {

interp::JitMode jit_mode(relay_jit jit) {
  switch (jit) {
    case RELAY_JIT_OFF:
      return interp::JitMode::Off;
    case RELAY_JIT_ALWAYS:
      return interp::JitMode::Always;
    case RELAY_JIT_AUTO:
      break;
  }
  return interp::JitMode::Auto;
}

repl::SessionOptions session_options(const relay_options& given) {
  repl::SessionOptions options;
  options.jit = jit_mode(given.jit);
  options.threads = given.threads;
  options.seconds = given.seconds;
  if (given.code_cache) options.code_cache = given.code_cache;
  options.search_path = repl::folders_in(given.search_path);
  options.write = [write = given.write, context = given.context](std::string_view text) {
    if (write) write(context, text.data(), text.size());
  };
  return options;
}

// What the library takes where an engine says nothing of memory.
std::size_t usual_limit() {
  static const std::size_t limit = lang::memory_limit();
  return limit;
}

}  // namespace

Core::Core(const relay_options& options)
    : seconds(options.seconds),
      bytes(options.bytes),
      session(std::make_unique<repl::Session>(session_options(options))) {}

CoreRef make_core(const relay_options& options) {
  return CoreRef(new Core(options), [](Core* core) { in_some_turn([core] { delete core; }); });
}

relay_error* enter(Core* core, const std::function<relay_error*()>& body) noexcept try {
  const Turn turn(core ? &core->caller : nullptr);
  if (!turn) return turn.why();
  if (core && core->is_closed) return bad_argument("the engine has been freed");
  const std::size_t usual = usual_limit();
  const std::size_t limit = core && core->bytes > 0 ? core->bytes : usual;
  if (limit != lang::memory_limit()) lang::set_memory_limit(limit);
  try {
    return body();
  } catch (...) {
    return caught_error();
  }
} catch (...) {
  return caught_error();
}

}  // namespace relay::api

using namespace relay;       // NOLINT: the interface itself
using namespace relay::api;  // NOLINT

extern "C" {

uint32_t relay_api_version(void) { return RELAY_API_VERSION; }
const char* relay_version(void) { return RELAY_VERSION; }

void relay_options_init(relay_options* options) {
  if (!options) return;
  *options = relay_options{};
  options->version = RELAY_API_VERSION;
}

relay_error* relay_engine_new(const relay_options* options, relay_engine** engine) {
  if (!engine) return bad_argument("relay_engine_new: `engine` is NULL");
  *engine = nullptr;
  relay_options usual;
  relay_options_init(&usual);
  if (!options) options = &usual;
  if (options->version != RELAY_API_VERSION) {
    return bad_argument(
        "relay_engine_new: the options are not of this version; "
        "relay_options_init() sets them");
  }
  const bool is_jit = options->jit == RELAY_JIT_AUTO || options->jit == RELAY_JIT_OFF ||
                      options->jit == RELAY_JIT_ALWAYS;
  if (!is_jit || options->threads < 0 || !(options->seconds >= 0))
    return bad_argument("relay_engine_new: an option is out of range");
  return enter(nullptr, [&]() -> relay_error* {
    *engine = new relay_engine{make_core(*options)};
    return nullptr;
  });
}

void relay_engine_free(relay_engine* engine) {
  if (!engine) return;
  in_some_turn([engine] {
    engine->core->is_closed = true;
    try {  // its values may keep the rest of it: nothing is to be in the making after this
      engine->core->session->evaluator().settle();
    } catch (...) {
      lang::clear_stop();
    }
    delete engine;
  });
}

void relay_interrupt(relay_engine* engine) {
  if (engine) interrupt(engine->core->caller);
}

int relay_interrupt_any(void) { return interrupt_any() ? 1 : 0; }

}  // extern "C"
