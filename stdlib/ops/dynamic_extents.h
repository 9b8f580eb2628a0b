#pragma once

namespace relay::stdlib {

// Forms of operators whose extents are values; after their static forms.
void add_dynamic_extents();

}  // namespace relay::stdlib
