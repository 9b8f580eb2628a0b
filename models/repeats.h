#pragma once

#include <functional>
#include <string>

#include "lang/type.h"
#include "models/program.h"

namespace relay::models {

// What the search needs to know of the program.
struct RepeatContext {
  // The type of a name that lines mention (`x`, `w.fc_weight`); null for what is none.
  std::function<lang::Type(const std::string& name)> type_of;
  // Adds a definition; false where it is none that can be read and typed, and then nothing is
  // added.
  std::function<bool(const std::string& name, const std::string& text)> define;
  Names& names;
};

// Runs of lines that occur more than once, but for the values and the weights that they mention,
// become functions, as the blocks of a network are: `def block(x, weight, …) { … }`, and a line
// that calls it for each. The rest stays as it is. Cost: bounded; what is longer than some hundred
// lines is not looked at as a whole.
void name_repeats(Block& block, const RepeatContext& context);

}  // namespace relay::models
