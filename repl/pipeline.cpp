#include "repl/pipeline.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <tuple>

#include <fmt/format.h>

#include "ad/closures.h"
#include "ad/function_tangent.h"
#include "ad/reverse.h"
#include "interp/code_symbols.h"
#include "interp/scalar.h"
#include "lang/border.h"
#include "lang/function_fact.h"
#include "lang/plain_type.h"
#include "lang/stop.h"
#include "lang/visit.h"
#include "opt/passes.h"
#include "opt/repeated_work.h"
#include "opt/step_sums.h"
#include "parser/parse.h"
#include "repl/files.h"
#include "repl/native_makers.h"
#include "repl/output.h"
#include "repl/plotting.h"
#include "repl/tensor_files.h"
#include "repl/watcher.h"
#include "typecheck/verify.h"

namespace relay::repl {

using lang::DiagnosticKind;
using lang::Expr;
using lang::Result;
using lang::Value;

Pipeline::Pipeline(lang::Module& module, typecheck::Checker& checker, const SessionOptions& options)
    : module_(module),
      checker_(checker),
      options_(options),
      instances_(checker, options.extents),
      purity_([this](const std::string& name) { return code_of(name); }),
      derivatives_(*this),
      compiling_(native_makers(options.code_cache)) {
  if (options.perf) interp::name_native_code();
}
Pipeline::~Pipeline() = default;

namespace {

// Steps that are passes of the table (opt/pass.h) have their names.
constexpr const char* kToAnf = "ToANormalForm";
constexpr const char* kExpandDerivatives = "ExpandDerivatives";
constexpr const char* kInline = "Inline";
constexpr const char* kJoinStepProducts = "JoinStepProducts";
constexpr const char* kScalarReplacement = "ScalarReplacement";
constexpr const char* kCollectStepSums = "CollectStepSums";
constexpr const char* kTabulateRepeatedWork = "TabulateRepeatedWork";
constexpr const char* kFuse = "FuseOps";

}  // namespace

Expr Pipeline::pass(const char* name, Expr expr, const Expr& given) {
  if (!options_.verify) return expr;
  try {
    typecheck::verify(expr, lang::free_variables(given ? given : expr));
  } catch (lang::InternalError& error) {
    throw lang::InternalError(fmt::format("after {}: {}", name, error.what()));
  }
  return expr;
}

Expr Pipeline::timed(const char* name, const std::function<Expr()>& step) {
  const auto begun = std::chrono::steady_clock::now();
  Expr made = step();
  auto found = std::find_if(step_times_.begin(), step_times_.end(),
                            [&](const StepTime& each) { return each.name == name; });
  if (found == step_times_.end()) found = step_times_.insert(found, {name});
  found->seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  ++found->runs;
  return made;
}

Expr Pipeline::to_core(const Expr& typed) {
  const Expr plain = pass("expand_operators", opt::expand_operators(pass("inference", typed)));
  Expr anf = pass(kToAnf, timed(kToAnf, [&] { return opt::to_anf(plain, this); }));
  return timed(kExpandDerivatives, [&] {
    Expr expanded = ad::expand_derivatives(anf, *this, derivatives_).or_throw();
    return expanded == anf ? anf : pass(kExpandDerivatives, opt::to_anf(expanded, this));
  });
}

namespace {

// What may become a function value, of which a derivative may be wanted when it runs.
bool has_function(const Expr& expr) {
  bool found = false;
  lang::visit_post_order(
      expr, [&](const Expr& node) { found = found || node->kind == lang::ExprKind::Function; });
  return found;
}

}  // namespace

Expr Pipeline::optimise(const Expr& core) { return tidied(core, has_function(core)); }

Expr Pipeline::inlined(const Expr& function) { return tidied(function, true); }

Expr Pipeline::tidied(const Expr& core, bool is_to_be_differentiated) {
  // Differentiation may ask, and this code is not its own.
  const lang::AlgebraScope scope(lang::Algebra::Bits);
  constexpr int kRounds = 8;
  constexpr int kMaxBindings = 24;  // of what is inlined
  const auto custom =
      is_to_be_differentiated ? opt::CustomGradients::Keep : opt::CustomGradients::Inline;
  // Each takes a normalised expression, and gives one.
  const auto normalised = [this](const Expr& changed, const Expr& before) {
    return changed == before ? changed : opt::to_anf(changed, this);
  };
  struct Step {
    const char* name;
    std::function<Expr(const Expr&)> run;
  };
  const std::array steps{
      Step{"SimplifyExpr",
           [&](const Expr& e) { return normalised(opt::simplify(e, {interp::scalar_value}), e); }},
      Step{"ResolveBranches",
           [&](const Expr& e) { return normalised(opt::resolve_branches(e, this), e); }},
      Step{"EliminateCommonSubexpr",
           [&](const Expr& e) { return opt::eliminate_common_subexpressions(e, this); }},
      Step{"DeadCodeElimination", [&](const Expr& e) { return opt::eliminate_dead_code(e, this); }},
      Step{kInline,
           [&](const Expr& e) {
             return normalised(opt::inline_literals(e, *this, kMaxBindings, custom), e);
           }},
  };
  Expr expr = pass(
      kInline,
      timed(
          kInline,
          [&] { return opt::to_anf(opt::inline_calls(core, *this, kMaxBindings, custom), this); }),
      core);
  // Functions that have been inlined where they were used need not be improved first.
  expr = pass("eliminate_unused_functions", opt::eliminate_unused_functions(expr), core);
  expr = pass(
      kJoinStepProducts,
      timed(kJoinStepProducts, [&] { return normalised(step_products_.join(expr, *this), expr); }),
      core);
  std::size_t unchanged_by = 0;  // so many steps, one after the other
  for (std::size_t i = 0; i < kRounds * steps.size() && unchanged_by < steps.size(); ++i) {
    const Step& step = steps[i % steps.size()];
    Expr next = timed(step.name, [&] { return step.run(expr); });
    unchanged_by = next == expr ? unchanged_by + 1 : 0;
    expr = unchanged_by > 0 ? next : pass(step.name, next, core);
  }
  return expr;
}

namespace {

// Of functions that are known where they are called: nobody is going to differentiate them.
class Unmarker final : public lang::Rewriter {
 protected:
  Expr post(const Expr& expr) override {
    if (expr->kind != lang::ExprKind::Function) return expr;
    return lang::without_facts(expr, {lang::FunctionFact::Known});
  }
};

}  // namespace

// What is handed to a function that calls it, `map(fn (x) { x + d }, xs)`, is known there in a copy
// of that function: a call like any other, and no closure. So is what a derivative is asked of,
// where a function makes it of one that it was given; what comes of it may be handed on.
Expr Pipeline::with_known_functions(const Expr& optimised) {
  const lang::AlgebraScope scope(lang::Algebra::Bits);
  const auto tidied_again = [&](const Expr& known, const Expr& before) {
    if (known == before) return before;
    const Expr named = pass("with_known_functions", opt::to_anf(known), optimised);
    return tidied(named, has_function(named));
  };
  constexpr int kRounds = 4;  // of functions of functions of functions
  Expr expr = optimised;
  for (int round = 0; round < kRounds; ++round) {
    const Expr before = expr;
    expr = tidied_again(derivatives_.resolved(expr), expr);
    expr = tidied_again(Unmarker().rewrite(derivatives_.specialised(expr)), expr);
    if (expr == before) break;
  }
  return expr;
}

// Nobody differentiates what is left, so that residuals need no constructors any more.
Expr Pipeline::with_replaced_data(const Expr& optimised) {
  const Expr replaced =
      timed(kScalarReplacement, [&] { return opt::replace_data_by_fields(optimised, this); });
  if (replaced == optimised) return optimised;
  const Expr named = pass(kScalarReplacement, opt::to_anf(replaced, this), optimised);
  return tidied(named, has_function(named));
}

// Nor does anybody differentiate the sums of its loops.
Expr Pipeline::with_step_sums(const Expr& optimised, const std::string& name) {
  const Expr collected = timed(kCollectStepSums, [&] {
    return opt::cleaned(opt::collect_step_sums(optimised, name, opt::StepSums::Real), optimised,
                        this);
  });
  return collected == optimised ? optimised : pass(kCollectStepSums, collected, optimised);
}

// What a value and its derivatives have in common.
Expr Pipeline::with_tables(const Expr& optimised) {
  const Expr tabulated = timed(kTabulateRepeatedWork, [&] {
    return opt::cleaned(opt::tabulate_repeated_work(optimised), optimised, this);
  });
  return tabulated == optimised ? optimised : pass(kTabulateRepeatedWork, tabulated, optimised);
}

Expr Pipeline::fuse(const Expr& optimised, const std::string& name) {
  const Expr known =
      with_tables(with_step_sums(with_replaced_data(with_known_functions(optimised)), name));
  return pass(kFuse, timed(kFuse, [&] { return opt::fuse_operators(known); }));
}

Expr Pipeline::finish(const Expr& optimised, const std::string& name) {
  const Expr fused = fuse(optimised, name);
  const Expr code = lang::without_borders(fused);
  return code == fused ? fused : pass("without_borders", opt::to_anf(code), fused);
}

Expr Pipeline::function(const std::string& name, const lang::Type& type) {
  if (const auto derived = derived_.find(name); derived != derived_.end()) return derived->second;
  return core(name, type).second;
}

const Pipeline::Core& Pipeline::core(const std::string& name, const lang::Type& type) {
  const Instances::Instance instance = instances_.of(name, type);
  const std::string& key = instance.key;
  if (const auto found = core_.find(key); found != core_.end()) return *found;
  if (!in_progress_.insert(key).second) {
    lang::fail(
        DiagnosticKind::Unsupported,
        fmt::format("not supported: the derivative of `{}` inside its own definition", name));
  }
  struct Done {
    std::unordered_set<std::string>& set;
    const std::string& key;
    ~Done() { set.erase(key); }
  } done{in_progress_, key};
  // Differentiation may ask, and this code is not its own.
  const lang::AlgebraScope scope(lang::Algebra::Bits);
  auto typed = checker_.specialise(name, type, instance.extents);
  if (!typed && instance.extents == typecheck::Extents::Known &&
      !lang::is_stop(typed.errors().front().kind)) {
    // Code for other extents need not fit these, where it does not run.
    instances_.refuse(name, type);
    return core(name, type);
  }
  Expr made = to_core(std::move(typed).or_throw());
  lang::poll();  // a pass that was stopped may have given up what it was after
  return *core_.emplace(key, std::move(made)).first;
}

std::optional<Expr> Pipeline::code_of(const std::string& name) const {
  if (const auto derived = derived_.find(name); derived != derived_.end()) return derived->second;
  const lang::Definition* definition = module_.find(name);
  if (!definition) return std::nullopt;
  if (definition->function) return definition->function;
  const bool is_plain = definition->value_type && lang::is_plain(definition->value_type);
  return is_plain ? std::optional(Expr()) : std::nullopt;
}

std::size_t Pipeline::parameter_count(const std::string& name) {
  const std::optional<Expr> code = code_of(name);
  return lang::cast<lang::Function>(code.value()).params.size();
}

std::string Pipeline::reserve_name(const std::string& hint) {
  std::string name;
  do {
    name = fmt::format("{}_{}", hint, ++made_names_);
  } while (module_.find(name) || derived_.count(name));
  return name;
}

void Pipeline::add_function(const std::string& name, Expr function) {
  if (options_.verify) {
    try {
      typecheck::verify(function);
    } catch (lang::InternalError& error) {
      throw lang::InternalError(fmt::format("{}, derived: {}", name, error.what()));
    }
  }
  derived_[name] = std::move(function);
}

const lang::TypeDef* Pipeline::add_type(lang::TypeDefRef type) {
  types_.push_back(std::move(type));
  return types_.back().get();
}

// What an external compiler runs are the operators that it was given, and not what they stand for.
Expr Pipeline::as_written(const std::string& name, const lang::Type& type, const Expr& core) {
  if (derived_.count(name)) return core;
  const typecheck::Extents extents = instances_.of(name, type).extents;
  return opt::to_anf(checker_.specialise(name, type, extents).or_throw(), this);
}

Result<Expr> Pipeline::prepared(const std::string& name, const lang::Type& type) {
  return lang::capture([&]() -> Expr {
    const auto derived = derived_.find(name);
    std::string key = "derived " + name;
    Expr code;
    if (derived != derived_.end()) {
      code = derived->second;
    } else {
      std::tie(key, code) = core(name, type);
    }
    if (const auto found = finished_.find(key); found != finished_.end()) return found->second;
    const Expr ready =
        lang::compiler_of(code) ? as_written(name, type, code) : finish(optimise(code), name);
    lang::poll();
    finished_.emplace(key, ready);
    return ready;
  });
}

Result<Expr> Pipeline::with_pullback(const Expr& function, const lang::VariableRef& self) {
  return lang::capture([&] {
    const Expr literal = opt::to_anf(opt::inline_groups(function), this);
    return finish(optimise(ad::pullback_literal(*this, derivatives_, literal, self)));
  });
}

Result<Expr> Pipeline::with_tangent(const Expr& function, const lang::VariableRef& self) {
  return lang::capture([&] {
    const Expr literal = opt::to_anf(opt::inline_groups(function), this);
    return finish(optimise(ad::tangent_literal(*this, derivatives_, literal, self)));
  });
}

bool Pipeline::is_binding(const std::string& name) {
  const lang::Definition* definition = module_.find(name);
  return definition && !definition->function;
}

const Value* Pipeline::value(const std::string& name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? nullptr : &found->second;
}

Result<Value> Pipeline::global_value(const std::string& name) {
  if (const Value* found = value(name)) return *found;
  return lang::Diagnostic(DiagnosticKind::UnknownName,
                          fmt::format("`{}` is used before its value is computed", name));
}

Result<lang::TensorRef> Pipeline::load(const lang::AttrsRef& attrs) {
  auto tensor = load_tensor(
      attrs, [this](const std::string& path) { return find_file(path); }, options_.files,
      progress(attrs));
  if (options_.progress) options_.progress(attrs->get_string("path"), 1, 1);
  return tensor;
}

Result<bool> Pipeline::save(const Value& value, const lang::AttrsRef& attrs) {
  if (is_muted_) return true;
  auto saved = save_value(value, attrs, options_.files, progress(attrs));
  if (options_.progress) options_.progress(attrs->get_string("path"), 1, 1);
  return saved;
}

Result<bool> Pipeline::plot(const Value& value, const lang::AttrsRef& attrs) {
  if (is_muted_) return true;
  return lang::capture([&] {
    const plot::Request request = plot::request_of(*attrs);
    const std::string text = draw_plot(value, request, options_);
    if (request.file.empty()) write(text);
    return true;
  });
}

formats::Progress Pipeline::progress(const lang::AttrsRef& attrs) const {
  return [this, path = attrs->get_string("path")](std::int64_t done, std::int64_t whole) {
    lang::poll();
    if (options_.progress) options_.progress(path, done, whole);
  };
}

std::string Pipeline::find_file(const std::string& path) const {
  namespace fs = std::filesystem;
  std::error_code error;
  if (fs::exists(path, error) || fs::path(path).is_absolute()) return path;
  for (auto directory = directories_.rbegin(); directory != directories_.rend(); ++directory) {
    if (const fs::path beside = fs::path(*directory) / path; fs::exists(beside, error))
      return beside.string();
  }
  return path;
}

Result<Value> Pipeline::trace(const std::string& name, const lang::Attrs& attrs,
                              const std::vector<Value>& values) {
  if (watcher_) return watcher_->tell(name, attrs, values);
  return Watcher::unheard(name, values);
}

namespace {

bool holds(lang::Span text, lang::Span place) {
  return text.source == place.source && text.begin <= place.begin && place.end <= text.end;
}

}  // namespace

std::string Pipeline::function_at(lang::Span place) {
  for (const lang::Definition* definition : module_.definitions()) {
    const lang::Span& text = definition->span;
    if (!definition->function || !holds(text, place)) continue;
    bool is_inside_another = false;
    lang::visit_post_order(definition->function, [&](const Expr& node) {
      is_inside_another |= node->kind == lang::ExprKind::Function && node != definition->function &&
                           holds(node->span, place);
    });
    return fmt::format(
        "{}`{}`", is_inside_another ? "a function in " : "",
        definition->instance_of.empty() ? definition->name : definition->instance_of);
  }
  return {};
}

void Pipeline::write(std::string_view text) {
  if (is_muted_) return;
  if (options_.write) {
    options_.write(text);
  } else {
    put_live_output(text);
  }
}

// The rest takes as long for each step as what is done.
void Pipeline::at_step(std::int64_t done, std::int64_t total) {
  if (!options_.expect) return;
  constexpr std::chrono::milliseconds kBetween(200);
  const auto now = std::chrono::steady_clock::now();
  if (done == 0) steps_begun_ = steps_told_ = now;
  if (done == total) options_.expect(0);
  if (done == 0 || done == total || now - steps_told_ < kBetween) return;
  steps_told_ = now;
  const double taken = std::chrono::duration<double>(now - steps_begun_).count();
  options_.expect(taken / static_cast<double>(done) * static_cast<double>(total - done));
}

void Pipeline::forget() {
  purity_.forget();
  step_products_.forget();
  derivatives_.forget();
  instances_.forget();
  core_.clear();
  finished_.clear();
  if (evaluator_) evaluator_->forget();
}

}  // namespace relay::repl
