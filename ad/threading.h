#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ad/growing_recursion.h"
#include "ad/known_functions.h"
#include "lang/expr.h"
#include "lang/module.h"

namespace relay::ad {

// Which parameters are handed on unchanged from call to call, round a recursion: weights, or a
// tensor that each step reads a part of. Their adjoint is threaded through the backward calls as an
// accumulator, where one made and summed for each call would cost its size each time.
class Threading {
 public:
  Threading(lang::Program& program, GrowingRecursion& growing, KnownFunctions& functions)
      : program_(program), growing_(growing), functions_(functions) {}
  // Does parameter `index` of the global go, unchanged, into a recursion?
  bool is_threaded(const std::string& name, const lang::Type& type, std::size_t index);
  void forget() { known_.clear(), calls_.clear(); }

 private:
  // A call that hands parameters on: for each of the callee's, which one of the caller's, or -1.
  struct Handing {
    std::string name;
    lang::Type type;
    std::vector<std::ptrdiff_t> from;
  };
  using Place = std::pair<std::string, std::size_t>;
  std::vector<Handing> calls_in(const lang::Expr& own);

  lang::Program& program_;
  GrowingRecursion& growing_;
  KnownFunctions& functions_;
  std::map<std::string, std::vector<Handing>> calls_;
  enum class Mark { UnderWay, No, Yes };
  std::map<Place, Mark> known_;
};

}  // namespace relay::ad
