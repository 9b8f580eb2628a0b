#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "lang/build.h"
#include "lang/expr.h"
#include "opt/known_values.h"

// Private to scalar replacement.
namespace relay::opt {

// One choice between data, and how the matches on them are made of their fields.
class DataChoice {
 public:
  // Of a branch that gives data; `field`: of the tuple that it gives, nothing where it gives the
  // data themselves. `matches`: all that read them. Null where it is not known what a place of the
  // choice makes, or a field has nothing to stand in its place where it is not made.
  static std::unique_ptr<DataChoice> of(const lang::Expr& branch,
                                        std::optional<std::uint32_t> field,
                                        const std::vector<const lang::Match*>& matches,
                                        const KnownValues& known);
  virtual ~DataChoice() = default;

  // The branch, whose tuples have the slots behind their fields and no data: data alone give way to
  // the slots.
  virtual lang::Expr with_slots(const lang::Expr& branch) = 0;
  // The slots, taken out of what with_slots() gives.
  virtual std::vector<lang::Binding> projections(const lang::VariableRef& all) const = 0;
  // One of the matches, without data.
  virtual lang::Expr again(const lang::Match& match) const = 0;
};

}  // namespace relay::opt
