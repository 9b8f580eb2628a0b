// A main for the fuzz drivers where libFuzzer is not at hand: it links with any compiler, so every
// test run exercises every driver for a few seconds. It understands libFuzzer's command line:
//
//   fuzz_parse -max_total_time=3 -seed=1 tests/golden    mutate these seeds for three seconds
//   fuzz_parse crash-fuzz_parse                          run this one input, to see a crash again
//
// Inputs are drawn from the seed alone, so a run repeats itself, up to where the clock ends it;
// -runs=N ends it by count. It has no coverage to guide it: `./dev fuzz` is the real search.
//
// When a driver dies, the input it was given is written to crash-NAME (hang-NAME when it took
// longer than -timeout seconds), which is what the second form above wants.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
extern "C" __attribute__((weak)) int LLVMFuzzerInitialize(int* argc, char*** argv);
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

// What the undefined-behaviour sanitizer finds ends in on_crash, as all else does.
extern "C" __attribute__((visibility("default"))) const char* __ubsan_default_options() {
  return "abort_on_error=1:print_stacktrace=1";
}

namespace {

namespace fs = std::filesystem;

struct Options {
  long runs = -1;           // inputs to try; -1: until the time is up
  long max_total_time = 3;  // seconds; 0: no limit
  long seed = 1;
  long max_len = 4096;          // bytes
  long timeout = 60;            // seconds for one input
  std::string dict;             // words to splice in, in libFuzzer's format
  std::string artifact_prefix;  // of the files with what is found
  std::vector<std::string> paths;
};

// What the signal handlers need: no allocation happens there.
struct Current {
  const uint8_t* data = nullptr;
  size_t size = 0;
  std::array<char, 256> crash_path{};
  std::array<char, 256> hang_path{};
} current;

void save_current(const char* path) {
  int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file < 0) return;
  for (size_t done = 0; done < current.size;) {
    ssize_t n = write(file, current.data + done, current.size - done);
    if (n <= 0) break;
    done += static_cast<size_t>(n);
  }
  close(file);
  auto say = [](const char* text) { (void)!write(STDERR_FILENO, text, std::strlen(text)); };
  say("input written to ");
  say(path);
  say("\n");
}

void on_crash(int signal) {
  save_current(current.crash_path.data());
  std::signal(signal, SIG_DFL);
  raise(signal);
}

void on_alarm(int) {
  save_current(current.hang_path.data());
  std::signal(SIGABRT, SIG_DFL);
  abort();
}

void install_handlers(const std::string& prefix, std::string_view program) {
  auto set = [&](std::array<char, 256>& path, const char* kind) {
    std::snprintf(path.data(), path.size(), "%s%s-%.*s", prefix.c_str(), kind,
                  static_cast<int>(program.size()), program.data());
  };
  set(current.crash_path, "crash");
  set(current.hang_path, "hang");

  // A stack of its own, since running out of stack is one of the ways to crash.
  static std::array<char, 64 * 1024> handler_stack;
  stack_t stack{};
  stack.ss_sp = handler_stack.data();
  stack.ss_size = handler_stack.size();
  sigaltstack(&stack, nullptr);
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    struct sigaction action {};
    action.sa_handler = on_crash;
    action.sa_flags = SA_ONSTACK;
    sigaction(signal, &action, nullptr);
  }
  std::signal(SIGALRM, on_alarm);
  if (__sanitizer_set_death_callback != nullptr) {
    __sanitizer_set_death_callback([] { save_current(current.crash_path.data()); });
  }
}

void run_one(const std::string& input, const Options& options) {
  // A copy of exactly this size, so that the sanitizers see a read past the end.
  std::vector<uint8_t> bytes(input.begin(), input.end());
  current.data = bytes.data();
  current.size = bytes.size();
  alarm(static_cast<unsigned>(options.timeout));
  LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  alarm(0);
  current.data = nullptr;
  current.size = 0;
}

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The quoted words of a dictionary; \xAB, \\ and \" are its only escapes.
std::vector<std::string> read_dictionary(const std::string& path) {
  std::vector<std::string> words;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    size_t begin = line.find('"');
    size_t end = line.rfind('"');
    if (line.starts_with('#') || begin == std::string::npos || end == begin) continue;
    std::string word;
    for (size_t i = begin + 1; i < end; ++i) {
      if (line[i] != '\\' || i + 1 >= end) {
        word += line[i];
      } else if (line[i + 1] == 'x' && i + 3 < end) {
        word += static_cast<char>(std::strtol(line.substr(i + 2, 2).c_str(), nullptr, 16));
        i += 3;
      } else {
        word += line[++i];
      }
    }
    words.push_back(word);
  }
  return words;
}

class Mutator {
 public:
  Mutator(std::vector<std::string> seeds, std::vector<std::string> words, const Options& options)
      : seeds_(std::move(seeds)),
        words_(std::move(words)),
        random_(static_cast<uint64_t>(options.seed)),
        max_len_(static_cast<size_t>(options.max_len)) {
    if (seeds_.empty()) seeds_.emplace_back();
  }

