// Files are written whole or not at all, and only where they may be.

#include "formats/output_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <catch2/catch.hpp>

#include "formats/bytes.h"
#include "lang/diagnostic.h"

namespace relay::formats {
namespace {

namespace fs = std::filesystem;
using lang::DiagnosticKind;

class Scratch {
 public:
  Scratch() : path_(fs::temp_directory_path() / ("relay_output_" + std::to_string(getpid()))) {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  std::string operator/(const std::string& name) const { return path_ / name; }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(path_), fs::directory_iterator()));
  }

 private:
  fs::path path_;
};

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

template <class F>
DiagnosticKind failure_of(F&& body) {
  const auto result = lang::capture([&] {
    body();
    return true;
  });
  REQUIRE(!result.ok());
  return result.errors().front().kind;
}

TEST_CASE("a file takes its name when it is whole") {
  const Scratch scratch;
  write_whole(scratch / "a", "old");
  {
    OutputFile file(scratch / "a");
    file.write(std::string_view("new"));
    CHECK(content(scratch / "a") == "old");
    CHECK(scratch.files() == 2);
  }
  CHECK(content(scratch / "a") == "old");
  CHECK(scratch.files() == 1);
  write_whole(scratch / "a", "new");
  CHECK(content(scratch / "a") == "new");
  CHECK(scratch.files() == 1);
}

TEST_CASE("unfinished files are removed at any moment, and finish as errors") {
  const Scratch scratch;
  OutputFile a(scratch / "a");
  OutputFile b(scratch / "b");
  a.write(std::string_view("half"));
  CHECK(scratch.files() == 2);
  remove_unfinished_files();
  CHECK(scratch.files() == 0);
  CHECK(failure_of([&] { a.finish(); }) == DiagnosticKind::FileError);
  CHECK(scratch.files() == 0);
  write_whole(scratch / "c", "whole");
  remove_unfinished_files();
  CHECK(content(scratch / "c") == "whole");
}

TEST_CASE("two writers of one file do not meet") {
  const Scratch scratch;
  OutputFile first(scratch / "a");
  OutputFile second(scratch / "a");
  first.write(std::string_view("first"));
  second.write(std::string_view("second"));
  second.finish();
  first.finish();
  CHECK(content(scratch / "a") == "first");
  CHECK(scratch.files() == 1);
}

TEST_CASE("names as long as the system takes are written") {
  const Scratch scratch;
  const std::string longest(255, 'n');
  write_whole(scratch / longest, "text");
  CHECK(content(scratch / longest) == "text");
  CHECK(failure_of([&] { write_whole(scratch / (longest + "n"), ""); }) ==
        DiagnosticKind::FileError);
}

TEST_CASE("a file that may not be written stays") {
  if (geteuid() == 0) return;  // to whom nothing is forbidden
  const Scratch scratch;
  write_whole(scratch / "a", "old");
  chmod((scratch / "a").c_str(), 0444);
  CHECK(failure_of([&] { write_whole(scratch / "a", "new"); }) == DiagnosticKind::FileError);
  CHECK(content(scratch / "a") == "old");
}

TEST_CASE("access is to what lies beneath the folders") {
  const Scratch scratch;
  fs::create_directories(scratch / "in/deep");
  fs::create_directories(scratch / "inside");
  write_whole(scratch / "in/deep/a", "a");
  write_whole(scratch / "inside/b", "b");
  fs::create_symlink("../../inside/b", scratch / "in/deep/link");
  const FileAccess in = FileAccess::beneath({scratch / "in"}, "it");
  CHECK(in.open(scratch / "in/deep/a"));
  CHECK(in.open(scratch / "inside/../in/deep/a"));
  for (const char* outside : {"inside/b", "in/deep/link", "in/../inside/b", "in/deep/../../nosuch"})
    CHECK(failure_of([&] { in.open(scratch / outside); }) == DiagnosticKind::FileRefused);
  CHECK(failure_of([&] { in.open(scratch / "in/nosuch"); }) == DiagnosticKind::FileError);
  const FileAccess deep = FileAccess::beneath({scratch / "in/deep"}, "it").within(in);
  CHECK(deep.open(scratch / "in/deep/a"));
  const FileAccess nothing = FileAccess::beneath({scratch / "inside"}, "it").within(in);
  CHECK(failure_of([&] { nothing.open(scratch / "in/deep/a"); }) == DiagnosticKind::FileRefused);
  CHECK(nothing.with(in).open(scratch / "in/deep/a"));
  CHECK(failure_of([&] { FileAccess::none().open("/dev/null"); }) == DiagnosticKind::FileRefused);
  CHECK(FileAccess().open("/dev/null"));
}

TEST_CASE("waiting for a pipe can be stopped") {
  const Scratch scratch;
  const std::string pipe = scratch / "pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  int asked = 0;
  FileReader reader({pipe}, [&](std::int64_t, std::int64_t) {
    if (++asked == 3) lang::fail(DiagnosticKind::Interrupted, "interrupted");
  });
  std::byte byte{};
  CHECK(failure_of([&] { reader.read({&byte, 1}); }) == DiagnosticKind::Interrupted);
}

}  // namespace
}  // namespace relay::formats
