#pragma once

#include <memory>
#include <span>
#include <vector>

#include "interp/code.h"
#include "interp/known_extents.h"
#include "interp/machine.h"
#include "loops/lower.h"

namespace relay::interp {

// A group of tensor operators that runs as kernels: one operator call, index notation, or a fused
// `Primitive=1` function. Lowered once per set of argument layouts (and values of those scalar
// arguments that are extents); runs on lanes until its cost, or the mode, says that native code
// pays.
class Group {
 public:
  explicit Group(lang::Expr function);
  ~Group();
  // `args` are moved from. Empty after an error.
  lang::Value run(Machine& machine, lang::Value* args, std::size_t count, lang::Span span);
  const lang::Expr& function() const { return function_; }
  // Has native code made of the kernels that it runs for these arguments, of which extents and such
  // scalars are known as extents are computed of, and waits for it; not of more elements than can
  // be counted. Fails as running it would.
  void make_kernels(Machine& machine, const std::vector<lang::Expr>& args, KnownExtents& known,
                    const ExtentOf& extent_of);

 private:
  struct Instance;
  // For these leaves, and `shaping_`; null: there is none.
  Instance* find(std::span<const lang::TensorRef> leaves) const;
  bool fits(const Instance& instance, std::span<const lang::TensorRef> leaves) const;
  Instance* lower(Machine& machine, std::vector<loops::Layout> layouts,
                  const std::vector<lang::Value>& values);
  void consider_native(Machine& machine, Instance& instance);
  lang::Value run_quickly(Machine& machine, std::span<lang::Value> args);

  lang::Expr function_;
  // Parameters whose values decide extents: the values are part of the key.
  std::vector<std::size_t> shaping_params_;
  std::vector<std::uint64_t> shaping_;  // what stands in them now
  std::vector<std::unique_ptr<Instance>> instances_;
  Instance* last_ = nullptr;
};

class GroupCode final : public Code {
 public:
  GroupCode(lang::Expr function, std::vector<Operand> args, lang::Span span)
      : Code(span), group_(std::make_unique<Group>(std::move(function))), args_(std::move(args)) {}
  Group& group() const { return *group_; }
  lang::Value eval(Frame& frame) const override;
  bool eval_call(Machine& machine, const FunctionCode& function, lang::Value* args,
                 lang::Value& result) const override;

 private:
  std::unique_ptr<Group> group_;
  std::vector<Operand> args_;
};

}  // namespace relay::interp
