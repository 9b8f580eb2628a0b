#include "repl/terminal.h"

#include <termios.h>
#include <unistd.h>

#include <csignal>
#include <optional>
#include <string>
#include <utility>

#include "lang/ref.h"
#include "lang/stop.h"
#include "repl/editor/editor.h"
#include "repl/editor/key_input.h"
#include "repl/editor/view.h"
#include "repl/output.h"
#include "repl/signals.h"
#include "repl/terminal_answer.h"

namespace relay::repl {

namespace {

using editor::Editor;
using editor::KeyInput;

// A text that is pasted comes between these marks, from terminals that know them.
constexpr std::string_view kMarkPastes = "\x1b[?2004h";
constexpr std::string_view kMarkNoPastes = "\x1b[?2004l";
constexpr int kMoment = 20;  // milliseconds between pieces of a text that is pasted

// The settings of the terminal before there was a Terminal.
termios original;
volatile std::sig_atomic_t has_original = 0;
volatile std::sig_atomic_t marks_pastes = 0;

void on_fatal(int signal) {
  Terminal::restore();
  std::raise(signal);  // SA_RESETHAND: now as if there were no handler
}

// The other signals that end the program are those of repl/signals.h.
constexpr int kFatal = SIGABRT;

// Between two entries too: else the terminal would echo what is typed ahead, and the editor again,
// and of a long line that is pasted it would keep only the first 4095 bytes. And Ctrl-C must not
// drop what is on its way to the screen: it may be the answer to that Ctrl-C.
void take_terminal() {
  termios wanted = original;
  wanted.c_iflag &= ~static_cast<tcflag_t>(ICRNL | INLCR | IGNCR | ISTRIP);
  wanted.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | IEXTEN);
  wanted.c_lflag |= static_cast<tcflag_t>(ISIG | NOFLSH);
  wanted.c_cc[VMIN] = 1;
  wanted.c_cc[VTIME] = 0;
  if (has_original != 0) tcsetattr(STDIN_FILENO, TCSADRAIN, &wanted);
}

TerminalSize window() {
  constexpr std::size_t kColumns = 80;
  constexpr std::size_t kRows = 24;
  return window_size({kColumns, kRows});
}

editor::View::Terminal described(bool has_colours) {
  const auto [columns, rows] = window();
  return {rows, columns, has_colours, has_cursor(STDOUT_FILENO)};
}

// What was typed while the terminal was asked.
std::string& typed_ahead() {
  static std::string bytes;
  return bytes;
}

}  // namespace

void Terminal::restore() {
  if (has_original == 0) return;
  if (marks_pastes != 0) {
    marks_pastes = 0;
    const ssize_t ignored = write(STDOUT_FILENO, kMarkNoPastes.data(), kMarkNoPastes.size());
    static_cast<void>(ignored);
  }
  tcsetattr(STDIN_FILENO, TCSANOW, &original);
}

bool Terminal::draws_points() {
  static std::optional<bool> answer;
  if (answer || !has_cursor(STDIN_FILENO) || !has_cursor(STDOUT_FILENO))
    return answer.value_or(false);
  flush_output();
  const auto asked = ask_terminal("\x1b[c", "\x1b[?", 'c', typed_ahead());
  if (!asked.was_asked) return false;
  // Of the numbers, 4 stands for sixel.
  answer = (";" + asked.answer + ";").find(";4;") != std::string::npos;
  return *answer;
}

struct Terminal::Impl {
  Impl(std::string path, bool has_colours, Asks asks);
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void begin(bool stands_still);
  std::optional<Typed> on_event(KeyInput::Event event);
  std::optional<Typed> on_key();
  Typed finish(Typed typed, std::string_view mark = "");
  void mark_pastes(bool on);
  void draw();
  editor::Scene with_prompt(editor::Scene scene) const {
    scene.prompt = prompt;
    return scene;
  }

  editor::History history;
  KeyInput keys{STDIN_FILENO};
  Editor editor;
  editor::View view;
  bool can_mark_pastes;
  std::string_view prompt = editor::kPrompt;
};

