#include "repl/editor/key_input.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "repl/signals.h"

namespace relay::repl::editor {

// Bytes are read one by one: what is not read yet is the terminal's, which drops it at Ctrl-C.
KeyInput::Event KeyInput::next() {
  while (true) {
    if (auto key = decoder_.next()) {
      key_ = std::move(*key);
      return Event::Key;
    }
    std::array<pollfd, 2> wanted = {pollfd{Signals::waiting(), POLLIN, 0},
                                    pollfd{descriptor_, POLLIN, 0}};
    if (poll(wanted.data(), wanted.size(), -1) < 0) {
      if (errno == EINTR) continue;
      return Event::End;
    }
    if (const int signal = Signals::take()) {
      if (signal != SIGINT) return signal == SIGCONT ? Event::Continued : Event::Resized;
      decoder_.reset();
      return Event::Interrupted;
    }
    char byte = 0;
    const ssize_t count = read(descriptor_, &byte, 1);
    if (count == 1) {
      decoder_.feed(byte);
    } else if (count == 0 || (errno != EINTR && errno != EAGAIN)) {
      return Event::End;
    }
  }
}

void KeyInput::put_back(std::string_view bytes) {
  for (const char byte : bytes) decoder_.feed(byte);
}

bool KeyInput::is_waiting(int milliseconds) const {
  pollfd wanted{descriptor_, POLLIN, 0};
  return poll(&wanted, 1, milliseconds) > 0;
}

}  // namespace relay::repl::editor
