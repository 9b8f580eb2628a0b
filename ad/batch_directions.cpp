#include "ad/batch_directions.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ad/tangent_parts.h"
#include "index/scalar_form.h"
#include "lang/binders.h"
#include "lang/build.h"
#include "lang/visit.h"

namespace relay::ad {

using index::is_arithmetic;
using index::scalar_form;
using lang::as;
using lang::Binding;
using lang::Dim;
using lang::Expr;
using lang::IndexBinder;
using lang::Type;
using lang::Variable;
using lang::VariableRef;
namespace build = lang::build;

namespace {

const lang::TensorType* tensor_of_rank(const Type& type) {
  const auto* tensor = as<lang::TensorType>(type);
  return tensor && tensor->shape.has_rank() ? tensor : nullptr;
}

bool has_sum(const Expr& form) {
  bool found = false;
  lang::visit_post_order(form, [&](const Expr& node) {
    const auto* reduction = as<lang::Reduction>(node);
    found = found || (reduction && reduction->op == lang::ReduceOp::Sum);
  });
  return found;
}

// 0 where only running tells.
std::int64_t constant_extent(const IndexBinder& binder) {
  const auto* constant = as<lang::Constant>(binder.extent);
  return constant ? static_cast<std::int64_t>(constant->value->number_at(0)) : 0;
}

// A value that goes from one part of the code to another is no tensor, or there are too many parts.
struct Refused {};

class Batch {
 public:
  Batch(const std::vector<IndexBinder>& binders, const std::vector<Binding>& code, Emitter& around)
      : binders_(binders), around_(around) {
    for (const IndexBinder& binder : binders) indices_.insert(binder.variable.get());
    for (const Binding& binding : code) note(binding);
    for (std::size_t i = steps_.size(); i-- > 0;) follow(steps_[i]);
  }

  // Is there a nest that gains?
  bool gains() const { return gains_; }
  // Appends the code; throws Refused.
  std::vector<Expr> run(const std::vector<Expr>& values) {
    constexpr int kMostRounds = 8;  // each looks at all steps
    for (const Expr& value : values) {
      if (const auto* var = step_variable(value)) wanted_.insert(var);
    }
    for (int round = 0; done_ < steps_.size(); ++round) {
      if (round == kMostRounds) throw Refused{};
      one_by_one();
      all_at_once();
    }
    std::vector<Expr> all;
    for (const Expr& value : values)
      all.push_back(step_variable(value)
                        ? lang::make_var(last(lang::cast<lang::Var>(value).variable))
                        : same_for_all(value));
    return all;
  }

 private:
  struct Step {
    Binding binding;
    std::vector<VariableRef> reads;  // of other steps
    Expr element;                    // of index notation whose elements are arithmetic, else null
    bool is_nest = false;            // it takes all directions at once
    bool may_be_nest = false;        // so may it, and all that it reads
    std::vector<std::size_t> readers = {};
    bool is_done = false;
  };

  void note(const Binding& binding) {
    Step step{binding, {}, nullptr};
    bool depends = false;
    for (const VariableRef& each : lang::free_variables(binding.value)) {
      const auto found = number_.find(each.get());
      if (found != number_.end()) step.reads.push_back(each);
      depends = depends || found != number_.end() || indices_.count(each.get()) != 0;
    }
    if (!depends) return around_.append({binding});
    step.element = element_of(binding.value);
    const bool gains = step.element && has_sum(step.element);
    step.is_nest = gains || (step.element && reads_nest(step));
    gains_ = gains_ || gains;
    step.may_be_nest =
        step.element &&
        std::all_of(step.reads.begin(), step.reads.end(), [&](const VariableRef& each) {
          return steps_[number_.at(each.get())].may_be_nest;
        });
    for (const VariableRef& read : step.reads)
      steps_[number_.at(read.get())].readers.push_back(steps_.size());
    number_[binding.variable.get()] = steps_.size();
    steps_.push_back(std::move(step));
  }

