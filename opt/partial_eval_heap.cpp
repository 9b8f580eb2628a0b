#include "opt/partial_eval_heap.h"

namespace relay::opt::partial {

std::size_t Heap::make(const Value* content) {
  const std::size_t reference = is_exposed_.size();
  is_exposed_.push_back(false);
  set(reference, content);
  return reference;
}

const Value* Heap::read(std::size_t reference) const {
  const auto found = known_.find(reference);
  return found == known_.end() ? nullptr : found->second;
}

void Heap::set(std::size_t reference, const Value* content) {
  const Value*& place = known_[reference];
  log_.emplace_back(reference, place);
  place = content;
}

void Heap::write(std::size_t reference, const Value* content) {
  set(reference, content);
  if (!is_exposed_[reference]) return;
  exposed_.push_back(reference);
  expose(content);
}

void Heap::expose(const Value* value) {
  std::vector<const Value*> open = {value};
  while (!open.empty()) {
    const Value* next = open.back();
    open.pop_back();
    if (!next || next->is_exposed) continue;
    next->is_exposed = true;
    open.insert(open.end(), next->fields.begin(), next->fields.end());
    if (next->known == Known::Closure) {
      for (const auto& variable : captures_.of(next->code))
        open.push_back(next->frame->find(variable.get()));
    }
    if (next->known == Known::Reference) {
      is_exposed_[next->reference] = true;
      exposed_.push_back(next->reference);
      open.push_back(read(next->reference));
    }
  }
}

void Heap::forget_exposed() {
  while (!exposed_.empty()) {
    const std::size_t reference = exposed_.back();
    exposed_.pop_back();
    const Value* content = read(reference);
    if (!content) continue;
    set(reference, nullptr);
    expose(content);
  }
}

void Heap::forget_all() {
  known_.clear();
  exposed_.clear();
  log_.clear();
}

Heap::Writes Heap::end_branch(std::size_t mark) {
  Writes writes;
  for (std::size_t i = mark; i < log_.size(); ++i) writes[log_[i].first] = read(log_[i].first);
  // They may hold what was made in the branch, which is out of sight behind it.
  for (const auto& [reference, content] : writes) expose(content);
  while (log_.size() > mark) {
    const auto [reference, before] = log_.back();
    log_.pop_back();
    known_[reference] = before;
    if (is_exposed_[reference]) exposed_.push_back(reference);
  }
  return writes;
}

void Heap::join(const std::vector<Writes>& branches) {
  Writes joined;
  for (const Writes& writes : branches) {
    for (const auto& [reference, content] : writes) joined[reference] = content;
  }
  for (auto& [reference, content] : joined) {
    const Value* before = read(reference);
    bool is_alike = true;
    for (const Writes& writes : branches) {
      const auto found = writes.find(reference);
      is_alike = is_alike && (found == writes.end() ? before : found->second) == content;
    }
    if (is_alike) continue;
    expose(before);
    content = nullptr;
  }
  for (const auto& [reference, content] : joined) {
    set(reference, content);
    if (is_exposed_[reference]) exposed_.push_back(reference);
  }
}

}  // namespace relay::opt::partial
