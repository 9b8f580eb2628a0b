#include "ahead/entries.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ahead/c_names.h"
#include "lang/diagnostic.h"
#include "lang/op.h"
#include "repl/named_function.h"

namespace relay::ahead {

using lang::Diagnostic;
using lang::DiagnosticKind;

namespace {

class Finder {
 public:
  Finder(const Request& request, repl::Session& session) : request_(request), session_(session) {}

  Entries find() {
    for (const Request::Entry& entry : request_.entries) {
      const lang::Definition& definition =
          repl::named_function(session_, entry.function, request_.path);
      if (entry.is_gradient) {
        add(define_gradient(definition, entry.function), entry.function + "_gradient", definition,
            true);
      } else {
        add(definition.name, entry.function, definition, false);
      }
    }
    return std::move(found_);
  }

 private:
  static const lang::Function& literal(const lang::Definition& definition) {
    return lang::cast<lang::Function>(definition.function);
  }

  // Its dimension variables have the names that its parameters give them.
  lang::Type type_of(const lang::Definition& definition) {
    const lang::Type type = repl::told_type(session_, definition);
    const auto& given = literal(definition).params;
    const auto& params = lang::as<lang::FunctionType>(type)->params;
    lang::TypeSubstitution named;
    for (std::size_t i = 0; i < params.size(); ++i) {
      const auto vars = lang::variables_of(params[i]);
      const auto names = given[i]->type ? lang::variables_of(given[i]->type) : vars;
      for (std::size_t k = 0; k < vars.size() && names.size() == vars.size(); ++k) {
        named.dims.emplace(vars[k].get(), lang::Dim::variable(lang::TypeVar::rigid(
                                              lang::VarKind::Dim, names[k]->name)));
      }
    }
    return lang::substitute(type, named);
  }

  // What is wrong with a function stands at its definition, also where it came up in a text of
  // ours.
  template <class F>
  auto placed(const lang::Definition& definition, const std::string& shown, const F& work) {
    try {
      return work();
    } catch (lang::Failure& failure) {
      for (Diagnostic& each : failure.diagnostics) {
        if (!each.span || each.span.source != definition.span.source) {
          each.span = definition.span;
          each.labels.clear();
        }
        each.message += fmt::format(", in `{}`", shown);
      }
      throw;
    }
  }

  // `def f_gradient[n](x: Tensor[(n, 4), float32]) { value_and_grad(f)(x) }`, and its name.
  std::string define_gradient(const lang::Definition& definition, const std::string& function) {
    const std::string name = function + "_gradient";
    if (session_.module().lookup(name)) {
      lang::fail(
          DiagnosticKind::DuplicateDefinition,
          fmt::format("the gradient of `{}` would be `{}`, which the program has", function, name));
    }
    const lang::Type type = type_of(definition);
    const auto& params = lang::as<lang::FunctionType>(type)->params;
    std::vector<std::string> dims, typed, names;
    const auto signature = placed(definition, function, [&] { return built::signature_of(type); });
    for (const lang::TypeVarRef& dim : signature.dims) dims.push_back(dim->name);
    for (std::size_t i = 0; i < params.size(); ++i) {
      names.push_back(fmt::format("__argument{}", i));
      typed.push_back(fmt::format("{}: {}", names.back(), lang::to_string(params[i])));
    }
    const std::string text =
        fmt::format("def {}{}({}) {{ value_and_grad({})({}) }}\n", name,
                    dims.empty() ? "" : fmt::format("[{}]", fmt::join(dims, ", ")),
                    fmt::join(typed, ", "), definition.name, fmt::join(names, ", "));
    return placed(definition, function, [&] {
      const auto errors = session_.run("<build>", text, [](const repl::ItemResult&) {});
      if (!errors.empty()) throw lang::Failure(errors);
      return name;
    });
  }

  // `name` is what the program calls it, `shown` what it was asked for as.
  void add(const std::string& name, const std::string& shown, const lang::Definition& definition,
           bool is_gradient) {
    const lang::Type type = type_of(*session_.module().lookup(name));
    Exported exported;
    exported.name = object_name(request_) + "_" + c_prefix(shown);
    exported.signature = placed(definition, shown, [&] { return built::signature_of(type); });
    exported.text = fmt::format("{} : {}", shown, lang::to_string(type));
    for (const lang::VariableRef& param : literal(definition).params)
      exported.params.push_back(c_name(param->name));
    exported.is_gradient = is_gradient;
    found_.functions.push_back({name, type});
    found_.exported.push_back(std::move(exported));
  }

  const Request& request_;
  repl::Session& session_;
  Entries found_;
};

}  // namespace

Entries find_entries(const Request& request, repl::Session& session) {
  return Finder(request, session).find();
}

}  // namespace relay::ahead
