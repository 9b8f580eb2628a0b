// bench_front FILE [ROUNDS]: reads and checks a module again and again and prints the best
// times, in seconds of the processor.
//
// "parse" is text to expressions with names resolved; "check" is the inference of every definition
// with its scheme, by a fresh checker each round. Nodes are those of the parsed definitions, each
// counted once.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>

#include "interp/stack.h"
#include "lang/module.h"
#include "lang/visit.h"
#include "parser/parse.h"
#include "stdlib/prelude.h"
#include "stdlib/register.h"
#include "typecheck/infer.h"

namespace {

using namespace relay;  // NOLINT: the program's own file

// Processor time: other programs on the machine do not count.
double now() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

template <class T>
T or_exit(lang::Result<T> result) {
  if (result) return std::move(result).or_throw();
  for (const auto& error : result.errors()) std::fputs(lang::render(error).c_str(), stderr);
  std::exit(1);
}

void define_all(lang::Module& module, parser::Parsed parsed, lang::Origin origin) {
  for (parser::Item& item : parsed.items) {
    if (item.type_def) module.define(item.type_def);
    if (item.kind == parser::ItemKind::Def)
      module.define({item.name, item.expr, nullptr, origin, "", item.span});
  }
}

std::size_t count_nodes(const parser::Parsed& parsed) {
  std::size_t count = 0;
  for (const parser::Item& item : parsed.items) {
    if (item.expr) lang::visit_post_order(item.expr, [&](const lang::Expr&) { ++count; });
  }
  return count;
}

void measure(const lang::Source& source, int rounds) {
  stdlib::register_operators();
  lang::SourceStore sources;
  lang::Module prelude;
  for (const auto& file : stdlib::embedded_files()) {
    const auto* text = sources.add(std::string(file.name), std::string(file.text));
    define_all(prelude, or_exit(parser::parse(*text, prelude)), lang::Origin::Prelude);
  }
  double parse = std::numeric_limits<double>::infinity();
  double check = parse;
  std::size_t nodes = 0;
  std::size_t definitions = 0;
  for (int round = 0; round < rounds; ++round) {
    const double begin = now();
    parser::Parsed parsed = or_exit(parser::parse(source, prelude));
    parse = std::min(parse, now() - begin);
    nodes = count_nodes(parsed);
    lang::Module module = prelude;
    define_all(module, std::move(parsed), lang::Origin::Own);
    typecheck::Checker checker(module);
    definitions = 0;
    const double middle = now();
    for (const lang::Definition* definition : module.definitions()) {
      if (definition->origin == lang::Origin::Prelude) continue;
      or_exit(checker.scheme(definition->name));
      ++definitions;
    }
    check = std::min(check, now() - middle);
  }
  const auto bytes = static_cast<double>(source.text().size());
  const auto lines = std::count(source.text().begin(), source.text().end(), '\n');
  std::printf("lines %td bytes %zu definitions %zu nodes %zu\n", lines, source.text().size(),
              definitions, nodes);
  std::printf("parse %.6f s, %.2f MB/s, %.3f us/line\n", parse, bytes / parse / 1e6,
              parse / static_cast<double>(lines) * 1e6);
  std::printf("check %.6f s, %.0f nodes/s, %.3f us/line\n", check,
              static_cast<double>(nodes) / check, check / static_cast<double>(lines) * 1e6);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: bench_front FILE [ROUNDS]\n", stderr);
    return 2;
  }
  std::ifstream file(argv[1], std::ios::binary);
  if (!file) {
    std::fprintf(stderr, "cannot open %s\n", argv[1]);
    return 2;
  }
  std::ostringstream text;
  text << file.rdbuf();
  const lang::Source source(argv[1], text.str());
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 5;
  interp::EvaluationStack::instance().run([&] { measure(source, rounds); });
  return 0;
}
