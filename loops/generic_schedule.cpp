#include "loops/generic_schedule.h"

#include <algorithm>
#include <array>

namespace relay::loops {

namespace {

// From the one that says most of a group to the one that says least.
enum class Kind : std::uint8_t { Own, Products, Reduction, Scatter, Whole, Elementwise };
constexpr std::array kSchedules = {
    GenericSchedule{kOwnSchedule, "as the schedule of the function says"},
    GenericSchedule{
        "products_then_tail",
        "finds the sum of products, by a library where it is large, else as a nest with "
        "lanes along the result; what follows it element by element is inlined in the "
        "nest, or takes rows while they are in the cache"},
    GenericSchedule{"reduction_then_tail",
                    "finds the reduction, with lanes along the result, or along the elements where "
                    "they lie side by side; what follows it element by element is inlined"},
    GenericSchedule{"scatter", "combines the values in their order"},
    GenericSchedule{"whole", "rows as a whole, dealt to threads"},
    GenericSchedule{
        "elementwise",
        "inlines what it reads; axes that lie side by side are one, with lanes along the "
        "fastest"},
};

// Is what the region gives a product, maybe cast or where a condition holds?
bool gives_product(const Region& region, ValueId id) {
  const auto found = std::find_if(region.code.begin(), region.code.end(),
                                  [&](const Instruction& each) { return each.id == id; });
  if (found == region.code.end() || found->code != Code::Primitive) return false;
  if (found->prim == Prim::Mul) return true;
  return (found->prim == Prim::Cast || found->prim == Prim::Select) &&
         gives_product(region, found->args[found->prim == Prim::Select ? 1 : 0]);
}

Kind kind_of_launch(const Launch& launch) {
  if (launch.is_scheduled) return Kind::Own;
  if (launch.library) return Kind::Products;
  if (launch.whole) return Kind::Whole;
  if (launch.kernel.store == StoreKind::Combine) return Kind::Scatter;
  const auto& regions = launch.kernel.regions;
  if (regions.size() == 1) return Kind::Elementwise;
  const bool multiplies = std::any_of(regions.begin() + 1, regions.end(), [](const Region& region) {
    return region.op == ReduceOp::Dot ||
           (region.op == ReduceOp::Sum && gives_product(region, region.result));
  });
  return multiplies ? Kind::Products : Kind::Reduction;
}

}  // namespace

const GenericSchedule* schedule_of(const LoweredGroup& group) {
  if (group.launches.empty()) return nullptr;
  Kind best = Kind::Elementwise;
  for (const Launch& launch : group.launches) best = std::min(best, kind_of_launch(launch));
  return &kSchedules[static_cast<std::size_t>(best)];
}

}  // namespace relay::loops
