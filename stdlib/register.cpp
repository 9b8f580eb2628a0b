#include "stdlib/register.h"

#include "stdlib/ops/dynamic_extents.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/fixed_point.h"
#include "stdlib/ops/special.h"

namespace relay::stdlib {

void register_operators() {
  static const bool registered = [] {
    add_elementwise_operators();
    add_broadcast_operators();
    add_comparison_operators();
    add_reduction_operators();
    add_shape_operators();
    add_joining_operators();
    add_indexing_operators();
    add_linalg_operators();
    add_nn_operators();
    add_padding_operators();
    add_pooling_operators();
    add_convolution_operators();
    add_norm_operators();
    add_create_operators();
    add_effect_operators();
    add_file_operators();
    add_plot_operators();
    add_sorting_operators();
    add_scan_operators();
    add_gathering_operators();
    add_sequence_operators();
    add_image_operators();
    add_vision_operators();
    add_random_operators();
    add_scattering_operators();
    add_sparse_operators();
    add_einsum_operators();
    add_fourier_operators();
    add_layout_operators();
    add_fixed_point_operators();
    add_special_operators();
    add_bit_operators();
    add_vendor_operators();
    add_quantized_operators();
    add_annotation_operators();
    add_memory_operators();
    add_dynamic_operators();  // last: they read the records of their static forms
    add_dynamic_extents();
    return true;
  }();
  (void)registered;
}

}  // namespace relay::stdlib
