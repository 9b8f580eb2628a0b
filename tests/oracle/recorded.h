#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lang/value.h"

namespace relay::tests {

// What NumPy gave for the rows of one file of cases.
class Recorded {
 public:
  // A missing file counts as empty.
  explicit Recorded(const std::string& path);
  ~Recorded();
  // How `value` differs from the record of `key` beyond the tolerance of its dtype; empty where it
  // does not. `tolerance` above 0 replaces the relative one.
  std::string difference(const std::string& key, const lang::Value& value, double tolerance) const;
  // The recorded rows.
  std::vector<std::string> keys() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace relay::tests
