#include "repl/frame_locals.h"

#include <algorithm>

#include <fmt/format.h>

#include "lang/visit.h"
#include "repl/debugger.h"

namespace relay::repl {

using lang::Definition;
using lang::DiagnosticKind;
using lang::Expr;
using lang::Origin;
using lang::Type;
using parser::ItemKind;

namespace {

class Renamer final : public lang::Rewriter {
 public:
  explicit Renamer(const std::map<std::string, std::string>& names) : names_(names) {}

 protected:
  Expr post(const Expr& expr) override {
    const auto* global = lang::as<lang::GlobalVar>(expr);
    const auto found = global ? names_.find(global->name) : names_.end();
    return found == names_.end() ? expr
                                 : lang::make_global_var(found->second, expr->span, expr->type);
  }

 private:
  const std::map<std::string, std::string>& names_;
};

// As a value that stands alone has it: the dimensions of its function mean nothing outside.
Type type_outside(const Type& type, const lang::Value& value) {
  const Type concrete = concrete_type(type, value);
  lang::TypeSubstitution open;
  for (const lang::TypeVarRef& variable : lang::variables_of(concrete)) {
    if (variable->kind == lang::VarKind::Dim) open.dims[variable.get()] = lang::Dim::any();
  }
  return open.empty() ? concrete : lang::substitute(concrete, open);
}

}  // namespace

Session::FrameLocals::FrameLocals(Impl& session, const std::vector<CallFrame::Local>& locals)
    : session_(session), scope_(session.module) {
  for (const CallFrame::Local& local : locals) {
    const std::string name = fmt::format("{} of the frame", local.name);
    const Type type = type_outside(local.type, local.value);
    names_[local.name] = name;
    session.pipeline.set_value(name, local.value);
    session.module.define(Definition{name, nullptr, type, Origin::Own, "", {}});
    scope_.define(Definition{local.name, nullptr, type, Origin::Own, "", {}});
  }
}

Session::FrameLocals::~FrameLocals() {
  for (const auto& [local, name] : names_) session_.remove(name);
}

parser::Item Session::FrameLocals::expression_in(const lang::Source& source) const {
  parser::Parsed parsed = parser::parse(source, scope_).or_throw();
  const bool is_one = parsed.items.size() == 1 && parsed.items[0].kind == ItemKind::Expression;
  if (!is_one) fail_while_stopped(parsed.items.empty() ? lang::Span{} : parsed.items[0].span);
  parser::Item item = std::move(parsed.items[0]);
  item.expr = Renamer(names_).rewrite(session_.with_files(item.expr));
  return item;
}

}  // namespace relay::repl
