#pragma once

#include <vector>

#include "interp/code.h"
#include "interp/machine.h"
#include "lang/expr.h"

// Index notation whose bodies are outside what kernels can hold (calls of unknown functions,
// recursion, match): the body is evaluated once per index value.
namespace relay::interp {

struct BinderCode {
  std::uint32_t slot;
  CodePtr extent;  // evaluated outside the binders
  lang::Span span;
};

class ComprehensionCode final : public Code {
 public:
  ComprehensionCode(std::vector<BinderCode> binders, CodePtr body, lang::Type type, lang::Span span)
      : Code(span), binders_(std::move(binders)), body_(std::move(body)), type_(std::move(type)) {}
  lang::Value eval(Frame& frame) const override;

 private:
  std::vector<BinderCode> binders_;
  CodePtr body_;
  lang::Type type_;
};

// Evaluates the elements in row-major order, and folds them as a kernel does.
class ReductionCode final : public Code {
 public:
  ReductionCode(lang::ReduceOp op, std::vector<BinderCode> binders, CodePtr body, lang::Type type,
                lang::Span span)
      : Code(span),
        op_(op),
        binders_(std::move(binders)),
        body_(std::move(body)),
        type_(std::move(type)) {}
  lang::Value eval(Frame& frame) const override;

 private:
  lang::Value eval_arg(const std::vector<std::int64_t>& extents, Frame& frame) const;
  lang::ReduceOp op_;
  std::vector<BinderCode> binders_;
  CodePtr body_;
  lang::Type type_;
};

}  // namespace relay::interp
