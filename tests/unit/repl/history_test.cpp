// The file of the history: shared by sessions, bounded, and readable whatever is in it.

#include "repl/editor/history.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "tests/support/typed_program.h"

namespace relay::repl::editor {
namespace {

using tests::TemporaryFolder;
using tests::text_of_file;
using Entries = std::vector<std::string>;

TEST_CASE("an entry of the history is in the file at once and comes back as it was") {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/history";
  const Entries entries = {"1 + 1", "def f(x) {\n  x\n}", "\\012 \\n \\", "größe\t日本", " ",
                           ":help"};
  History history(path);
  for (const std::string& entry : entries) {
    CHECK(history.add(entry));
    CHECK(History(path).entries().back() == entry);
  }
  CHECK(History(path).entries() == entries);
  CHECK(text_of_file(path).find("def f(x) {\\012  x\\012}\n") != std::string::npos);
}

TEST_CASE("the history knows no entry twice in a row, no empty and no endless one") {
  History history("");
  CHECK(history.add("1"));
  CHECK_FALSE(history.add("1"));
  CHECK(history.add("2"));
  CHECK(history.add("1"));
  CHECK_FALSE(history.add(""));
  CHECK_FALSE(history.add(std::string(History::kLongestEntry + 1, 'x')));
  CHECK(history.entries() == Entries{"1", "2", "1"});
}

TEST_CASE("of two sessions neither loses an entry") {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/history";
  History first(path);
  History second(path);
  for (int i = 0; i < 5; ++i) {
    first.add(fmt::format("first {}", i));
    second.add(fmt::format("second {}", i));
  }
  const Entries entries = History(path).entries();
  CHECK(entries.size() == 10);
  CHECK(entries.front() == "first 0");
  CHECK(entries.back() == "second 4");
}

TEST_CASE("the history is cut to the newest entries, also while other sessions write") {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/history";
  {
    std::ofstream file(path);
    for (std::size_t i = 0; i < 2 * History::kEntries + 1; ++i) file << "old " << i << '\n';
  }
  constexpr int kSessions = 4;
  constexpr int kEach = 50;
  for (int session = 0; session < kSessions; ++session) {
    if (fork() != 0) continue;
    for (int i = 0; i < kEach; ++i)
      History(path).add(fmt::format("session {} entry {}", session, i));
    _exit(0);
  }
  for (int session = 0; session < kSessions; ++session) wait(nullptr);
  const Entries entries = History(path).entries();
  CHECK(entries.size() <= History::kEntries);
  for (int session = 0; session < kSessions; ++session) {
    for (int i = 0; i < kEach; ++i) {
      const std::string entry = fmt::format("session {} entry {}", session, i);
      INFO(entry);
      CHECK(std::find(entries.begin(), entries.end(), entry) != entries.end());
    }
  }
  CHECK(std::filesystem::file_size(path) < (History::kEntries + kSessions * kEach + 1) * 20);
  CHECK_FALSE(std::filesystem::exists(path + ".new"));
}

TEST_CASE("an entry goes to the new file when another session has just made one") {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/history";
  std::ofstream(path) << "old\n";
  std::ofstream(path + ".new") << "kept\n";
  // As a session does that cuts the file down, while another one waits for it.
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(flock(file, LOCK_EX) == 0);
  std::thread other([&] { History(path).add("1 + 1"); });
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  std::filesystem::rename(path + ".new", path);
  close(file);
  other.join();
  CHECK(text_of_file(path) == "kept\n1 + 1\n");
}

TEST_CASE("the history is bounded in bytes") {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/history";
  for (int i = 0; i < 40; ++i)
    History(path).add(fmt::format("{} {}", i, std::string(History::kLongestEntry - 10, 'x')));
  const History history(path);
  CHECK(std::filesystem::file_size(path) <= 2 * History::kBytes);
  CHECK(history.entries().back().starts_with("39 "));
}

TEST_CASE("the history reads the files of earlier versions and what is no text") {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/history";
  std::ofstream(path) << "_HiStOrY_V2_\nlet\\040x\\040=\\0401\ndef\\040f(x)\\040{\\012x\\012}\n";
  CHECK(History(path).entries() == Entries{"let x = 1", "def f(x) {\nx\n}"});
  std::ofstream(path) << "\\\n\\9\\01\n\xff\xfe\n" << std::string(3, '\0') << "\nlast";
  CHECK(History(path).entries().size() == 5);
  CHECK(History(path).entries().back() == "last");
}

TEST_CASE("a history that cannot be kept is one for the session") {
  for (const char* path : {"", "/proc/history", "/nonexistent/history", "/"}) {
    History history(path);
    CHECK(history.add("1 + 1"));
    CHECK(history.entries() == Entries{"1 + 1"});
  }
}

}  // namespace
}  // namespace relay::repl::editor
