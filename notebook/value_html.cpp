#include "notebook/value_html.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "lang/number_text.h"
#include "notebook/html.h"

namespace relay::notebook {

namespace {

using lang::Tensor;
using lang::Value;
using lang::ValueKind;

constexpr std::int64_t kMostRows = 20;
constexpr std::int64_t kMostColumns = 16;
constexpr std::int64_t kMostSlices = 6;  // matrices of a tensor
constexpr std::size_t kMostFields = 24;
constexpr int kDeepest = 3;  // tuples and records inside each other

// Indices along an axis that are shown; -1 is in the place of those that are not.
std::vector<std::int64_t> shown_of(std::int64_t extent, std::int64_t most) {
  std::vector<std::int64_t> indices;
  for (std::int64_t i = 0; i < extent; ++i) {
    if (extent > most && i == most / 2) {
      indices.push_back(-1);
      i = extent - most / 2;
    }
    indices.push_back(i);
  }
  return indices;
}

// Of a row and not of each cell, of which there are many.
constexpr std::string_view kRow = "<tr style=\"text-align:right\">";

std::string index_cell(std::int64_t index) {
  return fmt::format("<th style=\"opacity:0.55\">{}</th>",
                     index < 0 ? std::string("…") : std::to_string(index));
}

std::string element_cell(const Tensor& tensor, std::int64_t linear) {
  const bool is_finite = !lang::is_float(tensor.dtype()) || std::isfinite(tensor.number_at(linear));
  return fmt::format("<td{}>{}</td>", is_finite ? "" : " style=\"color:#d1503f;font-weight:bold\"",
                     escaped(lang::element_text(tensor.dtype(), tensor.bits_at(linear))));
}

// The matrix of the last two axes whose first element is `base`; a vector is one row.
std::string matrix(const Tensor& tensor, std::int64_t base) {
  const auto& shape = tensor.shape();
  const std::int64_t columns = shape.back();
  const bool is_vector = shape.size() == 1;
  const auto across = shown_of(columns, kMostColumns);
  std::string html =
      fmt::format("<table style=\"{}\"><thead><tr>{}", kTable, is_vector ? "" : "<th></th>");
  for (const std::int64_t column : across) html += index_cell(column);
  html += "</tr></thead><tbody>";
  for (const std::int64_t row : shown_of(is_vector ? 1 : shape[shape.size() - 2], kMostRows)) {
    html += kRow;
    if (!is_vector) html += index_cell(row);
    for (const std::int64_t column : across) {
      html += row < 0 || column < 0 ? "<td>…</td>"
                                    : element_cell(tensor, base + row * columns + column);
    }
    html += "</tr>";
  }
  return html + "</tbody></table>";
}

std::string tensor_html(const Tensor& tensor) {
  if (tensor.rank() <= 2) return matrix(tensor, 0);
  const auto& shape = tensor.shape();
  const std::int64_t size = shape[shape.size() - 2] * shape.back();
  const std::int64_t count = tensor.element_count() / size;
  std::string html;
  for (const std::int64_t slice : shown_of(count, kMostSlices)) {
    if (slice < 0) {
      html += fmt::format("<div style=\"opacity:0.7\">… {} more</div>", count - kMostSlices);
      continue;
    }
    std::string index;
    std::int64_t rest = slice;
    for (std::size_t axis = shape.size() - 2; axis-- > 0; rest /= shape[axis])
      index = fmt::format("{}, {}", rest % shape[axis], index);
    html += fmt::format("<div style=\"font-family:monospace;opacity:0.7\">[{}:, :]</div>{}", index,
                        matrix(tensor, slice * size));
  }
  return html;
}

bool is_shown(const Tensor& tensor) { return tensor.rank() > 0 && tensor.element_count() > 0; }

bool is_record(const Value& value) {
  return value.kind() == ValueKind::Adt && !value.as_adt().constructor().field_names.empty();
}

std::span<const Value> fields_of(const Value& value) {
  if (value.kind() == ValueKind::Tuple) return value.as_tuple().fields();
  if (is_record(value)) return value.as_adt().fields();
  return {};
}

bool has_tensor(const Value& value, int depth) {
  if (value.kind() == ValueKind::Tensor) return is_shown(value.as_tensor());
  if (depth == kDeepest) return false;
  const auto fields = fields_of(value);
  return std::any_of(fields.begin(), fields.end(),
                     [&](const Value& field) { return has_tensor(field, depth + 1); });
}

std::string body_of(const Value& value, int depth) {
  if (!has_tensor(value, depth)) {
    constexpr std::size_t kLines = 6;
    return highlighted(lang::to_string(value, {.max_elements = 100, .max_lines = kLines}));
  }
  if (value.kind() == ValueKind::Tensor) return tensor_html(value.as_tensor());
  const auto fields = fields_of(value);
  std::string html = fmt::format("<table style=\"{}\"><tbody>", kTable);
  for (std::size_t i = 0; i < std::min(fields.size(), kMostFields); ++i) {
    const std::string name =
        is_record(value) ? value.as_adt().constructor().field_names[i] : std::to_string(i);
    html += fmt::format(
        "<tr><th style=\"{};vertical-align:top\">{}</th><td style=\"text-align:left\">{}</td></tr>",
        kHeadCell, escaped(name), body_of(fields[i], depth + 1));
  }
  if (fields.size() > kMostFields)
    html += fmt::format("<tr><td>… {} more</td></tr>", fields.size() - kMostFields);
  return html + "</tbody></table>";
}

}  // namespace

std::string html_of(const Value& value, std::string_view type) {
  if (!has_tensor(value, 0)) return "";
  return fmt::format("<div>{}{}</div>", body_of(value, 0), highlighted(type));
}

}  // namespace relay::notebook
