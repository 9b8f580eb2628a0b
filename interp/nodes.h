#pragma once

#include <span>
#include <vector>

#include "interp/code.h"
#include "interp/machine.h"
#include "interp/profile.h"
#include "lang/expr.h"

// The kinds of prepared code for control, data and calls. Each does what its name says.
namespace relay::interp {

class OperandCode final : public Code {
 public:
  OperandCode(Operand operand, lang::Span span) : Code(span), operand(operand) {}
  lang::Value eval(Frame& frame) const override { return fetch(operand, frame); }
  const Operand operand;
};

// While a profile runs: what it computes is on a line of the text.
class ProfiledCode final : public Code {
 public:
  ProfiledCode(CodePtr code, std::uint64_t profile, Profile::Place place)
      : Code(code->span), code_(std::move(code)), profile_(profile), place_(place) {}
  lang::Value eval(Frame& frame) const override;

 private:
  CodePtr code_;
  std::uint64_t profile_;  // whose place it is
  Profile::Place place_;
};

// A let chain: each step's value goes to its slot.
class BlockCode final : public Code {
 public:
  struct Step {
    std::uint32_t slot;
    CodePtr code;
  };
  BlockCode(std::vector<Step> steps, CodePtr result)
      : steps_(std::move(steps)), result_(std::move(result)) {}
  lang::Value eval(Frame& frame) const override;

 private:
  std::vector<Step> steps_;
  CodePtr result_;
};

class IfCode final : public Code {
 public:
  IfCode(CodePtr condition, CodePtr then_code, CodePtr else_code)
      : condition_(std::move(condition)),
        then_(std::move(then_code)),
        else_(std::move(else_code)) {}
  lang::Value eval(Frame& frame) const override;

 private:
  CodePtr condition_, then_, else_;
};

class TupleCode final : public Code {
 public:
  explicit TupleCode(std::vector<Operand> fields) : fields_(std::move(fields)) {}
  lang::Value eval(Frame& frame) const override;

 private:
  std::vector<Operand> fields_;
};

class ProjectionCode final : public Code {
 public:
  ProjectionCode(Operand tuple, std::uint32_t index) : tuple_(tuple), index_(index) {}
  lang::Value eval(Frame& frame) const override;

 private:
  Operand tuple_;
  std::uint32_t index_;
};

class ConstructCode final : public Code {
 public:
  ConstructCode(const lang::Constructor* constructor, std::vector<Operand> fields)
      : constructor_(constructor), fields_(std::move(fields)) {}
  lang::Value eval(Frame& frame) const override;

 private:
  const lang::Constructor* constructor_;
  std::vector<Operand> fields_;
};

class MakeClosureCode final : public Code {
 public:
  MakeClosureCode(FunctionCodeRef code, std::vector<Operand> captures)
      : code_(std::move(code)), captures_(std::move(captures)) {}
  lang::Value eval(Frame& frame) const override;

 private:
  FunctionCodeRef code_;
  std::vector<Operand> captures_;
};

// Calls. In tail position they set the machine's next call instead of making it.
class CallGlobalCode final : public Code {
 public:
  CallGlobalCode(std::string name, lang::Type type, std::vector<Operand> args, bool tail,
                 lang::Span span)
      : Code(span),
        name_(std::move(name)),
        type_(std::move(type)),
        args_(std::move(args)),
        tail_(tail) {}
  lang::Value eval(Frame& frame) const override;

 private:
  std::string name_;
  lang::Type type_;
  std::vector<Operand> args_;
  bool resolve(Frame& frame) const;

  bool tail_;
  // Found at the first execution: code that the function holds among its calls, or the function
  // value that the name is bound to.
  mutable const FunctionCode* target_ = nullptr;
  mutable lang::Value bound_;
};

class CallSelfCode final : public Code {
 public:
  CallSelfCode(std::vector<Operand> args, bool tail, lang::Span span)
      : Code(span), args_(std::move(args)), tail_(tail) {}
  lang::Value eval(Frame& frame) const override;

 private:
  std::vector<Operand> args_;
  bool tail_;
};

class CallValueCode final : public Code {
 public:
  CallValueCode(Operand callee, std::vector<Operand> args, bool tail, lang::Span span)
      : Code(span), callee_(callee), args_(std::move(args)), tail_(tail) {}
  lang::Value eval(Frame& frame) const override;

 private:
  Operand callee_;
  std::vector<Operand> args_;
  bool tail_;
};

class RefCreateCode final : public Code {
 public:
  explicit RefCreateCode(Operand value) : value_(value) {}
  lang::Value eval(Frame& frame) const override;

 private:
  Operand value_;
};
class RefReadCode final : public Code {
 public:
  RefReadCode(Operand ref, lang::Span span) : Code(span), ref_(ref) {}
  lang::Value eval(Frame& frame) const override;

 private:
  Operand ref_;
};
class RefWriteCode final : public Code {
 public:
  RefWriteCode(Operand ref, Operand value, lang::Span span)
      : Code(span), ref_(ref), value_(value) {}
  lang::Value eval(Frame& frame) const override;

 private:
  Operand ref_, value_;
};

// Pattern with its variables as slots.
struct PatternCode {
  lang::PatternKind kind;
  std::uint32_t slot = 0;                          // Variable
  const lang::Constructor* constructor = nullptr;  // Constructor
  std::uint32_t place = 0;                         // of this one in what it is a field of
  std::vector<PatternCode> fields;                 // without wildcards: a large record has many
  // Binds what matches; false leaves some slots set, which does no harm.
  bool match(const lang::Value& value, Frame& frame) const;
};

class MatchCode final : public Code {
 public:
  struct Arm {
    PatternCode pattern;
    CodePtr body;
  };
  MatchCode(Operand scrutinee, std::vector<Arm> arms, lang::Span span)
      : Code(span), scrutinee_(scrutinee), arms_(std::move(arms)) {}
  lang::Value eval(Frame& frame) const override;

 private:
  Operand scrutinee_;
  std::vector<Arm> arms_;
};

// A scalar primitive of operands that are atoms or scalar code themselves.
class PrimitiveCode final : public Code {
 public:
  struct Arg {
    Operand operand;
    CodePtr code;  // when not null, used instead
  };
  PrimitiveCode(ScalarFunction function, lang::DType result, bool checks_divisor,
                std::vector<Arg> args, lang::Span span);
  lang::Value eval(Frame& frame) const override;

 private:
  ScalarFunction function_;
  lang::DType result_;
  bool checks_divisor_;  // integer division: a zero divisor is an error
  std::vector<Arg> args_;
};

// Code that is known where it is called, of a function without captures.
class CallPreparedCode final : public Code {
 public:
  CallPreparedCode(FunctionCodeRef code, std::vector<Operand> args, lang::Span span)
      : Code(span), code_(std::move(code)), args_(std::move(args)) {}
  lang::Value eval(Frame& frame) const override;

 private:
  FunctionCodeRef code_;
  std::vector<Operand> args_;
};

// The rest of a tensor at indices of its first axes; null after an error.
lang::TensorRef view_of(Machine& machine, const lang::Tensor& tensor,
                        std::span<const std::int64_t> indices, lang::Span span);

// tensor[i, j] outside kernels: a scalar or a view.
class IndexCode final : public Code {
 public:
  IndexCode(Operand tensor, std::vector<Operand> indices, lang::Span span)
      : Code(span), tensor_(tensor), indices_(std::move(indices)) {}
  lang::Value eval(Frame& frame) const override;

 private:
  Operand tensor_;
  std::vector<Operand> indices_;
};

}  // namespace relay::interp
