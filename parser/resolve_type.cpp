#include <map>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lang/familiar_names.h"
#include "parser/resolver.h"

namespace relay::parser {

using lang::Diagnostic;
using lang::DiagnosticKind;
using lang::Dim;
using lang::VarKind;

namespace {

std::string_view describe(VarKind kind) {
  switch (kind) {
    case VarKind::Type:
      return "a type";
    case VarKind::Shape:
      return "a shape";
    case VarKind::DType:
      return "a dtype";
    case VarKind::Dim:
      return "a dimension";
  }
  return {};
}

// As parse_dtype; strict text also has `int`, `uint` and `float`, of 32 bits.
std::optional<lang::DType> dtype_named(std::string_view name, bool strict) {
  if (strict && name == "int") return lang::DType::Int32;
  if (strict && name == "uint") return lang::DType::UInt32;
  if (strict && name == "float") return lang::DType::Float32;
  return lang::parse_dtype(name);
}

// `float32x4`: a dtype with lanes. Nothing here computes with one.
bool is_vector_dtype(std::string_view name) {
  const std::size_t x = name.rfind('x');
  return x != std::string_view::npos && lang::parse_dtype(name.substr(0, x)) &&
         x + 1 < name.size() &&
         name.find_first_not_of("0123456789", x + 1) == std::string_view::npos;
}

// A value of such a dtype is opaque, like one of an extern type. One type for each name, for good:
// types of different texts are compared.
lang::Type vector_type(std::string_view name) {
  static std::map<std::string, lang::TypeDefRef, std::less<>> defs;
  const auto [place, is_new] = defs.try_emplace(std::string(name));
  if (is_new) {
    place->second = lang::TypeDefRef(new lang::TypeDef());
    place->second->name = std::string(name);
    place->second->is_extern = true;
  }
  return lang::adt_type(place->second.get());
}

}  // namespace

// --- Type parameters. What kind a parameter has, its first use says. ---

int Resolver::declare_type_param(std::string_view name, Span span) {
  Symbol& symbol = symbols_.intern(name);
  const int index = static_cast<int>(type_params_.size());
  TypeParam param;
  param.name = name;
  param.span = span;
  param.shadowed = symbol.type_param;
  type_params_.push_back(std::move(param));
  symbol.type_param = index;
  note(NameKind::TypeVariable, span, name, span, true);
  return index;
}

void Resolver::declare_type_params(const Node& node) {
  const Node* params = node.find(Syntax::TypeParams);
  if (!params) return;
  const std::size_t mark = type_params_.size();
  for (const Node* param : params->children()) {
    const std::string_view name = tree_.text(*param);
    const int previous = symbols_.intern(name).type_param;
    if (previous >= static_cast<int>(mark)) {
      report(
          Diagnostic(DiagnosticKind::DuplicateDefinition,
                     fmt::format("type parameter `{}` is declared twice", name), span(*param))
              .label(type_params_[static_cast<std::size_t>(previous)].span, "first declared here"));
    }
    declare_type_param(name, span(*param));
  }
}

std::vector<lang::TypeVarRef> Resolver::close_type_params(std::size_t mark) {
  std::vector<lang::TypeVarRef> vars;
  for (std::size_t i = mark; i < type_params_.size(); ++i) {
    TypeParam& param = type_params_[i];
    if (!param.var) param.var = lang::TypeVar::rigid(VarKind::Type, std::string(param.name));
    vars.push_back(param.var);
  }
  for (; type_params_.size() > mark; type_params_.pop_back()) {
    symbols_.intern(type_params_.back().name).type_param = type_params_.back().shadowed;
  }
  return vars;
}

lang::TypeVarRef Resolver::use_type_param(int index, VarKind kind, Span span) {
  TypeParam& param = type_params_[static_cast<std::size_t>(index)];
  note(NameKind::TypeVariable, span, param.name, param.span);
  if (!param.var) {
    param.var = lang::TypeVar::rigid(kind, std::string(param.name));
    param.kind = kind;
    param.used = span;
  } else if (param.kind != kind) {
    const auto is_plain = [](VarKind k) { return k == VarKind::Type || k == VarKind::Dim; };
    if (inside_type_def_ && !(is_plain(kind) && is_plain(param.kind))) {
      report(Kind::Unsupported, "not supported: data types over shapes or dtypes", span);
    } else {
      report(Diagnostic(DiagnosticKind::TypeMismatch,
                        fmt::format("`{}` stands for {} here", param.name, describe(kind)), span)
                 .label(param.used, fmt::format("and for {} here", describe(param.kind))));
    }
    return lang::TypeVar::rigid(kind, std::string(param.name));
  }
  return param.var;
}

int Resolver::find_type_param(std::string_view name, Span span) {
  const Symbol& symbol = symbols_.intern(name);
  if (symbol.type_param >= 0 || !implicit_type_params_) return symbol.type_param;
  return declare_type_param(name, span);
}

// Has this item been told already that it does not declare the name? It is, from now on.
bool Resolver::was_unknown(std::string_view name) {
  item_is_broken_ = true;
  return !undeclared_.insert(name).second;
}

// All names that are to be declared in one place are one mistake, with one mend.
void Resolver::report_undeclared(Diagnostic diagnostic, std::string_view name) {
  const bool is_further = told_undeclared_ && told_undeclared_->declares == declares_ &&
                          told_undeclared_->error + 1 == errors_.size();
  if (is_further) {
    errors_.back().label(diagnostic.span, fmt::format("nor is `{}` known", name));
    errors_.back().notes.pop_back();
    told_undeclared_->names.push_back(name);
  } else {
    report(std::move(diagnostic));
    told_undeclared_ = {declares_, errors_.size() - 1, {name}};
  }
  std::vector<std::string_view> names;
  if (const Node* params = declares_->find(Syntax::TypeParams)) {
    for (const Node* param : params->children()) names.push_back(tree_.text(*param));
  }
  names.insert(names.end(), told_undeclared_->names.begin(), told_undeclared_->names.end());
  const bool is_type = declares_->kind == Syntax::TypeDef;
  std::string head = "fn ";
  if (is_type)
    head = fmt::format("type {}", tree_.text(*declares_->child(0)));
  else if (def_ && declares_ == def_->child(1))
    head = fmt::format("def {}", tree_.text(*def_->child(0)));
  errors_.back().note(fmt::format("help: declare {}: `{}[{}]{}`",
                                  told_undeclared_->names.size() == 1 ? "it" : "them", head,
                                  fmt::join(names, ", "), is_type ? " { … }" : "(…)"));
}

// `float32[2, 3]`, `f32[3]`: the dtype that a shape stands behind as if it were a type of tensors.
std::optional<std::string> Resolver::as_tensor_type(const Node& type) const {
  const std::string_view name = tree_.text(*type.child(0));
  const lang::FamiliarName* familiar = lang::find_familiar(name);
  const std::string_view dtype = lang::parse_dtype(name) || !familiar ? name : familiar->ours;
  if (type.count == 1 || !lang::parse_dtype(dtype)) return std::nullopt;
  std::vector<std::string_view> dims;
  for (const Node* dim : type.children().subspan(1)) dims.push_back(tree_.text(*dim));
  return fmt::format("Tensor[({}), {}]", fmt::join(dims, ", "), dtype);
}

void Resolver::unknown_type(const Node& node, std::string_view what, const Node* whole) {
  const std::string_view name = tree_.text(node);
  if (is_vector_dtype(name)) {
    report(Kind::Unsupported, fmt::format("not supported: tensors of the vector dtype `{}`", name),
           span(node));
    return;
  }
  if (was_unknown(name)) return;
  Diagnostic diagnostic(DiagnosticKind::UnknownType, fmt::format("unknown {} `{}`", what, name),
                        span(node));
  std::vector<std::string> candidates;
  for (int i = 0; i < lang::kDTypeCount; ++i)
    candidates.emplace_back(lang::name_of(static_cast<lang::DType>(i)));
  for (const TypeParam& param : type_params_) candidates.emplace_back(param.name);
  if (what == "type") {
    candidates.emplace_back("Tensor");
    for (const lang::TypeDef* type : own_types_) candidates.push_back(type->name);
    for (const lang::TypeDef* type : scope_.types()) candidates.push_back(type->name);
  }
  const std::vector<std::string> closest = lang::closest_names(name, candidates);
  if (const auto meant = whole ? as_tensor_type(*whole) : std::nullopt) {
    diagnostic.note(fmt::format("help: a tensor type is `{}`", *meant));
  } else if (name == "Tensor" || lang::parse_dtype(name)) {
    diagnostic.note(fmt::format("help: a tensor type is `Tensor[(2, 3), {}]`",
                                name == "Tensor" ? "float32" : name));
  } else if (!closest.empty() && closest.front() == "Tensor") {
    diagnostic.note("help: a tensor type is `Tensor[(2, 3), float32]`");
  } else if (!closest.empty()) {
    diagnostic.note(fmt::format("help: did you mean `{}`?", closest.front()));
  } else if (declares_) {
    return report_undeclared(std::move(diagnostic), name);
  } else {
    diagnostic.note("note: only a function or a data type declares variables in types");
  }
  report(std::move(diagnostic));
}

// --- Types ---

lang::Type Resolver::one_type() {
  implicit_type_params_ = true;
  return type(*tree_.root->child(0));
}

lang::Type Resolver::annotation_of(const Node& node) {
  const Node* annotation = node.find(Syntax::Annotation);
  return annotation ? type(*annotation->child(0)) : nullptr;
}

lang::Type Resolver::type(const Node& node) {
  std::vector<Type> parts;
  switch (node.kind) {
    case Syntax::Hole:
      return lang::incomplete_type();
    case Syntax::TensorType: {
      lang::Shape dims = shape(*node.child(0));
      return lang::tensor_type(std::move(dims), dtype(*node.child(1)));
    }
    case Syntax::TupleType:
      for (const Node* field : node.children()) parts.push_back(type(*field));
      return lang::tuple_type(std::move(parts));
    case Syntax::FunctionType: {
      const std::size_t mark = type_params_.size();
      declare_type_params(node);
      for (const Node* param : node.find(Syntax::TypeList)->children())
        parts.push_back(type(*param));
      Type result = type(*node.last());
      return lang::function_type(std::move(parts), std::move(result), close_type_params(mark));
    }
    case Syntax::RefType:
      return lang::reference_type(type(*node.child(0)));
    case Syntax::NamedType:
      return named_type(node);
    default:
      return meta_type(node);
  }
}

lang::Type Resolver::named_type(const Node& node) {
  const Node& name_node = *node.child(0);
  const std::string_view name = tree_.text(name_node);
  const bool plain = node.count == 1;
  if (plain) {
    if (const auto dtype = dtype_named(name, strict_)) return lang::scalar_type(*dtype);
  }
  const Symbol& symbol = symbols_.intern(name);
  if (plain && symbol.type_param >= 0)
    return lang::var_type(use_type_param(symbol.type_param, VarKind::Type, span(node)));
  const lang::TypeDef* def = symbol.type();
  if (symbol.broken) {
    item_is_broken_ = true;
    return lang::incomplete_type();
  }
  if (!def) {
    if (plain && implicit_type_params_) {
      return lang::var_type(
          use_type_param(find_type_param(name, span(node)), VarKind::Type, span(node)));
    }
    if (plain && is_vector_dtype(name)) return vector_type(name);
    unknown_type(name_node, "type", &node);
    return lang::incomplete_type();
  }
  note(NameKind::Type, span(name_node), name, def->span);
  const auto given = node.children().subspan(1);
  if (given.size() != def->params.size()) {
    report(Diagnostic(DiagnosticKind::WrongArity,
                      fmt::format("type `{}` has {} parameter{}, but {} given", name,
                                  def->params.size(), def->params.size() == 1 ? "" : "s",
                                  given.size() == 1 ? "1 is" : fmt::format("{} are", given.size())),
                      span(node))
               .label(def->span, "defined here"));
    return lang::incomplete_type();
  }
  std::vector<Type> args;
  for (std::size_t i = 0; i < given.size(); ++i)
    args.push_back(type_argument(*given[i], *def->params[i]));
  return lang::adt_type(def, std::move(args));
}

// A plain name is read as a type also where it names a dimension.
lang::Type Resolver::type_argument(const Node& node, const lang::TypeVar& param) {
  switch (node.kind) {
    case Syntax::Hole:
      return lang::incomplete_type();
    case Syntax::TensorType:
    case Syntax::TupleType:
    case Syntax::FunctionType:
    case Syntax::RefType:
      break;
    case Syntax::NamedType:
      if (param.kind == VarKind::Type) return type(node);
      if (node.count == 1) return lang::dimension_type(dim_name(*node.child(0)));
      break;
    default:
      if (param.kind == VarKind::Dim) return lang::dimension_type(dim(node));
      report(Kind::TypeMismatch,
             fmt::format("`{}` stands for a type, not for a dimension", param.name), span(node));
      return lang::incomplete_type();
  }
  if (param.kind == VarKind::Type) return type(node);
  report(Kind::TypeMismatch, fmt::format("`{}` stands for a dimension, not for a type", param.name),
         span(node));
  return lang::incomplete_type();
}

lang::Shape Resolver::shape(const Node& node) {
  if (node.kind == Syntax::DimList) {
    std::vector<Dim> dims;
    for (const Node* child : node.children()) dims.push_back(dim(*child));
    return dims;
  }
  const int param = find_type_param(tree_.text(node), span(node));
  if (param >= 0) return use_type_param(param, VarKind::Shape, span(node));
  unknown_type(node, "shape");
  return {};
}

lang::DTypeTerm Resolver::dtype(const Node& node) {
  const std::string_view name = tree_.text(node);
  if (const auto known = dtype_named(name, strict_)) return *known;
  const int param = find_type_param(name, span(node));
  if (param >= 0) return use_type_param(param, VarKind::DType, span(node));
  unknown_type(node, "dtype");
  return lang::DType::Float32;
}

// Also for the argument of `dim(...)`, which is read as an expression.
lang::Dim Resolver::dim(const Node& node) {
  switch (node.kind) {
    case Syntax::AnyDim:
      return Dim::any();
    case Syntax::Parens:
      return dim(*node.child(0));
    case Syntax::Number: {  // `3` or, in strict text, `3i64`
      const std::string_view text = tree_.text(node);
      return Dim(read_digits(text.substr(0, text.find('i')), span(node)));
    }
    case Syntax::Name:
      return dim_name(node);
    case Syntax::Infix:
      return dim_infix(node);
    case Syntax::Prefix: {
      Dim value = dim(*node.last());
      if ((node.count - 1) % 2 == 1) value = Dim(0) - value;
      return value;
    }
    case Syntax::Meta:
      return meta_dim(node);
    default:
      report(Kind::SyntaxError,
             "this is not a dimension: a number, a dimension's name, or arithmetic over them",
             span(node));
      return Dim::any();
  }
}

lang::Dim Resolver::dim_name(const Node& node) {
  const std::string_view name = tree_.text(node);
  const int param = find_type_param(name, span(node));
  if (param >= 0) return Dim::variable(use_type_param(param, VarKind::Dim, span(node)));
  if (was_unknown(name)) return Dim::any();
  Diagnostic diagnostic(DiagnosticKind::UnknownName, fmt::format("unknown dimension `{}`", name),
                        span(node));
  const Symbol& symbol = symbols_.intern(name);
  const bool is_value = !strict_ && (symbol.local || symbol.own_global || symbol.outer_global);
  if (is_value) {
    diagnostic.note(fmt::format("help: an extent of a tensor is `dim_of({}, axis=0)`", name));
  } else if (name != "_" && declares_) {
    report_undeclared(std::move(diagnostic), name);
    return Dim::any();
  } else {
    diagnostic.note("help: an extent that is left open is `?`");
  }
  report(std::move(diagnostic));
  return Dim::any();
}

lang::Dim Resolver::dim_infix(const Node& node) {
  // A sum of products, both left to right.
  Dim sum;
  Dim product = dim(*node.child(0));
  bool minus = false;
  const auto add = [&] { sum = minus ? sum - product : sum + product; };
  for (std::size_t i = 1; i + 1 < node.count; i += 2) {
    const std::string_view symbol = tree_.text(*node.child(i));
    Dim right = dim(*node.child(i + 1));
    if (symbol == "*") {
      product = product * right;
    } else if (symbol == "/") {
      product = Dim::floor_div(product, right);
    } else if (symbol == "+" || symbol == "-") {
      add();
      minus = symbol == "-";
      product = std::move(right);
    } else {
      report(Kind::SyntaxError, fmt::format("`{}` is no arithmetic of dimensions", symbol),
             span(*node.child(i)));
    }
  }
  add();
  return sum;
}

}  // namespace relay::parser
