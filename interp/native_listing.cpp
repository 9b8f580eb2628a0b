#include "interp/native_listing.h"

#include <algorithm>
#include <unordered_set>

#include "interp/machine.h"
#include "interp/prepare.h"
#include "lang/visit.h"

namespace relay::interp {

namespace {

bool has_loops(const flow::Block& block) {
  for (const flow::Step& step : block.steps) {
    if (step.kind == flow::StepKind::Loop || step.kind == flow::StepKind::Fold) return true;
    if (std::any_of(step.blocks.begin(), step.blocks.end(), has_loops)) return true;
    for (const flow::Arm& arm : step.arms) {
      if (has_loops(arm.body)) return true;
    }
  }
  return false;
}

void append(flow::Function& function, std::vector<flow::Function*>& functions) {
  functions.push_back(&function);
  for (const auto& local : function.locals) append(*local, functions);
}

class Lister {
 public:
  explicit Lister(Host& host) : host_(host), machine_(host, JitMode::Always, 1) {}

  void add_entry(const lang::Expr& expr) {
    entry_ =
        prepare_function("", lang::make_function({}, expr->type, expr, {}, nullptr, expr->span));
    visit(entry_);
    // What it calls is of interest, and not that it calls it.
    const auto entry = std::find(lowered_.begin(), lowered_.end(), entry_);
    if (entry != lowered_.end()) {
      const flow::Function& flow = entry_->native->flow;
      if (flow.locals.empty() && !has_loops(flow.body)) lowered_.erase(entry);
    } else if (refused_.size() > 1 || !lowered_.empty() || entry_->native->is_kernels) {
      refused_.erase(refused_.begin());
    }
  }

  void add_global(const lang::GlobalVar& global, const lang::Type& type) {
    const FunctionCodeRef code = machine_.global(global.name, type, global.span);
    if (!code) throw lang::Failure(*machine_.error);
    visit(code);
  }

  NativeListing list(const std::string& stage) {
    NativeListing listing;
    listing.refused = std::move(refused_);
    std::vector<flow::Function*> functions;
    for (const FunctionCodeRef& code : lowered_) {
      flow::Function& flow = code->native->flow;
      if (stage == "flow") listing.text += flow::to_string(flow);
      append(flow, functions);
    }
    if (stage == "flow" || functions.empty()) return listing;
    listing.text = host_.compiling().dump(functions, stage);
    return listing;
  }

 private:
  void visit(const FunctionCodeRef& code) {
    if (!code->source || !seen_.insert(code.get()).second) return;
    const std::vector<FunctionCodeRef> made = machine_.native.lowered(*code);
    lowered_.insert(lowered_.end(), made.begin(), made.end());
    const bool is_refused = code->native->refusal.has_value();
    if (is_refused) refused_.push_back({code->name, *code->native->refusal});
    visit_globals(*code);
    for (const FunctionCodeRef& each : made) visit(each);
    if (!is_refused) return;
    std::vector<FunctionCodeRef> inner = code->inner;
    std::reverse(inner.begin(), inner.end());  // code is prepared backwards
    for (const FunctionCodeRef& each : inner) visit(each);
  }

  void visit_globals(const FunctionCode& code) {
    std::vector<lang::Expr> globals;
    lang::visit_post_order(code.source, [&](const lang::Expr& node) {
      if (node->kind == lang::ExprKind::GlobalVar) globals.push_back(node);
    });
    for (const lang::Expr& each : globals) {
      const auto& global = lang::cast<lang::GlobalVar>(each);
      if (!lang::as<lang::FunctionType>(global.type) || host_.is_binding(global.name)) continue;
      if (const FunctionCodeRef callee = machine_.global(global.name, global.type, global.span)) {
        visit(callee);
      } else {  // it is found when it is called
        machine_.signal = Signal::None;
        machine_.error.reset();
        machine_.trail.clear();
      }
    }
  }

  Host& host_;
  Machine machine_;
  FunctionCodeRef entry_;
  std::unordered_set<const FunctionCode*> seen_;
  std::vector<FunctionCodeRef> lowered_;
  std::vector<NativeListing::Refused> refused_;
};

}  // namespace

NativeListing list_native(Host& host, const lang::Expr& finished, const std::string& stage) {
  Lister lister(host);
  lister.add_entry(finished);
  return lister.list(stage);
}

NativeListing list_native(Host& host, const lang::GlobalVar& global, const lang::Type& type,
                          const std::string& stage) {
  Lister lister(host);
  lister.add_global(global, type);
  return lister.list(stage);
}

}  // namespace relay::interp
