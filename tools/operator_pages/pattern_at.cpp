#include "tools/operator_pages/pattern_at.h"

#include <vector>

#include "lang/build.h"
#include "lang/op.h"
#include "loops/expand.h"
#include "parser/parse.h"

namespace relay::tools {
namespace {

using lang::Dim;
using lang::Expr;
using lang::Type;
using tests::CaseInput;
using tests::CaseRow;

Type type_of(const CaseInput& input) {
  if (!input.is_tuple) {
    std::vector<Dim> dims(input.shape.begin(), input.shape.end());
    return lang::tensor_type(lang::Shape(std::move(dims)), input.dtype);
  }
  std::vector<Type> fields;
  for (const CaseInput& field : input.fields) fields.push_back(type_of(field));
  return lang::tuple_type(std::move(fields));
}

void add_layouts(const CaseInput& input, std::vector<loops::Layout>& layouts) {
  if (!input.is_tuple) layouts.push_back({input.dtype, input.shape, loops::row_major(input.shape)});
  for (const CaseInput& field : input.fields) add_layouts(field, layouts);
}

// The attributes as the row writes them.
std::vector<lang::Attr> attrs_of(const CaseRow& row) {
  lang::SourceStore sources;
  const lang::Module scope;
  const lang::Source* source =
      sources.add("row", tests::function_text(row, tests::CaseDims::Constant));
  const auto parsed = parser::parse(*source, scope, parser::Notation::Light).or_throw();
  const auto& function = lang::cast<lang::Function>(parsed.items.at(0).expr);
  const auto& call = lang::cast<lang::Call>(function.body);
  std::vector<lang::Attr> attrs;
  if (call.attrs) {
    for (const lang::Attr& attr : call.attrs->list) attrs.push_back({attr.key, attr.value, {}});
  }
  return attrs;
}

loops::Pattern pattern_of_call(const CaseRow& row) {
  std::vector<lang::VariableRef> params;
  std::vector<Expr> args;
  std::vector<loops::Layout> layouts;
  for (const CaseInput& input : row.inputs) {
    params.push_back(lang::make_variable("x", type_of(input)));
    args.push_back(lang::make_var(params.back()));
    add_layouts(input, layouts);
  }
  const Expr call = lang::build::op(row.op, args, attrs_of(row));
  const Expr group = lang::make_function(params, call->type, call);
  return loops::pattern_of(loops::expand(lang::cast<lang::Function>(group), layouts));
}

}  // namespace

std::optional<loops::Pattern> pattern_at(const CaseRow& row) {
  const lang::OpDef* op = lang::OpRegistry::instance().find(row.op);
  if (!op || !op->definition) return std::nullopt;
  const auto pattern = lang::capture([&] { return pattern_of_call(row); });
  if (!pattern) return std::nullopt;
  return *pattern;
}

}  // namespace relay::tools
