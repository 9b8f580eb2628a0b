#include "built/signature.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "lang/diagnostic.h"
#include "lang/record.h"

namespace relay::built {

using lang::DiagnosticKind;
using lang::Type;
using lang::Value;

namespace {

[[noreturn]] void refuse(const std::string& what) {
  lang::fail(DiagnosticKind::Unsupported, "not supported: " + what);
}

class Describer {
 public:
  explicit Describer(std::vector<Leaf>& leaves) : leaves_(leaves) {}

  Part describe(const Type& type, const std::string& where) {
    Part part;
    part.type = type;
    if (const auto* tuple = lang::as<lang::TupleType>(type)) {
      part.kind = Part::Kind::Tuple;
      for (std::size_t i = 0; i < tuple->fields.size(); ++i)
        part.parts.push_back(describe(tuple->fields[i], fmt::format("{}.{}", where, i)));
    } else if (const auto* adt = lang::as<lang::AdtType>(type)) {
      describe_record(*adt, part, where);
    } else if (const auto* tensor = lang::as<lang::TensorType>(type)) {
      part.leaf = leaves_.size();
      leaves_.push_back(leaf_of(*tensor, type, where));
    } else {
      refuse(fmt::format("{} is of type `{}`, which C has not", where, lang::to_string(type)));
    }
    return part;
  }

 private:
  void describe_record(const lang::AdtType& adt, Part& part, const std::string& where) {
    const std::string text = lang::to_string(part.type);
    if (adt.def->constructors.size() != 1) {
      refuse(fmt::format("{} is of type `{}`, which has {} constructors", where, text,
                         adt.def->constructors.size()));
    }
    // Of a type that contains a larger one of the same kind there is no end.
    const auto is_open = [&](const Type& each) { return lang::equal(each, part.type); };
    if (open_.size() > kMostNested || std::any_of(open_.begin(), open_.end(), is_open))
      refuse(fmt::format("{} is of type `{}`, which contains itself", where, text));
    open_.push_back(part.type);
    part.kind = Part::Kind::Record;
    part.constructor = &adt.def->constructors.front();
    const std::vector<Type> fields = lang::field_types(adt, *part.constructor);
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const auto& names = part.constructor->field_names;
      part.names.push_back(names.empty() ? fmt::format("field_{}", i) : names[i]);
      part.parts.push_back(describe(fields[i], where + "." + part.names.back()));
    }
    open_.pop_back();
  }

  static Leaf leaf_of(const lang::TensorType& tensor, const Type& type, const std::string& where) {
    const bool is_known = tensor.shape.has_rank() && tensor.dtype.is_known() &&
                          std::none_of(tensor.shape.dims().begin(), tensor.shape.dims().end(),
                                       [](const lang::Dim& dim) { return dim.is_any(); });
    if (!is_known) {
      refuse(fmt::format("{} is of type `{}`, whose extents are only known when it has run", where,
                         lang::to_string(type)));
    }
    return {tensor.dtype.known(), tensor.shape.dims()};
  }

  std::vector<Leaf>& leaves_;
  static constexpr std::size_t kMostNested = 100;
  std::vector<Type> open_;
};

}  // namespace

Signature signature_of(const Type& function) {
  const auto* type = lang::as<lang::FunctionType>(function);
  RELAY_CHECK(type != nullptr, "a signature of what is no function");
  Signature signature;
  Describer args(signature.args);
  for (std::size_t i = 0; i < type->params.size(); ++i)
    signature.params.push_back(args.describe(type->params[i], fmt::format("parameter {}", i + 1)));
  signature.result = Describer(signature.results).describe(type->result, "the result");
  for (const Type& param : type->params) {
    for (const lang::TypeVarRef& var : lang::variables_of(param)) {
      const auto& dims = signature.dims;
      if (std::find(dims.begin(), dims.end(), var) == dims.end()) signature.dims.push_back(var);
    }
  }
  for (const lang::TypeVarRef& var : lang::variables_of(type->result)) {
    if (std::find(signature.dims.begin(), signature.dims.end(), var) == signature.dims.end())
      refuse(fmt::format("the result is of type `{}`, whose extents no parameter tells",
                         lang::to_string(type->result)));
  }
  return signature;
}

std::vector<std::int64_t> extents_of(const Signature& signature, const Leaf& leaf,
                                     std::span<const std::int64_t> dims) {
  const auto lookup = [&](const lang::TypeVarRef& var) {
    const auto place = std::find(signature.dims.begin(), signature.dims.end(), var);
    return std::optional<lang::Dim>(
        lang::Dim(dims[static_cast<std::size_t>(place - signature.dims.begin())]));
  };
  std::vector<std::int64_t> extents;
  for (const lang::Dim& dim : leaf.shape) {
    extents.push_back(dim.substitute(lookup).constant());
    if (extents.back() < 0) {
      lang::fail(DiagnosticKind::ShapeMismatchAtRunTime,
                 fmt::format("the extent `{}` is {}", dim.to_string(), extents.back()));
    }
  }
  return extents;
}

Value compose(const Part& part, std::span<Value> leaves) {
  if (part.kind == Part::Kind::Leaf) return leaves[part.leaf];
  std::vector<Value> fields;
  fields.reserve(part.parts.size());
  for (const Part& each : part.parts) fields.push_back(compose(each, leaves));
  return part.kind == Part::Kind::Tuple
             ? Value::tuple(lang::TupleCell::make(std::span(fields)))
             : Value::adt(lang::AdtCell::make(part.constructor, std::span(fields)));
}

void append_leaves(const Part& part, const Value& value, std::vector<Value>& leaves) {
  if (part.kind == Part::Kind::Leaf) {
    leaves.push_back(value);
    return;
  }
  const auto fields =
      part.kind == Part::Kind::Tuple ? value.as_tuple().fields() : value.as_adt().fields();
  for (std::size_t i = 0; i < part.parts.size(); ++i)
    append_leaves(part.parts[i], fields[i], leaves);
}

}  // namespace relay::built
