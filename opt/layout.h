#pragma once

#include <cstdint>
#include <string>
#include <vector>

// Private to the passes that look at where the channels of a tensor are.
namespace relay::opt {

// The axes of a layout: a letter each, `NCHW4c` has five.
std::string letters_of(const std::string& layout);
// The axes that carry what `letter`, a capital, names: one, or the blocks and what is inside of
// them. Empty where there are none, or the insides stand before the blocks.
std::vector<std::size_t> axes_of(const std::string& layout, char letter);
// The extent of the blocks of `letter`; 0 where it is not in blocks, or they are too large to
// count.
std::int64_t block_of(const std::string& layout, char letter);

}  // namespace relay::opt
