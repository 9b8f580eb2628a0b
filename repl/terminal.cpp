#include "repl/terminal.h"

#include <histedit.h>
#include <langinfo.h>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "lang/ref.h"
#include "lang/stop.h"
#include "lang/utf8.h"
#include "repl/history.h"
#include "repl/key_input.h"
#include "repl/signals.h"

namespace relay::repl {

namespace {

constexpr int kHistorySize = static_cast<int>(History::kEntries);
bool continuation_prompt = false;

wchar_t* prompt(EditLine*) {
  static wchar_t first[] = L"relay> ";
  static wchar_t more[] = L"  ...> ";
  return continuation_prompt ? more : first;
}

constexpr wchar_t kToEnd = L'E' & 0x1F;

struct Binding {
  std::string_view key;
  const char* command;  // of libedit: editrc(5)
};

// What the terminals at hand send: xterm and its kin (with Ctrl, Alt), the console, rxvt, screen.
constexpr Binding kBindings[] = {
    {"\x1b[A", "ed-search-prev-history"},
    {"\x1bOA", "ed-search-prev-history"},
    {"\x1b[B", "ed-search-next-history"},
    {"\x1bOB", "ed-search-next-history"},
    {"\x1b[C", "ed-next-char"},
    {"\x1bOC", "ed-next-char"},
    {"\x1b[D", "ed-prev-char"},
    {"\x1bOD", "ed-prev-char"},
    {"\x1b[1;5C", "em-next-word"},
    {"\x1b[1;5D", "ed-prev-word"},
    {"\x1b[1;3C", "em-next-word"},
    {"\x1b[1;3D", "ed-prev-word"},
    {"\x1b[5C", "em-next-word"},
    {"\x1b[5D", "ed-prev-word"},
    {"\x1bOc", "em-next-word"},
    {"\x1bOd", "ed-prev-word"},
    {"\x1b[H", "ed-move-to-beg"},
    {"\x1b[F", "ed-move-to-end"},
    {"\x1bOH", "ed-move-to-beg"},
    {"\x1bOF", "ed-move-to-end"},
    {"\x1b[1~", "ed-move-to-beg"},
    {"\x1b[4~", "ed-move-to-end"},
    {"\x1b[7~", "ed-move-to-beg"},
    {"\x1b[8~", "ed-move-to-end"},
    {"\x1b[3~", "ed-delete-next-char"},
    {"\x1b[3;5~", "em-delete-next-word"},
    {"\x1b\x7f", "ed-delete-prev-word"},
    {"\x12", "em-inc-search-prev"},
    {"\t", "ed-insert"},
};

bool is_bound(std::string_view key) {
  return std::any_of(std::begin(kBindings), std::end(kBindings),
                     [&](const Binding& binding) { return binding.key == key; });
}

// In the notation of libedit.
std::string spelled(std::string_view key) {
  std::string text;
  for (const char c : key) {
    const bool is_control = c < ' ' || c == '\x7f';
    if (is_control) text += {'^', static_cast<char>(c ^ 0x40)};
    if (!is_control) text += c;
  }
  return text;
}

// Programs are UTF-8, and so is what is typed, unless the locale names another encoding. Without a
// locale there is only ASCII, in which libedit drops all other letters.
void choose_encoding() {
  std::setlocale(LC_CTYPE, "");
  const std::string_view encoding = nl_langinfo(CODESET);
  if (encoding == "ANSI_X3.4-1968") std::setlocale(LC_CTYPE, "C.UTF-8");
}

std::string to_utf8(std::wstring_view text) {
  std::string bytes;
  for (const wchar_t character : text) {
    const auto c = static_cast<char32_t>(character);
    const auto tail = [&](int shift) { bytes += static_cast<char>(0x80 | ((c >> shift) & 0x3F)); };
    if (c < 0x80) {
      bytes += static_cast<char>(c);
    } else if (c < 0x800) {
      bytes += static_cast<char>(0xC0 | (c >> 6));
      tail(0);
    } else if (c < 0x10000) {
      bytes += static_cast<char>(0xE0 | (c >> 12));
      tail(6), tail(0);
    } else {
      bytes += static_cast<char>(0xF0 | (c >> 18));
      tail(12), tail(6), tail(0);
    }
  }
  return bytes;
}

// What is no UTF-8 becomes U+FFFD.
std::wstring to_wide(std::string_view bytes) {
  std::wstring text;
  while (!bytes.empty()) {
    const std::size_t length = lang::code_point_length(bytes);
    const auto first = static_cast<unsigned char>(bytes.front());
    char32_t c = length == 0 ? 0xFFFD : length == 1 ? first : first & (0x7F >> length);
    for (std::size_t i = 1; i < length; ++i) c = (c << 6) | (bytes[i] & 0x3F);
    text += static_cast<wchar_t>(c);
    bytes.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return text;
}

// A terminal that the system has never heard of, as new ones are on old systems, is one like xterm.
// libedit would complain, and count on nothing.
EditLine* make_editor() {
  std::FILE* const nowhere = std::fopen("/dev/null", "we");
  EditLine* const editor = el_init("relay", stdin, stdout, nowhere ? nowhere : stderr);
  const char* const name = std::getenv("TERM");
  const bool has_name = name && *name != '\0';
  if (has_name && el_set(editor, EL_TERMINAL, name) != 0) el_set(editor, EL_TERMINAL, "xterm");
  if (!nowhere) return editor;
  el_set(editor, EL_SETFP, STDERR_FILENO, stderr);
  std::fclose(nowhere);
  return editor;
}

// The settings of the terminal before there was a Terminal.
termios original;
volatile std::sig_atomic_t has_original = 0;

void on_fatal(int signal) {
  Terminal::restore();
  std::raise(signal);  // SA_RESETHAND: now as if there were no handler
}

// The other signals that end the program are those of repl/signals.h.
constexpr int kFatal = SIGABRT;

}  // namespace

void Terminal::restore() {
  if (has_original != 0) tcsetattr(STDIN_FILENO, TCSANOW, &original);
}

struct Terminal::Impl {
  explicit Impl(std::string path);
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  static int next_key(EditLine* editor, wchar_t* key);
  void on_change(KeyInput::Change change);
  void offer(const std::string& entry);

