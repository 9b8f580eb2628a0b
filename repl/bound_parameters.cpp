#include "repl/bound_parameters.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "formats/formats.h"
#include "lang/diagnostic.h"
#include "lang/match_dims.h"
#include "lang/op.h"
#include "lang/stop.h"
#include "lang/visit.h"

namespace relay::repl {

using lang::as;
using lang::Diagnostic;
using lang::DiagnosticKind;
using lang::Expr;

namespace {

// Does it read as the name of a file: `w.npy`, `data/w.npz`?
bool is_file_name(const std::string& text) {
  const std::size_t dot = text.rfind('.');
  if (dot == std::string::npos || dot + 1 == text.size()) return false;
  return std::all_of(text.begin() + static_cast<std::ptrdiff_t>(dot) + 1, text.end(),
                     [](unsigned char c) { return std::isalpha(c); });
}

// With extents of which nothing is demanded.
lang::Type with_any_extents(const lang::TensorType& type) {
  std::vector<lang::Dim> dims = type.shape.dims();
  for (lang::Dim& dim : dims) {
    if (!dim.is_constant()) dim = lang::Dim::any();
  }
  return lang::tensor_type(lang::Shape(std::move(dims)), type.dtype);
}

class Binder {
 public:
  Binder(const Bindings& bindings, const formats::FileAccess& files, const EvaluateAs& evaluate)
      : bindings_(bindings), files_(files), evaluate_(evaluate) {}

  Expr run(const Expr& function) {
    const auto& fn = lang::cast<lang::Function>(function);
    lang::Substitution constants;
    lang::TypeSubstitution dims;
    std::vector<const lang::Variable*> bound;
    for (const std::string& text : bindings_.list) {
      const std::size_t equals = text.find('=');
      const std::string name = text.substr(0, equals);
      const lang::VariableRef& param = param_of(fn, name);
      if (std::count(bound.begin(), bound.end(), param.get()) > 0)
        lang::fail(DiagnosticKind::BadCommand, fmt::format("`{}` is bound twice", name));
      const Expr constant = lang::make_constant(tensor_of(*param, text.substr(equals + 1)));
      lang::match_dims(param->type, constant->type, dims);
      bound.push_back(param.get());
      constants[param.get()] = constant;
    }
    for (const lang::Variable* param : bound) check(*param, constants.at(param), dims);
    std::vector<lang::VariableRef> params;
    for (const auto& param : fn.params) {
      if (!constants.contains(param.get())) params.push_back(param);
    }
    const Expr body = lang::substitute(fn.body, constants);
    const Expr rest = lang::make_function(std::move(params), fn.result, body, fn.type_params,
                                          fn.attrs, function->span, type_without(fn, constants));
    return dims.empty() ? rest : lang::substitute_types(rest, dims);
  }

 private:
  const lang::VariableRef& param_of(const lang::Function& fn, const std::string& name) const {
    std::vector<std::string> names;
    for (const auto& param : fn.params) {
      if (param->name == name) return param;
      names.push_back(param->name);
    }
    Diagnostic diagnostic(DiagnosticKind::UnknownName,
                          fmt::format("`{}` has no parameter `{}`", bindings_.function, name),
                          fn.span);
    const auto close = lang::closest_names(name, names);
    diagnostic.note(names.empty() ? std::string("note: it has none")
                    : close.empty()
                        ? fmt::format("note: its parameters are `{}`", fmt::join(names, "`, `"))
                        : fmt::format("help: did you mean `{}`?", close.front()));
    throw lang::Failure(std::move(diagnostic));
  }

  lang::TensorRef tensor_of(const lang::Variable& param, const std::string& text) const {
    const auto* type = as<lang::TensorType>(param.type);
    if (!type || !type->shape.has_rank()) {
      lang::fail(DiagnosticKind::Unsupported,
                 fmt::format("not supported: `--bind` of a parameter that is no tensor: `{}` is "
                             "`{}`",
                             param.name, lang::to_string(param.type)),
                 param.span);
    }
    if (!is_file_name(text))
      return evaluate_(param.name, text, with_any_extents(*type)).to_tensor();
    formats::Location location{text};
    location.access = files_;
    const lang::TensorRef tensor =
        formats::read_tensor(location, type->dtype.known(), [](std::int64_t, std::int64_t) {
          lang::poll();
        }).or_throw();
    if (tensor->dtype() != type->dtype.known() || tensor->rank() != type->shape.rank())
      fail_type(param, lang::type_of_tensor(*tensor), text);
    return tensor;
  }

  void check(const lang::Variable& param, const Expr& constant,
             const lang::TypeSubstitution& dims) const {
    const lang::Type known = lang::substitute(param.type, dims);
    const auto* type = as<lang::TensorType>(known);
    const auto* found = as<lang::TensorType>(constant->type);
    for (std::size_t i = 0; i < type->shape.rank(); ++i) {
      if (!type->shape[i].is_any() && !(type->shape[i] == found->shape[i]))
        fail_type(param, constant->type, "the value");
    }
  }

  [[noreturn]] static void fail_type(const lang::Variable& param, const lang::Type& found,
                                     const std::string& where) {
    throw lang::Failure(
        Diagnostic(DiagnosticKind::TypeMismatch,
                   fmt::format("`{}` is `{}`, and {} is `{}`", param.name,
                               lang::to_string(param.type), where, lang::to_string(found)),
                   param.span));
  }

  static lang::Type type_without(const lang::Function& fn, const lang::Substitution& constants) {
    std::vector<lang::Type> types;
    for (const auto& param : fn.params) {
      if (!constants.contains(param.get())) types.push_back(param->type);
    }
    return lang::function_type(std::move(types), fn.body->type);
  }

  const Bindings& bindings_;
  const formats::FileAccess& files_;
  const EvaluateAs& evaluate_;
};

}  // namespace

Expr with_bound_parameters(const Expr& function, const Bindings& bindings,
                           const formats::FileAccess& files, const EvaluateAs& evaluate) {
  return Binder(bindings, files, evaluate).run(function);
}

}  // namespace relay::repl