Terminal::Impl::Impl(std::string path, bool has_colours, Asks asks)
    : history(std::move(path)),
      editor({std::move(asks.is_complete), [this] { return keys.is_waiting(kMoment); },
              std::move(asks.complete)},
             history),
      view(described(has_colours)),
      can_mark_pastes(has_cursor(STDOUT_FILENO)) {
  has_original = tcgetattr(STDIN_FILENO, &original) == 0 ? 1 : 0;
  struct sigaction action {};
  action.sa_handler = on_fatal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(kFatal, &action, nullptr);
  take_terminal();
}

Terminal::Impl::~Impl() {
  restore();
  has_original = 0;
  std::signal(kFatal, SIG_DFL);
}

void Terminal::Impl::mark_pastes(bool on) {
  if (!can_mark_pastes || (marks_pastes != 0) == on) return;
  put_output(on ? kMarkPastes : kMarkNoPastes);
  marks_pastes = on ? 1 : 0;
}

// Interrupts pressed before are over, but not those of an evaluation that stands still.
void Terminal::Impl::begin(bool stands_still) {
  while (!stands_still && Signals::take() != 0) continue;
  lang::clear_stop();
  keys.put_back(std::exchange(typed_ahead(), {}));
  take_terminal();
  const auto [columns, rows] = window();
  static_cast<void>(view.resize(rows, columns));
  editor.clear();
  mark_pastes(true);
  draw();
}

void Terminal::Impl::draw() {
  put_output(view.draw(with_prompt(editor.scene())));
  flush_output();
}

Typed Terminal::Impl::finish(Typed typed, std::string_view mark) {
  put_output(view.finish(with_prompt(editor.last_scene()), mark));
  mark_pastes(false);
  flush_output();
  return typed;
}

// What is typed faster than it can be shown is shown at once.
std::optional<Typed> Terminal::Impl::on_key() {
  const Editor::Outcome outcome = editor.on_key(keys.key());
  switch (outcome) {
    case Editor::Outcome::Entry:
      return finish({Typed::Kind::Entry, editor.text()});
    case Editor::Outcome::Abandoned:
      history.add(editor.text(), true);
      return finish({Typed::Kind::Abandoned});
    case Editor::Outcome::End:
      return finish({Typed::Kind::End});
    case Editor::Outcome::Redraw:
      put_output(view.clear());
      break;
    case Editor::Outcome::Editing:
      break;
  }
  if (keys.is_waiting(0)) return std::nullopt;
  draw();
  editor.suggest();
  draw();
  return std::nullopt;
}

std::optional<Typed> Terminal::Impl::on_event(KeyInput::Event event) {
  const auto [columns, rows] = window();
  switch (event) {
    case KeyInput::Event::Key:
      return on_key();
    case KeyInput::Event::Interrupted:
      return finish({Typed::Kind::Interrupted, editor.text()}, "^C");
    case KeyInput::Event::End:
      return finish({Typed::Kind::End});
    case KeyInput::Event::Continued:
      take_terminal();
      marks_pastes = 0;
      mark_pastes(true);
      [[fallthrough]];
    case KeyInput::Event::Resized:
      put_output(view.resize(rows, columns));
      draw();
      return std::nullopt;
  }
  return std::nullopt;
}

Terminal::Terminal(std::string history, bool has_colours, Asks asks)
    : impl_(std::make_unique<Impl>(std::move(history), has_colours, std::move(asks))) {}
Terminal::~Terminal() = default;

Typed Terminal::read_entry(bool stands_still) {
  impl_->prompt = stands_still ? editor::kStopPrompt : editor::kPrompt;
  const Signals::During typing(Signals::Meaning::Key);  // from before the prompt can be seen
  impl_->begin(stands_still);
  while (true) {
    lang::free_put_off();  // the prompt stands there: the answer has been given
    if (auto typed = impl_->on_event(impl_->keys.next())) return std::move(*typed);
  }
}

void Terminal::remember(const std::string& entry) { impl_->history.add(entry); }

}  // namespace relay::repl
