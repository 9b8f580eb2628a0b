#include <algorithm>
#include <optional>
#include <set>

#include "flow/lowerer.h"
#include "lang/lowerable.h"
#include "loops/stages.h"
#include "loops/windows.h"

// Index notation and operators on tensors of constant extents become kernels of the function
// itself: they begin at no cost, and are compiled for these extents.
namespace relay::flow {

namespace {

// More would take long to compile: in one function, and of one step.
constexpr std::size_t kMostKernels = 24;
constexpr std::size_t kMostInstructionsOfAll = 7200;
constexpr std::size_t kMostLaunches = 32;
constexpr std::size_t kMostInstructions = 2000;

// False where there is a part that is no tensor of constant extents.
bool append_leaf_types(const lang::Type& type, std::vector<lang::Type>& leaves) {
  if (const auto* tuple = as<lang::TupleType>(type)) {
    return std::all_of(tuple->fields.begin(), tuple->fields.end(),
                       [&](const lang::Type& field) { return append_leaf_types(field, leaves); });
  }
  const auto* tensor = as<lang::TensorType>(type);
  if (!tensor || !tensor->dtype.is_known() || !has_constant_extents(type)) return false;
  leaves.push_back(type);
  return true;
}

loops::Layout layout_of(const lang::Type& type) {
  loops::Layout layout{dtype_of(type), {}, {}};
  for (const lang::Dim& dim : dims_of(type)) layout.shape.push_back(dim.constant());
  layout.strides = loops::row_major(layout.shape);
  return layout;
}

// Is each result a tensor that the kernels make, as it is, and no other?
bool makes_results(const loops::LoweredGroup& group, std::size_t first_made) {
  std::set<std::int32_t> seen;
  for (const loops::ResultLeaf& leaf : group.results) {
    if (leaf.buffer < static_cast<std::int32_t>(first_made) ||
        !loops::is_whole(leaf, group.made[static_cast<std::size_t>(leaf.buffer) - first_made]) ||
        !seen.insert(leaf.buffer).second)
      return false;
  }
  return true;
}

// How many instructions a group of short kernels has; nothing where it is another.
std::optional<std::size_t> short_size(const loops::LoweredGroup& group) {
  std::size_t instructions = 0;
  if (loops::has_windows(group)) return std::nullopt;
  for (const loops::Launch& launch : group.launches) {
    if (launch.whole || launch.library || launch.kernel.polls) return std::nullopt;
    for (const loops::Region& region : launch.kernel.regions) instructions += region.code.size();
  }
  const bool is_short = !group.launches.empty() && group.launches.size() <= kMostLaunches &&
                        instructions <= kMostInstructions;
  return is_short ? std::optional(instructions) : std::nullopt;
}

// What has failed is done once more, by the interpreter, which tells why: then its arguments are to
// be as they were.
void settle_reuse(loops::LoweredGroup& group, std::vector<bool>& is_taken,
                  const std::vector<lang::Type>& args, std::size_t first_made) {
  const bool fails = std::any_of(group.launches.begin(), group.launches.end(),
                                 [](const auto& launch) { return loops::may_fail(launch.kernel); });
  std::erase_if(group.reuse, [&](const loops::Reuse& reuse) {
    const auto is_it = [&](const loops::ResultLeaf& leaf) {
      return static_cast<std::size_t>(leaf.buffer) == first_made + reuse.made;
    };
    return fails || small_elements(args[reuse.arg]) > 0 ||
           layout_of(args[reuse.arg]).shape != group.made[reuse.made].shape ||
           std::none_of(group.results.begin(), group.results.end(), is_it);
  });
  for (const loops::Reuse& reuse : group.reuse) is_taken[reuse.arg] = true;
}

}  // namespace

void Lowerer::append_leaves(const Spread& value, const lang::Type& type, Block& block, Step& step) {
  if (const auto* tuple = as<lang::TupleType>(type)) {
    for (std::size_t i = 0; i < tuple->fields.size(); ++i)
      append_leaves(value.parts[i], tuple->fields[i], block, step);
    return;
  }
  const bool is_object = value.tensor ? value.whole.has_value() : !is_scalar(type);
  const std::size_t before = step.args.size();
  if (is_object) {
    step.args.push_back(value.tensor ? *value.whole : value.operand);
  } else {
    append_operands(value, block, step.args);
  }
  step.fields.push_back(is_object ? 0 : static_cast<std::uint32_t>(step.args.size() - before));
}

std::optional<Spread> Lowerer::kernels(const Expr& expr, Block& block) {
  if (small_depth_ > 0 || kernel_steps_ >= kMostKernels) return std::nullopt;
  const auto* call = as<lang::Call>(expr);
  const bool is_given = call && lang::is_group(call->callee);
  if (!is_given && !lang::is_lowerable(expr)) return std::nullopt;
  auto made = std::make_unique<Kernels>();
  if (!append_leaf_types(expr->type, made->results)) return std::nullopt;
  Expr function;
  std::vector<Expr> args;
  if (is_given) {
    function = call->callee;
    args = call->args;
  } else {
    const std::vector<lang::VariableRef> free = lang::free_variables(expr);
    std::vector<lang::Type> types;
    for (const auto& each : free) {
      args.push_back(lang::make_var(each));
      types.push_back(each->type);
    }
    function = lang::make_function(free, expr->type, expr, {}, nullptr, expr->span,
                                   lang::function_type(types, expr->type));
  }
  const auto& group = cast<lang::Function>(function);
  for (const Expr& arg : args) {
    if (!append_leaf_types(arg->type, made->args)) return std::nullopt;
  }
  for (const auto& shaping : lang::shaping_variables(group.body)) {
    if (std::find(group.params.begin(), group.params.end(), shaping) != group.params.end())
      return std::nullopt;
  }
  std::vector<loops::Layout> layouts;
  for (const lang::Type& leaf : made->args) layouts.push_back(layout_of(leaf));
  auto lowered = environment_.kernels(group, layouts);
  if (!lowered) return std::nullopt;
  const std::size_t first_made = layouts.size() + lowered->literals.size();
  const std::optional<std::size_t> size = short_size(*lowered);
  if (!size || kernel_instructions_ + *size > kMostInstructionsOfAll ||
      !makes_results(*lowered, first_made))
    return std::nullopt;
  made->is_taken.assign(made->args.size(), false);
  settle_reuse(*lowered, made->is_taken, made->args, first_made);
  made->group = std::move(*lowered);
  made->may_fail = std::any_of(made->group.launches.begin(), made->group.launches.end(),
                               [](const auto& launch) { return loops::may_fail(launch.kernel); });
  ++kernel_steps_;
  kernel_instructions_ += *size;

  Step step;
  step.kind = StepKind::Kernels;
  for (const Expr& arg : args) append_leaves(lower(arg, block), arg->type, block, step);
  step.site = site(expr->span);
  function_.kernels.push_back(std::move(made));
  step.kernels = function_.kernels.back().get();
  return run_or_interpret(std::move(step), expr, block);
}

// The interpreter takes what it is given over: views that the expression mentions are made for it,
// so that elsewhere they are only looked at. Gives what their variables stood for.
std::vector<std::pair<const lang::Variable*, Spread>> Lowerer::views_again(const Expr& expr,
                                                                           Block& block) {
  std::vector<std::pair<const lang::Variable*, Spread>> before;
  for (const auto& each : lang::free_variables(expr)) {
    const auto known = variables_.find(each.get());
    if (known == variables_.end() || known->second.is_tuple) continue;
    const Operand operand = known->second.operand;
    const auto view = operand.is_slot() ? views_.find(operand.index) : views_.end();
    if (view == views_.end()) continue;
    before.emplace_back(each.get(), known->second);
    Step again = view->second;
    again.results = {new_slot(function_.slots[operand.index])};
    known->second = Spread::of(Operand::slot(again.results[0]));
    block.steps.push_back(std::move(again));
  }
  return before;
}

// By its kernels where the arguments fit, and nothing fails; else the interpreter does it.
Spread Lowerer::run_or_interpret(Step step, const Expr& expr, Block& block) {
  const auto interpreted = [&](Block& inner) {
    memo_.emplace_back();
    const auto before = views_again(expr, inner);
    append_operands(as_type(interpret_alone(expr, inner), expr->type, inner), inner, inner.values);
    for (const auto& [variable, value] : before) variables_.at(variable) = value;
    memo_.pop_back();
  };
  std::vector<Slot> results;
  (void)new_slots(expr->type, results);
  std::vector<Operand> values;
  for (const Slot slot : results) values.push_back(Operand::slot(slot));
  const Slot fits = new_slot({lang::ValueKind::Scalar, lang::DType::Bool});
  Step look;
  look.kind = StepKind::Fits;
  look.args = step.args;
  look.fields = step.fields;
  look.kernels = step.kernels;
  look.results = {fits};
  block.steps.push_back(std::move(look));
  std::vector<Block> blocks(2);
  step.results = results;
  if (step.kernels->may_fail) {
    const Slot is_done = new_slot({lang::ValueKind::Scalar, lang::DType::Bool});
    step.results.push_back(is_done);
    blocks[0].steps.push_back(std::move(step));
    std::vector<Block> after(2);
    after[0].values = values;
    interpreted(after[1]);
    Step choice;
    choice.kind = StepKind::If;
    choice.args = {Operand::slot(is_done)};
    choice.has_fallback = true;
    choice.blocks = std::move(after);
    const Spread told = new_slots(expr->type, choice.results);
    append_operands(told, blocks[0], blocks[0].values);
    blocks[0].steps.push_back(std::move(choice));
  } else {
    blocks[0].steps.push_back(std::move(step));
    blocks[0].values = values;
  }
  interpreted(blocks[1]);
  Step choice;
  choice.kind = StepKind::If;
  choice.args = {Operand::slot(fits)};
  choice.has_fallback = true;
  choice.blocks = std::move(blocks);
  Spread value = new_slots(expr->type, choice.results);
  block.steps.push_back(std::move(choice));
  return value;
}

}  // namespace relay::flow
