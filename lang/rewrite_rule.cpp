#include "lang/rewrite_rule.h"

#include <algorithm>
#include <array>

namespace relay::lang {

namespace {

struct NamedPatternForm {
  std::string_view name;
  PatternForm form;
  std::string_view trait = {};  // as the annotation of an operator parameter
};
constexpr std::array<NamedPatternForm, 7> kPatternForms = {
    {{"elementwise", PatternForm::Elementwise, "Elementwise"},
     {"injective", PatternForm::Injective, "Injective"},
     {"reduction", PatternForm::Reduction, "Reduction"},
     {"operator", PatternForm::Operator, "Operator"},
     {"either", PatternForm::Either},
     {"maybe", PatternForm::Maybe},
     {"chain", PatternForm::Chain}}};

constexpr std::string_view kParameterObject = "parameter";

}  // namespace

bool has_role(const Variable& variable, std::string_view role) {
  return variable.attrs && variable.attrs->find(role);
}

const PatternForm* find_pattern_form(std::string_view name) {
  const auto found = std::find_if(kPatternForms.begin(), kPatternForms.end(),
                                  [&](const NamedPatternForm& each) { return each.name == name; });
  return found == kPatternForms.end() ? nullptr : &found->form;
}

std::string_view name_of(PatternForm form) {
  return std::find_if(kPatternForms.begin(), kPatternForms.end(),
                      [&](const NamedPatternForm& each) { return each.form == form; })
      ->name;
}

const PatternForm* find_operator_trait(std::string_view annotation) {
  const auto found =
      std::find_if(kPatternForms.begin(), kPatternForms.end(), [&](const NamedPatternForm& each) {
        return !each.trait.empty() && each.trait == annotation;
      });
  return found == kPatternForms.end() ? nullptr : &found->form;
}

std::vector<std::string> operator_trait_names() {
  std::vector<std::string> names;
  for (const NamedPatternForm& each : kPatternForms) {
    if (!each.trait.empty()) names.emplace_back(each.trait);
  }
  return names;
}

AttrValue parameter_attribute(const std::string& name) {
  return AttrValue(Ref<const AttrObject>(
      new AttrObject(std::string(kParameterObject), {{"name", AttrValue(name)}})));
}

const std::string* attribute_parameter(const AttrValue& value) {
  const AttrObject* object = value.as_object();
  if (!object || object->type_key != kParameterObject) return nullptr;
  return object->find("name")->as_string();
}

AttrValue with_parameters(const AttrValue& written,
                          const std::function<AttrValue(const std::string& name)>& value_of) {
  if (const std::string* name = attribute_parameter(written)) return value_of(*name);
  const AttrValue::List* list = written.as_list();
  if (!list) return written;
  AttrValue::List values;
  for (const AttrValue& each : *list) values.push_back(with_parameters(each, value_of));
  return AttrValue(std::move(values));
}

}  // namespace relay::lang
