#include "repl/instances.h"

#include <algorithm>
#include <cstdint>

namespace relay::repl {

using typecheck::Extents;

namespace {

constexpr int kMostSizes = 2;
constexpr int kMostSmallSizes = 16;
constexpr std::int64_t kSmallExtent = 16;

bool is_small(const lang::Dim& dim) { return !dim.is_constant() || dim.constant() <= kSmallExtent; }

// Is every extent that is a number a small one?
bool has_small_extents(const lang::Type& type) {
  if (const auto* dimension = lang::as<lang::DimensionType>(type)) return is_small(dimension->dim);
  if (const auto* tensor = lang::as<lang::TensorType>(type)) {
    if (!tensor->shape.has_rank()) return true;
    const auto& dims = tensor->shape.dims();
    return std::all_of(dims.begin(), dims.end(), is_small);
  }
  if (const auto* tuple = lang::as<lang::TupleType>(type))
    return std::all_of(tuple->fields.begin(), tuple->fields.end(), has_small_extents);
  if (const auto* data = lang::as<lang::AdtType>(type))
    return std::all_of(data->args.begin(), data->args.end(), has_small_extents);
  if (const auto* function = lang::as<lang::FunctionType>(type))
    return std::all_of(function->params.begin(), function->params.end(), has_small_extents);
  return true;
}

}  // namespace

const Instances::Instance& Instances::of(const std::string& name, const lang::Type& type) {
  const std::string known = checker_.specialisation_key(name, type, extents_).or_throw();
  if (const auto found = instances_.find(known); found != instances_.end()) return found->second;
  const std::string symbolic = checker_.specialisation_key(name, type).or_throw();
  if (symbolic != known) {
    int& sizes = sizes_[name];
    if (sizes < kMostSizes || (sizes < kMostSmallSizes && has_small_extents(type))) {
      ++sizes;
      return instances_[known] = {known, Extents::Known};
    }
  }
  return instances_[known] = {symbolic, Extents::Symbolic};
}

void Instances::refuse(const std::string& name, const lang::Type& type) {
  const std::string known = checker_.specialisation_key(name, type, extents_).or_throw();
  instances_[known] = {checker_.specialisation_key(name, type).or_throw(), Extents::Symbolic};
}

void Instances::forget() {
  instances_.clear();
  sizes_.clear();
}

}  // namespace relay::repl
