#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "lang/type.h"

namespace relay::lang {

using TypeVarNamer = std::function<std::string(const TypeVarRef&)>;

std::string print_dim(const Dim& dim, const TypeVarNamer& name_of_var);

// Gives every type variable of one text a name of its own: its own name if that is free, else the
// name with 1, 2, ... Unknowns without a name are `_`.
class TypeNames {
 public:
  // How to print a dim over a variable that nothing declares; by its name where this is not given.
  using FreeDimPrinter = std::function<std::string(const Dim&)>;
  explicit TypeNames(FreeDimPrinter free_dim = nullptr) : free_dim_(std::move(free_dim)) {}

  std::string name(const TypeVarRef& var);
  // The same; from now on the variable counts as declared.
  std::string declare(const TypeVarRef& var);
  // No variable that has no name yet gets this one.
  void keep(std::string name) { taken_.insert(std::move(name)); }
  std::string print(const Type& type);
  std::string print(const Shape& shape);
  std::string print(const DTypeTerm& dtype);
  std::string print(const Dim& dim);

 private:
  void append(std::string& text, const Type& type);
  void append(std::string& text, const std::vector<Type>& types);
  FreeDimPrinter free_dim_;
  std::unordered_set<const TypeVar*> declared_;
  std::unordered_map<const TypeVar*, std::string> names_;
  std::unordered_set<std::string> taken_;
};

}  // namespace relay::lang
