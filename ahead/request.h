#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace relay::ahead {

// What `relay build` is asked for.
struct Request {
  struct Entry {
    std::string function;
    bool is_gradient = false;  // its value and gradient, as NAME_gradient
    friend bool operator==(const Entry&, const Entry&) = default;
  };
  std::string path;    // of the program
  std::string output;  // of the shared object; the header goes beside it
  std::vector<Entry> entries;
  std::map<std::string, std::vector<std::int64_t>> sizes;  // by dimension variable
};

// The name of the object as C has it: `my-model.so` is `my_model`.
std::string object_name(const Request& request);
// The path of the header.
std::string header_path(const Request& request);

}  // namespace relay::ahead
