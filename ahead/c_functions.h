#pragma once

#include <string>
#include <vector>

#include "ahead/c_text.h"

namespace relay::ahead {

// C of the functions of an object: records as structures, prototypes with what each says of itself,
// and bodies, which call the entry of their number in `relay_object`.
struct CFunctions {
  std::string structs;
  std::string declarations;
  std::string bodies;
};
// `object`: what names begin with. Parameters, fields and structures that would have a name that is
// taken get a number.
CFunctions c_functions(std::string object, const std::vector<Exported>& functions);

}  // namespace relay::ahead
