#pragma once

#include <string>

namespace relay::tests {

// What is wrong with a text as an XML document of elements, attributes and character data, as far
// as we write them: names that match, quotes, no `<` or `&` that means itself. Empty if nothing is.
std::string xml_trouble(const std::string& text);

}  // namespace relay::tests
