#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lang/dtype.h"

namespace relay::models::nnvm {

// The attributes of a node, which are all strings: `(3, 3)`, `[3,3]`, `3`, `(2L,)`, `True`, `1`,
// `None`, `1e-05`. What is `None` is as if it were not there. Readers without a default need the
// attribute. All throw Failure(BadData), which names the attribute and what it holds.
class Attributes {
 public:
  using Integers = std::vector<std::int64_t>;

  explicit Attributes(const std::map<std::string, std::string>& texts) : texts_(texts) {}

  bool has(std::string_view key) const { return find(key) != nullptr; }
  // `None` is written.
  bool is_none(std::string_view key) const;
  std::string text(std::string_view key) const;
  std::string text(std::string_view key, std::string_view otherwise) const;
  std::int64_t integer(std::string_view key) const;
  std::int64_t integer(std::string_view key, std::int64_t otherwise) const;
  double number(std::string_view key) const;
  double number(std::string_view key, double otherwise) const;
  bool flag(std::string_view key, bool otherwise) const;
  // One number is a list of one.
  Integers integers(std::string_view key) const;
  Integers integers(std::string_view key, Integers otherwise) const;
  // A list in which `None` may stand.
  std::vector<std::optional<std::int64_t>> slots(std::string_view key) const;
  // `((0, 1), (2, 3))`, flat.
  Integers nested_integers(std::string_view key) const;
  lang::DType dtype(std::string_view key) const;
  lang::DType dtype(std::string_view key, lang::DType otherwise) const;

  // Says that an attribute means nothing for what is computed.
  void ignore(std::initializer_list<std::string_view> keys) const;
  // Those that nobody has asked for and that may mean something: training's, and those of the
  // memory and the library that computes, mean nothing.
  std::vector<std::string> unread() const;

 private:
  const std::string* find(std::string_view key) const;
  const std::string& get(std::string_view key) const;

  const std::map<std::string, std::string>& texts_;
  mutable std::set<std::string, std::less<>> read_;
};

}  // namespace relay::models::nnvm
