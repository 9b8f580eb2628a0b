#pragma once

#include <memory>

#include "kernels/tiles.h"
#include "loops/normal_form.h"

namespace relay::kernels {

// The result of a window, as products of the kernel's matrix and what each place sees of the input,
// which is packed from a copy with its padding written out. Null for the adjoints, and where the
// places of the result do not lie side by side or a group has few channels.
std::shared_ptr<const loops::LibraryKernel> make_window_product(const loops::Window& form,
                                                                Level level);

}  // namespace relay::kernels
