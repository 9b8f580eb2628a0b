#include "repl/show.h"

#include <algorithm>
#include <functional>
#include <set>

#include <fmt/format.h>

#include "interp/native_listing.h"
#include "lang/function_fact.h"
#include "lang/op.h"
#include "lang/print.h"
#include "lang/schedule.h"
#include "lang/visit.h"
#include "loops/generic_schedule.h"
#include "loops/lower.h"
#include "loops/stages.h"
#include "repl/compiled.h"
#include "repl/derivative.h"

namespace relay::repl {

using lang::DiagnosticKind;
using lang::Expr;

namespace {

std::string known_stages() { return fmt::format("{}", fmt::join(show_stages(), ", ")); }

bool is_scalar_value(const lang::Type& type) {
  const auto* tuple = lang::as<lang::TupleType>(type);
  return tuple ? std::all_of(tuple->fields.begin(), tuple->fields.end(), is_scalar_value)
               : lang::is_scalar(type);
}

// Scalars alone need no kernel.
bool works_on_tensors(const lang::Call& call) {
  return !is_scalar_value(call.type) ||
         std::any_of(call.args.begin(), call.args.end(),
                     [](const Expr& arg) { return !is_scalar_value(arg->type); });
}

bool has_schedule(const lang::GlobalVar& global, Pipeline& pipeline) {
  if (!pipeline.is_function(global.name)) return false;
  const auto* fn = lang::as<lang::Function>(pipeline.function(global.name, global.type));
  return fn && lang::schedule_of(*fn);
}

// The groups that run as kernels, in program order; also those of functions with a schedule, which
// stay calls.
std::vector<Expr> groups_of(const Expr& finished, Pipeline& pipeline) {
  std::vector<Expr> groups;
  std::set<std::string> seen;
  const auto wrap = [&](const Expr& node) {
    std::vector<lang::VariableRef> params = lang::free_variables(node);
    groups.push_back(lang::make_function(params, node->type, node, {}, nullptr, node->span));
  };
  std::function<void(const Expr&)> walk = [&](const Expr& node) {
    if (lang::is_group(node)) {
      groups.push_back(node);
      return;
    }
    if (const auto* call = lang::as<lang::Call>(node)) {
      const auto* op = lang::as<lang::Operator>(call->callee);
      if (op && op->op->effect == lang::Effect::None && works_on_tensors(*call)) return wrap(node);
      const auto* global = lang::as<lang::GlobalVar>(call->callee);
      if (global && has_schedule(*global, pipeline) && seen.insert(global->name).second)
        walk(pipeline.prepared(global->name, global->type).or_throw());
    }
    if (node->kind == lang::ExprKind::Comprehension || node->kind == lang::ExprKind::Reduction ||
        node->kind == lang::ExprKind::ScatterReduce) {
      if (loops::is_lowerable(node)) return wrap(node);
    }
    lang::for_each_child(node, walk);
  };
  walk(finished);
  return groups;
}

void add_layouts(const lang::Type& type, lang::Span span, std::vector<loops::Layout>& layouts) {
  if (const auto* tuple = lang::as<lang::TupleType>(type)) {
    for (const auto& field : tuple->fields) add_layouts(field, span, layouts);
    return;
  }
  const auto* tensor = lang::as<lang::TensorType>(type);
  RELAY_CHECK(tensor, "a kernel's argument is a tensor");
  loops::Layout layout{tensor->dtype.known(), {}, {}};
  for (const auto& dim : tensor->shape.dims()) {
    if (!dim.is_constant()) {
      lang::fail(
          DiagnosticKind::BadCommand,
          fmt::format("loops can only be shown for known shapes, not `{}`", lang::to_string(type)),
          span);
    }
    layout.shape.push_back(dim.constant());
  }
  layout.strides = loops::row_major(layout.shape);
  layouts.push_back(std::move(layout));
}

// Of the arguments of a group; fails where a shape is not known.
std::vector<loops::Layout> layouts_of(const lang::Function& group) {
  std::vector<loops::Layout> layouts;
  for (const auto& param : group.params) add_layouts(param->type, group.span, layouts);
  return layouts;
}

constexpr std::string_view kNoKernels =
    "no kernels: nothing here works on tensors of rank 1 or more\n";

// In front of launch `first` of a band with windows.
std::string words_for_windows(const loops::LoweredGroup& group, std::size_t first) {
  for (const loops::Band& band : group.bands) {
    if (band.first != first || band.windows.empty()) continue;
    return fmt::format(
        "the next {} kernels in steps: a0 of the last one by {}, and the rows that "
        "this reads of the others\n",
        band.count, band.step);
  }
  return {};
}

std::string show_kernels(const std::string& stage, const Expr& finished, Pipeline& pipeline) {
  std::string text;
  for (const Expr& group : groups_of(finished, pipeline)) {
    const auto& fn = lang::cast<lang::Function>(group);
    const auto lowered = loops::lower(fn, layouts_of(fn), pipeline.kernel_library()).or_throw();
    for (std::size_t i = 0; i < lowered.launches.size(); ++i) {
      const loops::Launch& launch = lowered.launches[i];
      if (stage == "loops") text += words_for_windows(lowered, i);
      if (launch.whole) {
        text +=
            fmt::format("{} of {} rows of {} elements\n", lang::words_for(launch.whole->primitive),
                        launch.whole->rows, launch.whole->extent);
        continue;
      }
      if (launch.library) {
        text += "library " + loops::to_string(launch.library->form);
        continue;
      }
      if (stage == "loops") {
        text += loops::to_string(launch.kernel);
        continue;
      }
      text += pipeline.compiling().dump(launch.kernel, stage);
    }
  }
  return text;
}

// Of each group: which schedule it has, and what that does.
std::string show_schedules(const Expr& finished, Pipeline& pipeline) {
  std::string text;
  std::vector<lang::Diagnostic> open;  // of groups whose shapes are not known
  for (const Expr& group : groups_of(finished, pipeline)) {
    const auto& fn = lang::cast<lang::Function>(group);
    const std::string* own = lang::schedule_of(fn);
    const auto layouts = lang::capture([&] { return layouts_of(fn); });
    if (!layouts) {
      // A schedule that somebody wrote is the same for all shapes.
      if (own)
        text += fmt::format("{}: {}\n", loops::kOwnSchedule, *own);
      else if (open.empty())
        open = layouts.errors();
      continue;
    }
    const auto lowered = loops::lower(fn, *layouts, pipeline.kernel_library()).or_throw();
    const loops::GenericSchedule* const schedule = loops::schedule_of(lowered);
    if (schedule == nullptr) continue;
    const bool is_own = schedule->name == loops::kOwnSchedule && own;
    text += fmt::format("{}: {}\n", schedule->name, is_own ? *own : schedule->what);
  }
  if (text.empty() && !open.empty()) throw lang::Failure(open);
  return text;
}

// `finished`: a function by its name, or an expression.
std::string show_native(const std::string& stage, const lang::GlobalVar* global,
                        const Expr& finished, Pipeline& pipeline) {
  const interp::NativeListing listing =
      global ? interp::list_native(pipeline, *global, finished->type, stage)
             : interp::list_native(pipeline, finished, stage);
  if (stage == "flow") {
    const std::string text = listing.text + describe_refused(listing.refused);
    return text.empty() ? "no functions: nothing here but kernels, and what is inlined\n" : text;
  }
  const std::string kernels = show_kernels(stage, finished, pipeline);
  if (!kernels.empty() || !listing.text.empty()) return kernels + listing.text;
  return std::string(kNoKernels) + describe_refused(listing.refused);
}

}  // namespace

const std::vector<std::string>& show_stages() {
  static const std::vector<std::string> stages = {
      "ast",   "typed", "anf",  "grad", "linear", "transposed", "opt",
      "fused", "loops", "flow", "llvm", "asm",    "plan",       "schedule"};
  return stages;
}

Expr typed_for_showing(const Expr& expr, lang::Module& module, typecheck::Checker& checker) {
  const auto* global = lang::as<lang::GlobalVar>(expr);
  const lang::Definition* definition = global ? module.find(global->name) : nullptr;
  if (!definition || !definition->function) return checker.check(expr).or_throw();
  const auto scheme = checker.scheme(global->name).or_throw();
  const lang::Type type =
      lang::is_ground(scheme.type) ? scheme.type : at_plainest_types(expr, checker)->type;
  return checker.specialise(global->name, type).or_throw();
}

// The form that a stage shows, if it is a derivative.
std::optional<lang::DiffMode> derivative_stage(const std::string& stage) {
  if (stage == "grad") return lang::DiffMode::Grad;
  if (stage == "linear") return lang::DiffMode::Linearize;
  if (stage == "transposed") return lang::DiffMode::Vjp;
  return std::nullopt;
}

std::string show_stage(const std::string& stage, const Expr& expr, lang::Module& module,
                       typecheck::Checker& checker, Pipeline& pipeline) {
  if (std::find(show_stages().begin(), show_stages().end(), stage) == show_stages().end()) {
    auto diagnostic =
        lang::Diagnostic(DiagnosticKind::BadCommand, fmt::format("there is no stage `{}`", stage));
    const auto close = lang::closest_names(stage, show_stages());
    if (!close.empty()) diagnostic.note(fmt::format("help: did you mean `{}`?", close.front()));
    throw lang::Failure(std::move(diagnostic.note("note: the stages are " + known_stages())));
  }
  if (const auto form = derivative_stage(stage))
    return print_derivative(expr, *form, false, module, checker, pipeline);
  const auto* global = lang::as<lang::GlobalVar>(expr);
  const lang::Definition* definition = global ? module.find(global->name) : nullptr;
  if (stage == "ast") {
    return definition && definition->function
               ? lang::print_definition(global->name, definition->function)
               : lang::print(expr);
  }
  const Expr typed = typed_for_showing(expr, module, checker);
  if (stage == "typed") return lang::print(typed, {.types = true});
  const Expr core = pipeline.to_core(typed);
  if (stage == "anf") return lang::print(core);
  const Expr optimised = pipeline.optimise(core);
  if (stage == "opt") return lang::print(optimised);
  if (stage == "fused") return lang::print(pipeline.fuse(optimised));
  const Expr finished = pipeline.finish(optimised);
  if (stage == "loops") {
    const std::string kernels = show_kernels(stage, finished, pipeline);
    return kernels.empty() ? std::string(kNoKernels) : kernels;
  }
  if (stage == "schedule") {
    const std::string schedules = show_schedules(finished, pipeline);
    return schedules.empty() ? std::string(kNoKernels) : schedules;
  }
  return show_native(stage, definition && definition->function ? global : nullptr, finished,
                     pipeline);
}

}  // namespace relay::repl
