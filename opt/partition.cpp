#include "opt/partition.h"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "lang/build.h"
#include "lang/function_fact.h"
#include "lang/visit.h"
#include "opt/compiler_regions.h"
#include "opt/definitions.h"
#include "opt/passes.h"
#include "opt/steps_literal.h"

namespace relay::opt {

using lang::as;
using lang::Expr;
using lang::FunctionFact;

namespace {

struct MadePartition {
  std::string name;
  Expr function;
};

class Partitioner final : public BlockRewriter {
 public:
  Partitioner(const PartitionOptions& options, std::string function_name, PassProgram& program)
      : options_(options),
        function_name_(function_name.empty() ? "main" : std::move(function_name)),
        program_(program),
        effects_(&program) {}

  std::vector<MadePartition> take() { return std::move(made_); }

 protected:
  bool rewrite(lang::Block& block) override {
    const CompilerRegions regions(block, effects_);
    const bool has_marks =
        std::any_of(block.bindings.begin(), block.bindings.end(),
                    [](const auto& each) { return compiler_mark(each.value).has_value(); });
    if (!has_marks) return false;
    const std::vector<std::size_t> order = regions.in_order();
    if (order.empty()) fail_at_first(block, regions);
    substitution_.clear();
    is_output_ = outputs_of(block, regions);
    std::vector<lang::Binding> made;
    for (std::size_t i = 0; i < order.size();) {
      std::vector<std::size_t> members = {order[i]};
      const std::size_t region = region_at(regions, order[i]);
      while (++i < order.size() && region != CompilerRegions::kNone &&
             region_at(regions, order[i]) == region)
        members.push_back(order[i]);
      const bool is_handed_over =
          region != CompilerRegions::kNone && regions.target_of(region) != kNoCompiler;
      if (is_handed_over) {
        hand_over(block, regions, members, regions.target_of(region), made);
      } else {
        for (const std::size_t place : members) {
          lang::Binding kept = block.bindings[place];
          kept.value = replaced(kept.value, regions.used_at(place), regions);
          made.push_back(std::move(kept));
        }
      }
    }
    block.result = replaced(block.result, lang::free_variables(block.result), regions);
    block.bindings = std::move(made);
    return true;
  }

 private:
  static std::size_t region_at(const CompilerRegions& regions, std::size_t place) {
    const std::size_t region = regions.region_of(place);
    return region == CompilerRegions::kNone ? region : regions.joined(region);
  }

  [[noreturn]] static void fail_at_first(const lang::Block& block, const CompilerRegions& regions) {
    for (std::size_t i = 0; i < block.bindings.size(); ++i) {
      if (region_at(regions, i) == CompilerRegions::kNone) continue;
      lang::Diagnostic diagnostic(
          lang::DiagnosticKind::Unsupported,
          fmt::format(
              "not supported: a region for the compiler `{}` that waits for its own results",
              regions.target_of(region_at(regions, i))),
          block.bindings[i].span);
      diagnostic.note(
          "help: mark its steps each for itself; MergeCompilerRegions joins those that "
          "can be joined");
      throw lang::Failure(std::move(diagnostic));
    }
    RELAY_CHECK(false, "a block without an order");
    std::abort();
  }

  // What marks and calls of new functions leave of an expression that mentions these.
  Expr replaced(const Expr& expr, const std::vector<lang::VariableRef>& used,
                const CompilerRegions& regions) {
    lang::Substitution substitution;
    for (const auto& variable : used) {
      const Expr value = outside(regions.behind_marks(variable));
      if (variable_of(value) != variable.get()) substitution[variable.get()] = value;
    }
    return substitution.empty() ? expr : lang::substitute(expr, substitution);
  }
  // A value of a region, as it is known outside.
  Expr outside(const Expr& value) const {
    const auto found = substitution_.find(variable_of(value));
    return found == substitution_.end() ? value : found->second;
  }

