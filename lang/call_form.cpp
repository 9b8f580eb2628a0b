#include "lang/call_form.h"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace relay::lang {
namespace {

std::unordered_map<std::string, std::vector<InputForm>>& forms_by_op() {
  static std::unordered_map<std::string, std::vector<InputForm>> forms;
  return forms;
}

std::unordered_map<std::string, AttrValue>& attr_table() {
  static std::unordered_map<std::string, AttrValue> defaults;
  return defaults;
}

}  // namespace

void set_attr_default(const std::string& op, const std::string& key, AttrValue value) {
  attr_table()[op + '.' + key] = std::move(value);
}

std::optional<AttrValue> attr_default(const OpDef& op, const AttrSpec& attr) {
  if (attr.default_value) return attr.default_value;
  const auto found = attr_table().find(op.name + '.' + attr.name);
  if (found == attr_table().end()) return std::nullopt;
  return found->second;
}

std::string attr_usage(const OpDef& op, const AttrSpec& attr) {
  const std::optional<AttrValue> value = attr_default(op, attr);
  return attr.name + "=" + (value ? value->to_string() : "");
}

void set_input_forms(const std::string& op, std::vector<InputForm> forms) {
  forms_by_op()[op] = std::move(forms);
}

InputForm input_form(const OpDef& op, std::size_t index) {
  const auto found = forms_by_op().find(op.name);
  if (found == forms_by_op().end() || index >= found->second.size()) return {};
  return found->second[index];
}

bool takes_floats(const OpDef& op) {
  const auto found = forms_by_op().find(op.name);
  return found != forms_by_op().end() &&
         std::any_of(found->second.begin(), found->second.end(),
                     [](const InputForm& form) { return form.as_float; });
}

bool is_cast_form(const OpDef& op) {
  static const std::array kForms{&OpRegistry::instance().get("as_float"),
                                 &OpRegistry::instance().get("as_index")};
  return &op == kForms[0] || &op == kForms[1];
}

std::string input_usage(const OpDef& op, std::size_t index) {
  const std::optional<AttrValue> value = input_form(op, index).default_value;
  return op.inputs[index].name + (value ? "=" + value->to_string() : "");
}

}  // namespace relay::lang
