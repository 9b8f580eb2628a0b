#include "repl/signals.h"

#include <fcntl.h>
#include <signal.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <string_view>
#include <system_error>
#include <thread>

#include "formats/output_file.h"
#include "lang/memory.h"
#include "lang/stop.h"
#include "repl/terminal.h"

namespace relay::repl {

namespace {

constexpr std::array<int, 6> kTaken = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGCONT};
constexpr int kPatience = 3;  // presses without an answer
// Of the last request: what runs may be held up by the system, as by a pipe that nobody reads.
constexpr timespec kGrace = {2, 0};

std::atomic<Signals::Meaning> meaning{Signals::Meaning::Last};
std::array<int, 2> channel = {-1, -1};  // a pipe: the numbers of signals, a byte each

sigset_t taken_set() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : kTaken) sigaddset(&set, signal);
  return set;
}

void hand_on(int signal) {
  const char number = static_cast<char>(signal);
  // Full, it has been told often enough.
  const ssize_t ignored = write(channel[1], &number, 1);
  static_cast<void>(ignored);
}

// Whatever else is being written, and by whom.
void put_now(std::string_view text) {
  const ssize_t ignored = write(STDERR_FILENO, text.data(), text.size());
  static_cast<void>(ignored);
}

// What was typed before belongs to what is given up. The terminal would do this itself, but would
// drop what is on its way to the screen as well (repl/terminal.cpp).
void drop_typed_keys() { tcflush(STDIN_FILENO, TCIFLUSH); }

// Over sooner if a signal comes that ends the program.
void wait_for_end() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGHUP, SIGQUIT}) sigaddset(&set, signal);
  // A debugger that attaches interrupts it.
  while (sigtimedwait(&set, nullptr, &kGrace) < 0 && errno == EINTR) continue;
}

void on_interrupt() {
  static int presses = 0;
  switch (meaning.load()) {
    case Signals::Meaning::Key:
      drop_typed_keys();
      return hand_on(SIGINT);
    case Signals::Meaning::End:
      Signals::end_by(SIGINT);
    case Signals::Meaning::Stop:
      drop_typed_keys();
      presses = lang::request_stop(lang::Stop::Interrupted) ? 1 : presses + 1;
      if (presses < kPatience) return;
      put_now("\nrelay: ended, as Ctrl-C was pressed three times without an answer\n");
      Signals::end_by(SIGINT);
    case Signals::Meaning::Last:
      lang::set_ending();
      lang::request_stop(lang::Stop::Interrupted);
      wait_for_end();
      put_now("relay: ended, as the interrupt had no answer\n");
      Signals::end_by(SIGINT);
  }
}

void wait_for_signals() {
  const sigset_t set = taken_set();
  while (true) {
    int signal = 0;
    if (sigwait(&set, &signal) != 0) continue;
    if (signal == SIGINT) {
      on_interrupt();
    } else if (signal == SIGWINCH || signal == SIGCONT) {
      hand_on(signal);
    } else {
      Signals::end_by(signal);
    }
  }
}

}  // namespace

void Signals::start() {
  if (pipe2(channel.data(), O_CLOEXEC | O_NONBLOCK) != 0) return;
  const sigset_t set = taken_set();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  try {
    std::thread(wait_for_signals).detach();
  } catch (const std::system_error&) {  // no thread can be had: signals do what they always do
    pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  }
}

Signals::During::During(Meaning now) : before_(meaning.exchange(now)) {}
Signals::During::~During() { meaning.store(before_); }

int Signals::waiting() { return channel[0]; }

int Signals::take() {
  char number = 0;
  return read(channel[0], &number, 1) == 1 ? number : 0;
}

void Signals::end_by(int signal) {
  Terminal::restore();
  formats::remove_unfinished_files();
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  sigaction(signal, &action, nullptr);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  kill(getpid(), signal);
  constexpr int kSignalled = 128;
  std::_Exit(kSignalled + signal);
}

}  // namespace relay::repl
