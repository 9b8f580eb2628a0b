#include "ad/data_search.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "lang/record.h"

namespace relay::ad {

using lang::AdtType;
using lang::as;
using lang::Type;

namespace {

// Appends which definitions a type means: a name may have been defined anew.
void add_definitions(const Type& type, std::string& text) {
  const auto add_all = [&](const std::vector<Type>& parts) {
    for (const Type& part : parts) add_definitions(part, text);
  };
  if (const auto* tuple = as<lang::TupleType>(type)) add_all(tuple->fields);
  if (const auto* adt = as<AdtType>(type)) {
    text += fmt::format(" {}", static_cast<const void*>(adt->def));
    add_all(adt->args);
  }
  if (const auto* function = as<lang::FunctionType>(type)) {
    add_all(function->params);
    add_definitions(function->result, text);
  }
}

// Without its extents: what it is made of does not depend on them, and data may hold itself at ever
// other ones, as what a recursion over smaller and smaller tensors has saved.
Type of_any_extents(const Type& type) {
  const auto all = [](const std::vector<Type>& parts) {
    std::vector<Type> made;
    for (const Type& part : parts) made.push_back(of_any_extents(part));
    return made;
  };
  if (type->kind == lang::TypeKind::Dimension) return lang::dimension_type(lang::Dim::any());
  if (const auto* tuple = as<lang::TupleType>(type)) return lang::tuple_type(all(tuple->fields));
  if (const auto* adt = as<AdtType>(type)) return lang::adt_type(adt->def, all(adt->args));
  if (const auto* function = as<lang::FunctionType>(type))
    return lang::function_type(all(function->params), of_any_extents(function->result));
  const auto* tensor = as<lang::TensorType>(type);
  if (!tensor || !tensor->shape.has_rank()) return type;
  return lang::tensor_type(
      lang::Shape(std::vector<lang::Dim>(tensor->shape.rank(), lang::Dim::any())), tensor->dtype);
}

// A data type that holds itself at a larger type, `type Nest[A] { End, Deep(A, Nest[(A, A)]) }`,
// has no end of types; searches end where one has more parts than programs write.
constexpr std::uint32_t kMostParts = 2048;

class LeafSearch {
 public:
  explicit LeafSearch(std::function<bool(const Type&)> wanted) : wanted_(std::move(wanted)) {}

  bool in(const Type& type) {
    if (const auto* tuple = as<lang::TupleType>(type)) {
      return std::any_of(tuple->fields.begin(), tuple->fields.end(),
                         [&](const Type& field) { return in(field); });
    }
    const auto* adt = as<AdtType>(type);
    if (!adt) return wanted_(type);
    if (type->size > kMostParts) {
      is_endless_ = true;
      return false;
    }
    if (!seen_.insert(identity_of(of_any_extents(type))).second) return false;
    for (const lang::Constructor& constructor : adt->def->constructors) {
      for (const Type& field : lang::field_types(*adt, constructor)) {
        if (in(field)) return true;
      }
    }
    return false;
  }
  bool is_endless() const { return is_endless_; }

 private:
  std::function<bool(const Type&)> wanted_;
  std::set<std::string> seen_;
  bool is_endless_ = false;
};

// Does a data type hold values of its own?
class SelfSearch {
 public:
  explicit SelfSearch(const AdtType& adt) : def_(adt.def) {}

  bool in(const Type& type) {
    if (const auto* tuple = as<lang::TupleType>(type)) {
      return std::any_of(tuple->fields.begin(), tuple->fields.end(),
                         [&](const Type& field) { return in(field); });
    }
    const auto* adt = as<AdtType>(type);
    if (!adt) return false;
    return adt->def == def_ || in_fields(*adt);
  }
  bool in_fields(const AdtType& adt) {
    if (adt.size > kMostParts) return true;
    if (!seen_.insert(lang::to_string(of_any_extents(Type(&adt)))).second) return false;
    for (const lang::Constructor& constructor : adt.def->constructors) {
      for (const Type& field : lang::field_types(adt, constructor)) {
        if (in(field)) return true;
      }
    }
    return false;
  }

 private:
  const lang::TypeDef* def_;
  std::set<std::string> seen_;
};

}  // namespace

std::string identity_of(const Type& type) {
  std::string text = lang::to_string(type);
  add_definitions(type, text);
  return text;
}

bool has_leaf(const Type& type, const std::function<bool(const Type&)>& wanted) {
  return LeafSearch(wanted).in(type);
}

bool is_endless(const Type& type) {
  LeafSearch search([](const Type&) { return false; });
  search.in(type);
  return search.is_endless();
}

bool is_record(const AdtType& adt) {
  return adt.def->constructors.size() == 1 && !SelfSearch(adt).in_fields(adt);
}

}  // namespace relay::ad
