#include "built/host.h"

#include <cstdio>
#include <utility>

#include <fmt/format.h>

#include "lang/diagnostic.h"

namespace relay::built {

using lang::Diagnostic;
using lang::DiagnosticKind;

namespace {

Diagnostic not_built(const std::string& what) {
  return {DiagnosticKind::Unsupported, "not supported in a built object: " + what};
}

constexpr const char* kDerivative = "the derivative of a function that is only known when it runs";

}  // namespace

std::string function_key(const std::string& name, const lang::Type& type) {
  lang::TypeSubstitution renamed;
  for (const lang::TypeVarRef& var : lang::variables_of(type)) {
    if (var->kind != lang::VarKind::Dim) continue;
    const std::string number = fmt::format("${}", renamed.dims.size());
    renamed.dims.emplace(var.get(),
                         lang::Dim::variable(lang::TypeVar::rigid(lang::VarKind::Dim, number)));
  }
  return name + " : " + lang::to_string(lang::substitute(type, renamed));
}

std::vector<interp::GlobalFunction> functions_of(const Snapshot& snapshot) {
  std::vector<interp::GlobalFunction> functions;
  functions.reserve(snapshot.functions.size());
  for (const Snapshot::Function& each : snapshot.functions)
    functions.push_back({each.name, each.type});
  return functions;
}

Host::Host(const Snapshot& snapshot, interp::Compiling::Makers makers)
    : compiling_(std::move(makers)) {
  for (const Snapshot::Function& each : snapshot.functions)
    functions_.emplace(function_key(each.name, each.type), each.code);
  for (const Snapshot::Binding& each : snapshot.bindings) bindings_.emplace(each.name, each.value);
}

lang::Result<lang::Expr> Host::prepared(const std::string& name, const lang::Type& type) {
  const auto found = functions_.find(function_key(name, type));
  if (found != functions_.end()) return found->second;
  return not_built(fmt::format("`{}` of type `{}`, which is not in it", name, to_string(type)));
}

lang::Result<lang::Expr> Host::with_pullback(const lang::Expr&, const lang::VariableRef&) {
  return not_built(kDerivative);
}

lang::Result<lang::Expr> Host::with_tangent(const lang::Expr&, const lang::VariableRef&) {
  return not_built(kDerivative);
}

lang::Result<lang::Value> Host::global_value(const std::string& name) {
  const auto found = bindings_.find(name);
  if (found != bindings_.end()) return found->second;
  return not_built(fmt::format("the value of `{}`, which is not in it", name));
}

lang::Result<lang::TensorRef> Host::load(const lang::AttrsRef&) { return not_built("`load`"); }

lang::Result<bool> Host::save(const lang::Value&, const lang::AttrsRef&) {
  return not_built("`save`");
}

lang::Result<bool> Host::plot(const lang::Value&, const lang::AttrsRef&) {
  return not_built("`plot`");
}

void Host::write(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

}  // namespace relay::built
