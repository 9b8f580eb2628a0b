#pragma once

#include <string>

namespace relay::notebook {

// One thing to show, in all the forms that there are of it: whoever shows it takes the best that it
// can. Only the text is always there.
struct Shown {
  std::string plain;
  std::string html = {};
  std::string svg = {};
};

}  // namespace relay::notebook
