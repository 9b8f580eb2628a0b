// A dimension variable that several axes of a function's parameters, or of a constructor's fields,
// have makes them equal. Inference proves it of extents that it knows, and a `?` agrees with all of
// them: so whoever takes the values compares them, whatever way they came.

#include "typecheck/entry_checks.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "lang/any_dim.h"
#include "lang/build.h"
#include "lang/module.h"
#include "lang/op.h"
#include "typecheck/messages.h"

namespace relay::typecheck {

using namespace lang;

namespace {

struct Axis {
  std::uint32_t value;                // in the list
  std::vector<std::uint32_t> fields;  // from there, through tuples
  std::uint32_t axis;
  bool is_open;  // `?` in what is given
};

// A dim variable; or an axis of what a shape variable stands for.
using Name = std::pair<const TypeVar*, std::uint32_t>;

struct Axes {
  std::vector<std::pair<Name, std::vector<Axis>>> named;  // in the order of the values
  std::vector<std::pair<Dim, Axis>> computed;

  // The first axis of this dim variable; null if it names none.
  const Axis* first(const TypeVarRef& var) const {
    const auto found = find({var.get(), 0});
    return found == named.end() ? nullptr : &found->second.front();
  }
  void add(const Name& name, const Axis& place) {
    const auto found = find(name);
    if (found == named.end()) {
      named.push_back({name, {place}});
    } else {
      named[static_cast<std::size_t>(found - named.begin())].second.push_back(place);
    }
  }

 private:
  std::vector<std::pair<Name, std::vector<Axis>>>::const_iterator find(const Name& name) const {
    return std::find_if(named.begin(), named.end(),
                        [&](const auto& known) { return known.first == name; });
  }
};

void collect(const Type& needed, const Type& given, Axis place, Axes& axes) {
  if (const auto* tuple = as<TupleType>(needed)) {
    const auto* other = as<TupleType>(given);
    if (!other || other->fields.size() != tuple->fields.size()) return;
    for (std::uint32_t i = 0; i < tuple->fields.size(); ++i) {
      place.fields.push_back(i);
      collect(tuple->fields[i], other->fields[i], place, axes);
      place.fields.pop_back();
    }
    return;
  }
  const auto* tensor = as<TensorType>(needed);
  const auto* other = as<TensorType>(given);
  if (!tensor || !other || !other->shape.has_rank()) return;
  const bool has_rank = tensor->shape.has_rank();
  if (has_rank && tensor->shape.rank() != other->shape.rank()) return;
  for (std::uint32_t axis = 0; axis < other->shape.rank(); ++axis) {
    place.axis = axis;
    place.is_open = other->shape[axis].is_any();
    if (!has_rank) {
      axes.add({tensor->shape.var().get(), axis}, place);
      continue;
    }
    const Dim& dim = tensor->shape[axis];
    if (dim.is_constant() || dim.is_any()) continue;
    if (const TypeVarRef var = dim.as_variable()) {
      axes.add({var.get(), 0}, place);
    } else {
      axes.computed.emplace_back(dim, place);
    }
  }
}

bool is_unproven(const Axis& a, const Axis& b) { return a.is_open || b.is_open; }

// Does each variable of the dim name an axis?
bool is_computable(const Dim& dim, const Axes& axes) {
  bool all = true;
  dim.for_each_variable([&](const TypeVarRef& var) { all = all && axes.first(var) != nullptr; });
  return all;
}

// Can the extent that the dim gives the axis be computed from others, and is one of them a `?`?
bool is_unproven(const Dim& dim, const Axis& axis, const Axes& axes) {
  if (!is_computable(dim, axes)) return false;
  bool is_open = axis.is_open;
  dim.for_each_variable(
      [&](const TypeVarRef& var) { is_open = is_open || axes.first(var)->is_open; });
  return is_open;
}

Axes axes_of(const std::vector<TakenValue>& values) {
  Axes axes;
  for (std::uint32_t i = 0; i < values.size(); ++i) {
    if (values[i].needed) collect(values[i].needed, values[i].given, {i, {}, 0, false}, axes);
  }
  return axes;
}

Axes without_proven(Axes axes) {
  std::erase_if(axes.computed, [&](const auto& computed) {
    return !is_unproven(computed.first, computed.second, axes);
  });
  return axes;
}

class Checks {
 public:
  Checks(const std::vector<TakenValue>& values, const Axes& axes) : values_(values), axes_(axes) {}

  std::vector<EntryCheck> all(std::size_t settled) const {
    std::vector<EntryCheck> result;
    for (const auto& [name, places] : axes_.named) {
      for (std::size_t i = 1; i < places.size(); ++i) {
        if (places[i].value < settled || !is_unproven(places[0], places[i])) continue;
        result.push_back({extent(places[0]), extent(places[i]),
                          fmt::format("{} = {}", text(places[0]), text(places[i]))});
      }
    }
    for (const auto& [dim, place] : axes_.computed) {
      if (place.value < settled) continue;
      result.push_back(
          {value(dim), extent(place), fmt::format("{} = {}", dim.to_string(), text(place))});
    }
    return result;
  }