  bool reads_nest(const Step& step) const {
    return std::any_of(step.reads.begin(), step.reads.end(), [&](const VariableRef& each) {
      return steps_[number_.at(each.get())].is_nest;
    });
  }
  // What only nests read is one of them, where it can be.
  void follow(Step& step) {
    step.is_nest =
        step.is_nest || (step.may_be_nest &&
                         std::all_of(step.readers.begin(), step.readers.end(),
                                     [&](std::size_t reader) { return steps_[reader].is_nest; }));
  }

  Expr element_of(const Expr& value) const {
    const auto* node = as<lang::Comprehension>(value);
    const bool is_element =
        value->kind == lang::ExprKind::Reduction && lang::is_scalar(value->type);
    if (!is_element &&
        (!node || !lang::is_scalar(node->body->type) || !tensor_of_rank(value->type)))
      return nullptr;
    const auto is_inside = [&](const VariableRef& each) {
      return number_.count(each.get()) != 0 || indices_.count(each.get()) != 0;
    };
    for (const IndexBinder& binder : own_binders(value)) {
      const auto free = lang::free_variables(binder.extent);
      if (std::any_of(free.begin(), free.end(), is_inside)) return nullptr;
    }
    Expr form = scalar_form(is_element ? value : node->body);
    return is_arithmetic(form) && reads_elements(form) ? form : nullptr;
  }

  // Are other steps' values read element by element?
  bool reads_elements(const Expr& form) const {
    std::unordered_set<const lang::ExprNode*> read;
    bool found = true;
    lang::visit_post_order(form, [&](const Expr& node) {
      if (const auto* index = as<lang::Index>(node)) read.insert(index->tensor.get());
    });
    lang::visit_post_order(form, [&](const Expr& node) {
      const auto* var = as<lang::Var>(node);
      if (!var || number_.count(var->variable.get()) == 0) return;
      found = found && tensor_of_rank(node->type) &&
              (lang::is_scalar(node->type) || read.count(node.get()) != 0);
    });
    return found;
  }

  // The variable, where a step binds it.
  const Variable* step_variable(const Expr& value) const {
    const auto* var = as<lang::Var>(value);
    return var && number_.count(var->variable.get()) != 0 ? var->variable.get() : nullptr;
  }

  // What does not depend on the direction, in all of them.
  Expr same_for_all(const Expr& value) {
    const auto* tensor = tensor_of_rank(value->type);
    if (!tensor || !as<lang::Var>(value)) throw Refused{};  // kernels read variables
    std::vector<IndexBinder> all = binders_of(value, 0, tensor->shape.rank());
    const std::vector<Expr> indices = uses_of(all);
    all.insert(all.end(), binders_.begin(), binders_.end());
    const Expr element = indices.empty() ? value : lang::make_index(value, indices, true);
    return around_.emit(
        "all", lang::rename_bound(lang::make_comprehension(std::move(all), element, {},
                                                           with_directions(value->type, false))));
  }

  bool is_known(const VariableRef& each) const {
    return first_.count(each.get()) != 0 || last_.count(each.get()) != 0;
  }

