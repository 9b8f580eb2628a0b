#pragma once

#include <vector>

#include "ad/adjoint.h"
#include "ad/contribution.h"

namespace relay::ad {

// What the reads of a body give to adjoints is made of the same code, that of the body: n reads in
// a chain of n steps would run it n times. Where contributions over the same points share work,
// their values are computed together,
//   let parts = for i { let ...; (v1, v2, v3) };
// and each contribution reads its own. Work that is less than writing and reading a value stays
// where it is. Points of reductions are tabulated up to 2^20 of them, of which the extents must be
// known; those of `domain`, over which there is a result, up to 2^26 values, where they are known.
void compute_shared_once(std::vector<Contribution>& contributions,
                         const std::vector<lang::IndexBinder>& domain, Emitter& code);

}  // namespace relay::ad
