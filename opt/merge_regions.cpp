#include "lang/build.h"
#include "lang/visit.h"
#include "opt/compiler_regions.h"
#include "opt/definitions.h"
#include "opt/passes.h"

namespace relay::opt {

using lang::Expr;

namespace {

// Takes away the marks between steps of a region.
class RegionMerger final : public BlockRewriter {
 public:
  explicit RegionMerger(lang::Program* program) : effects_(program) {}

 protected:
  bool rewrite(lang::Block& block) override {
    CompilerRegions regions(block, effects_);
    if (regions.size() < 2) return false;
    regions.join();
    std::vector<lang::Binding> made = block.bindings;
    bool is_changed = false;
    for (std::size_t i = 0; i < made.size(); ++i) {
      if (regions.region_of(i) == CompilerRegions::kNone) continue;
      lang::Substitution direct;
      for (const auto& variable : regions.used_at(i)) {
        const Expr value = regions.behind_marks(variable);
        const std::size_t place = regions.place_of(variable_of(value));
        if (place == CompilerRegions::kNone || variable_of(value) == variable.get()) continue;
        const std::size_t region = regions.region_of(place);
        if (region == CompilerRegions::kNone) continue;
        if (regions.joined(region) == regions.joined(regions.region_of(i)))
          direct[variable.get()] = value;
      }
      if (direct.empty()) continue;
      Expr value = lang::substitute(made[i].value, direct);
      is_changed = is_changed || !(value == made[i].value);
      made[i].value = std::move(value);
    }
    block.bindings = std::move(made);
    return is_changed;
  }

 private:
  Effects effects_;
};

}  // namespace

Expr merge_compiler_regions(const Expr& function, lang::Program* program) {
  const Expr merged = RegionMerger(program).run(function);
  return merged == function ? function : eliminate_dead_code(merged, program);
}

}  // namespace relay::opt
