#pragma once

#include <string>
#include <string_view>

namespace relay::repl::editor {

// A pasted text as it becomes a part of an entry: line breaks are `\n`, tabs are kept, other
// control characters and the line breaks at its end are not. Of a transcript (a line begins with
// the prompt) the inputs are left, without their prompts; what stands between them was put out and
// is dropped.
std::string pasted_text(std::string_view text);

}  // namespace relay::repl::editor
