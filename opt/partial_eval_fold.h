#pragma once

#include <optional>
#include <vector>

#include "opt/partial_eval.h"
#include "opt/partial_eval_residual.h"

namespace relay::opt::partial {

// Runs steps on constants. Null is the answer where an operand is no constant, and where the step
// fails or gives much: then it stays, and fails when it runs.
class Folder {
 public:
  Folder(const PartialEvalHost& host, Residual& residual) : host_(host), residual_(residual) {}

  const Value* primitive(lang::Prim prim, const std::vector<const Value*>& args,
                         const lang::Type& type);
  const Value* element(const lang::Index& index, const Value* tensor,
                       const std::vector<const Value*>& indices);
  const Value* call(const lang::Expr& op, const std::vector<const Value*>& args,
                    const lang::AttrsRef& attrs, const lang::Type& type, lang::Span span);
  const Value* dim(const lang::Expr& term);
  // Of a condition that is known.
  std::optional<bool> truth(const Value* condition) const;
  // Are both one thing that is there without a step: a constant, `()`, data without fields?
  bool are_same(const Value* a, const Value* b) const;

 private:
  const Value* evaluated(const lang::Expr& closed);

  const PartialEvalHost host_;
  Residual& residual_;
};

}  // namespace relay::opt::partial
