#include <fmt/format.h>

#include "plot/request.h"
#include "stdlib/ops/families.h"

// Pictures of values. The session draws them (plot/).
namespace relay::stdlib {

namespace {

[[noreturn]] void refuse(TypeCall& call, const Type& type) {
  lang::Diagnostic wrong(
      DiagnosticKind::TypeMismatch,
      fmt::format("`plot` does not draw a value of type `{}`", lang::to_string(type)), call.span);
  wrong.note(fmt::format("note: {}", plot::kWhatCanBeDrawn));
  throw lang::Failure(std::move(wrong));
}

void add_plot() {
  OpDef def;
  def.name = "plot";
  def.level = 0;
  def.doc =
      "Draws a value: as text, where `print` writes, or to a file, `.svg`, `.png` or `.txt`.\n"
      "A vector is a line against its index, `(xs, ys)` one against `xs`, a matrix an image in "
      "greys, a tensor (height, width, 3) one in colours. `kind` draws it otherwise: "
      "docs/prompt.md tells what each draws. NaN and infinities are gaps, and are counted.";
  def.example =
      "plot([1.0, 3.0, 2.0], file=\"/tmp/relay_example.png\")\n"
      "dim_of(load(\"/tmp/relay_example.png\", dtype=\"uint8\", shape=[-1, -1, 3]))\n"
      "// expect: 600i64";
  def.inputs = {{"value", "a tensor, a tuple or a record of tensors"}};
  def.attrs = {
      nullable_attr("kind", AttrKind::String,
                    "line, scatter, histogram, image or contour; None: as the value suggests"),
      nullable_attr("file", AttrKind::String, "where it is written; None: it is printed"),
      optional_attr("title", AttrKind::String, "", "what stands above it"),
      optional_attr("log", AttrKind::String, "", "the logarithmic axes: x, y or xy"),
      nullable_attr("bins", AttrKind::Int, "how many of a histogram, about; None: by the data"),
      nullable_attr("levels", AttrKind::Int, "how many of a contour plot, about; None: 7")};
  def.type_rule = [](TypeCall& call) {
    try {
      plot::request_of(*call.attrs);
    } catch (lang::Failure& failure) {
      for (lang::Diagnostic& each : failure.diagnostics) each.span = call.span;
      throw;
    }
    const Type& type = call.args[0];
    const auto* tensor = lang::as<TensorType>(type);
    const bool has_no_axes = tensor && tensor->shape.has_rank() && tensor->shape.rank() == 0;
    const bool is_drawn = type->kind != lang::TypeKind::Function &&
                          type->kind != lang::TypeKind::Reference && !has_no_axes;
    if (!is_drawn) refuse(call, type);
    call.returns(lang::unit_type());
    return RuleOutcome::Solved;
  };
  def.differentiable = false;
  def.effect = lang::Effect::Plot;
  lang::OpRegistry::instance().add(std::move(def));
}

}  // namespace

void add_plot_operators() { add_plot(); }

}  // namespace relay::stdlib
