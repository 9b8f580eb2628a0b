#pragma once

#include "lang/virtual_device.h"
#include "opt/pass_program.h"

namespace relay::opt {

// Where nobody says it: `usual` is where values are computed, `host` where their shapes are.
struct DeviceDefaults {
  lang::VirtualDevice usual;
  lang::VirtualDevice host;
};
// Settles where each value of the program lives, says so at parameters, results and where a value
// is not where what uses it is computed, and copies from one device to another there. Throws
// Failure where annotations disagree.
void plan_devices(PassProgram& program, const DeviceDefaults& defaults);

}  // namespace relay::opt
