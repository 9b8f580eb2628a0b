#pragma once

#include <string>

#include "formats/file_access.h"
#include "plot/dataflow.h"
#include "repl/pipeline.h"
#include "repl/session.h"

namespace relay::repl {

// The dataflow of an expression as it was written, typed; a function, named or literal, by its body
// at the plainest of its types, and beside it the bodies of the program's own functions that it
// calls. `is_gradient`: of the gradient of the function meant by `expr`, simplified. `text` is what
// the whole is called. Throws Failure.
plot::Dataflow dataflow_of_program(const lang::Expr& expr, bool is_gradient,
                                   const std::string& text, lang::Module& module,
                                   typecheck::Checker& checker, Pipeline& pipeline);

// A graph for the screen: lines, or, where points are shown and the program `dot` is installed, its
// picture. Nothing where whoever shows pictures has been given both
// (SessionOptions::show_picture).
std::string shown_graph(const plot::Dataflow& flow, const SessionOptions& options);

// Writes a graph, as the extension says: `.dot` or `.gv` as its text, `.svg` and `.png` by the
// program `dot`. Throws Failure, without a place.
void write_graph(const plot::Dataflow& flow, const std::string& path,
                 const formats::FileAccess& files);

}  // namespace relay::repl
