#pragma once

#include <string>
#include <string_view>

#include "plot/request.h"
#include "repl/session.h"

// `plot` and `:plot`: what stands between values and plot/.
namespace relay::repl {

// Draws a value: gives the text, or none where that has gone to the request's file or to whoever
// shows pictures (SessionOptions::show_picture). Throws Failure, without a place, as plot/figure.h
// and formats/output_file.h say.
std::string draw_plot(const lang::Value& value, const plot::Request& request,
                      const SessionOptions& options);

// Is a picture shown as points, by sixel graphics? Asks the terminal where nothing has been set.
bool shows_points(const SessionOptions& options);

// For standard output: as wide as the terminal, within reason, in its colours and characters; of a
// usual size and without colours where it is none. `color` is the setting of `--color`.
plot::TextStyle plot_style_of_output(std::string_view color);

}  // namespace relay::repl
