// Values and scalars as text.

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include <fmt/format.h>

#include "lang/number_text.h"
#include "lang/print.h"
#include "lang/value.h"
#include "lang/value_digits.h"

namespace relay::lang {
namespace {

bool has_literal(DType dtype) {
  switch (dtype) {
    case DType::Bool:
    case DType::Int16:
    case DType::Int32:
    case DType::Int64:
    case DType::Float16:
    case DType::Float32:
    case DType::Float64:
      return true;
    default:
      return false;
  }
}

struct TextOptions : ValuePrintOptions {
  std::optional<int> digits = {};  // decimals of floats
};

std::string element_of(DType dtype, std::uint64_t bits, const TextOptions& options) {
  return options.digits && is_float(dtype)
             ? fmt::format("{:.{}f}", double_from_bits(dtype, bits), *options.digits)
             : element_text(dtype, bits);
}

// The letter of a literal's dtype; empty where a literal has that dtype without one.
std::string literal_suffix(DType dtype) {
  if (dtype == DType::Bool || dtype == DType::Int32 || dtype == DType::Float32) return "";
  return (is_float(dtype) ? "f" : "i") + std::to_string(bits_of(dtype));
}

// A scalar in the light notation; what has no literal there prints as a bare number.
std::string light_scalar(DType dtype, std::uint64_t bits, const TextOptions& options) {
  const std::string text = element_of(dtype, bits, options);
  if (options.digits && is_float(dtype)) return text;
  return has_literal(dtype) ? text + literal_suffix(dtype) : text;
}

// Writes one tensor of rank > 0 into `out`, whose current line began at `line_start`. Within a cell
// nothing else tells its dtype: the first element has a suffix, which holds for all, or the tensor
// is cast.
class TensorText {
 public:
  TensorText(const Tensor& tensor, const TextOptions& options, std::string& out,
             std::size_t line_start, bool in_cell, std::size_t max_lines)
      : tensor_(tensor), options_(options), out_(out), line_start_(line_start), in_cell_(in_cell) {
    choose_shown(options);
    collect_all();
    const std::size_t column = out_.size() - line_start_;
    while (max_lines > 0 && lines_at(column) > max_lines && show_less()) collect_all();
  }

  // Returns the start of the line that `out` ends with.
  std::size_t write() {
    const std::string name(name_of(tensor_.dtype()));
    if (in_cell_ && tensor_.element_count() == 0) {
      out_ +=
          fmt::format("zeros(shape=[{}], dtype=\"{}\")", fmt::join(tensor_.shape(), ", "), name);
      return line_start_;
    }
    const bool is_cast = in_cell_ && !has_literal(tensor_.dtype());
    if (is_cast) out_ += "cast(";
    const std::size_t column = out_.size() - line_start_;
    width_ = fits_one_line(column) ? 0 : widest_;
    write_axis(0, column);
    if (is_cast) out_ += fmt::format(", dtype=\"{}\")", name);
    return line_start_;
  }

  std::size_t line_breaks() const { return line_breaks_; }

 private:
  struct Shown {
    std::int64_t front;
    std::int64_t back;
    bool dots;
    std::int64_t count() const { return front + back; }
  };

  void choose_shown(const TextOptions& options) {
    double visible = 1;  // may be astronomic
    for (const std::int64_t extent : tensor_.shape()) {
      shown_.push_back({extent, 0, false});
      visible *= static_cast<double>(std::max<std::int64_t>(extent, 1));
    }
    const auto limit = static_cast<double>(std::max<std::int64_t>(options.max_elements, 1));
    if (visible <= limit) return;
    const std::int64_t edge = std::max(options.edge_items, 1);
    visible = 1;
    for (Shown& axis : shown_) {
      if (axis.front > 2 * edge) axis = {edge, edge, true};
      visible *= static_cast<double>(std::max<std::int64_t>(axis.count(), 1));
    }
    for (Shown& axis : shown_) {  // many short axes: from the outside, only the first of each
      if (visible <= limit) break;
      const std::int64_t count = axis.count();
      if (count <= 1) continue;
      axis = {1, 0, true};
      visible /= static_cast<double>(count);
    }
  }

  // How many lines there would be, with the opening bracket in this column.
  std::size_t lines_at(std::size_t column) const {
    if (fits_one_line(column)) return 1;
    std::size_t lines = lines_of_row(column);
    for (std::size_t axis = shown_.size() - 1; axis-- > 0;) {
      lines = lines * static_cast<std::size_t>(std::max<std::int64_t>(shown_[axis].count(), 1)) +
              (shown_[axis].dots ? 1 : 0);
    }
    return lines;
  }

