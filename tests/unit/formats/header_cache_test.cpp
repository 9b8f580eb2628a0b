// The header of a file of many tensors is read once, however many of them are loaded, and again
// when the file has been written.

#include "formats/header_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

#include "formats/formats.h"
#include "formats/safetensors.h"
#include "lang/tensor.h"

namespace relay::formats {
namespace {

namespace fs = std::filesystem;

class Weights {
 public:
  explicit Weights(const std::string& extension)
      : path_((fs::temp_directory_path() /
               ("relay_header_cache_" + std::to_string(getpid()) + extension))
                  .string()) {}
  ~Weights() {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }
  const std::string& path() const { return path_; }

  // `t0` holds `first`, and so on.
  void write(int count, float first) const {
    std::vector<NamedTensor> tensors;
    for (int k = 0; k < count; ++k)
      tensors.push_back({"t" + std::to_string(k), scalar(first + static_cast<float>(k))});
    REQUIRE(write_tensors({.path = path_}, tensors, nullptr).ok());
  }
  // Waits until another writing would show in the file's times.
  void settle() const {
    while (!FileReader({.path = path_}).version().is_settled())
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  float load(int k) const {
    const Location location{.path = path_, .key = "t" + std::to_string(k)};
    REQUIRE(read_header(location).ok());
    const auto tensor = read_tensor(location, lang::DType::Float32, nullptr);
    REQUIRE(tensor.ok());
    return static_cast<float>(tensor.value()->number_at(0));
  }

 private:
  static lang::TensorRef scalar(float value) {
    lang::TensorRef tensor = lang::Tensor::make(lang::DType::Float32, {1});
    std::memcpy(tensor->data(), &value, sizeof value);
    return tensor;
  }
  std::string path_;
};

TEST_CASE("the header of a file is read once for all of its tensors") {
  const Weights weights(".safetensors");
  weights.write(300, 1);
  weights.settle();
  const std::int64_t before = safetensors_headers_read();
  for (int k = 0; k < 300; ++k) REQUIRE(weights.load(k) == static_cast<float>(1 + k));
  CHECK(safetensors_headers_read() - before == 1);
}

TEST_CASE("a file that is replaced between two loads is read anew") {
  for (const char* extension : {".safetensors", ".npz"}) {
    const Weights weights(extension);
    weights.write(2, 1);
    weights.settle();
    CHECK(weights.load(1) == 2);
    weights.write(3, 5);
    CHECK(weights.load(1) == 6);
    CHECK(weights.load(2) == 7);
    CHECK(weights.load(1) == 6);
  }
}

// The same file and size, and the time of writing set back: only what it says of its tensors is
// another thing.
TEST_CASE("a file that is written in place between two loads is read anew") {
  const Weights weights(".safetensors");
  const auto replace = [&](const std::string& from, const std::string& to) {
    std::ifstream file(weights.path(), std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    bytes.replace(bytes.find(from), from.size(), to);
    struct stat before {};
    REQUIRE(stat(weights.path().c_str(), &before) == 0);
    std::ofstream(weights.path(), std::ios::binary | std::ios::in) << bytes;
    const timespec times[] = {before.st_atim, before.st_mtim};
    REQUIRE(utimensat(AT_FDCWD, weights.path().c_str(), times, 0) == 0);
  };
  for (const bool settles : {true, false}) {
    weights.write(2, 1);
    if (settles) weights.settle();
    CHECK(weights.load(0) == 1);
    replace("\"data_offsets\":[0,4]", "\"data_offsets\":[4,8]");
    CHECK(weights.load(0) == 2);
    replace("\"data_offsets\":[4,8]", "\"data_offsets\":[0,4]");
    CHECK(weights.load(0) == 1);
  }
}

TEST_CASE("what is kept of headers is bounded") {
  HeaderCache<int> cache;
  const auto read = [](FileReader&) { return 1; };
  const auto reads_of = [&](std::int64_t size, int files) {
    std::vector<std::unique_ptr<Weights>> all;
    for (int k = 0; k < files; ++k) {
      all.push_back(std::make_unique<Weights>("." + std::to_string(k) + ".safetensors"));
      all.back()->write(1, 0);
    }
    for (const auto& each : all) each->settle();
    const std::int64_t before = cache.headers_read();
    for (int round = 0; round < 2; ++round) {
      for (const auto& each : all) {
        FileReader file({.path = each->path()});
        cache.header_of(file, read, [&](int) { return size; });
      }
    }
    return cache.headers_read() - before;
  };
  CHECK(reads_of(1, 3) == 3);
  CHECK(reads_of(1, 9) == 18);
  CHECK(reads_of(std::int64_t{1} << 24, 2) == 2);
  CHECK(reads_of(std::int64_t{1} << 24, 3) == 6);
  CHECK(reads_of(std::int64_t{1} << 26, 1) == 2);
}

}  // namespace
}  // namespace relay::formats
