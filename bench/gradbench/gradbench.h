// What the C++ sides of GradBench have in common: inputs from files, functions that are run and
// timed, results into files.
//
// On a line of its input the program is told what to do, and answers with a line:
//   prepare FOLDER        reads the inputs, FOLDER/NAME.npy
//   run COUNT FUNCTION    the seconds of so many runs
//   save FILE FUNCTION    runs it and writes its results as raw float64
#pragma once
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

using Numbers = std::vector<double>;
using Integers = std::vector<std::int64_t>;

// What a function fills in: integers in front, where it has any. They keep their memory from run to
// run.
struct Results {
  Integers integers;
  Numbers numbers;
};
using Functions = std::map<std::string, std::function<void(Results&)>>;

// The tensors of a folder.
class Inputs {
 public:
  explicit Inputs(std::string folder) : folder_(std::move(folder)) {}
  Numbers numbers(const std::string& name) const { return elements<double>(name); }
  Integers integers(const std::string& name) const { return elements<std::int64_t>(name); }
  double number(const std::string& name) const { return numbers(name).at(0); }
  std::int64_t integer(const std::string& name) const { return integers(name).at(0); }
  std::vector<std::size_t> shape(const std::string& name) const {
    const std::string text = read(name);
    std::istringstream extents(text.substr(text.find("'shape': (") + 10));
    std::vector<std::size_t> shape;
    for (std::size_t extent; extents >> extent; extents.ignore(1)) shape.push_back(extent);
    return shape;
  }

 private:
  // Of a `.npy` of version 1, as NumPy writes it: all that stands behind the header.
  template <class T>
  std::vector<T> elements(const std::string& name) const {
    const std::string bytes = read(name);
    const std::string kind = std::is_floating_point_v<T> ? "'<f8'" : "'<i8'";
    if (bytes.size() < 10 || bytes.substr(0, 256).find(kind) == std::string::npos) {
      std::fprintf(stderr, "%s.npy holds no elements of dtype %s\n", name.c_str(), kind.c_str());
      std::exit(1);
    }
    const std::size_t begin =
        10 + static_cast<unsigned char>(bytes[8]) + 256u * static_cast<unsigned char>(bytes[9]);
    std::vector<T> read((bytes.size() - begin) / sizeof(T));
    std::memcpy(read.data(), bytes.data() + begin, read.size() * sizeof(T));
    return read;
  }
  std::string read(const std::string& name) const {
    std::ifstream file(folder_ + "/" + name + ".npy", std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
  std::string folder_;
};

// What each evaluation defines: its functions, over inputs that they own.
Functions functions(const Inputs& inputs);

inline void save(const Results& results, const std::string& path) {
  std::ofstream file(path, std::ios::binary);
  Numbers all(results.integers.begin(), results.integers.end());
  all.insert(all.end(), results.numbers.begin(), results.numbers.end());
  file.write(reinterpret_cast<const char*>(all.data()),
             static_cast<std::streamsize>(all.size() * sizeof(double)));
}

int main() {
  Functions known;
  Results results;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string command, argument, name;
    words >> command >> argument;
    std::getline(words >> std::ws, name);
    if (command == "prepare") {
      known = functions(Inputs(argument));
      std::printf("ready\n");
    } else if (command == "save") {
      results = {};
      known.at(name)(results);
      save(results, argument);
      std::printf("saved\n");
    } else {
      for (int i = std::atoi(argument.c_str()); i > 0; --i) {
        const auto start = std::chrono::steady_clock::now();
        known.at(name)(results);
        const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
        std::printf("%.9f ", time.count());
      }
      std::printf("\n");
    }
    std::fflush(stdout);
  }
}