  // Steps that are as they were, of all directions one after the other.
  void one_by_one() {
    std::vector<std::size_t> group;
    std::unordered_set<const Variable*> inside, outer;
    std::vector<VariableRef> reads;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const Step& step = steps_[i];
      if (step.is_done || step.is_nest) continue;
      const bool is_ready = std::all_of(
          step.reads.begin(), step.reads.end(),
          [&](const VariableRef& each) { return inside.count(each.get()) != 0 || is_known(each); });
      if (!is_ready) continue;
      for (const VariableRef& each : step.reads) {
        if (inside.count(each.get()) == 0 && outer.insert(each.get()).second) reads.push_back(each);
      }
      inside.insert(step.binding.variable.get());
      group.push_back(i);
    }
    if (group.empty()) return;
    std::vector<Binding> code;
    for (const VariableRef& each : reads) code.push_back({each, at_point(each)});
    std::vector<VariableRef> results;
    for (const std::size_t i : group) {
      Step& step = steps_[i];
      code.push_back(step.binding);
      finish(step);
      const VariableRef& variable = step.binding.variable;
      const bool is_read =
          wanted_.count(variable.get()) != 0 ||
          std::any_of(step.readers.begin(), step.readers.end(), [&](std::size_t reader) {
            return inside.count(steps_[reader].binding.variable.get()) == 0;
          });
      if (is_read && !tensor_of_rank(variable->type)) throw Refused{};
      if (is_read) results.push_back(variable);
    }
    if (results.empty()) return;
    const std::vector<Expr> fields = uses_of(results);
    std::vector<Type> types;
    for (const VariableRef& result : results) types.push_back(with_directions(result->type, true));
    const bool is_one = results.size() == 1;
    const Expr body =
        lang::close_block({std::move(code), is_one ? fields[0] : build::tuple(fields)});
    const Expr all =
        around_.emit("all", lang::rename_bound(lang::make_comprehension(
                                binders_, body, {}, is_one ? types[0] : lang::tuple_type(types))));
    for (std::uint32_t i = 0; i < results.size(); ++i) {
      const Expr table = is_one ? all : around_.emit("all", build::project(all, i));
      first_.emplace(results[i].get(), lang::cast<lang::Var>(table).variable);
    }
  }

  // Nests with the directions as their last axes.
  void all_at_once() {
    for (Step& step : steps_) {
      if (step.is_done || !step.is_nest) continue;
      const bool is_ready = std::all_of(step.reads.begin(), step.reads.end(),
                                        [&](const VariableRef& each) { return is_known(each); });
      if (!is_ready) continue;
      for (const VariableRef& each : step.reads) last(each);
      std::vector<IndexBinder> all = own_binders(step.binding.value);
      all.insert(all.end(), binders_.begin(), binders_.end());
      const Expr made = lang::make_comprehension(
          std::move(all), AtDirections(*this).rewrite(step.element), step.binding.value->span,
          with_directions(step.binding.value->type, false));
      const Expr value = around_.emit(step.binding.variable->name, lang::rename_bound(made));
      last_.emplace(step.binding.variable.get(), lang::cast<lang::Var>(value).variable);
      finish(step);
    }
  }

  void finish(Step& step) {
    step.is_done = true;
    ++done_;
  }

  // Reads of what is there for all directions, at one.
  class AtDirections final : public lang::Rewriter {
   public:
    explicit AtDirections(const Batch& owner) : owner_(owner) {}

   protected:
    Expr pre(const Expr& expr) override {
      const auto* index = as<lang::Index>(expr);
      const auto* var = as<lang::Var>(index ? index->tensor : expr);
      const auto found = var ? owner_.last_.find(var->variable.get()) : owner_.last_.end();
      if (found == owner_.last_.end()) return nullptr;
      std::vector<Expr> indices;
      if (index) {
        for (const Expr& each : index->indices) indices.push_back(rewrite(each));
      }
      for (Expr& each : uses_of(owner_.binders_)) indices.push_back(std::move(each));
      return lang::make_index(lang::make_var(found->second), std::move(indices),
                              !index || index->in_bounds, expr->span);
    }

   private:
    const Batch& owner_;
  };

  Type with_directions(const Type& type, bool are_first) const {
    std::vector<Dim> own = as<lang::TensorType>(type)->shape.dims(), dims;
    for (const IndexBinder& binder : binders_) dims.emplace_back(constant_extent(binder));
    if (are_first) std::swap(own, dims);
    own.insert(own.end(), dims.begin(), dims.end());
    return lang::tensor_type(lang::Shape(std::move(own)), as<lang::TensorType>(type)->dtype);
  }

