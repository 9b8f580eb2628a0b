#include <map>

#include "lang/build.h"
#include "lang/op.h"
#include "lang/pointer_map.h"
#include "lang/visit.h"
#include "opt/compiler_regions.h"
#include "opt/definitions.h"
#include "opt/external.h"

namespace relay::opt {

using lang::as;
using lang::Expr;
using lang::ExprKind;

namespace {

class TargetAnnotator final : public BlockRewriter {
 public:
  TargetAnnotator(const std::vector<lang::ExternalCompiler*>& compilers, bool includes_tuples)
      : compilers_(compilers), includes_tuples_(includes_tuples) {}

 protected:
  bool rewrite(lang::Block& block) override {
    Effects effects;
    const CompilerRegions regions(block, effects);
    std::vector<lang::Binding> made;
    for (std::size_t i = 0; i < block.bindings.size(); ++i) {
      const lang::Binding& binding = block.bindings[i];
      if (const auto mark = compiler_mark(binding.value)) note_mark(binding, *mark);
      const bool is_marked = regions.region_of(i) != CompilerRegions::kNone;
      if (is_marked) consider_again(binding.value, block);
      const std::string target = is_marked ? std::string() : target_of(binding.value, block);
      if (target.empty()) {
        made.push_back(binding);
        continue;
      }
      annotate(binding, target, made);
    }
    const bool has_more = made.size() > block.bindings.size();
    block.bindings = std::move(made);
    return reannotate(block) || has_more;
  }

 private:
  // Marks that are there already.
  void note_mark(const lang::Binding& binding, const CompilerMark& mark) {
    if (mark.is_begin) {
      begins_.insert_or_assign(binding.variable.get(), mark);
    } else {
      targets_[binding.variable.get()] = mark.compiler;
    }
  }

  // Empty: it is not marked.
  std::string target_of(const Expr& step, const lang::Block& block) {
    if (const auto* call = as<lang::Call>(step)) {
      if (call->args.empty() || compiler_mark(step)) return {};
      const std::string* composite = composite_called(step, block);
      if (!composite && !operator_of(step)) return {};
      return chosen(step, composite);
    }
    return includes_tuples_ ? of_parts(step) : std::string();
  }

  // Of a step that is part of a region: what nobody took may be taken now.
  void consider_again(const Expr& step, const lang::Block& block) {
    const auto* call = as<lang::Call>(step);
    if (!call) return;
    lang::Substitution bare;
    for (const Expr& arg : call->args) {
      const lang::Variable* variable = variable_of(arg);
      const auto found = variable ? begins_.find(variable) : begins_.end();
      if (found == begins_.end() || found->second.compiler != kNoCompiler) return;
      bare[variable] = found->second.value;
    }
    const std::string target = chosen(lang::substitute(step, bare), composite_called(step, block));
    if (target == kNoCompiler) return;
    for (const Expr& arg : call->args) changed_[variable_of(arg)] = target;
  }

  std::string chosen(const Expr& step, const std::string* composite) {
    if (const lang::OpDef* op = operator_of(step); op && op->effect != lang::Effect::None)
      return {};
    for (lang::ExternalCompiler* compiler : compilers_) {
      const std::string name = compiler->name();
      const bool is_taken =
          composite ? composite->starts_with(name + ".") : refusal_of(*compiler, step).empty();
      if (is_taken) return name;
    }
    return std::string(kNoCompiler);
  }

  // A tuple, or a field of one, goes where all of its parts come from.
  std::string of_parts(const Expr& step) {
    std::vector<Expr> parts;
    if (const auto* tuple = as<lang::Tuple>(step)) parts = tuple->fields;
    if (const auto* projection = as<lang::Projection>(step)) parts = {projection->tuple};
    std::string target;
    for (const Expr& part : parts) {
      const lang::Variable* variable = variable_of(part);
      const auto found = variable ? targets_.find(variable) : targets_.end();
      if (found == targets_.end() || (!target.empty() && target != found->second)) return {};
      target = found->second;
    }
    return target == kNoCompiler ? std::string() : target;
  }

  void annotate(const lang::Binding& binding, const std::string& target,
                std::vector<lang::Binding>& made) {
    const auto entering = [&](const Expr& value) {
      const auto begin = lang::make_variable("begin", value->type, value->span);
      made.push_back({begin, marked_value(value, true, target), value->span});
      return lang::make_var(begin);
    };
    const Expr& step = binding.value;
    Expr inner;
    if (const auto* call = as<lang::Call>(step)) {
      std::vector<Expr> args;
      for (const Expr& arg : call->args) args.push_back(entering(arg));
      inner = lang::make_call(call->callee, std::move(args), call->attrs, step->span, step->type,
                              call->algebra);
    } else if (const auto* tuple = as<lang::Tuple>(step)) {
      std::vector<Expr> fields;
      for (const Expr& field : tuple->fields) fields.push_back(entering(field));
      inner = lang::make_tuple(std::move(fields), step->span, step->type);
    } else {
      const auto& projection = lang::cast<lang::Projection>(step);
      inner = lang::make_projection(entering(projection.tuple), projection.index, step->span,
                                    step->type);
    }
    const auto variable = lang::make_variable(binding.variable->name, step->type, step->span);
    made.push_back({variable, std::move(inner), binding.span});
    made.push_back(
        {binding.variable, marked_value(lang::make_var(variable), false, target), binding.span});
    targets_[binding.variable.get()] = target;
  }

  // The marks around steps that are taken now.
  bool reannotate(lang::Block& block) {
    if (changed_.empty()) return false;
    lang::PointerMap<lang::Variable, std::string> taken;
    for (lang::Binding& binding : block.bindings) {
      if (const auto mark = compiler_mark(binding.value)) {
        const auto& found = mark->is_begin ? changed_ : taken;
        const lang::Variable* key =
            mark->is_begin ? binding.variable.get() : variable_of(mark->value);
        if (const std::string* target = key ? found.find(key) : nullptr)
          binding.value = marked_value(mark->value, mark->is_begin, *target);
        continue;
      }
      const auto* call = as<lang::Call>(binding.value);
      const lang::Variable* first =
          call && !call->args.empty() ? variable_of(call->args[0]) : nullptr;
      if (const std::string* target = first ? changed_.find(first) : nullptr)
        taken[binding.variable.get()] = *target;
    }
    changed_ = {};
    return true;
  }

  const std::vector<lang::ExternalCompiler*>& compilers_;
  const bool includes_tuples_;
  std::map<const lang::Variable*, std::string> targets_;  // of values that leave their region
  std::map<const lang::Variable*, CompilerMark> begins_;  // values that enter one
  lang::PointerMap<lang::Variable, std::string> changed_;
};

}  // namespace

Expr annotate_targets(const Expr& function, const std::vector<lang::ExternalCompiler*>& compilers,
                      bool includes_tuples) {
  return compilers.empty() ? function : TargetAnnotator(compilers, includes_tuples).run(function);
}

}  // namespace relay::opt
