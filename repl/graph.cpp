#include "repl/graph.h"

#include <fmt/format.h>

#include "formats/output_file.h"
#include "formats/png.h"
#include "plot/sixel.h"
#include "repl/child.h"
#include "repl/derivative.h"
#include "repl/plotting.h"
#include "repl/shown_picture.h"

namespace relay::repl {

using lang::Diagnostic;
using lang::DiagnosticKind;
using lang::Expr;

namespace {

constexpr std::size_t kMostNodes = 200;

std::string extension_of(const std::string& path) {
  const std::size_t dot = path.rfind('.');
  return dot == std::string::npos ? "" : path.substr(dot + 1);
}

}  // namespace

plot::Dataflow dataflow_of_program(const Expr& expr, bool is_gradient, const std::string& text,
                                   lang::Module& module, typecheck::Checker& checker,
                                   Pipeline& pipeline) {
  const auto body_of = [&](const lang::GlobalVar& global) -> Expr {
    const lang::Definition* definition = module.lookup(global.name);
    const bool is_own = definition && definition->function &&
                        definition->origin != lang::Origin::Prelude && global.type;
    if (!is_own) return nullptr;
    auto body = checker.specialise(global.name, global.type);
    return body ? std::move(body).or_throw() : nullptr;
  };
  if (is_gradient) {
    const Expr typed = derivative_of(expr, lang::DiffMode::Grad, checker);
    const Expr made = pipeline.optimise(pipeline.to_core(typed));
    return plot::dataflow_of(
        text, made, [](const lang::GlobalVar&) { return Expr(); }, kMostNodes);
  }
  const auto* global = lang::as<lang::GlobalVar>(expr);
  const lang::Definition* definition = global ? module.lookup(global->name) : nullptr;
  const bool is_function =
      expr->kind == lang::ExprKind::Function || (definition && definition->function);
  Expr typed = is_function ? at_plainest_types(expr, checker) : checker.check(expr).or_throw();
  if (const auto* named = lang::as<lang::GlobalVar>(typed)) {
    if (const Expr body = body_of(*named)) typed = body;
  }
  return plot::dataflow_of(text, typed, body_of, kMostNodes);
}

std::string shown_graph(const plot::Dataflow& flow, const SessionOptions& options) {
  if (options.show_picture) {
    const ChildOutput drawn = output_of({"dot", "-Tsvg"}, plot::dot_of(flow));
    options.show_picture({plot::listing_of(flow), drawn.ended_well ? drawn.text : std::string()});
    return {};
  }
  if (!shows_points(options)) return plot::listing_of(flow);
  const ChildOutput drawn = output_of({"dot", "-Tpng"}, plot::dot_of(flow));
  if (!drawn.ended_well) return plot::listing_of(flow);
  return plot::sixel_of(*formats::rgb_of_png(drawn.text));
}

void write_graph(const plot::Dataflow& flow, const std::string& path,
                 const formats::FileAccess& files) {
  const std::string dot = plot::dot_of(flow);
  const std::string extension = extension_of(path);
  if (extension == "dot" || extension == "gv") return formats::write_whole(path, dot, files);
  if (extension != "svg" && extension != "png") {
    lang::fail(
        DiagnosticKind::BadCommand,
        fmt::format("a graph is written as `.dot`, `.svg` or `.png`, and not as `{}`", path));
  }
  const ChildOutput drawn = output_of({"dot", "-T" + extension}, dot);
  if (!drawn.is_found || !drawn.ended_well) {
    Diagnostic missing(DiagnosticKind::BadCommand,
                       drawn.is_found ? "the program `dot` of Graphviz has failed"
                                      : "the program `dot` of Graphviz is not installed");
    if (!drawn.is_found) missing.note("help: the package is called `graphviz`");
    throw lang::Failure(std::move(missing.note(
        "help: a file that ends in `.dot` has Graphviz' text, which needs no program")));
  }
  formats::write_whole(path, drawn.text, files);
}

}  // namespace relay::repl
