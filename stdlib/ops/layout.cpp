#include <algorithm>
#include <optional>
#include <string>

#include "stdlib/ops/families.h"
#include "stdlib/ops/types.h"

// The order of axes, and blocks of them, as strings such as `NCHW16c` say.
namespace relay::stdlib {

namespace build = lang::build;

namespace {

// --- Layouts ---

// An axis by its capital letter; `block` > 0 for the axis inside a block, of that extent.
struct BlockAxis {
  char letter;
  std::int64_t block;
};
using BlockLayout = std::vector<BlockAxis>;

constexpr std::int64_t kLargestBlock = 1 << 24;

// Nothing for a text that is no layout: each letter at most once as an axis and once as a block,
// and no block without its axis.
std::optional<BlockLayout> parse_layout(const std::string& text) {
  BlockLayout layout;
  std::int64_t number = 0;
  for (const char c : text) {
    if (c >= '0' && c <= '9') {
      number = 10 * number + (c - '0');
      if (number > kLargestBlock) return std::nullopt;
      continue;
    }
    const bool is_block = c >= 'a' && c <= 'z';
    if (!is_block && (c < 'A' || c > 'Z')) return std::nullopt;
    if (is_block != (number > 0)) return std::nullopt;
    const char letter = is_block ? static_cast<char>(c - 'a' + 'A') : c;
    for (const BlockAxis& known : layout) {
      if (known.letter == letter && (known.block > 0) == is_block) return std::nullopt;
    }
    layout.push_back({letter, number});
    number = 0;
  }
  const auto has_axis = [&](char letter) {
    return std::any_of(layout.begin(), layout.end(), [&](const BlockAxis& axis) {
      return axis.letter == letter && axis.block == 0;
    });
  };
  const bool whole = std::all_of(layout.begin(), layout.end(),
                                 [&](const BlockAxis& axis) { return has_axis(axis.letter); });
  if (number != 0 || layout.empty() || !whole) return std::nullopt;
  return layout;
}

// The extent of a block of that axis; 1 where there is none.
std::int64_t block_of(const BlockLayout& layout, char letter) {
  for (const BlockAxis& axis : layout) {
    if (axis.letter == letter && axis.block > 0) return axis.block;
  }
  return 1;
}

std::size_t axis_of(const BlockLayout& layout, char letter) {
  std::size_t at = 0;
  while (layout[at].letter != letter || layout[at].block > 0) ++at;
  return at;
}

std::string letters_of(const BlockLayout& layout) {
  std::string letters;
  for (const BlockAxis& axis : layout) {
    if (axis.block == 0) letters += axis.letter;
  }
  std::sort(letters.begin(), letters.end());
  return letters;
}

// --- layout_transform ---

BlockLayout required_layout(const TypeCall& call, const char* key) {
  const std::string& text = call.attrs->get_string(key);
  auto layout = parse_layout(text);
  if (!layout) {
    call.fail(DiagnosticKind::BadAttribute,
              "`" + std::string(key) + "` is \"" + text +
                  "\", and must name axes by capital letters, and blocks such as `16c`");
  }
  return *layout;
}

RuleOutcome layout_rule(TypeCall& call) {
  const Type data = call.tensor(0);
  const BlockLayout from = required_layout(call, "src_layout");
  const BlockLayout to = required_layout(call, "dst_layout");
  if (letters_of(from) != letters_of(to)) {
    call.fail(DiagnosticKind::BadAttribute, "`" + call.attrs->get_string("src_layout") + "` and `" +
                                                call.attrs->get_string("dst_layout") +
                                                "` do not have the same axes");
  }
  const Shape known = result_shape(call, as_tensor(data).dtype);
  const Shape result = with_rank(call, known, to.size());
  if (!as_tensor(data).shape.has_rank()) return RuleOutcome::Stuck;
  const Shape& shape = as_tensor(data).shape;
  if (shape.rank() != from.size()) {
    call.fail(DiagnosticKind::RankMismatch, "layout `" + call.attrs->get_string("src_layout") +
                                                "` has " + std::to_string(from.size()) +
                                                " axes, and shape `" + to_string(shape) + "` " +
                                                std::to_string(shape.rank()));
  }
  for (std::size_t axis = 0; axis < from.size(); ++axis) {
    const Dim& dim = shape[axis];
    if (from[axis].block == 0) continue;
    if (dim.is_constant() && !dim.is_constant(from[axis].block)) {
      call.fail(DiagnosticKind::ShapeMismatch,
                "axis " + std::to_string(axis) + " of `" + to_string(shape) + "` is " +
                    dim.to_string() + ", and a block of `" + call.attrs->get_string("src_layout") +
                    "` has " + std::to_string(from[axis].block));
    }
    call.solver.unify(dim, Dim(from[axis].block));
  }
  if (!is_settled(shape)) return RuleOutcome::Stuck;
  for (std::size_t axis = 0; axis < to.size(); ++axis) {
    const char letter = to[axis].letter;
    const Dim total = shape[axis_of(from, letter)] * Dim(block_of(from, letter));
    const std::int64_t block = block_of(to, letter);
    call.solver.unify(result[axis], to[axis].block > 0
                                        ? Dim(to[axis].block)
                                        : Dim::floor_div(total + Dim(block - 1), Dim(block)));
  }
  return RuleOutcome::Solved;
}

// The position along the whole axis `letter` of element `at`.
Expr whole_position(const BlockLayout& layout, char letter, const Indices& at) {
  const Expr& outer = at[axis_of(layout, letter)];
  for (std::size_t axis = 0; axis < layout.size(); ++axis) {
    if (layout[axis].letter == letter && layout[axis].block > 0)
      return build::add(build::mul(outer, build::index_constant(layout[axis].block)), at[axis]);
  }
  return outer;
}

Expr layout_definition(const DefinitionCall& call) {
  const Expr& data = call.args[0];
  const BlockLayout from = *parse_layout(call.attrs->get_string("src_layout"));
  const BlockLayout to = *parse_layout(call.attrs->get_string("dst_layout"));
  const std::vector<Dim>& dims = lang::as<TensorType>(call.result)->shape.dims();
  const DType dtype = call.tensor(0).dtype.known();
  return build::comprehension(dims, [&](const Indices& out) {
    Expr inside;  // what fills up the last block is 0
    Indices place;
    for (const BlockAxis& axis : from) {
      const std::int64_t block = block_of(from, axis.letter);
      const std::int64_t total = dims_of(data)[axis_of(from, axis.letter)].constant() * block;
      const std::int64_t room =
          dims[axis_of(to, axis.letter)].constant() * block_of(to, axis.letter);
      Expr position = whole_position(to, axis.letter, out);
      if (room > total) {
        const Expr end = build::index_constant(total);
        const Expr fits = build::prim(Prim::Lt, {position, end});
        if (axis.block == 0) inside = inside ? build::prim(Prim::And, {inside, fits}) : fits;
        position = build::prim(Prim::Min, {position, build::index_constant(total - 1)});
      }
      if (block > 1) {
        position = build::prim(axis.block > 0 ? Prim::FloorMod : Prim::FloorDiv,
                               {position, build::index_constant(block)});
      } else if (axis.block == 1) {
        position = build::index_constant(0);
      }
      place.push_back(position);
    }
    const Expr element = build::at(data, place);
    return inside ? build::select(inside, element, build::constant(dtype, 0)) : element;
  });
}

void add_layout_transform() {
  OpDef def;
  def.name = "layout_transform";
  def.level = 5;
  def.doc =
      "The data with its axes in another order, and split into blocks or joined.\n"
      "A layout names axes by capital letters; `16c` is the axis inside blocks of 16 of axis C. "
      "Where an axis does not fall into whole blocks, the last one is filled up with 0, and "
      "joining blocks leaves the filling in.";
  def.example =
      "layout_transform([[1, 2, 3]], src_layout=\"NC\", dst_layout=\"NC2c\")\n"
      "// expect: [[[1, 2], [3, 0]]]";
  def.inputs = {{"data", "the tensor"}};
  def.attrs = {required_attr("src_layout", AttrKind::String, "what the axes of the data are"),
               required_attr("dst_layout", AttrKind::String, "what those of the result are")};
  def.type_rule = layout_rule;
  def.definition = layout_definition;
  lang::OpRegistry::instance().add(std::move(def));
}

// --- Layouts that a schedule has chosen ---

// `8N16n`: each axis an extent and letters. Nothing for another text.
std::optional<std::vector<Dim>> written_extents(const std::string& text) {
  std::vector<Dim> dims;
  std::size_t i = 0;
  while (i < text.size()) {
    std::int64_t extent = 0;
    const std::size_t first = i;
    for (; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i) {
      extent = 10 * extent + (text[i] - '0');
      if (extent > kLargestBlock) return std::nullopt;
    }
    const std::size_t letters = i;
    while (i < text.size() && std::isalpha(static_cast<unsigned char>(text[i]))) ++i;
    if (letters == first || i == letters) return std::nullopt;
    dims.emplace_back(extent);
  }
  return dims;
}

OpDef scheduled(const char* name, const char* doc) {
  OpDef def;
  def.name = name;
  def.level = 5;
  def.doc = doc;
  def.inputs = {{"data", "the tensor"}};
  def.definition = [name](const DefinitionCall&) -> Expr {
    lang::fail(DiagnosticKind::Unsupported,
               std::string("not supported: running `") + name + "`, a layout of TVM's schedules",
               {});
  };
  return def;
}

void add_scheduled_layouts() {
  OpDef def = scheduled("auto_scheduler_layout_transform",
                        "A change of layout made by TVM's auto scheduler: typed, and not run.\n"
                        "The extents of the result stand in its layout.");
  def.example =
      "let f = fn (x: Tensor[(4, 2), float32]) {\n"
      "  auto_scheduler_layout_transform(x, src_layout=\"4A2B\", dst_layout=\"2A2A2B\")\n"
      "};\n"
      "print(\"typed, and not run\")\n// expect: typed, and not run";
  def.attrs = {required_attr("src_layout", AttrKind::String, "extents and axes of the data"),
               required_attr("dst_layout", AttrKind::String, "extents and axes of the result")};
  def.type_rule = [](TypeCall& call) {
    const auto dims = written_extents(call.attrs->get_string("dst_layout"));
    if (!dims) {
      call.fail(DiagnosticKind::BadAttribute,
                "`dst_layout` is \"" + call.attrs->get_string("dst_layout") +
                    "\", and must list extents with their axes, such as `4A2B`");
    }
    call.returns(lang::tensor_type(Shape(*dims), call.tensor_node(0).dtype));
    return RuleOutcome::Solved;
  };
  lang::OpRegistry::instance().add(std::move(def));
}

}  // namespace

void add_layout_operators() {
  add_layout_transform();
  add_scheduled_layouts();
}

}  // namespace relay::stdlib
