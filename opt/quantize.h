#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lang/expr.h"
#include "opt/definitions.h"

// Private to the passes that quantize: annotate, calibrate, realize.
namespace relay::opt {

// What a value that is quantized is, in the numbers of Relay's attribute `kind`.
enum class QuantizedKind : std::uint8_t { Identity = 0, Input = 1, Weight = 2, Activation = 3 };

// Operators that are computed with integers: products of data with weights.
enum class QuantizedProduct : std::uint8_t { None, Convolution, Dense, Batches };
QuantizedProduct quantized_product(const lang::Expr& step);

// Is it a mark that asks for integers of 8 bits at this place?
bool hints_at_integers(const lang::Expr& step);

// A call of `simulated_quantize`, where its scale and bounds are known.
struct Simulated {
  const lang::Call* call;
  QuantizedKind kind;
  double scale;  // 0: not chosen yet
  double clip_min;
  double clip_max;
  // How many steps the scale is split into, on each side of 0.
  double steps() const { return clip_max + 1; }
};
std::optional<Simulated> simulated_of(const lang::Expr& step, const Definitions& definitions);
lang::Expr simulate(const lang::Expr& data, QuantizedKind kind, double scale, double clip_min,
                    double clip_max);

// How far the scale of a value reaches, from what it holds.
enum class ScaleChoice : std::uint8_t {
  Max,         // the largest magnitude
  Power2,      // the power of two above that
  Percentile,  // the magnitude that so many do not exceed
  Divergence,  // where the histogram of what is left diverges least from that of all
};
// Throws Failure for another name: `max`, `power2`, `percentile`, `kl_divergence`.
ScaleChoice scale_choice(const std::string& option, const std::string& name,
                         const std::vector<ScaleChoice>& allowed);
double reach_of(const std::vector<double>& values, ScaleChoice choice, double percentile,
                double steps);

}  // namespace relay::opt
