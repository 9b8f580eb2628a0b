#include "typecheck/trees_of_tensors.h"

#include <algorithm>
#include <unordered_set>

#include "lang/build.h"
#include "lang/record.h"

namespace relay::typecheck {

using namespace lang;

namespace {

using Defs = std::unordered_set<const TypeDef*>;

// The data types in that type and in their fields.
void collect_definitions(const Type& type, Defs& found) {
  if (const auto* tuple = as<TupleType>(type)) {
    for (const Type& field : tuple->fields) collect_definitions(field, found);
  }
  const auto* adt = as<AdtType>(type);
  if (!adt) return;
  for (const Type& arg : adt->args) collect_definitions(arg, found);
  if (!found.insert(adt->def).second) return;
  for (const Constructor& constructor : adt->def->constructors) {
    for (const Type& field : constructor.fields) collect_definitions(field, found);
  }
}

// A data type whose values are all made by one constructor, and hold none of their own kind.
bool is_record(const TypeDef& def) {
  if (def.constructors.size() != 1) return false;
  Defs inside;
  for (const Type& field : def.constructors[0].fields) collect_definitions(field, inside);
  return !inside.contains(&def);
}

Type first_obstacle(const std::vector<Type>& parts) {
  for (const Type& part : parts) {
    if (Type found = no_tree_of_tensors(part)) return found;
  }
  return nullptr;
}

bool holds_anything(const TypeDef& def);

// Can a field of that type, over the parameters of its data type, hold tensors of any shape?
bool holds_anything(const Type& field) {
  if (field->kind == TypeKind::Var) return true;
  const auto all = [](const std::vector<Type>& types) {
    return std::all_of(types.begin(), types.end(), [](const Type& t) { return holds_anything(t); });
  };
  if (const auto* tuple = as<TupleType>(field)) return all(tuple->fields);
  const auto* adt = as<AdtType>(field);
  return adt && holds_anything(*adt->def) && all(adt->args);
}

// Asked of data types without an obstacle only, so it comes to an end.
bool holds_anything(const TypeDef& def) {
  const std::vector<Type>& fields = def.constructors[0].fields;
  return std::all_of(fields.begin(), fields.end(), [](const Type& t) { return holds_anything(t); });
}

void collect_variables(const Type& type, std::unordered_set<const TypeVar*>& found) {
  if (const auto* var = as<VarType>(type)) found.insert(var->var.get());
  if (const auto* tuple = as<TupleType>(type)) {
    for (const Type& field : tuple->fields) collect_variables(field, found);
  } else if (const auto* adt = as<AdtType>(type)) {
    for (const Type& arg : adt->args) collect_variables(arg, found);
  }
}

std::vector<Type> parts_of(const Type& type) {
  if (const auto* tuple = as<TupleType>(type)) return tuple->fields;
  const auto& adt = *as<AdtType>(type);
  return field_types(adt, adt.def->constructors[0]);
}

void collect_types(const Type& type, std::vector<Type>& found) {
  if (type->kind == TypeKind::Tensor) {
    found.push_back(type);
    return;
  }
  if (type->kind == TypeKind::Var) return;
  for (const Type& part : parts_of(type)) collect_types(part, found);
}

class Tensors {
 public:
  Tensors(std::vector<Binding>& bindings, Span span) : bindings_(bindings), span_(span) {}

  void add(const Expr& value) {
    if (value->type->kind == TypeKind::Tensor) {
      found.push_back(value);
    } else if (const std::vector<Expr>* parts = written_parts(value)) {
      for (const Expr& part : *parts) add(part);
    } else {
      add_parts(value->kind == ExprKind::Var ? value : first(value));
    }
  }

  std::vector<Expr> found;

 private:
  // The parts of a tuple or a record that stand in the code.
  static const std::vector<Expr>* written_parts(const Expr& value) {
    if (const auto* tuple = as<Tuple>(value)) return &tuple->fields;
    const auto* call = as<Call>(value);
    return call && call->callee->kind == ExprKind::ConstructorRef ? &call->args : nullptr;
  }

  // A part is read with nothing between, so that reading it again costs nothing.
  void add_parts(const Expr& value) {
    if (value->type->kind == TypeKind::Tensor) {
      found.push_back(value);
      return;
    }
    const std::size_t count = parts_of(value->type).size();
    const auto* adt = as<AdtType>(value->type);
    for (std::size_t i = 0; i < count; ++i)
      add_parts(adt ? read_field(value, adt->def->constructors[0], i, span_)
                    : build::project(value, static_cast<std::uint32_t>(i)));
  }

  Expr named(const Expr& value) {
    const VariableRef variable = make_variable("value", value->type, span_);
    bindings_.push_back({variable, value, span_});
    return make_var(variable, span_);
  }

  // What comes before it in the code is computed before it.
  Expr first(const Expr& value) {
    for (; bound_ < found.size(); ++bound_) {
      if (!build::is_atom(found[bound_])) found[bound_] = named(found[bound_]);
    }
    return named(value);
  }

