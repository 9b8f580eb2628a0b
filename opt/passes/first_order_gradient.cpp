#include "opt/pass.h"

namespace relay::opt {

Pass gradient_pass();  // gradient.cpp

Pass first_order_gradient_pass() {
  Pass pass = gradient_pass();
  pass.name = "FirstOrderGradient";
  pass.doc = "the same as Gradient: both work on the whole language";
  return pass;
}

}  // namespace relay::opt
