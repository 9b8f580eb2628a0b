#include "lang/comparison.h"

namespace relay::lang {

bool is_comparison(Prim prim) {
  return prim == Prim::Lt || prim == Prim::Le || prim == Prim::Gt || prim == Prim::Ge ||
         prim == Prim::Eq || prim == Prim::Ne;
}

Prim negated(Prim comparison) {
  switch (comparison) {
    case Prim::Lt:
      return Prim::Ge;
    case Prim::Le:
      return Prim::Gt;
    case Prim::Gt:
      return Prim::Le;
    case Prim::Ge:
      return Prim::Lt;
    case Prim::Eq:
      return Prim::Ne;
    default:
      return Prim::Eq;
  }
}

Prim mirrored(Prim comparison) {
  switch (comparison) {
    case Prim::Lt:
      return Prim::Gt;
    case Prim::Le:
      return Prim::Ge;
    case Prim::Gt:
      return Prim::Lt;
    case Prim::Ge:
      return Prim::Le;
    default:
      return comparison;
  }
}

}  // namespace relay::lang
