#pragma once

#include <memory>

#include "loops/normal_form.h"

namespace relay::kernels {

// A window as convolutions of oneDNN, or their adjoints. Null where oneDNN has none for these
// strides, or only one that is slower than the loops.
std::shared_ptr<const loops::LibraryKernel> make_window(const loops::Window& form);

}  // namespace relay::kernels
