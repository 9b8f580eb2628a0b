// A custom gradient against the function it belongs to.

#include <fmt/format.h>

#include "typecheck/checker.h"

namespace relay::typecheck {

using namespace lang;

namespace {

class GradientCheck {
 public:
  GradientCheck(Checker::Impl& checker, const std::string& name)
      : checker_(checker),
        inference_(checker, Purpose::kScheme),
        name_(name),
        function_(cast<Function>(checker.module.find(name)->function)),
        gradient_name_(*gradient_of(function_)) {}

  Scheme run() {
    const Definition* definition = checker_.module.find(gradient_name_);
    if (!definition || !as<Function>(definition->function)) {
      fail(DiagnosticKind::UnknownName,
           fmt::format("the gradient of `{}` is `{}`, which is no function here", name_,
                       gradient_name_),
           function_.span);
    }
    checker_.entry(name_);
    const Scheme scheme = checker_.entry(gradient_name_).scheme;
    gradient_ = &cast<Function>(definition->function);
    const Expr own = make_global_var(name_, function_.span);
    const Expr other = make_global_var(gradient_name_, gradient_->span);
    const Type own_type = inference_.infer(own);
    const Type gradient_type = inference_.infer(other);
    compare(*as<FunctionType>(own_type), *as<FunctionType>(gradient_type));
    inference_.finish_generic({own_type});
    return scheme;
  }

 private:
  void compare(const FunctionType& own, const FunctionType& gradient) {
    const std::size_t count = own.params.size();
    const bool takes_result = gradient.params.size() == count + 2;
    if (gradient.params.size() != count + 1 && !takes_result) {
      Diagnostic diagnostic(
          DiagnosticKind::WrongArity,
          fmt::format("the gradient of `{}` takes {}, those of `{}` and the adjoint of its result, "
                      "or the result and its adjoint, found {}",
                      name_, count_of(count + 1, "parameter"), name_, gradient.params.size()),
          gradient_->span);
      diagnostic.label(function_.span, fmt::format("`{}`", show(own)));
      throw Failure(std::move(diagnostic));
    }
    for (std::size_t i = 0; i < count; ++i) {
      agree(gradient.params[i], own.params[i], gradient_->params[i]->span,
            function_.params[i]->span, fmt::format("parameter `{}` of", param(i)),
            fmt::format("`{}` has", name_));
    }
    for (std::size_t i = count; i < gradient.params.size(); ++i) {
      agree(gradient.params[i], own.result, gradient_->params[i]->span,
            tail_of(function_.body)->span, fmt::format("parameter `{}` of", param(i)),
            "the result has");
    }
    const bool is_one = count == 1;
    const Type adjoints = is_one ? own.params[0] : tuple_type(own.params);
    agree(gradient.result, adjoints, tail_of(gradient_->body)->span,
          is_one ? function_.params[0]->span : function_.span, "the result of",
          is_one ? fmt::format("`{}` has", function_.params[0]->name) : "the parameters have");
  }

  const std::string& param(std::size_t i) const { return gradient_->params[i]->name; }

  // What follows a disagreement would follow from it.
  void agree(const Type& found, const Type& expected, Span at, Span where,
             const std::string& subject, const std::string& because) {
    if (!agrees_) return;
    const std::string needed = inference_.solver().show(expected);
    Mismatch mismatch{found, expected, at, fmt::format("{} the gradient of `{}`", subject, name_)};
    mismatch.labels.push_back({where, fmt::format("{} `{}`", because, needed)});
    agrees_ = inference_.expect(mismatch);
  }

  std::string show(const FunctionType& type) {
    return inference_.solver().show(function_type(type.params, type.result));
  }

  Checker::Impl& checker_;
  Inference inference_;
  const std::string& name_;
  const Function& function_;
  const std::string gradient_name_;
  const Function* gradient_ = nullptr;
  bool agrees_ = true;
};

}  // namespace

Result<Scheme> Checker::check_gradient(const std::string& name) {
  return capture([&] { return GradientCheck(*impl_, name).run(); });
}

}  // namespace relay::typecheck
