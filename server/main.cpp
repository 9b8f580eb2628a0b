// `relay lsp`: the language server, on standard input and output.

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "repl/search_path.h"
#include "server/server.h"
#include "server/transport.h"

namespace {

using namespace relay;  // NOLINT: the program's own file
using server::Json;

constexpr int kMisuse = 2;

constexpr std::string_view kHelp = R"(usage: relay lsp [-I DIR]...

Serves an editor: the Language Server Protocol 3.17 on standard input and output.

  -I DIR    look for imports in DIR, too; `RELAY_PATH` may list more, with `:` between
  --stdio   is what it does anyway; some clients say so
  --help    this text
)";

// `text` in whole; false where nobody reads it any more.
bool put(std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(STDOUT_FILENO, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

// Waits until there is input, or until a value that is being computed is to be looked at; not at
// all with `is_in_haste`. False at the end of the input.
bool read_some(server::Server& server, server::Frames& frames, bool is_in_haste) {
  std::vector<pollfd> wanted{{STDIN_FILENO, POLLIN, 0}};
  for (const int each : server.evaluations().descriptors()) wanted.push_back({each, POLLIN, 0});
  const int ready =
      poll(wanted.data(), wanted.size(), is_in_haste ? 0 : server.evaluations().patience());
  server.evaluations().look();
  if (ready <= 0 || wanted.front().revents == 0) return true;
  char bytes[65536];
  const ssize_t count = read(STDIN_FILENO, bytes, sizeof bytes);
  if (count < 0 && errno == EINTR) return true;
  if (count <= 0) return false;
  frames.add({bytes, static_cast<std::size_t>(count)});
  return true;
}

bool has_input() {
  pollfd wanted{STDIN_FILENO, POLLIN, 0};
  return poll(&wanted, 1, 0) > 0 && wanted.revents != 0;
}

int serve(std::vector<std::string> search_path) {
  bool is_heard = true;
  server::Server server(std::move(search_path), [&](const Json& message) {
    const std::string text = message.dump(-1, ' ', false, Json::error_handler_t::replace);
    is_heard = is_heard && put(server::framed(text));
  });
  server::Frames frames;
  bool is_open = true;
  while (is_heard) {
    // Everything that has come, before anything is answered: what is out of date is seen so.
    while (is_open && has_input()) is_open = read_some(server, frames, true);
    while (const auto frame = frames.next()) {
      if (frame->is_broken) {
        server.receive_broken(frame->content);
      } else {
        server.receive(frame->content);
      }
    }
    if (server.step()) {
      if (server.exit_status()) return *server.exit_status();
      continue;
    }
    server.idle();
    if (!is_open) return server.status_at_end();
    if (!has_input()) is_open = read_some(server, frames, false);
  }
  return server.status_at_end();
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> search_path;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--help" || argument == "-h") {
      return put(kHelp) ? 0 : 1;
    }
    if (argument == "--stdio") continue;
    if (argument == "-I" && i + 1 < argc) {
      search_path.emplace_back(argv[++i]);
      continue;
    }
    if (argument.starts_with("-I") && argument.size() > 2) {
      search_path.emplace_back(argument.substr(2));
      continue;
    }
    fmt::print(stderr, "relay lsp: unknown argument `{}`\n{}", argument, kHelp);
    return kMisuse;
  }
  signal(SIGPIPE, SIG_IGN);
  return serve(repl::with_usual_folders(std::move(search_path)));
}
