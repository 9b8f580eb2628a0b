#pragma once

#include <string>
#include <vector>

#include "plot/figure.h"

// Where numbers stand along an edge of a plot, and the round ones that are written there.
namespace relay::plot {

// What an axis has to hold. Without numbers it is empty.
struct Range {
  double low = 0;
  double high = 0;
  bool is_empty = true;
  // What is not finite is passed over, and what a scale has no place for.
  void add(double number, Scale scale);
};

struct Tick {
  double value;
  double position;  // from 0, the low end of the axis, to 1
  std::string label;
};

class Axis {
 public:
  enum class Ends {
    Round,  // the axis begins and ends at ticks
    Exact,  // and where the range does
    Whole,  // the same, with ticks at whole numbers only
  };
  // From 2 ticks to about `most`, at 1, 2 or 5 times a power of ten, or at powers of ten. A range
  // of one number, or none, gets some room.
  Axis(const Range& range, Scale scale, int most, Ends ends = Ends::Round);

  // Within 0 and 1 for what the range holds; NaN for what has no place.
  double position(double number) const;
  const std::vector<Tick>& ticks() const { return ticks_; }

 private:
  void place_linear(int most, Ends ends);
  void place_log(int most, Ends ends);
  // Of logarithms, where the scale is one. Wide enough for the distance of any two doubles.
  long double low_;
  long double high_;
  Scale scale_;
  std::vector<Tick> ticks_;
};

// The largest of 1, 2 and 5 times a power of ten that is not above `step`, or the next above it.
long double round_step(long double step);

// A number as a tick or a legend shows it: as short as tells it from its neighbours, which are
// `step` away.
std::string short_number(long double number, long double step);

}  // namespace relay::plot
