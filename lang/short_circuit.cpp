#include "lang/short_circuit.h"

namespace relay::lang {
namespace {

struct LazyForm {
  const OpDef* strict;
  OpDef lazy;
};

const LazyForm& form_of(std::string_view name) {
  const auto make = [](std::string_view wanted) {
    const OpDef& op = OpRegistry::instance().get(wanted);
    return LazyForm{&op, op};
  };
  static const LazyForm both = make("logical_and");
  static const LazyForm either = make("logical_or");
  return name == "logical_and" ? both : either;
}

bool has_form(const OpDef& op) { return op.name == "logical_and" || op.name == "logical_or"; }

}  // namespace

const OpDef* short_circuit_form(const OpDef& op) {
  return has_form(op) ? &form_of(op.name).lazy : nullptr;
}

const OpDef* strict_form(const OpDef& op) {
  if (!has_form(op)) return nullptr;
  const LazyForm& form = form_of(op.name);
  return &op == &form.lazy ? form.strict : nullptr;
}

bool continues_on_true(const OpDef& op) { return op.name == "logical_and"; }

}  // namespace relay::lang
