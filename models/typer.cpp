#include "models/typer.h"

#include <unordered_map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lang/type_print.h"
#include "parser/parse.h"
#include "repl/session.h"
#include "typecheck/infer.h"

namespace relay::models {

namespace {

using lang::Dim;
using lang::Type;

constexpr double kSeconds = 5;  // that the value of a constant may take

repl::SessionOptions session_options(bool evaluates) {
  repl::SessionOptions options;
  options.jit = interp::JitMode::Off;
  options.kernels = repl::LibraryKernels::Off;
  options.evaluate = evaluates;
  if (evaluates) options.seconds = kSeconds;
  return options;
}

// The types of the values with a variable of its own for each extent that is no constant.
class Extents {
 public:
  Type plain(const Type& type) {
    if (const auto* tuple = lang::as<lang::TupleType>(type)) {
      std::vector<Type> fields;
      for (const Type& field : tuple->fields) fields.push_back(plain(field));
      return lang::tuple_type(std::move(fields));
    }
    const auto* tensor = lang::as<lang::TensorType>(type);
    if (!tensor) return type;
    std::vector<Dim> dims;
    for (const Dim& dim : tensor->shape.dims()) dims.push_back(plain(dim));
    return lang::tensor_type(lang::Shape(std::move(dims)), tensor->dtype);
  }
  const std::vector<std::string>& names() const { return names_; }
  // What the variables of the same types, as inference has read them, stand for.
  void match(const Type& read, const Type& plain) {
    if (const auto* tuple = lang::as<lang::TupleType>(read)) {
      const auto& others = lang::as<lang::TupleType>(plain)->fields;
      for (std::size_t k = 0; k < others.size(); ++k) match(tuple->fields[k], others[k]);
      return;
    }
    const auto* tensor = lang::as<lang::TensorType>(read);
    const auto* other = lang::as<lang::TensorType>(plain);
    if (!tensor || !other || tensor->shape.rank() != other->shape.rank()) return;
    for (std::size_t axis = 0; axis < tensor->shape.rank(); ++axis) {
      const auto var = tensor->shape[axis].as_variable();
      const auto mine = other->shape[axis].as_variable();
      if (var && mine) meanings_.emplace(var.get(), stands_for(mine->name));
    }
  }
  Dim meaning(const Dim& dim) const {
    bool is_open = false;
    const Dim result = dim.substitute([&](const lang::TypeVarRef& var) -> std::optional<Dim> {
      const auto found = meanings_.find(var.get());
      if (found != meanings_.end()) return found->second;
      is_open = true;
      return std::nullopt;
    });
    return is_open ? Dim::any() : result;
  }
  Type meaning(const Type& type) const {
    if (const auto* tuple = lang::as<lang::TupleType>(type)) {
      std::vector<Type> fields;
      for (const Type& field : tuple->fields) fields.push_back(meaning(field));
      return lang::tuple_type(std::move(fields));
    }
    const auto* tensor = lang::as<lang::TensorType>(type);
    if (!tensor || !tensor->shape.has_rank()) return type;
    std::vector<Dim> dims;
    for (const Dim& dim : tensor->shape.dims()) dims.push_back(meaning(dim));
    return lang::tensor_type(lang::Shape(std::move(dims)), tensor->dtype);
  }

 private:
  Dim plain(const Dim& dim) {
    if (dim.is_constant() || dim.is_any()) return dim;
    for (std::size_t k = 0; k < dims_.size(); ++k) {
      if (dims_[k] == dim) return Dim::variable(variables_[k]);
    }
    // A variable whose name is none is an expression that gives the extent.
    const auto own = dim.as_variable();
    const bool has_name = own && own->name.find('(') == std::string::npos;
    names_.push_back(has_name ? own->name : fmt::format("extent_{}", names_.size()));
    dims_.push_back(dim);
    variables_.push_back(lang::TypeVar::rigid(lang::VarKind::Dim, names_.back()));
    return Dim::variable(variables_.back());
  }
  Dim stands_for(const std::string& name) const {
    for (std::size_t k = 0; k < names_.size(); ++k) {
      if (names_[k] == name) return dims_[k];
    }
    return Dim::any();
  }

  std::vector<std::string> names_;
  std::vector<Dim> dims_;
  std::vector<lang::TypeVarRef> variables_;
  std::unordered_map<const lang::TypeVar*, Dim> meanings_;
};

}  // namespace

struct Typer::Impl {
  repl::Session session{session_options(true)};
  typecheck::Checker checker{session.module()};
};

Typer::Typer() : impl_(std::make_unique<Impl>()) {}
Typer::~Typer() = default;

void Typer::define(const std::string& text) {
  auto errors = impl_->session.run("helpers", text, nullptr, parser::Notation::Light);
  if (!errors.empty()) throw lang::Failure(std::move(errors));
}

Type Typer::type_of(const std::string& expression, const Named& values) {
  Extents extents;
  std::vector<std::string> parameters;
  std::vector<Type> plain;
  for (const auto& [name, type] : values) {
    plain.push_back(extents.plain(type));
    parameters.push_back(fmt::format("{}: {}", name, lang::to_string(plain.back())));
  }
  const std::string dims = extents.names().empty()
                               ? std::string()
                               : fmt::format("[{}]", fmt::join(extents.names(), ", "));
  // Kept for the diagnostics, whose places are in it.
  static lang::SourceStore sources;
  const lang::Source* source = sources.add(
      "line", fmt::format("fn {}({}) {{ {} }}", dims, fmt::join(parameters, ", "), expression));
  const auto parsed =
      parser::parse(*source, impl_->session.module(), parser::Notation::Light).or_throw();
  const auto scheme = impl_->checker.type_of(parsed.items.front().expr).or_throw();
  const auto* function = lang::as<lang::FunctionType>(scheme.type);
  RELAY_CHECK(function && function->params.size() == plain.size(), "a line is no function");
  for (std::size_t k = 0; k < plain.size(); ++k) extents.match(function->params[k], plain[k]);
  return extents.meaning(function->result);
}

lang::Value Typer::evaluate(const std::string& expression) {
  return impl_->session.evaluate(expression).or_throw();
}

std::vector<lang::Diagnostic> Typer::check(const std::string& path) {
  static std::vector<std::unique_ptr<repl::Session>> sessions;  // keep the places of diagnostics
  sessions.push_back(std::make_unique<repl::Session>(session_options(false)));
  return sessions.back()->run_file(path, nullptr);
}

}  // namespace relay::models
