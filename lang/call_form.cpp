#include "lang/call_form.h"

#include <algorithm>
#include <unordered_map>

namespace relay::lang {
namespace {

std::unordered_map<std::string, std::vector<InputForm>>& table() {
  static std::unordered_map<std::string, std::vector<InputForm>> forms;
  return forms;
}

}  // namespace

void set_input_forms(const std::string& op, std::vector<InputForm> forms) {
  table()[op] = std::move(forms);
}

InputForm input_form(const OpDef& op, std::size_t index) {
  const auto found = table().find(op.name);
  if (found == table().end() || index >= found->second.size()) return {};
  return found->second[index];
}

bool takes_floats(const OpDef& op) {
  const auto found = table().find(op.name);
  return found != table().end() && std::any_of(found->second.begin(), found->second.end(),
                                               [](const InputForm& form) { return form.as_float; });
}

bool is_float_form(const OpDef& op) {
  static const OpDef* const kForm = &OpRegistry::instance().get("as_float");
  return &op == kForm;
}

std::string input_usage(const OpDef& op, std::size_t index) {
  const std::optional<std::int64_t> value = input_form(op, index).default_value;
  return op.inputs[index].name + (value ? "=" + std::to_string(*value) : "");
}

}  // namespace relay::lang
