#include <fmt/format.h>

#include "repl/command_parts.h"
#include "repl/commands.h"
#include "repl/graph.h"
#include "repl/picture_file.h"
#include "repl/plotting.h"

namespace relay::repl {

namespace {

// Takes the words that are no part of the expression off its front: a kind, and options.
std::string_view without_options(std::string_view text, plot::Request& request) {
  while (true) {
    const auto [word, rest] = split_word(text);
    if (rest.empty()) return text;
    const std::size_t equals = word.find('=');
    if (equals != std::string_view::npos && equals + 1 < word.size() && word[equals + 1] != '=') {
      if (!plot::set_option(request, word.substr(0, equals), std::string(word.substr(equals + 1))))
        return text;
    } else if (const auto kind = plot::kind_named(word); kind && !request.kind) {
      request.kind = kind;
    } else {
      return text;
    }
    text = rest;
  }
}

}  // namespace

CommandOutcome run_plot(Session& session, std::string_view argument) {
  return outcome_of(lang::capture([&] {
    plot::Request request;
    PictureFile file = split_picture_file(argument);
    if (!file.path.empty()) plot::set_option(request, "file", file.path);
    const std::string_view text = without_options(file.text, request);
    const lang::Value value = session.evaluate(std::string(text)).or_throw();
    const std::string picture = draw_plot(value, request, session.options());
    return request.file.empty() ? picture : fmt::format("written to {}\n", request.file);
  }));
}

CommandOutcome run_graph(Session& session, std::string_view argument) {
  return outcome_of(lang::capture([&] {
    const PictureFile file = split_picture_file(argument);
    const plot::Dataflow flow = session.dataflow(std::string(file.text)).or_throw();
    if (file.path.empty()) return shown_graph(flow, session.options());
    write_graph(flow, file.path, session.options().files);
    return fmt::format("written to {}\n", file.path);
  }));
}

}  // namespace relay::repl
