#pragma once

#include <string>
#include <unordered_map>

#include "lang/type.h"
#include "typecheck/infer.h"

namespace relay::repl {

// Which body serves a use of a global function. Where extents are known, small tensors need no
// memory, and kernels no launch: the first few sizes at which a definition is used have bodies of
// their own, those of small tensors more (a recursion by minors). All others share the one in which
// the definition's dims are symbolic.
class Instances {
 public:
  // `extents`: Symbolic: none has a body of its own.
  Instances(typecheck::Checker& checker, typecheck::Extents extents)
      : checker_(checker), extents_(extents) {}

  struct Instance {
    std::string key;  // of the body
    typecheck::Extents extents;
  };
  // Throws Failure.
  const Instance& of(const std::string& name, const lang::Type& type);
  // The use has no body of its own: with these numbers the definition cannot be typed.
  void refuse(const std::string& name, const lang::Type& type);
  void forget();

 private:
  typecheck::Checker& checker_;
  typecheck::Extents extents_;
  std::unordered_map<std::string, Instance> instances_;  // by the key with the use's extents
  std::unordered_map<std::string, int> sizes_;           // by name: bodies with known extents
};

}  // namespace relay::repl