  std::size_t lines_of_row(std::size_t column) const {
    const std::size_t indent = column + shown_.size();
    const std::size_t taken = indent + shown_.size();  // with the brackets at the end
    const std::size_t room = options_.columns > taken ? options_.columns - taken : 1;
    constexpr std::size_t kDots = 3;
    const std::size_t in_line = std::max<std::size_t>(room / (std::max(widest_, kDots) + 2), 1);
    const auto count =
        static_cast<std::size_t>(shown_.back().count() + (shown_.back().dots ? 1 : 0));
    return (count + in_line - 1) / in_line;
  }

  // One step less of an axis; false if there is nothing left to leave out. First of rows that are
  // longer than a line, then from the outside in, so that what is shown is more of fewer parts.
  bool show_less() {
    const bool has_outer = shown_.size() > 1;
    if ((!has_outer || lines_of_row(0) > 1) && halve(shown_.back(), 3)) return true;
    for (const std::int64_t least : {1, 0}) {
      for (std::size_t axis = 0; axis + 1 < shown_.size(); ++axis) {
        if (halve(shown_[axis], least)) return true;
      }
    }
    return halve(shown_.back(), 1);
  }

  // At least `least` stay at each end; 0: the last ones go.
  static bool halve(Shown& axis, std::int64_t least) {
    const std::int64_t count = axis.count();
    if (least == 0) {
      if (count <= 1) return false;
      axis = {1, 0, true};
      return true;
    }
    const std::int64_t edge = std::max(least, count / 4);
    if (count <= 2 * edge) return false;
    axis = {edge, edge, true};
    return true;
  }

  template <class F>
  void for_each_shown(std::size_t axis, F&& visit) const {
    const Shown& shown = shown_[axis];
    for (std::int64_t i = 0; i < shown.front; ++i) visit(i);
    const std::int64_t extent = tensor_.shape()[axis];
    for (std::int64_t i = extent - shown.back; i < extent; ++i) visit(i);
  }

  void collect_all() {
    texts_.clear();
    collect(0, 0);
    const bool has_suffix = in_cell_ && !texts_.empty() && has_literal(tensor_.dtype());
    if (has_suffix) texts_.front() += literal_suffix(tensor_.dtype());
    widest_ = 0;
    for (const std::string& text : texts_) widest_ = std::max(widest_, text.size());
  }

  void collect(std::size_t axis, std::int64_t linear) {
    if (axis == tensor_.rank()) {
      texts_.push_back(element_of(tensor_.dtype(), tensor_.bits_at(linear), options_));
      return;
    }
    for_each_shown(axis,
                   [&](std::int64_t i) { collect(axis + 1, linear * tensor_.shape()[axis] + i); });
  }

  // Then the elements are not aligned.
  bool fits_one_line(std::size_t column) const {
    return tensor_.rank() == 1 && column + joined_width() <= options_.columns;
  }

  std::size_t joined_width() const {
    std::size_t width = shown_[0].dots ? 7 : 2;
    for (const std::string& text : texts_) width += text.size() + 2;
    return width;
  }

  void line_break(std::size_t indent) {
    out_ += '\n';
    ++line_breaks_;
    line_start_ = out_.size();
    out_ += std::string(indent, ' ');
  }

  // `column`: where the opening bracket stands.
  void write_axis(std::size_t axis, std::size_t column) {
    out_ += '[';
    const bool innermost = axis + 1 == tensor_.rank();
    const Shown& shown = shown_[axis];
    const std::int64_t count = shown.count();
    for (std::int64_t i = 0; i < count; ++i) {
      if (i > 0) separate(innermost, column + 1);
      if (shown.dots && i == shown.front) {
        if (innermost && width_ > 0) make_room(column + 1, 4);
        out_ += "...";
        separate(innermost, column + 1);
      }
      if (innermost) {
        write_element(column + 1, i + 1 == count && !(shown.dots && shown.back == 0));
      } else {
        write_axis(axis + 1, column + 1);
      }
    }
    if (shown.dots && shown.back == 0) {
      separate(innermost, column + 1);
      out_ += "...";
    }
    out_ += ']';
  }

  void separate(bool innermost, std::size_t indent) {
    out_ += ',';
    if (innermost) {
      out_ += ' ';
    } else {
      line_break(indent);
    }
  }

  // Behind it stands a comma, or the brackets that the last element of a row may close.
  void write_element(std::size_t indent, bool is_last) {
    const std::string& text = texts_[next_++];
    const std::size_t width = std::max(width_, text.size());
    if (width_ > 0) make_room(indent, width + (is_last ? tensor_.rank() : 1));
    out_ += std::string(width - text.size(), ' ') + text;
  }

  void make_room(std::size_t indent, std::size_t width) {
    const std::size_t column = out_.size() - line_start_;
    if (column <= indent || column + width <= options_.columns) return;
    out_.pop_back();  // the blank after the comma
    line_break(indent);
  }