  // The steps of a region as a function, and its call.
  void hand_over(const lang::Block& block, const CompilerRegions& regions,
                 const std::vector<std::size_t>& members, const std::string& compiler,
                 std::vector<lang::Binding>& made) {
    const std::string name =
        program_.reserve_name(fmt::format("{}_{}_{}", options_.prefix, compiler, function_name_));
    const std::size_t region = region_at(regions, members.front());
    StepParameters params(compiler + "_i");
    lang::Block inner;
    for (const std::size_t place : members) {
      const lang::Binding& binding = block.bindings[place];
      lang::Substitution renamed;
      for (const auto& variable : regions.used_at(place)) {
        const Expr value = regions.behind_marks(variable);
        const std::size_t at = regions.place_of(variable_of(value));
        if (at != CompilerRegions::kNone && region_at(regions, at) == region) {
          renamed[variable.get()] = value;
        } else if (const Expr literal = composite_at(block, at)) {
          renamed[variable.get()] = literal;
        } else {
          const Expr constant = options_.binds_constants ? constant_of(block, value, at) : Expr();
          renamed[variable.get()] = constant ? constant : params.add(outside(value));
        }
      }
      inner.bindings.push_back(
          {binding.variable, lang::substitute(binding.value, renamed), binding.span});
    }
    std::vector<std::size_t> outputs;
    for (const std::size_t place : members) {
      if (is_output_[place]) outputs.push_back(place);
    }
    if (outputs.empty()) outputs.push_back(members.back());
    std::vector<Expr> fields;
    for (const std::size_t place : outputs)
      fields.push_back(lang::make_var(block.bindings[place].variable));
    inner.result = fields.size() == 1 ? fields[0] : lang::build::tuple(fields);
    lang::AttrsRef attrs = lang::with_fact(FunctionFact::Compiler, compiler);
    attrs = lang::with_fact(FunctionFact::GlobalSymbol, name, attrs);
    attrs = lang::with_fact(FunctionFact::Primitive, std::int64_t{1}, attrs);
    const lang::Span place = block.bindings[members.front()].span;
    const Expr function = literal_of_steps(params, inner, std::move(attrs), place);
    made_.push_back({name, function});
    const lang::Type& type = lang::cast<lang::Function>(function).result;
    const Expr call = lang::make_call(lang::make_global_var(name, place, function->type),
                                      params.args(), nullptr, place, type);
    const auto result = lang::make_variable(compiler, type, place);
    made.push_back({result, call, place});
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const auto& variable = block.bindings[outputs[i]].variable;
      substitution_[variable.get()] =
          outputs.size() == 1 ? lang::make_var(result)
                              : field(result, static_cast<std::uint32_t>(i), variable, made);
    }
  }

  static Expr field(const lang::VariableRef& tuple, std::uint32_t i, const lang::VariableRef& like,
                    std::vector<lang::Binding>& made) {
    const auto variable = lang::make_variable(like->name, like->type, like->span);
    made.push_back({variable, lang::build::project(lang::make_var(tuple), i), like->span});
    return lang::make_var(variable);
  }

  // The literal of a composite that is bound at a place; null for anything else.
  static Expr composite_at(const lang::Block& block, std::size_t place) {
    if (place == CompilerRegions::kNone) return nullptr;
    const Expr& value = block.bindings[place].value;
    const auto* fn = as<lang::Function>(value);
    return fn && lang::has_fact(*fn, FunctionFact::Composite) ? value : Expr();
  }

  // The constant that an atom is, or that is bound at its place; null for anything else.
  static Expr constant_of(const lang::Block& block, const Expr& atom, std::size_t place) {
    const Expr& value = place == CompilerRegions::kNone ? atom : block.bindings[place].value;
    return value->kind == lang::ExprKind::Constant ? value : Expr();
  }

  // Of each place: is what is bound there the result, or used outside of its region?
  static std::vector<bool> outputs_of(const lang::Block& block, const CompilerRegions& regions) {
    std::vector<bool> is_output(block.bindings.size(), false);
    const auto note = [&](const std::vector<lang::VariableRef>& used, std::size_t region) {
      for (const auto& variable : used) {
        const std::size_t place = regions.place_of(variable_of(regions.behind_marks(variable)));
        if (place == CompilerRegions::kNone) continue;
        if (region == CompilerRegions::kNone || region_at(regions, place) != region)
          is_output[place] = true;
      }
    };
    for (std::size_t i = 0; i < block.bindings.size(); ++i) {
      if (!compiler_mark(block.bindings[i].value)) note(regions.used_at(i), region_at(regions, i));
    }
    note(lang::free_variables(block.result), CompilerRegions::kNone);
    return is_output;
  }

  const PartitionOptions& options_;
  const std::string function_name_;
  PassProgram& program_;
  Effects effects_;
  std::vector<MadePartition> made_;
  // Of the block at hand.
  std::unordered_map<const lang::Variable*, Expr> substitution_;
  std::vector<bool> is_output_;
};

}  // namespace

void partition_graph(PassProgram& program, const PartitionOptions& options) {
  std::vector<MadePartition> made;
  program.each_at_once([&](const PassProgram::Entry& entry) {
    if (lang::compiler_of(entry.function)) return entry.function;
    Partitioner partitioner(options, entry.name, program);
    const Expr after = partitioner.run(entry.function);
    for (MadePartition& each : partitioner.take()) made.push_back(std::move(each));
    return after == entry.function ? after : eliminate_dead_code(after, &program);
  });
  for (MadePartition& each : made) program.add(each.name, std::move(each.function));
}

}  // namespace relay::opt
