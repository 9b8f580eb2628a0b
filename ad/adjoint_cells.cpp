#include "ad/adjoint_cells.h"

#include "ad/tangent.h"
#include "lang/build.h"

namespace relay::ad {

using lang::as;
using lang::Expr;
using lang::Type;
using lang::VariableRef;
namespace build = lang::build;

namespace {

lang::OpDef effect(const char* name, const char* doc, lang::Effect effect) {
  lang::OpDef op;
  op.name = name;
  op.doc = doc;
  op.level = 0;
  op.type_rule = [](lang::TypeCall& call) {
    call.returns(lang::unit_type());
    return lang::RuleOutcome::Solved;
  };
  op.effect = effect;
  op.differentiable = false;
  return op;
}

Expr call_of(const lang::OpDef& op, std::vector<Expr> args, const Type& result) {
  std::vector<Type> types;
  for (const Expr& arg : args) types.push_back(arg->type);
  const Expr callee = lang::make_operator(&op, {}, lang::function_type(std::move(types), result));
  return lang::make_call(callee, std::move(args), nullptr, {}, result);
}

const Type& content_of(const Type& reference) {
  return as<lang::ReferenceType>(reference)->content;
}

}  // namespace

AdjointCells::AdjointCells(lang::Program& program, Tangents& tangents)
    : program_(program), tangents_(tangents) {
  adjoint_cell_ =
      effect("adjoint_cell", "The reference with the adjoint of what a reference holds.",
             lang::Effect::WalkCell);
  adjoint_cell_.inputs = {{"reference", "the reference"}};
  adjoint_cell_.type_rule = [this](lang::TypeCall& call) {
    const Type tangent = tangents_.or_unit(content_of(call.args[0]));
    call.returns(lang::reference_type(content_type(tangent)));
    return lang::RuleOutcome::Solved;
  };
  tangent_cell_ = adjoint_cell_;
  tangent_cell_.name = "tangent_cell";
  tangent_cell_.doc = "The reference with the tangent of what a reference holds.";
  tangent_cell_.inputs.push_back({"walk", "the walk that the tangent belongs to"});
}

Expr AdjointCells::begin() {
  static const lang::OpDef kOperator = effect(
      "begin_walk", "Goes backwards from here: the adjoints of what references hold are zero.",
      lang::Effect::BeginWalk);
  return call_of(kOperator, {}, lang::unit_type());
}

Expr AdjointCells::begin_forward() {
  static const lang::OpDef kOperator = [] {
    lang::OpDef op =
        effect("begin_forward_walk",
               "Goes forwards from here: the tangents of what references hold are zero.",
               lang::Effect::BeginWalk);
    op.type_rule = [](lang::TypeCall& call) {
      call.returns(walk_type());
      return lang::RuleOutcome::Solved;
    };
    return op;
  }();
  return call_of(kOperator, {}, walk_type());
}

Expr AdjointCells::end() {
  static const lang::OpDef kOperator =
      effect("end_walk", "The end of what the last `begin_walk` or `begin_forward_walk` began.",
             lang::Effect::EndWalk);
  return call_of(kOperator, {}, lang::unit_type());
}

Type AdjointCells::walk_type() { return lang::scalar_type(lang::DType::Int64); }

const lang::TypeDef& AdjointCells::sum() {
  if (sum_) return *sum_;
  const lang::TypeVarRef content = lang::TypeVar::rigid(lang::VarKind::Type, "T");
  sum_ = lang::TypeDefRef(new lang::TypeDef);
  sum_->name = program_.reserve_name("Sum");
  sum_->params = {content};
  program_.add_type(sum_);
  add_constructor(*sum_, sum_->name + "_Zero", {});
  add_constructor(*sum_, sum_->name + "_Of", {lang::var_type(content)});
  tangents_.add_own_tangent(sum_.get());
  return *sum_;
}

bool AdjointCells::has_adjoint(const Type& reference) {
  return !is_unit(tangents_.or_unit(content_of(reference)));
}

Type AdjointCells::content_type(const Type& tangent) {
  return as<lang::AdtType>(tangent) ? tangent : lang::adt_type(&sum(), {tangent});
}

Expr AdjointCells::cell(const Expr& reference, const Expr& walk, Emitter& code) {
  const Type content = content_type(tangents_.or_unit(content_of(reference->type)));
  std::vector<Expr> args = {reference};
  if (walk) args.push_back(walk);
  return code.emit("cell", call_of(walk ? tangent_cell_ : adjoint_cell_, std::move(args),
                                   lang::reference_type(content)));
}

void AdjointCells::write(const Expr& cell, const Expr& content, Emitter& code) {
  code.emit("done", lang::make_ref_write(cell, code.emit("sum", content), {}, lang::unit_type()));
}

// The tangent in the content of a cell: of `value`, where it is zero.
Expr AdjointCells::part(const Expr& content, const Expr& value, Emitter& code) {
  const Type tangent = tangents_.or_unit(value->type);
  if (lang::equal(tangent, content->type)) return content;
  const VariableRef part = lang::make_variable("part", tangent);
  return code.emit(
      "part",
      lang::make_match(
          content,
          {{lang::constructor_pattern(&sum().constructors.back(), {lang::variable_pattern(part)}),
            lang::make_var(part)},
           {lang::wildcard_pattern(), zero_of(tangent, value)}},
          true, {}, tangent));
}

void AdjointCells::add(const Expr& reference, const Expr& adjoint, Emitter& code) {
  const Expr own = cell(reference, nullptr, code);
  const Type& type = content_of(own->type);
  const Expr before = code.emit("before", lang::make_ref_read(own, {}, type));
  if (lang::equal(adjoint->type, type)) return write(own, tangents_.add(before, adjoint), code);
  // While the sum is made nobody else holds it, so that it is made in place.
  write(own, mirror_zero(type), code);
  const lang::Constructor* holds = &sum().constructors.back();
  const VariableRef part = lang::make_variable("part", adjoint->type);
  const Expr both = construct(holds, {tangents_.add(lang::make_var(part), adjoint)}, type);
  write(own,
        lang::make_match(before,
                         {{lang::constructor_pattern(holds, {lang::variable_pattern(part)}), both},
                          {lang::wildcard_pattern(), construct(holds, {adjoint}, type)}},
                         true, {}, type),
        code);
}

Expr AdjointCells::take(const Expr& reference, const Expr& value, Emitter& code) {
  const Expr own = cell(reference, nullptr, code);
  const Type& type = content_of(own->type);
  const Expr before = code.emit("before", lang::make_ref_read(own, {}, type));
  write(own, mirror_zero(type), code);
  return part(before, value, code);
}

Expr AdjointCells::get(const Expr& reference, const Expr& value, const Expr& walk, Emitter& code) {
  const Expr own = cell(reference, walk, code);
  return part(code.emit("content", lang::make_ref_read(own, {}, content_of(own->type))), value,
              code);
}

void AdjointCells::set(const Expr& reference, const Expr& tangent, const Expr& walk,
                       Emitter& code) {
  const Expr own = cell(reference, walk, code);
  const Type& type = content_of(own->type);
  if (!tangent) return write(own, mirror_zero(type), code);
  const bool is_itself = lang::equal(tangent->type, type);
  write(own, is_itself ? tangent : construct(&sum().constructors.back(), {tangent}, type), code);
}

}  // namespace relay::ad