  const Tensor& tensor_;
  const TextOptions& options_;
  std::string& out_;
  std::size_t line_start_;
  const bool in_cell_;
  std::vector<Shown> shown_;        // by axis
  std::vector<std::string> texts_;  // of the elements shown
  std::size_t next_ = 0;
  std::size_t widest_ = 0;
  std::size_t width_ = 0;  // 0: elements are not aligned
  std::size_t line_breaks_ = 0;
};

// Does a value fit into what is left of a line? Looks at no more of it than a line can hold.
class FlatWidth {
 public:
  FlatWidth(const TextOptions& options, std::size_t room) : options_(options), room_(room) {}

  bool fits(const Value& value) {
    switch (value.kind()) {
      case ValueKind::Scalar:
        return take(light_scalar(value.dtype(), value.bits(), options_).size());
      case ValueKind::Tensor:
        return tensor(value.as_tensor());
      case ValueKind::Tuple:
        return take(2) && all(value.as_tuple().fields(), nullptr);
      case ValueKind::Adt: {
        const Constructor& constructor = value.as_adt().constructor();
        return take(constructor.name.size() + 2) &&
               all(value.as_adt().fields(), &constructor.field_names);
      }
      case ValueKind::Reference:
        return take(5) && fits(value.as_reference().content);
      default:
        return take(10);
    }
  }

 private:
  bool take(std::size_t width) {
    if (width > room_) return false;
    room_ -= width;
    return true;
  }

  bool all(std::span<const Value> fields, const std::vector<std::string>* names) {
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (names && i < names->size() && !take((*names)[i].size() + 3)) return false;
      if (!take(i > 0 ? 2 : 0) || !fits(fields[i])) return false;
    }
    return true;
  }

  bool tensor(const Tensor& tensor) {
    if (tensor.element_count() > static_cast<std::int64_t>(room_)) return false;
    std::string text;
    TensorText(tensor, options_, text, 0, true, 0).write();
    return text.find('\n') == std::string::npos && take(text.size());
  }

  const TextOptions& options_;
  std::size_t room_;
};

// Without recursion: a list is as deep as it is long.
class ValueText {
 public:
  explicit ValueText(const TextOptions& options)
      : options_(options), cells_left_(options.max_elements) {}

  std::string run(const Value& root) {
    begin(root);
    while (!open_.empty()) {
      Cell& cell = open_.back();
      if (cell.next == cell.fields.size()) {
        end(cell);
        open_.pop_back();
        continue;
      }
      separate(cell);
      if (cell.names) out_ += (*cell.names)[cell.next] + " = ";
      begin(cell.fields[cell.next++]);
    }
    return std::move(out_);
  }

 private:
  // How the fields of a cell stand: in a row; each on a line of its own; or the same, but the last
  // one, the rest of a list, under the cell itself and not further to the right.
  enum class Layout { Row, Lines, Chain };

  // A tuple, constructor application or reference that has been opened.
  struct Cell {
    ValueKind kind;
    std::span<const Value> fields;
    const std::vector<std::string>* names;  // of a record's fields, or null
    Layout layout;
    std::size_t indent;  // of the line on which the cell began
    std::size_t next = 0;
  };

  static bool is_rest(const AdtCell& cell, const Value& field) {
    return field.kind() == ValueKind::Adt &&
           field.as_adt().constructor().owner == cell.constructor().owner;
  }

  bool fits(const Value& value, std::size_t room) const {
    return FlatWidth(options_, room).fits(value);
  }

  Layout layout_of(const Value& value, std::span<const Value> fields, bool has_names) const {
    if (indent_ > options_.columns / 2) return Layout::Row;  // too deep for lines to help
    const std::size_t column = out_.size() - line_start_;
    const std::size_t room = column < options_.columns ? options_.columns - column : 0;
    if (value.kind() == ValueKind::Adt && !has_names) {
      const bool has_rest = is_rest(value.as_adt(), fields.back());
      const std::size_t own = fields.size() - (has_rest ? 1 : 0);
      for (std::size_t i = 0; i < own; ++i) {
        if (!fits(fields[i], options_.columns - 4)) return has_rest ? Layout::Chain : Layout::Lines;
      }
      return Layout::Row;
    }
    // A single field gains nothing by a line of its own.
    return fields.size() < 2 || fits(value, room) ? Layout::Row : Layout::Lines;
  }

  void line_break(std::size_t indent) {
    out_ += '\n';
    ++lines_;
    line_start_ = out_.size();
    indent_ = indent;
    out_ += std::string(indent, ' ');
  }