  static std::vector<IndexBinder> own_binders(const Expr& value) {
    const auto* node = as<lang::Comprehension>(value);
    return node ? node->binders : std::vector<IndexBinder>();
  }

  // Binders for axes of a table of the values of a step.
  std::vector<IndexBinder> binders_of(const Expr& table, std::size_t from, std::size_t count) {
    std::vector<IndexBinder> own;
    for (std::size_t axis = from; axis < from + count; ++axis) {
      own.push_back({lang::make_variable("r", lang::scalar_type(lang::DType::Int64)),
                     around_.extent_of(table, axis)});
    }
    return own;
  }

  std::size_t own_rank(const VariableRef& each) const {
    return as<lang::TensorType>(each->type)->shape.rank();
  }

  // The value of a step with the directions as its last axes.
  const VariableRef& last(const VariableRef& each) {
    const auto found = last_.find(each.get());
    if (found != last_.end()) return found->second;
    const VariableRef table = first_.at(each.get());
    if (own_rank(each) == 0) return last_.emplace(each.get(), table).first->second;
    std::vector<IndexBinder> all =
        binders_of(lang::make_var(table), binders_.size(), own_rank(each));
    std::vector<IndexBinder> directions;
    for (const IndexBinder& binder : binders_)
      directions.push_back(
          {lang::make_variable(binder.variable->name, binder.variable->type), binder.extent});
    std::vector<Expr> indices = uses_of(directions);
    for (Expr& each : uses_of(all)) indices.push_back(std::move(each));
    all.insert(all.end(), directions.begin(), directions.end());
    const Expr moved = around_.emit(
        each->name, lang::make_comprehension(std::move(all),
                                             lang::make_index(lang::make_var(table), indices, true),
                                             {}, with_directions(each->type, false)));
    return last_.emplace(each.get(), lang::cast<lang::Var>(moved).variable).first->second;
  }

  // The value of a step at the point of the binders.
  Expr at_point(const VariableRef& each) {
    const std::vector<Expr> here = uses_of(binders_);
    const auto first = first_.find(each.get());
    if (first != first_.end())
      return lang::make_index(lang::make_var(first->second), here, true, {}, each->type);
    const VariableRef& table = last_.at(each.get());
    std::vector<IndexBinder> own = binders_of(lang::make_var(table), 0, own_rank(each));
    std::vector<Expr> indices = uses_of(own);
    indices.insert(indices.end(), here.begin(), here.end());
    const Expr element = lang::make_index(lang::make_var(table), std::move(indices), true);
    return own.empty() ? element
                       : lang::make_comprehension(std::move(own), element, {}, each->type);
  }

  const std::vector<IndexBinder>& binders_;
  Emitter& around_;
  std::unordered_set<const Variable*> indices_;
  std::vector<Step> steps_;
  std::unordered_map<const Variable*, std::size_t> number_;  // of the step with that variable
  bool gains_ = false;
  std::unordered_set<const Variable*> wanted_;
  std::size_t done_ = 0;
  // Values of all directions, with these as first axes, or as last ones.
  std::unordered_map<const Variable*, VariableRef> first_, last_;
};

}  // namespace

std::optional<std::vector<Expr>> batched(const std::vector<IndexBinder>& binders,
                                         const std::vector<Binding>& code,
                                         const std::vector<Expr>& values, Emitter& around) {
  // More would make tensors of what stays in the cache when directions go one by one.
  constexpr std::int64_t kMostDirections = 64;
  std::int64_t count = 1;
  for (const IndexBinder& binder : binders) count *= constant_extent(binder);
  if (count == 0 || count > kMostDirections) return std::nullopt;
  Emitter made(around.tangents());
  Batch batch(binders, code, made);
  if (!batch.gains()) return std::nullopt;
  try {
    std::vector<Expr> all = batch.run(values);
    around.append(made.take());
    return all;
  } catch (const Refused&) {
    return std::nullopt;
  }
}

}  // namespace relay::ad
