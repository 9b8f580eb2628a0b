#pragma once

#include <span>
#include <string_view>

namespace relay::lang {

// A name of NumPy, JAX, PyTorch, TensorFlow, Dex, Futhark or another language, and what it is here.
struct FamiliarName {
  std::string_view theirs;
  std::string_view ours;  // what it is called here; empty: no one name
  std::string_view help;  // what to write instead, where that is more than another name
};

// An attribute of an operator, likewise: `dim` is `axis`. Several may be: `shape` or `newshape`.
struct FamiliarAttribute {
  std::string_view theirs;
  std::string_view ours;
};
std::span<const FamiliarAttribute> familiar_attributes();

// All that are known.
std::span<const FamiliarName> familiar_names();
// Null where the name is not known to be one of theirs. A name of theirs that has no name here is
// still known: then nothing that merely looks like it is meant.
const FamiliarName* find_familiar(std::string_view name);

// `np.linalg.norm` without the libraries in front: `norm`. The name itself where there are none.
std::string_view without_library(std::string_view name);

}  // namespace relay::lang