  History kept;
  KeyInput keys;
  HistoryW* offered = nullptr;  // what Up, Ctrl-R and the like find
  EditLine* editor = nullptr;
  bool gives_up = false;  // Ctrl-C was pressed in this line
};

Terminal::Impl::Impl(std::string path)
    : kept(std::move(path)),
      keys(STDIN_FILENO, is_bound, [this](KeyInput::Change change) { on_change(change); }) {
  choose_encoding();
  has_original = tcgetattr(STDIN_FILENO, &original) == 0 ? 1 : 0;
  struct sigaction action {};
  action.sa_handler = on_fatal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(kFatal, &action, nullptr);

  offered = history_winit();
  HistEventW event;
  history_w(offered, &event, H_SETSIZE, kHistorySize);
  for (const std::string& entry : kept.entries()) offer(entry);
  editor = make_editor();
  el_wset(editor, EL_CLIENTDATA, this);
  el_wset(editor, EL_GETCFN, next_key);
  el_wset(editor, EL_PROMPT, prompt);
  el_wset(editor, EL_HIST, history_w, offered);
  el_set(editor, EL_EDITOR, "emacs");
  for (const Binding& binding : kBindings)
    el_set(editor, EL_BIND, spelled(binding.key).c_str(), binding.command, nullptr);
  el_source(editor, nullptr);
  // Between two lines too: else the terminal would echo what is typed ahead, and the editor again,
  // and of a long line that is pasted it would keep only the first 4095 bytes.
  // And Ctrl-C must not drop what is on its way to the screen: it may be the answer to that Ctrl-C.
  el_set(editor, EL_SETTY, "-x", "-icanon", "-echo", "+noflsh", nullptr);
  el_set(editor, EL_SETTY, "-d", "+noflsh", nullptr);
}

Terminal::Impl::~Impl() {
  el_end(editor);
  history_wend(offered);
  restore();
  has_original = 0;
  std::signal(kFatal, SIG_DFL);
}

int Terminal::Impl::next_key(EditLine* editor, wchar_t* key) {
  void* data = nullptr;
  el_wget(editor, EL_CLIENTDATA, &data);
  auto& self = *static_cast<Impl*>(data);
  if (self.gives_up) return -1;
  lang::free_put_off();  // the prompt stands there: the answer has been given
  if (const auto next = self.keys.next()) {
    *key = *next;
    return 1;
  }
  if (self.keys.why() == KeyInput::Stop::End) return 0;
  self.gives_up = true;
  *key = kToEnd;  // what is printed next must not fall into the line
  return 1;
}

void Terminal::Impl::on_change(KeyInput::Change change) {
  if (change == KeyInput::Change::Resized) {
    el_resize(editor);
  } else {
    el_wset(editor, EL_PREP_TERM, 1);
  }
  // libedit keeps the place of its cursor, which may lie beyond a smaller window, and the next key
  // would be written there, in memory too. Refreshed, the line begins where the cursor stands.
  std::fputc('\r', stdout);
  el_wset(editor, EL_REFRESH);
}

void Terminal::Impl::offer(const std::string& entry) {
  HistEventW event;
  history_w(offered, &event, H_ENTER, to_wide(entry).c_str());
}

Terminal::Terminal(std::string history) : impl_(std::make_unique<Impl>(std::move(history))) {}
Terminal::~Terminal() = default;

bool Terminal::has_waiting_keys() {
  constexpr int kMilliseconds = 20;  // between pieces of a text that is pasted
  pollfd wanted{STDIN_FILENO, POLLIN, 0};
  return poll(&wanted, 1, kMilliseconds) > 0;
}

Line Terminal::read_line(bool continuation) {
  continuation_prompt = continuation;
  impl_->gives_up = false;
  while (const int signal = Signals::take()) {  // interrupts pressed before are over
    if (signal == SIGWINCH) el_resize(impl_->editor);
  }
  lang::clear_stop();
  const Signals::During typing(Signals::Meaning::Key);
  int length = 0;
  const wchar_t* const line = el_wgets(impl_->editor, &length);
  if (impl_->gives_up) {
    std::fputs("^C\n", stdout);
    std::fflush(stdout);
    el_reset(impl_->editor);
    return {Line::Kind::Interrupted};
  }
  if (!line || length <= 0) return {Line::Kind::End};
  std::string text = to_utf8({line, static_cast<std::size_t>(length)});
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return {Line::Kind::Text, std::move(text)};
}

void Terminal::remember(const std::string& entry) {
  if (impl_->kept.add(entry)) impl_->offer(entry);
}

}  // namespace relay::repl
