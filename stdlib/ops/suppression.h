#pragma once

#include "stdlib/ops/families.h"

// Non-maximum suppression, the part that its operators share. Rows of boxes are ordered from best
// to worst; a box survives unless a better one that survives overlaps it. That depends on all
// better boxes in turn, so it is a loop of the language, one step for each box that survives.
namespace relay::stdlib {

struct Suppression {
  Expr corners;           // [rows, boxes, 4]: least x, least y, largest x, largest y
  Expr labels;            // [rows, boxes]: only boxes with the same label suppress each other
  Expr active;            // [rows, boxes], bool: which boxes may suppress others
  Expr suppressed;        // [rows, boxes], bool: which are none from the start
  Expr threshold;         // a scalar: how much of their union two boxes may share
  bool inclusive = true;  // exactly the threshold is too much
  bool closed = false;    // the corners are elements: an extent is one more than their distance
};
// [rows, boxes], bool: which boxes do not survive. All parts must be atoms, of any dims. An
// expression for expansions (lang::OpDef::expansion), not for definitions. Costs, for each position
// at which a box of some row survives, a pass over all boxes.
Expr suppressed_boxes(const Suppression& given);

// For type rules: input `input` is a scalar, for which a vector of one element may stand, as in
// Relay, whose rules do not look at it.
void scalar_input(TypeCall& call, std::size_t input, PrimOperands operands);
// `body` of the call in which such vectors are scalars.
Expr with_scalars(DefinitionCall call, const std::vector<std::size_t>& inputs,
                  const lang::OpDefinition& body);

// For definitions: positions of the elements of each row of a bool matrix, those that hold first,
// in order.
Expr those_first(const Expr& holds);
// How many of each row hold: int64.
Expr counts_of(const Expr& holds);

}  // namespace relay::stdlib
