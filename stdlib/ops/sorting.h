#pragma once

#include "stdlib/ops/families.h"

// Sorting falls into two files.
namespace relay::stdlib {

void add_unique();

}  // namespace relay::stdlib
