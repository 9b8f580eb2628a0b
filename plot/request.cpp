#include "plot/request.h"

#include <charconv>

#include <fmt/format.h>

#include "lang/diagnostic.h"

namespace relay::plot {

using lang::DiagnosticKind;

namespace {

constexpr Kind kKinds[] = {Kind::Line, Kind::Scatter, Kind::Histogram, Kind::Image, Kind::Contour};
constexpr std::size_t kShortestName = 3;

// How many bins or levels there may be.
constexpr std::int64_t kMostParts = 10'000;

std::int64_t count_of(std::string_view name, const std::string& value) {
  std::int64_t count = 0;
  const auto parsed = std::from_chars(value.data(), value.data() + value.size(), count);
  const bool is_number = parsed.ec == std::errc() && parsed.ptr == value.data() + value.size();
  if (!is_number || count < 1 || count > kMostParts) {
    lang::fail(DiagnosticKind::BadAttribute,
               fmt::format("`{}` is a number from 1 to {}, not `{}`", name, kMostParts, value));
  }
  return count;
}

bool ends_in(std::string_view path, std::string_view extension) {
  if (path.size() <= extension.size()) return false;
  const std::string_view end = path.substr(path.size() - extension.size());
  for (std::size_t i = 0; i < end.size(); ++i) {
    const char c = end[i] >= 'A' && end[i] <= 'Z' ? static_cast<char>(end[i] - 'A' + 'a') : end[i];
    if (c != extension[i]) return false;
  }
  return true;
}

}  // namespace

std::string_view name_of(Kind kind) {
  switch (kind) {
    case Kind::Line:
      return "line";
    case Kind::Scatter:
      return "scatter";
    case Kind::Histogram:
      return "histogram";
    case Kind::Image:
      return "image";
    case Kind::Contour:
      return "contour";
  }
  return "";
}

std::optional<Kind> kind_named(std::string_view name) {
  for (const Kind kind : kKinds) {
    if (name.size() >= kShortestName && name_of(kind).starts_with(name)) return kind;
  }
  return std::nullopt;
}

bool set_option(Request& request, std::string_view name, const std::string& value) {
  if (name == "kind") {
    request.kind = kind_named(value);
    if (!request.kind) {
      lang::fail(
          DiagnosticKind::BadAttribute,
          fmt::format("`kind` is line, scatter, histogram, image or contour, not `{}`", value));
    }
  } else if (name == "title") {
    request.title = value;
  } else if (name == "log") {
    request.has_log_x = value.find('x') != std::string::npos;
    request.has_log_y = value.find('y') != std::string::npos;
    if (value.find_first_not_of("xy") != std::string::npos) {
      lang::fail(DiagnosticKind::BadAttribute, fmt::format("`log` is x, y or xy, not `{}`", value));
    }
  } else if (name == "bins") {
    request.bins = count_of(name, value);
  } else if (name == "levels") {
    request.levels = count_of(name, value);
  } else if (name == "file") {
    static_cast<void>(file_type_of(value));
    request.file = value;
  } else {
    return false;
  }
  return true;
}

Request request_of(const lang::Attrs& attrs) {
  Request request;
  for (const lang::Attr& attr : attrs.list) {
    if (const std::string* text = attr.value.as_string()) {
      set_option(request, attr.key, *text);
    } else if (const std::int64_t* number = attr.value.as_int()) {
      set_option(request, attr.key, std::to_string(*number));
    }
  }
  return request;
}

FileType file_type_of(std::string_view path) {
  if (ends_in(path, ".svg")) return FileType::Svg;
  if (ends_in(path, ".png")) return FileType::Png;
  if (ends_in(path, ".txt")) return FileType::Text;
  lang::fail(DiagnosticKind::BadAttribute,
             fmt::format("a plot is written as `.svg`, `.png` or `.txt`, and not as `{}`", path));
}

}  // namespace relay::plot
