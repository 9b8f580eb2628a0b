#include "lang/attrs_struct.h"

#include <algorithm>
#include <unordered_map>

namespace relay::lang {
namespace {

struct Entry {
  std::string name;
  std::vector<std::string> boxed;
};

std::unordered_map<std::string, Entry>& table() {
  static std::unordered_map<std::string, Entry> entries;
  return entries;
}

// `nn.max_pool2d` has `MaxPool2DAttrs`: the last word, its parts and a D behind a digit capital.
std::string usual_name(std::string_view op) {
  std::string name;
  char before = '_';
  for (const char c : op.substr(op.rfind('.') + 1)) {
    const bool is_count = c == 'd' && before >= '0' && before <= '9';
    const bool begins = before == '_' || is_count;
    if (c != '_') name += begins && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    before = c;
  }
  return name + "Attrs";
}

}  // namespace

void set_attrs_struct(const std::string& op, std::string name, std::vector<std::string> boxed) {
  table()[op] = {std::move(name), std::move(boxed)};
}

std::string attrs_struct_of(const OpDef& op) {
  const auto found = table().find(op.name);
  return found == table().end() || found->second.name.empty() ? usual_name(op.name)
                                                              : found->second.name;
}

bool is_boxed(const OpDef& op, const AttrSpec& attr) {
  if (attr.nullable) return true;
  const auto found = table().find(op.name);
  if (found == table().end()) return false;
  const std::vector<std::string>& boxed = found->second.boxed;
  return std::find(boxed.begin(), boxed.end(), attr.name) != boxed.end();
}

}  // namespace relay::lang
