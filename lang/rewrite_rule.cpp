#include "lang/rewrite_rule.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace relay::lang {

namespace {

struct NamedPatternForm {
  std::string_view name;
  PatternForm form;
};
constexpr std::array<NamedPatternForm, 7> kPatternForms = {
    {{"elementwise", PatternForm::Elementwise},
     {"injective", PatternForm::Injective},
     {"reduction", PatternForm::Reduction},
     {"operator", PatternForm::Operator},
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

std::vector<std::string> pattern_form_names() {
  std::vector<std::string> names;
  for (const NamedPatternForm& each : kPatternForms) names.emplace_back(each.name);
  return names;
}

const PatternForm* find_operator_trait(std::string_view annotation) {
  if (annotation.empty() || std::islower(static_cast<unsigned char>(annotation[0]))) return nullptr;
  std::string name(annotation);
  name[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(name[0])));
  const PatternForm* form = find_pattern_form(name);
  return form && *form <= PatternForm::Operator ? form : nullptr;
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

}  // namespace relay::lang
