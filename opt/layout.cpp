#include "opt/layout.h"

#include <algorithm>
#include <charconv>

namespace relay::opt {

namespace {
bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }
char inner_of(char letter) { return static_cast<char>(letter - 'A' + 'a'); }
}  // namespace

std::string letters_of(const std::string& layout) {
  std::string letters = layout;
  std::erase_if(letters, is_digit);
  return letters;
}

std::vector<std::size_t> axes_of(const std::string& layout, char letter) {
  const std::string letters = letters_of(layout);
  const std::size_t outer = letters.find(letter);
  const std::size_t inner = letters.find(inner_of(letter));
  if (outer == std::string::npos || (inner != std::string::npos && inner < outer)) return {};
  if (inner == std::string::npos) return {outer};
  return {outer, inner};
}

std::int64_t block_of(const std::string& layout, char letter) {
  const std::size_t place = layout.find(inner_of(letter));
  if (place == std::string::npos) return 0;
  std::size_t first = place;
  while (first > 0 && is_digit(layout[first - 1])) --first;
  std::int64_t block = 0;  // it stays, where the number is too large
  std::from_chars(layout.data() + first, layout.data() + place, block);
  return block;
}

}  // namespace relay::opt