  std::string next() {
    std::string text = below(8) == 0 ? noise() : piece(pick(seeds_), max_len_);
    for (size_t steps = below(6); steps > 0; --steps) mutate(text);
    text.resize(std::min(text.size(), max_len_));
    return text;
  }

 private:
  // Not std::uniform_int_distribution, whose results differ between libraries.
  size_t below(size_t limit) { return limit == 0 ? 0 : random_() % limit; }
  const std::string& pick(const std::vector<std::string>& from) { return from[below(from.size())]; }
  char byte() { return static_cast<char>(below(4) == 0 ? below(256) : 32 + below(95)); }

  std::string noise() {
    std::string text(below(64), ' ');
    std::generate(text.begin(), text.end(), [&] { return byte(); });
    return text;
  }

  // All of `text` if it is short enough and the dice say so, else some of it.
  std::string piece(const std::string& text, size_t limit) {
    if (text.size() <= limit && below(2) == 0) return text;
    size_t begin = below(text.size() + 1);
    return text.substr(begin, below(std::min(limit, text.size() - begin) + 1));
  }

  void mutate(std::string& text) {
    size_t at = below(text.size() + 1);
    size_t left = text.size() - at;
    switch (below(6)) {
      case 0:  // change a byte
        if (left > 0) text[at] = byte();
        break;
      case 1:  // insert a few bytes
        text.insert(at, std::string(1 + below(4), byte()));
        break;
      case 2:  // drop a stretch
        text.erase(at, below(std::min<size_t>(left, 32) + 1));
        break;
      case 3:  // repeat a stretch, many times now and then: depth is a bug's favourite place
      {
        std::string stretch = text.substr(at, 1 + below(16));
        size_t times = below(16) == 0 ? 64 : 1;
        for (size_t i = 0; i < times && text.size() < max_len_; ++i) text.insert(at, stretch);
        break;
      }
      case 4:  // splice in a piece of another seed
        text.insert(at, piece(pick(seeds_), 64));
        break;
      case 5:  // insert a word
        if (!words_.empty()) text.insert(at, pick(words_));
        break;
    }
  }

  std::vector<std::string> seeds_;
  std::vector<std::string> words_;
  std::mt19937_64 random_;
  size_t max_len_;
};

bool parse_flag(std::string_view argument, Options& options) {
  size_t equals = argument.find('=');
  if (equals == std::string_view::npos) return false;
  std::string_view name = argument.substr(1, equals - 1);
  std::string_view value = argument.substr(equals + 1);
  if (name == "dict" || name == "artifact_prefix") {
    (name == "dict" ? options.dict : options.artifact_prefix) = value;
    return true;
  }
  struct Flag {
    std::string_view name;
    long& value;
  };
  for (Flag flag : {Flag{"runs", options.runs}, Flag{"max_total_time", options.max_total_time},
                    Flag{"seed", options.seed}, Flag{"max_len", options.max_len},
                    Flag{"timeout", options.timeout}}) {
    if (flag.name != name) continue;
    auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), flag.value);
    return error == std::errc{} && end == value.data() + value.size();
  }
  return true;  // one of libFuzzer's many flags that mean nothing here
}

}  // namespace

int main(int argc, char** argv) {
  if (LLVMFuzzerInitialize != nullptr) LLVMFuzzerInitialize(&argc, &argv);
  Options options;
  for (int i = 1; i < argc; ++i) {
    std::string_view argument = argv[i];
    if (!argument.starts_with('-')) {
      options.paths.emplace_back(argument);
    } else if (!parse_flag(argument, options)) {
      std::fprintf(stderr, "%s: cannot read the argument %s\n", argv[0], argv[i]);
      return 2;
    }
  }
  std::string program = fs::path(argv[0]).filename().string();
  install_handlers(options.artifact_prefix, program);

  // Plain files mean: run these and stop. Folders are seeds. Sorted, for a run that repeats itself.
  std::vector<fs::path> files;
  bool only_files = !options.paths.empty();
  for (const std::string& path : options.paths) {
    if (!fs::exists(path)) {
      std::fprintf(stderr, "%s: there is no file %s\n", argv[0], path.c_str());
      return 2;
    }
    if (!fs::is_directory(path)) {
      files.emplace_back(path);
      continue;
    }
    only_files = false;
    for (const auto& entry : fs::recursive_directory_iterator(path)) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());

  auto start = std::chrono::steady_clock::now();
  auto time_is_up = [&] {
    return options.max_total_time > 0 &&
           std::chrono::steady_clock::now() - start > std::chrono::seconds(options.max_total_time);
  };
  std::vector<std::string> seeds;
  for (const fs::path& file : files) seeds.push_back(read_file(file));

  long runs = 0;
  for (const std::string& seed : seeds) {
    if (!only_files && time_is_up()) break;
    run_one(seed, options);
    ++runs;
  }
  if (!only_files) {
    Mutator mutator(std::move(seeds), read_dictionary(options.dict), options);
    for (; !time_is_up() && (options.runs < 0 || runs < options.runs); ++runs) {
      run_one(mutator.next(), options);
    }
  }
  std::printf("%s: %ld inputs, seed %ld\n", program.c_str(), runs, options.seed);
  return 0;
}
