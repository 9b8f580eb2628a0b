#pragma once

#include <string_view>

namespace relay::repl::editor {

// U+FFFD, for what is no UTF-8 or cannot be shown.
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

}  // namespace relay::repl::editor
