#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lang/attrs.h"

// What is to be drawn of a value, and how: the attributes of `plot`, and the words of `:plot`.
namespace relay::plot {

enum class Kind : std::uint8_t { Line, Scatter, Histogram, Image, Contour };
std::string_view name_of(Kind kind);

struct Request {
  std::optional<Kind> kind = {};  // none: as the value suggests
  std::string title = {};
  bool has_log_x = false;
  bool has_log_y = false;
  std::optional<std::int64_t> bins = {};
  std::optional<std::int64_t> levels = {};
  std::string file = {};  // empty: to be shown
};

// Puts an attribute of `plot`, as text, into a request. False if none is called so. Throws
// Failure(BadAttribute), without a place, where the value is none that it can have.
bool set_option(Request& request, std::string_view name, const std::string& value);

// Of the attributes of a call of `plot`. Throws as set_option() does, also for the name of a file
// of an unknown type.
Request request_of(const lang::Attrs& attrs);

// The kind of this name, or of which this is the beginning, of three letters or more.
std::optional<Kind> kind_named(std::string_view name);

// What a file is written as, by the extension of its name.
enum class FileType : std::uint8_t { Svg, Png, Text };
// Throws Failure(BadAttribute).
FileType file_type_of(std::string_view path);

inline constexpr std::string_view kWhatCanBeDrawn =
    "what can be drawn: a vector; (xs, ys); a tuple or record of these; a matrix; a tensor "
    "(height, "
    "width, 1, 3 or 4)";

}  // namespace relay::plot
