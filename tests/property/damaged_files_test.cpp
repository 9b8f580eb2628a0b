// Whatever a data file holds, reading it ends in a tensor or in a diagnostic that names it.

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include <catch2/catch.hpp>

#include "formats/formats.h"
#include "tests/support/damaged_file.h"
#include "tests/support/property.h"

namespace relay::tests {
namespace {

namespace fs = std::filesystem;
using lang::DiagnosticKind;

class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("relay_damaged_" + std::to_string(getpid()))) {
    fs::create_directories(path_);
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  std::string file(const std::string& format) const { return path_ / ("damaged." + format); }

 private:
  fs::path path_;
};

// Fails with one diagnostic of a kind that the formats promise, in which the file is named.
template <class T>
void check_error(const lang::Result<T>& result, const std::string& path) {
  if (result.ok()) return;
  REQUIRE(result.errors().size() == 1);
  const lang::Diagnostic& error = result.errors().front();
  std::string text = error.message;
  for (const std::string& note : error.notes) text += "\n" + note;
  INFO(text);
  CHECK(text.find(path) != std::string::npos);
  CHECK(text.size() < 4000);
  const bool is_promised =
      error.kind == DiagnosticKind::BadData || error.kind == DiagnosticKind::FileError ||
      error.kind == DiagnosticKind::Unsupported || error.kind == DiagnosticKind::OutOfMemory;
  CHECK(is_promised);
}

void check_format(const std::string& format) {
  constexpr std::uint64_t kCount = 300;
  const std::uint64_t first = first_seed();
  const std::uint64_t count = case_count(kCount, kCount);
  std::printf("%llu damaged .%s files from RELAY_SEED=%llu on\n",
              static_cast<unsigned long long>(count), format.c_str(),
              static_cast<unsigned long long>(first));
  const Folder folder;
  const std::string path = folder.file(format);
  const std::vector<std::string> sound = sound_files(format);
  std::size_t read = 0;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    Random random(seed);
    const std::string bytes = damaged_file(format, sound, random);
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
    INFO(replay_test(seed, "damaged ." + format + " files"));
    formats::Location location{path};
    if (random.one_in(2)) location.key = random.one_in(2) ? "a" : "b";
    const auto begin = std::chrono::steady_clock::now();
    const auto header = formats::read_header(location);
    const auto tensor = formats::read_tensor(location, lang::DType::Float32, nullptr);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    CHECK(seconds.count() < 5);
    check_error(header, path);
    check_error(tensor, path);
    if (!tensor.ok()) continue;
    ++read;
    REQUIRE(header.ok());
    if (format != "csv") {
      CHECK(header.value().shape == tensor.value()->shape());
      CHECK(header.value().dtype == tensor.value()->dtype());
    }
  }
  // Neither all nor none: the damage is neither too little nor too much.
  if (count >= kCount) CHECK((read > 0 && read < count));
}

TEST_CASE("sound files of every format are read") {
  const Folder folder;
  for (const std::string& format : kDataFormats) {
    for (const std::string& bytes : sound_files(format)) {
      const std::string path = folder.file(format);
      std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
      formats::Location location{path};
      if (bytes.starts_with("1;")) location.delimiter = ";";
      if (bytes.find("b.npy") != std::string::npos || bytes.find("\"b\"") != std::string::npos)
        location.key = "b";
      const auto tensor = formats::read_tensor(location, lang::DType::Float32, nullptr);
      INFO(format);
      if (!tensor.ok()) INFO(tensor.errors().front().message);
      CHECK(tensor.ok());
    }
  }
}

TEST_CASE("damaged .npy files") { check_format("npy"); }
TEST_CASE("damaged .npz files") { check_format("npz"); }
TEST_CASE("damaged .safetensors files") { check_format("safetensors"); }
TEST_CASE("damaged .csv files") { check_format("csv"); }
TEST_CASE("damaged .png files") { check_format("png"); }

}  // namespace
}  // namespace relay::tests
