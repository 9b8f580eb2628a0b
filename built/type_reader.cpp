#include "built/type_reader.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "built/format.h"
#include "lang/call_site.h"

namespace relay::built {

using lang::Dim;
using lang::Type;
using lang::TypeKind;
using lang::VarKind;

TypeReader::TypeReader(lang::ByteReader& from, Snapshot& into) : from_(from), into_(into) {
  const auto each = [&from](const auto& read) {
    for (std::size_t left = from.count(); left > 0; --left) read();
  };
  each([this] { names_.push_back(from_.text()); });
  each([this] { read_source(); });
  read_vars();
  each([this] { read_data_type(); });
  each([this] { read_dim(); });
  each([this] { read_type(); });
  for (const lang::TypeDefRef& def : into_.types) {
    for (lang::Constructor& constructor : def->constructors) {
      for (Type& field : constructor.fields) field = from_.at(types_);
    }
  }
  each([this] { attrs_.push_back(lang::make_attrs(list(0))); });
}

void TypeReader::read_source() {
  if (read_tag<SourceTag>(from_) == SourceTag::Text) {
    std::string name = this->name();
    sources_.push_back(into_.sources.add(std::move(name), std::string(from_.text())));
    return;
  }
  const lang::Source* const text = from_.at(sources_);
  const lang::Span call = span();
  if (!call) fail_damaged();
  sources_.push_back(lang::moved_to_call({text, 0, 0}, call).source);
}

lang::Span TypeReader::span() {
  constexpr std::uint64_t kLast = std::numeric_limits<std::uint32_t>::max();
  const std::size_t number = from_.index(sources_.size() + 1);
  if (number == 0) return {};
  const std::uint64_t begin = from_.number();
  const std::uint64_t end = begin + static_cast<std::uint64_t>(from_.signed_number());
  if (begin > kLast || end > kLast) fail_damaged();
  return {sources_[number - 1], static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)};
}

// They are made in the order in which the writer's were, which dimensions over them depend on.
void TypeReader::read_vars() {
  struct Entry {
    VarKind kind;
    bool is_flexible;
    std::string name;
  };
  std::vector<Entry> entries;
  for (std::size_t left = from_.count(); left > 0; --left) {
    const auto kind =
        static_cast<VarKind>(from_.byte_below(static_cast<std::size_t>(VarKind::Dim) + 1));
    const bool is_flexible = from_.truth();
    entries.push_back({kind, is_flexible, name()});
  }
  vars_.resize(entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::size_t number = from_.index(entries.size());
    if (vars_[number]) fail_damaged();
    Entry& entry = entries[number];
    vars_[number] = entry.is_flexible ? lang::TypeVar::unknown(entry.kind)
                                      : lang::TypeVar::rigid(entry.kind, std::move(entry.name));
  }
}

const lang::TypeVarRef& TypeReader::type_var(VarKind kind) {
  const lang::TypeVarRef& var = type_var();
  if (var->kind != kind) fail_damaged();
  return var;
}

std::vector<lang::TypeVarRef> TypeReader::vars() {
  std::vector<lang::TypeVarRef> vars;
  for (std::size_t left = from_.count(); left > 0; --left) vars.push_back(type_var());
  return vars;
}

void TypeReader::read_data_type() {
  lang::TypeDefRef def = lang::make_ref<lang::TypeDef>();
  def->name = name();
  def->span = span();
  def->is_extern = from_.truth();
  def->origin = static_cast<lang::Origin>(
      from_.byte_below(static_cast<std::size_t>(lang::Origin::Prelude) + 1));
  def->params = vars();
  for (std::size_t left = from_.count(); left > 0; --left) {
    lang::Constructor constructor;
    constructor.name = name();
    constructor.tag = static_cast<std::uint32_t>(def->constructors.size());
    constructor.owner = def.get();
    constructor.span = span();
    const std::size_t fields = from_.count();
    fields_ += fields;
    if (fields_ > from_.size()) fail_damaged();  // their types follow
    constructor.fields.resize(fields);
    if (from_.truth()) {
      for (std::size_t i = 0; i < constructor.fields.size(); ++i)
        constructor.field_names.push_back(name());
    }
    def->constructors.push_back(std::move(constructor));
  }
  into_.types.push_back(std::move(def));
}

