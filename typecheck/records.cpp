// Records: `p.w` and `p with { w = e }` wait for the type of `p`.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lang/mistaken.h"
#include "lang/record.h"
#include "typecheck/inference.h"

namespace relay::typecheck {

using namespace lang;

Type Inference::infer_record_form(const Call& call, const OpDef& form) {
  const std::size_t values = &form == &record_with() ? record_fields(call.attrs).size() : 0;
  Relation relation;
  relation.op = &form;
  RecordUse use;
  use.call = &call;
  for (std::size_t i = 0; i < call.args.size(); ++i) {
    if (i > values) {
      use.candidates.push_back(cast<ConstructorRef>(call.args[i]).constructor);
      continue;
    }
    relation.args.push_back(infer(call.args[i]));
    relation.arg_spans.push_back(call.args[i]->span);
  }
  relation.attrs = call.attrs;
  relation.span = call.callee->span;  // the field
  use.record = relation.args[0];
  records_.push_back(std::move(use));
  return relations_.add(std::move(relation));
}

// Takes the only record with these fields where nothing else has told the type; one at a time,
// because each may tell those of others.
bool Inference::settle_records() {
  for (const RecordUse& use : records_) {
    if (use.candidates.size() != 1 || solver_.head(use.record)->kind != TypeKind::Var ||
        solver_.is_error(use.record)) {
      continue;
    }
    const Type type = constructor_type(*use.candidates[0]);
    const auto* function = as<FunctionType>(type);
    if (expect({use.record, function ? function->result : type, use.call->args[0]->span,
                "the record of this field"})) {
      return true;
    }
  }
  return false;
}

// What is left: a generic function may leave it to its callers which of several records it is for.
void Inference::check_records(bool may_be_open) {
  for (const RecordUse& use : records_) {
    const bool is_open = solver_.head(use.record)->kind == TypeKind::Var;
    if (!is_open || (may_be_open && !use.candidates.empty()) || is_generic(use.record)) continue;
    const Span record = use.call->args[0]->span;
    const std::vector<std::string> fields = record_fields(use.call->attrs);
    if (use.candidates.empty()) {
      Diagnostic diagnostic(
          DiagnosticKind::UnknownField,
          fmt::format("no record here has {} `{}`", fields.size() == 1 ? "a field" : "the fields",
                      fmt::join(fields, "`, `")),
          use.call->callee->span);
      if (std::string help = help_for_member(fields[0], record); !help.empty())
        diagnostic.note(std::move(help));
      throw Failure(std::move(diagnostic));
    }
    std::vector<std::string> types;
    for (const Constructor* candidate : use.candidates) types.push_back(candidate->owner->name);
    Diagnostic diagnostic(DiagnosticKind::AmbiguousType, "cannot tell which record this is",
                          record);
    diagnostic.label(use.call->callee->span,
                     fmt::format("a field of `{}`", fmt::join(types, "` and of `")));
    diagnostic.note("help: a type annotation settles it");
    throw Failure(std::move(diagnostic));
  }
}

}  // namespace relay::typecheck
