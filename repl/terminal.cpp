#include "repl/terminal.h"

#include <histedit.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace relay::repl {

namespace {

constexpr int kHistorySize = 2000;
bool continuation_prompt = false;

char* prompt(EditLine*) {
  static char first[] = "relay> ";
  static char more[] = "  ...> ";
  return continuation_prompt ? more : first;
}

std::string history_path() {
  const char* home = std::getenv("HOME");
  return home ? std::string(home) + "/.relay_history" : std::string();
}

}  // namespace

struct Terminal::Impl {
  EditLine* editor;
  History* history;
  std::string path = history_path();
};

Terminal::Terminal() : impl_(new Impl) {
  impl_->history = history_init();
  HistEvent event;
  history(impl_->history, &event, H_SETSIZE, kHistorySize);
  history(impl_->history, &event, H_SETUNIQUE, 1);
  if (!impl_->path.empty()) history(impl_->history, &event, H_LOAD, impl_->path.c_str());
  impl_->editor = el_init("relay", stdin, stdout, stderr);
  el_set(impl_->editor, EL_PROMPT, prompt);
  el_set(impl_->editor, EL_EDITOR, "emacs");
  el_set(impl_->editor, EL_HIST, history, impl_->history);
  el_set(impl_->editor, EL_BIND, "^R", "em-inc-search-prev", nullptr);
  el_set(impl_->editor, EL_BIND, "\\e[A", "ed-search-prev-history", nullptr);
  el_set(impl_->editor, EL_BIND, "\\e[B", "ed-search-next-history", nullptr);
  el_source(impl_->editor, nullptr);
}

Terminal::~Terminal() {
  HistEvent event;
  if (!impl_->path.empty()) history(impl_->history, &event, H_SAVE, impl_->path.c_str());
  history_end(impl_->history);
  el_end(impl_->editor);
  delete impl_;
}

std::optional<std::string> Terminal::read_line(bool continuation, bool& interrupted) {
  continuation_prompt = continuation;
  interrupted = false;
  int length = 0;
  // Ctrl-C must end the read, not restart it: the handler is installed without SA_RESTART.
  errno = 0;
  const char* line = el_gets(impl_->editor, &length);
  if (!line || length <= 0) {
    if (errno == EINTR) {
      interrupted = true;
      el_reset(impl_->editor);
      std::fputs("^C\n", stdout);
      return std::string();
    }
    return std::nullopt;
  }
  std::string text(line, static_cast<std::size_t>(length));
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return text;
}

void Terminal::remember(const std::string& entry) {
  if (entry.empty()) return;
  HistEvent event;
  history(impl_->history, &event, H_ENTER, entry.c_str());
}

}  // namespace relay::repl
