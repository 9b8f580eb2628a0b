#include "server/run_text.h"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "lang/op.h"
#include "lang/visit.h"
#include "repl/display.h"
#include "repl/read_text.h"
#include "repl/session.h"

namespace relay::server {

namespace {

bool writes_files(const lang::Expr& expr) {
  bool found = false;
  lang::visit_post_order(expr, [&](const lang::Expr& node) {
    const auto* op = lang::as<lang::Operator>(node);
    found |= op && op->op->name == "save";
  });
  return found;
}

bool writes_files(const repl::ReadText& text) {
  for (const parser::Item& item : text.reading.parsed.items) {
    if (item.expr && writes_files(item.expr)) return true;
  }
  for (const lang::Definition* each : text.scope.definitions()) {
    if (each->origin == lang::Origin::Imported && each->function && writes_files(each->function))
      return true;
  }
  return false;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

}  // namespace

Json run_text(const std::string& path, const std::string& text, const AnalysisOptions& looking) {
  const std::string directory = std::filesystem::path(path).parent_path().string();
  std::string printed;
  repl::SessionOptions options;
  options.jit = interp::JitMode::Off;
  options.kernels = repl::LibraryKernels::Off;
  options.threads = 1;
  options.seconds = looking.seconds;
  options.search_path = looking.search_path;
  options.edited = looking.edited;
  if (!directory.empty()) {
    options.search_path.insert(options.search_path.begin(), directory);
    // Data files are looked for in the folder of the text.
    std::error_code ignored;
    std::filesystem::current_path(directory, ignored);
  }
  options.write = [&](std::string_view more) { printed += more; };
  repl::Session session(options);
  const lang::Source source(path, text);
  if (writes_files(session.read(source, directory)))
    return {{"refused", "the program writes files"}};
  Json items = Json::array();
  const auto add = [&](lang::Span span) -> Json& {
    items.push_back({{"begin", span.begin}, {"end", span.end}});
    return items.back();
  };
  const auto errors = session.run(path, text, [&](const repl::ItemResult& given) {
    repl::ItemResult result = given;
    result.hide_value = false;
    std::string shown = std::exchange(printed, {});
    if (result.kind == parser::ItemKind::Expression) shown += repl::describe(result);
    add(result.span)["lines"] = lines_of(shown);
  });
  for (const lang::Diagnostic& error : errors) {
    add(error.span)["error"] =
        fmt::format("error[{}]: {}", lang::name_of(error.kind), error.message);
  }
  return items;
}

}  // namespace relay::server
