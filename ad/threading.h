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

// Which parameters have accumulators: the adjoint so far is an argument of the backward half, which
// adds to it in place and gives it back, where one made and summed for each call would cost its
// size each time. Those are parameters that are handed on unchanged from call to call, round a
// recursion, such as weights; and those of which parts are read, as the elements of a tensor: their
// adjoints are scattered.
class Threading {
 public:
  Threading(lang::Program& program, GrowingRecursion& growing, KnownFunctions& functions)
      : program_(program), growing_(growing), functions_(functions) {}
  // Has parameter `index` of the global an accumulator? `is_expected`: where it is called there is
  // something to add to anyway.
  bool has_accumulator(const std::string& name, const lang::Type& type, std::size_t index,
                       bool is_expected);
  void forget() { threaded_.clear(), parts_.clear(), uses_.clear(); }

 private:
  // A call that hands parameters on: for each of the callee's, which one of the caller's, or which
  // one it is a part of; or -1.
  struct Handing {
    std::string name;
    lang::Type type;
    std::vector<std::ptrdiff_t> from, part_of;
  };
  // What a function does with its parameters.
  struct Uses {
    std::vector<Handing> calls;
    std::vector<bool> read_in_parts;
    std::vector<bool> changed;  // from turn to turn, where the function is a loop
  };
  const Uses* uses_of(const std::string& name, const lang::Type& type);
  Uses look_at(const lang::Function& function, const std::string& name, const lang::Type& type);
  // Does it go, unchanged, into a recursion?
  bool is_threaded(const std::string& name, const lang::Type& type, std::size_t index);
  // Are parts of it read, here or where it goes?
  bool is_read_in_parts(const std::string& name, const lang::Type& type, std::size_t index);

  lang::Program& program_;
  GrowingRecursion& growing_;
  KnownFunctions& functions_;
  std::map<std::string, Uses> uses_;
  using Place = std::pair<std::string, std::size_t>;
  enum class Mark { UnderWay, No, Yes };
  std::map<Place, Mark> threaded_, parts_;
};

// The calls by which a function goes round as a loop: of itself, last.
std::vector<const lang::Call*> loop_calls(const lang::Expr& body, const std::string& name,
                                          const lang::Type& type);

}  // namespace relay::ad
