#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace relay::models {

// The names that an expression mentions, those behind a point with it: `w.fc_weight`, `x`,
// `nn.relu`.
std::vector<std::string> words_of(std::string_view text);

// The letters, digits and `_` of a name of another framework: `/layer1/conv/Conv_output_0` is
// `layer1_conv_Conv_output_0`. What begins with a digit gets `fallback` in front. Names that the
// language has for itself (keywords, operators, reductions) get a `_` behind. Never empty.
std::string legal_name(std::string_view wanted, std::string_view fallback);

// Names that differ.
class Names {
 public:
  // `legal_name`, or the first of it with `_2`, `_3`, ... that is free; and takes it. Costs the
  // same however many names have been like it.
  std::string unique(std::string_view wanted, std::string_view fallback);
  void take(std::string name) { taken_.insert(std::move(name)); }
  bool is_taken(const std::string& name) const { return taken_.contains(name); }

 private:
  std::set<std::string> taken_;
  std::map<std::string, int> next_;  // the number to try first; all before it are taken
};

}  // namespace relay::models
