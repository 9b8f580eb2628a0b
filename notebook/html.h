#pragma once

#include <string>
#include <string_view>

#include "repl/table.h"

// Pieces of HTML for the output of a cell. They stand alone, without scripts or a style sheet, as a
// notebook is shown by programs that know nothing of us, in the dark or not.
namespace relay::notebook {

// The text as itself, also within an attribute.
std::string escaped(std::string_view text);

// A text of the language, or a value of it, in the colours of the prompt.
std::string highlighted(std::string_view text);

// The first cell of a line, a text of the language, is as deep as the line.
std::string html_of(const repl::Table& table);

// Styles of tables, of cells with text, and of headings.
inline constexpr std::string_view kTextCell = "text-align:left;white-space:pre";
inline constexpr std::string_view kHeadCell = "text-align:left;opacity:0.7;font-weight:normal";
inline constexpr std::string_view kTable =
    "border-collapse:separate;border-spacing:0.7em 0;font-family:monospace;font-size:90%";

}  // namespace relay::notebook
