#include "stdlib/ops/tuples.h"

#include "lang/call_form.h"

namespace relay::stdlib {

namespace build = lang::build;

std::optional<std::vector<Type>> tuple_fields(TypeCall& call) {
  const auto* tuple = lang::as<lang::TupleType>(call.args[0]);
  if (!tuple) {
    if (lang::as<lang::VarType>(call.args[0])) return std::nullopt;
    call.fail(
        DiagnosticKind::TypeMismatch,
        "`" + call.op.name + "` takes a tuple of tensors, not `" + to_string(call.args[0]) + "`");
  }
  if (tuple->fields.empty()) {
    call.fail(DiagnosticKind::TypeMismatch, "`" + call.op.name + "` of an empty tuple has no type");
  }
  std::vector<Type> fields;
  for (const Type& field : tuple->fields) {
    if (!lang::as<TensorType>(field)) {
      call.solver.unify(field,
                        lang::tensor_type(call.solver.fresh_shape(), call.solver.fresh_dtype()));
    }
    fields.push_back(call.solver.resolve(field));
  }
  return fields;
}

void add_tuple_operator(lang::OpDef def, bool all) {
  lang::set_input_forms(def.name,
                        std::vector<lang::InputForm>(all ? def.inputs.size() : 1, {true}));
  lang::OpRegistry::instance().add(std::move(def));
}

std::optional<std::vector<Type>> tuple_of_tensors(TypeCall& call) {
  auto fields = tuple_fields(call);
  if (!fields) return std::nullopt;
  const DTypeTerm dtype = static_cast<const TensorType&>(*fields->front()).dtype;
  for (Type& field : *fields) {
    call.solver.unify(static_cast<const TensorType&>(*field).dtype, dtype);
  }
  for (Type& field : *fields) field = call.solver.resolve(field);
  return fields;
}

namespace {

Expr name_fields(const Expr& tuple, std::vector<Expr>& fields,
                 const std::function<Expr(const std::vector<Expr>&)>& body) {
  const std::size_t k = fields.size();
  if (k == lang::as<lang::TupleType>(tuple->type)->fields.size()) return body(fields);
  return build::let("field", build::project(tuple, static_cast<std::uint32_t>(k)),
                    [&](const Expr& field) {
                      fields.push_back(field);
                      return name_fields(tuple, fields, body);
                    });
}

}  // namespace

Expr with_fields(const Expr& tuple, const std::function<Expr(const std::vector<Expr>&)>& body) {
  std::vector<Expr> fields;
  return name_fields(tuple, fields, body);
}

}  // namespace relay::stdlib
