#include "opt/pass_program.h"

#include <algorithm>
#include <utility>

#include "lang/visit.h"

namespace relay::opt {

using lang::Expr;

MentionedFunctions functions_mentioned_in(const Expr& code) {
  MentionedFunctions mentioned;
  lang::visit_post_order(code, [&](const Expr& node) {
    if (const auto* global = lang::as<lang::GlobalVar>(node))
      mentioned.called.push_back(global->name);
    const auto* fn = lang::as<lang::Function>(node);
    if (const std::string* gradient = fn ? lang::gradient_of(*fn) : nullptr)
      mentioned.gradients.push_back(*gradient);
  });
  return mentioned;
}

// Strict texts with `?` may have types that inference lets agree, and the verifier does not.
PassProgram::PassProgram(std::vector<Entry> functions, PassHost host)
    : functions_(std::move(functions)), host_(std::move(host)) {
  for (Entry& entry : functions_) {
    if (!entry.is_typed()) continue;
    try {
      host_.verify(entry.function);
    } catch (const lang::InternalError&) {
      entry.is_verified = false;
    }
  }
}

const PassProgram::Entry* PassProgram::find(const std::string& name) const {
  const auto found = std::find_if(functions_.begin(), functions_.end(),
                                  [&](const Entry& each) { return each.name == name; });
  return found == functions_.end() ? nullptr : &*found;
}

Expr PassProgram::function(const std::string& name, const lang::Type& type) {
  const Entry* entry = find(name);
  if (entry && entry->is_typed() && lang::equal(entry->function->type, type))
    return entry->function;
  return host_.program.function(name, type);
}

void PassProgram::set(Entry& entry, Expr function) {
  if (is_in_anf_) function = to_anf(function, this);
  entry.is_changed = entry.is_changed || !(function == entry.function);
  entry.function = std::move(function);
  if (entry.is_verified) host_.verify(entry.function);
}

void PassProgram::each(const std::function<Expr(const Expr&)>& pass) {
  for (Entry& entry : functions_) {
    if (entry.is_typed()) set(entry, pass(entry.function));
  }
}

void PassProgram::each_at_once(const std::function<Expr(const Entry&)>& pass) {
  std::vector<Expr> made;
  for (const Entry& entry : functions_)
    made.push_back(entry.is_typed() ? pass(entry) : entry.function);
  for (std::size_t i = 0; i < made.size(); ++i) {
    if (functions_[i].is_typed()) set(functions_[i], std::move(made[i]));
  }
}

void PassProgram::add(const std::string& name, Expr function) {
  host_.program.add_function(name, function);
  functions_.push_back({name, nullptr, function->type, true});
  set(functions_.back(), std::move(function));
}

void PassProgram::remove_if(const std::function<bool(const Entry&)>& is_removed) {
  std::erase_if(functions_, is_removed);
}

void PassProgram::run(const PassCall& call) {
  is_in_anf_ = call.pass->in_anf;
  if (is_in_anf_) each([](const Expr& fn) { return fn; });
  call.pass->run(*this, *call.options);
}

std::set<std::string> reached_from(const PassProgram& program, const std::string& entry) {
  std::set<std::string> reached;
  std::vector<std::string> work{entry};
  while (!work.empty()) {
    const std::string name = std::move(work.back());
    work.pop_back();
    const auto* found = program.find(name);
    if (!found || !reached.insert(name).second) continue;
    const MentionedFunctions mentioned = functions_mentioned_in(found->function);
    work.insert(work.end(), mentioned.called.begin(), mentioned.called.end());
    work.insert(work.end(), mentioned.gradients.begin(), mentioned.gradients.end());
  }
  return reached;
}

}  // namespace relay::opt
