#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "lang/expr.h"
#include "opt/definitions.h"

// Private to the pass FakeQuantizationToInteger.
namespace relay::opt {

// How integers stand for numbers: scale * (integer - zero point). Scale and zero point are atoms,
// for all elements or for each channel along an axis.
struct Quantized {
  lang::Expr scale;
  lang::Expr zero_point;
  std::int64_t axis = -1;  // not negative where one of the two is a vector

  bool is_per_channel() const;
  // As the operators of the dialect `qnn` have it: -1 where it names none.
  std::int64_t axis_attr() const;
};
bool same_quantization(const Quantized& a, const Quantized& b);

// A tensor of numbers as integers.
struct Affine {
  lang::Expr integers;
  Quantized how;
  // They are the numbers themselves, and not what is left of them after rounding.
  bool is_exact = true;
};

// A step as its rule sees it.
class AffineStep {
 public:
  AffineStep(const lang::Expr& step, const Definitions& definitions,
             const std::function<const Affine*(const lang::Expr& atom)>& affine)
      : step_(step),
        call_(lang::cast<lang::Call>(step)),
        definitions_(definitions),
        affine_(affine) {}

  const lang::Expr& expr() const { return step_; }
  const lang::Call& call() const { return call_; }
  const Definitions& definitions() const { return definitions_; }
  // Of operand `i`; null where it is none.
  const Affine* operand(std::size_t i) const { return affine_(call_.args[i]); }
  const Affine* affine(const lang::Expr& atom) const { return affine_(atom); }
  std::size_t rank() const;
  // The same operator of integers, with attributes changed.
  lang::Expr again(std::vector<lang::Expr> operands, std::vector<lang::Attr> changed = {}) const;

 private:
  const lang::Expr& step_;
  const lang::Call& call_;
  const Definitions& definitions_;
  const std::function<const Affine*(const lang::Expr&)>& affine_;
};

// What a step of floats is on integers; nothing where it is none.
using AffineRule = std::function<std::optional<Affine>(const AffineStep& step)>;
// The same where what comes out is quantized in a known way at once; null where it is none.
using FinalRule =
    std::function<lang::Expr(const AffineStep& step, const Quantized& wanted, lang::DType dtype)>;
struct FakeQuantizationRules {
  AffineRule rule = {};
  FinalRule final_rule = {};
};
// Of the operator; null where there are none.
const FakeQuantizationRules* fake_quantization_rules(std::string_view op);

// Integers that stand for the same in another way. Null where both have channels.
lang::Expr requantize(const Affine& from, const Quantized& to, lang::DType dtype);
// A constant in integers of int32, quantized so.
lang::Expr quantized_constant(const lang::Expr& constant, const Quantized& how);

}  // namespace relay::opt
