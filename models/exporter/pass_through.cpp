#include "models/exporter/pass_through.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "models/exporter/operators.h"

namespace relay::models::exporter {

namespace {

constexpr auto kPassed = std::to_array<std::string_view>({
    "annotation.cast_hint",
    "annotation.checkpoint",
    "annotation.stop_fusion",
    "check_shape",
    "copy",
    "device_copy",
    "on_device",
    "stop_gradient",
    "with_axes",
});

}  // namespace

bool is_passed_through(const lang::OpDef& op) {
  return std::find(kPassed.begin(), kPassed.end(), op.name) != kPassed.end();
}

const lang::OpDef* operator_of(lang::Prim prim) {
  static const std::map<lang::Prim, const lang::OpDef*> all = [] {
    std::map<lang::Prim, const lang::OpDef*> map;
    const auto& registry = lang::OpRegistry::instance();
    for (const lang::OpDef* op : registry.all()) {
      if (op->elementwise && find_operator(op->name)) map.try_emplace(*op->elementwise, op);
    }
    map[lang::Prim::Cast] = registry.find("cast");
    map[lang::Prim::Select] = registry.find("where");
    return map;
  }();
  const auto found = all.find(prim);
  return found == all.end() ? nullptr : found->second;
}

std::optional<Affine> affine_of(const lang::OpDef& op, const std::vector<Value>& args) {
  if (!op.elementwise || args.size() != 2 || !args[0].affine || !args[1].affine) return {};
  const Affine& a = *args[0].affine;
  const Affine& b = *args[1].affine;
  if (*op.elementwise == lang::Prim::Add || *op.elementwise == lang::Prim::Sub) {
    if (a.lane && b.lane) return {};
    const bool is_sum = *op.elementwise == lang::Prim::Add;
    const std::int64_t sign = is_sum ? 1 : -1;
    return Affine{a.lane ? a.lane : b.lane, a.lane ? a.factor : sign * b.factor,
                  is_sum ? a.offset + b.offset : a.offset - b.offset};
  }
  if (*op.elementwise != lang::Prim::Mul || (a.lane && b.lane)) return {};
  const Affine& moving = a.lane ? a : b;
  const Affine& factor = a.lane ? b : a;
  if (!moving.lane) return Affine{{}, 0, a.offset * b.offset};
  if (!factor.offset.is_constant()) return {};
  return Affine{moving.lane, moving.factor * factor.offset.constant(),
                moving.offset * factor.offset};
}

}  // namespace relay::models::exporter
