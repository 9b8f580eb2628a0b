#include "lang/tree_mend.h"

#include <algorithm>
#include <string_view>

#include "lang/infix.h"
#include "lang/module.h"
#include "lang/record.h"

namespace relay::lang {
namespace {

// Are all leaves float tensors, so that `tree_map` passes over none? Of data, records of one form
// only.
bool holds_floats_alone(const Type& type, int levels_left = 8) {
  if (levels_left == 0) return false;
  if (const auto* tensor = as<TensorType>(type))
    return tensor->dtype.is_known() && is_float(tensor->dtype.known());
  const auto all_do = [&](const std::vector<Type>& fields) {
    return !fields.empty() && std::all_of(fields.begin(), fields.end(), [&](const Type& field) {
      return holds_floats_alone(field, levels_left - 1);
    });
  };
  if (const auto* tuple = as<TupleType>(type)) return all_do(tuple->fields);
  const auto* data = as<AdtType>(type);
  return data && data->def->constructors.size() == 1 &&
         all_do(field_types(*data, data->def->constructors.front()));
}

bool is_tree(const Type& type) { return !as<TensorType>(type) && holds_floats_alone(type); }

bool is_number(const Type& type) {
  const auto* tensor = as<TensorType>(type);
  return tensor && tensor->shape.has_rank() && tensor->shape.rank() == 0;
}

// A name that neither text has in it.
std::string free_name(std::string_view a, std::string_view b, std::string_view names) {
  const auto at = std::find_if(names.begin(), names.end(), [&](char name) {
    return a.find(name) == std::string_view::npos && b.find(name) == std::string_view::npos;
  });
  return at == names.end() ? std::string("leaf_") + names.front() : std::string(1, *at);
}

}  // namespace

std::optional<std::string> mend_by_tree_map(const TypeCall& call) {
  const Infix* const infix = infix_of(call.op.name);
  if (!infix || call.args.size() != 2 || call.arg_spans.size() != 2) return std::nullopt;
  if (!call.arg_spans[0] || !call.arg_spans[1]) return std::nullopt;
  const Type left = call.solver.resolve(call.args[0]);
  const Type right = call.solver.resolve(call.args[1]);
  const std::string a(call.arg_spans[0].text());
  const std::string b(call.arg_spans[1].text());
  const std::string sign = " " + std::string(infix->symbol) + " ";
  const std::string x = free_name(a, b, "xuf");
  const std::string y = free_name(a, b, "yvg");
  const auto map = [](const std::string& parameters, const std::string& body,
                      const std::string& trees) {
    return "help: `tree_map(fn (" + parameters + ") { " + body + " }, " + trees + ")`";
  };
  if (is_tree(left) && is_tree(right) && equal(left, right))
    return map(x + ", " + y, x + sign + y, a + ", " + b);
  if (is_number(left) && is_tree(right)) return map(x, a + sign + x, b);
  if (is_tree(left) && is_number(right)) return map(x, x + sign + b, a);
  return std::nullopt;
}

}  // namespace relay::lang