  Expr value(const Dim& dim) const {
    if (const TypeVarRef var = dim.as_variable()) return extent(*axes_.first(var));
    Expr sum = build::index_constant(dim.constant_part());
    for (const Dim::Term& term : dim.terms()) {
      Expr product = build::index_constant(term.coefficient);
      for (const Dim::AtomRef& atom : term.atoms) {
        Expr factor = atom->variable ? extent(*axes_.first(atom->variable))
                                     : build::op("floor_divide", {value(atom->division->first),
                                                                  value(atom->division->second)});
        product = build::op("multiply", {product, factor});
      }
      sum = build::op("add", {sum, product});
    }
    return sum;
  }

 private:
  Expr extent(const Axis& place) const {
    Expr tensor = values_[place.value].value;
    for (const std::uint32_t field : place.fields) tensor = build::project(tensor, field);
    return build::op("dim_of", {tensor}, {{"axis", static_cast<std::int64_t>(place.axis)}});
  }

  std::string text(const Axis& place) const {
    std::string tensor = values_[place.value].name;
    for (const std::uint32_t field : place.fields) tensor += fmt::format(".{}", field);
    return place.axis == 0 ? fmt::format("dim_of({})", tensor)
                           : fmt::format("dim_of({}, axis={})", tensor, place.axis);
  }

  const std::vector<TakenValue>& values_;
  const Axes& axes_;
};

bool has_open(const Axes& axes) {
  if (!axes.computed.empty()) return true;
  for (const auto& [name, places] : axes.named) {
    for (std::size_t i = 1; i < places.size(); ++i)
      if (is_unproven(places[0], places[i])) return true;
  }
  return false;
}

}  // namespace

bool leaves_extents_open(const std::vector<Type>& needed, const std::vector<Type>& given) {
  if (std::none_of(given.begin(), given.end(), has_any_dim)) return false;
  Axes axes;
  for (std::uint32_t i = 0; i < given.size(); ++i)
    collect(needed[i], given[i], {i, {}, 0, false}, axes);
  return has_open(without_proven(std::move(axes)));
}

std::vector<EntryCheck> open_extents_of(const std::vector<TakenValue>& values,
                                        std::size_t settled) {
  const auto is_open = [](const TakenValue& value) { return has_any_dim(value.given); };
  if (std::none_of(values.begin(), values.end(), is_open)) return {};
  const Axes axes = without_proven(axes_of(values));
  return Checks(values, axes).all(settled);
}

Expr extent_of(const Dim& dim, const std::vector<TakenValue>& values) {
  const Axes axes = axes_of(values);
  return is_computable(dim, axes) ? Checks(values, axes).value(dim) : nullptr;
}

Expr behind_checks(const std::vector<EntryCheck>& checks, const std::string& because, Span span,
                   Expr rest) {
  if (checks.empty()) return rest;
  const OpDef& op = OpRegistry::instance().get("check_dims");
  const Type index = scalar_type(DType::Int64);
  std::vector<Binding> bindings;
  for (const EntryCheck& check : checks) {
    AttrsRef attrs =
        complete_attrs(op, make_attrs({{"equation", check.equation}, {"because", because}}), {});
    Expr callee = make_operator(&op, span, function_type({index, index}, index));
    bindings.push_back({make_variable("", index, span),
                        make_call(callee, {check.a, check.b}, attrs, span, index), span});
  }
  return close_block({std::move(bindings), std::move(rest)});
}

Expr checked_construction(const Expr& constructor, const std::vector<Expr>& fields, AttrsRef attrs,
                          Span span, const Type& type) {
  const auto is_open = [](const Expr& field) { return has_any_dim(field->type); };
  if (std::none_of(fields.begin(), fields.end(), is_open))
    return make_call(constructor, fields, std::move(attrs), span, type);
  const Constructor& own = *cast<ConstructorRef>(constructor).constructor;
  std::vector<TakenValue> values;
  std::vector<Binding> bindings;
  std::vector<Expr> args;
  for (const Expr& field : fields) {
    const VariableRef variable = make_variable("", field->type, field->span);
    bindings.push_back({variable, field, field->span});
    args.push_back(make_var(variable, field->span));
    const auto* var = as<Var>(field);
    std::string name = var ? var->variable->name : quote(field->span, "a field");
    values.push_back({args.back(), std::move(name), own.fields[values.size()], field->type});
  }
  const std::vector<EntryCheck> checks = open_extents_of(values);
  if (checks.empty()) return make_call(constructor, fields, std::move(attrs), span, type);
  Expr call = make_call(constructor, std::move(args), std::move(attrs), span, type);
  return close_block({std::move(bindings),
                      behind_checks(checks, fmt::format("`{}`", own.name), span, std::move(call))});
}

Expr constructor_value(const ConstructorRef& constructor, const Type& type) {
  Expr plain = make_constructor_ref(constructor.constructor, constructor.span, type);
  const auto* function = as<FunctionType>(type);
  const std::vector<Type>& fields = constructor.constructor->fields;
  if (!function || !leaves_extents_open(fields, function->params)) return plain;
  const std::vector<std::string>& names = constructor.constructor->field_names;
  std::vector<VariableRef> params;
  std::vector<Expr> args;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::string name = i < names.size() ? names[i] : fmt::format("field{}", i + 1);
    params.push_back(make_variable(name, function->params[i], constructor.span));
    args.push_back(make_var(params.back()));
  }
  Expr body = checked_construction(plain, args, nullptr, constructor.span, function->result);
  return make_function(std::move(params), function->result, std::move(body), {}, nullptr,
                       constructor.span, type);
}

}  // namespace relay::typecheck
