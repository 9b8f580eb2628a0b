#pragma once

// The parts of add_image_operators and add_vision_operators, one for each file.
namespace relay::stdlib {

void add_resize_operators();
void add_crop_operators();
void add_grid_operators();
void add_rearranging_operators();
void add_deformable_operators();
void add_correlation_operators();

void add_roi_operators();
void add_multibox_operators();
void add_suppression_steps();
void add_suppression_operators();
void add_class_suppression_operators();
void add_proposal_operators();

}  // namespace relay::stdlib
