#pragma once

#include <string>

namespace relay::repl {

// A plot or a graph, for whoever shows more than characters.
struct ShownPicture {
  std::string text;  // what a terminal without points shows, each line with its break
  std::string svg;   // a document that stands alone; empty where there is none
};

}  // namespace relay::repl