  std::vector<Binding>& bindings_;
  const Span span_;
  std::size_t bound_ = 0;  // these of what is found need no name
};

Expr assemble(const Type& type, const std::vector<Expr>& tensors, std::size_t& next, Span span) {
  if (type->kind == TypeKind::Tensor) return tensors[next++];
  const std::vector<Type> types = parts_of(type);
  std::vector<Expr> parts;
  parts.reserve(types.size());
  for (const Type& part : types) parts.push_back(assemble(part, tensors, next, span));
  const auto* adt = as<AdtType>(type);
  if (!adt) return make_tuple(std::move(parts), span, type);
  const Constructor& constructor = adt->def->constructors[0];
  if (parts.empty()) return make_constructor_ref(&constructor, span, type);
  return make_call(make_constructor_ref(&constructor, span, function_type(types, type)),
                   std::move(parts), nullptr, span, type);
}

}  // namespace

Type no_tree_of_tensors(const Type& type) {
  if (type->kind == TypeKind::Tensor || type->kind == TypeKind::Var) return nullptr;
  if (const auto* tuple = as<TupleType>(type)) return first_obstacle(tuple->fields);
  const auto* adt = as<AdtType>(type);
  if (!adt || !is_record(*adt->def)) return type;
  return first_obstacle(field_types(*adt, adt->def->constructors[0]));
}

namespace {

// An argument that stands in no field (a phantom) says nothing about tensors.
Type map_arguments(const AdtType& adt, const std::function<Type(const Type&)>& of_tensor) {
  std::unordered_set<const TypeVar*> held;
  for (const Type& field : adt.def->constructors[0].fields) collect_variables(field, held);
  std::vector<Type> args;
  for (std::size_t i = 0; i < adt.args.size(); ++i) {
    const bool is_held = held.contains(adt.def->params[i].get());
    args.push_back(is_held ? map_tensors(adt.args[i], of_tensor) : adt.args[i]);
    if (!args.back()) return nullptr;
  }
  return adt_type(adt.def, std::move(args));
}

}  // namespace

Type map_tensors(const Type& type, const std::function<Type(const Type&)>& of_tensor) {
  if (type->kind == TypeKind::Tensor) return of_tensor(type);
  if (type->kind == TypeKind::Var) return nullptr;
  const auto* adt = as<AdtType>(type);
  if (adt && holds_anything(*adt->def)) return map_arguments(*adt, of_tensor);
  std::vector<Type> parts;
  for (const Type& part : parts_of(type)) {
    parts.push_back(map_tensors(part, of_tensor));
    if (!parts.back()) return nullptr;
  }
  return tuple_type(std::move(parts));
}

std::vector<Type> tensor_types_of(const Type& type) {
  std::vector<Type> found;
  collect_types(type, found);
  return found;
}

std::vector<Expr> tensors_of(const Expr& value, std::vector<Binding>& bindings, Span span) {
  Tensors tensors(bindings, span);
  tensors.add(value);
  return std::move(tensors.found);
}

namespace {

// The value of that type with these tensors.
Expr put_together(const Type& type, const std::vector<Expr>& tensors, Span span) {
  std::size_t next = 0;
  return assemble(type, tensors, next, span);
}

// A tensor or a tuple of tensors, which the core's index notation may yield.
bool is_yielded_as_it_is(const Type& type) {
  const auto* tuple = as<TupleType>(type);
  if (!tuple) return type->kind == TypeKind::Tensor;
  return std::all_of(tuple->fields.begin(), tuple->fields.end(),
                     [](const Type& field) { return field->kind == TypeKind::Tensor; });
}

}  // namespace

Expr stack_parts(std::vector<IndexBinder> binders, const Expr& body, const Type& type, Span span) {
  if (is_yielded_as_it_is(body->type))
    return make_comprehension(std::move(binders), body, span, type);
  Block block = open_block(body);
  std::vector<Expr> tensors = tensors_of(block.result, block.bindings, span);
  std::vector<Type> types = tensor_types_of(type);
  const bool is_single = tensors.size() == 1;
  block.result = is_single ? tensors[0] : build::tuple(std::move(tensors));
  const Type flat = is_single ? types[0] : tuple_type(types);
  const VariableRef stacked = make_variable("stacked", flat, span);
  Expr loop = make_comprehension(std::move(binders), close_block(block), span, flat);
  const Expr all = make_var(stacked, span);
  std::vector<Expr> parts;
  for (std::uint32_t i = 0; i < types.size(); ++i)
    parts.push_back(is_single ? all : make_projection(all, i, span, types[i]));
  return make_let(stacked, std::move(loop), put_together(type, parts, span), span, type);
}

Expr index_each(const Expr& tree, std::vector<Expr> indices, bool in_bounds, const Type& type,
                Span span) {
  std::vector<Binding> bindings;
  std::vector<Expr> tensors = tensors_of(tree, bindings, span);
  const auto name = [&](Expr& value, const char* what) {
    if (build::is_atom(value)) return;
    const VariableRef variable = make_variable(what, value->type, value->span);
    bindings.push_back({variable, std::move(value), span});
    value = make_var(variable, span);
  };
  for (Expr& tensor : tensors) name(tensor, "part");
  for (Expr& position : indices) name(position, "index");
  const std::vector<Type> types = tensor_types_of(type);
  for (std::size_t k = 0; k < tensors.size(); ++k) {
    const std::vector<Dim>& dims = as<TensorType>(tensors[k]->type)->shape.dims();
    const bool is_known =
        std::none_of(dims.begin(), dims.begin() + static_cast<std::ptrdiff_t>(indices.size()),
                     [](const Dim& dim) { return dim.is_any(); });
    tensors[k] = make_index(tensors[k], indices, in_bounds && is_known, span, types[k]);
  }
  return close_block({std::move(bindings), put_together(type, tensors, span)});
}

}  // namespace relay::typecheck