  void separate(const Cell& cell) {
    if (cell.next > 0) out_ += cell.layout == Layout::Row ? ", " : ",";
    if (cell.layout == Layout::Row) return;
    const bool is_last = cell.next + 1 == cell.fields.size();
    line_break(cell.layout == Layout::Chain && is_last ? cell.indent : cell.indent + 2);
  }

  void begin(const Value& value) {
    switch (value.kind()) {
      case ValueKind::Empty:
        out_ += "<nothing>";
        break;
      case ValueKind::Scalar:
        out_ += light_scalar(value.dtype(), value.bits(), options_);
        break;
      case ValueKind::Tensor:
        write_tensor(value.as_tensor());
        break;
      case ValueKind::Closure:
        out_ += "<function>";
        break;
      case ValueKind::Operator:
        out_ += value.as_op().name;
        break;
      case ValueKind::Constructor:
        out_ += value.as_constructor().name;
        break;
      case ValueKind::Tuple:
        open(value, "(", value.as_tuple().fields(), nullptr);
        break;
      case ValueKind::Adt: {
        const AdtCell& cell = value.as_adt();
        const Constructor& constructor = cell.constructor();
        if (cell.fields().empty()) {
          out_ += constructor.name;
          break;
        }
        const bool is_record = constructor.field_names.size() == cell.fields().size();
        open(value, constructor.name + "(", cell.fields(),
             is_record ? &constructor.field_names : nullptr);
        break;
      }
      case ValueKind::Reference: {
        const Value& content = value.as_reference().content;
        if (!open_references_.insert(&content).second) {  // it contains itself
          out_ += "ref(...)";
        } else {
          open(value, "ref(", {&content, 1}, nullptr);
        }
        break;
      }
    }
  }

  bool has_lines() const { return options_.max_lines == 0 || lines_ < options_.max_lines; }

  void write_tensor(const Tensor& tensor) {
    const bool in_cell = !open_.empty();
    if (in_cell && !has_lines()) {
      out_ += "...";
      return;
    }
    // In a cell there is always room for the first and the last row.
    constexpr std::size_t kLeast = 3;
    const std::size_t left = options_.max_lines - std::min(lines_, options_.max_lines);
    const std::size_t most = options_.max_lines == 0 ? 0 : std::max(left, kLeast);
    TensorText text(tensor, options_, out_, line_start_, in_cell, most);
    line_start_ = text.write();
    lines_ += text.line_breaks();
  }

  void open(const Value& value, const std::string& text, std::span<const Value> fields,
            const std::vector<std::string>* names) {
    if (cells_left_-- <= 0 || !has_lines()) {
      out_ += "...";
      if (value.kind() == ValueKind::Reference) open_references_.erase(fields.data());
      return;
    }
    const Layout layout = layout_of(value, fields, names != nullptr);
    out_ += text;
    open_.push_back({value.kind(), fields, names, layout, indent_});
  }

  void end(const Cell& cell) {
    if (cell.kind == ValueKind::Reference) open_references_.erase(cell.fields.data());
    if (cell.layout == Layout::Lines) line_break(cell.indent);
    out_ += cell.kind == ValueKind::Tuple && cell.fields.size() == 1 ? ",)" : ")";
  }

  const TextOptions options_;
  std::int64_t cells_left_;
  std::string out_;
  std::size_t line_start_ = 0;
  std::size_t lines_ = 0;   // that have been ended
  std::size_t indent_ = 0;  // of the line that `out_` ends with
  std::vector<Cell> open_;
  std::unordered_set<const Value*> open_references_;
};

}  // namespace

std::string to_string(const Value& value, const ValuePrintOptions& options) {
  return ValueText({options}).run(value);
}

std::string to_string_with_digits(const Value& value, int digits) {
  return ValueText({{}, digits}).run(value);
}

std::string print_scalar(DType dtype, std::uint64_t bits) {
  const std::string text =
      is_float(dtype) ? float_text(dtype, bits, false) : element_text(dtype, bits);
  switch (dtype) {
    case DType::Bool:
    case DType::Int32:
      return text;
    case DType::Float32:
      return text + "f";
    case DType::Int16:
    case DType::Int64:
      return text + "i" + std::to_string(bits_of(dtype));
    case DType::Float16:
    case DType::Float64:
      return text + "f" + std::to_string(bits_of(dtype));
    default:
      break;
  }
  std::string number = is_float(dtype) ? text + "f" : text;
  // Beyond int64 there is no literal; the cast wraps.
  if (dtype == DType::UInt64 && bits >> 63) {
    number = std::to_string(static_cast<std::int64_t>(bits)) + "i64";
  }
  return "cast(" + number + ", dtype=\"" + std::string(name_of(dtype)) + "\")";
}

}  // namespace relay::lang
