#pragma once

#include <map>
#include <string>
#include <vector>

#include "lang/expr.h"
#include "lang/module.h"

namespace relay::ad {

class Pairs;

// The derivative of a known function in forward mode, of those arguments that have a tangent there:
//   (args..., tangents of the active args..., walk) -> (result, tangent of the result)
// The walk (ad/adjoint_cells) is there where the function may use references.
// Effects are those of the function, once. What calls itself last still does.
struct Jvp {
  std::string name;
  lang::Type type;
  bool takes_walk = false;
};

// Which arguments have a tangent other than zero.
using Activity = std::vector<bool>;

class Jvps {
 public:
  Jvps(lang::Program& program, Pairs& pairs) : program_(program), pairs_(pairs) {}
  // Of a global at a ground type. Arguments whose tangent type is () are never active.
  // Throws Failure, and then knows no more than before.
  const Jvp& of_global(const std::string& name, const lang::Type& type, const Activity& active);
  // The program's definitions have changed.
  void forget() {
    globals_.clear();
    known_.clear();
  }

 private:
  const Jvp& derive(const std::string& key, const std::string& name, const lang::Type& type,
                    const Activity& active);

  lang::Program& program_;
  Pairs& pairs_;
  std::map<std::string, Jvp> globals_;
  std::vector<std::string> known_;  // their keys, in order
};

}  // namespace relay::ad