// By arithmetic, which gives what it gave before: a dimension is in normal form.
void TypeReader::read_dim() {
  if (read_tag<DimTag>(from_) == DimTag::Any) {
    dims_.push_back(Dim::any());
    dim_depths_.push_back(0);
    return;
  }
  Dim sum(from_.signed_number());
  int depth = 0;
  for (std::size_t terms = from_.count(); terms > 0; --terms) {
    Dim product(from_.signed_number());
    for (std::size_t atoms = from_.count(); atoms > 0; --atoms) {
      if (read_tag<AtomTag>(from_) == AtomTag::Variable) {
        product = product * Dim::variable(type_var(VarKind::Dim));
        continue;
      }
      const std::size_t numerator = from_.index(dims_.size());
      const std::size_t denominator = from_.index(dims_.size());
      depth = std::max({depth, dim_depths_[numerator] + 1, dim_depths_[denominator] + 1});
      if (depth > kDeepestDim) fail_damaged();
      const Dim division = Dim::floor_div(dims_[numerator], dims_[denominator]);
      if (!is_one_atom(division)) fail_damaged();
      product = product * division;
    }
    sum = sum + product;
  }
  dims_.push_back(std::move(sum));
  dim_depths_.push_back(depth);
}

Type TypeReader::tensor() {
  const std::size_t dtype = from_.byte_below(static_cast<std::size_t>(lang::kDTypeCount) + 1);
  const lang::DTypeTerm element = dtype == 0 ? lang::DTypeTerm(type_var(VarKind::DType))
                                             : lang::DTypeTerm(static_cast<lang::DType>(dtype - 1));
  const std::size_t rank = from_.count();
  if (rank == 0) return lang::tensor_type(lang::Shape(type_var(VarKind::Shape)), element);
  std::vector<Dim> dims;
  for (std::size_t i = 1; i < rank; ++i) dims.push_back(dim());
  return lang::tensor_type(lang::Shape(std::move(dims)), element);
}

std::vector<Type> TypeReader::types() {
  std::vector<Type> types;
  for (std::size_t left = from_.count(); left > 0; --left) types.push_back(from_.at(types_));
  return types;
}

Type TypeReader::function() {
  std::vector<lang::TypeVarRef> quantified = vars();
  std::vector<Type> params = types();
  return lang::function_type(std::move(params), from_.at(types_), std::move(quantified));
}

void TypeReader::read_type() {
  const auto read = [this]() -> Type {
    switch (static_cast<TypeKind>(
        from_.byte_below(static_cast<std::size_t>(TypeKind::Incomplete) + 1))) {
      case TypeKind::Tensor:
        return tensor();
      case TypeKind::Tuple: {
        std::vector<Type> fields = types();
        return fields.empty() ? lang::unit_type() : lang::tuple_type(std::move(fields));
      }
      case TypeKind::Function:
        return function();
      case TypeKind::Adt: {
        const lang::TypeDef* const def = from_.at(into_.types).get();
        return lang::adt_type(def, types());
      }
      case TypeKind::Reference:
        return lang::reference_type(from_.at(types_));
      case TypeKind::Var:
        return lang::var_type(type_var(VarKind::Type));
      case TypeKind::Dimension:
        return lang::dimension_type(dim());
      case TypeKind::Incomplete:
        return lang::incomplete_type();
    }
    fail_damaged();
  };
  types_.push_back(read());
  if (types_.back()->depth > kDeepestType) fail_damaged();
}

Type TypeReader::type() {
  const std::size_t number = from_.index(types_.size() + 1);
  return number == 0 ? nullptr : types_[number - 1];
}

const Type& TypeReader::type_at(std::uint64_t number) const {
  if (number >= types_.size()) fail_damaged();
  return types_[number];
}

const lang::Constructor* TypeReader::constructor() {
  return &from_.at(from_.at(into_.types)->constructors);
}

lang::AttrsRef TypeReader::attrs() {
  const std::size_t number = from_.index(attrs_.size() + 1);
  return number == 0 ? nullptr : attrs_[number - 1];
}

std::vector<lang::Attr> TypeReader::list(int depth) {
  std::vector<lang::Attr> list;
  for (std::size_t left = from_.count(); left > 0; --left) {
    lang::Attr attr;
    attr.key = name();
    attr.span = span();
    attr.value = value(depth);
    list.push_back(std::move(attr));
  }
  return list;
}

lang::AttrValue TypeReader::value(int depth) {
  if (depth > kDeepestAttr) fail_damaged();
  switch (read_tag<AttrTag>(from_)) {
    case AttrTag::Null:
      return {};
    case AttrTag::False:
      return false;
    case AttrTag::True:
      return true;
    case AttrTag::Int:
      return from_.signed_number();
    case AttrTag::Float:
      return std::bit_cast<double>(from_.word());
    case AttrTag::Text:
      return name();
    case AttrTag::DType:
      return static_cast<lang::DType>(from_.byte_below(lang::kDTypeCount));
    case AttrTag::List: {
      lang::AttrValue::List values;
      for (std::size_t left = from_.count(); left > 0; --left) values.push_back(value(depth + 1));
      return values;
    }
    case AttrTag::Object: {
      std::string type_key = name();
      return lang::make_ref<const lang::AttrObject>(std::move(type_key), list(depth + 1));
    }
    case AttrTag::kCount:
      break;
  }
  fail_damaged();
}

}  // namespace relay::built
