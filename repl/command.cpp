#include "repl/command.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "interp/loaded_code.h"
#include "lang/call_form.h"
#include "lang/cell_memory.h"
#include "lang/memory.h"
#include "lang/op.h"
#include "lang/pool.h"
#include "lang/print.h"
#include "repl/columns.h"
#include "repl/compiled.h"
#include "repl/doc_forms.h"
#include "repl/explain.h"
#include "repl/let_function.h"
#include "repl/limits.h"

namespace relay::repl {

using lang::Diagnostic;
using lang::DiagnosticKind;

namespace {

CommandOutcome output(std::string text) { return {std::move(text), {}, false}; }
CommandOutcome failed(Diagnostic diagnostic) { return {"", {std::move(diagnostic)}, false}; }
CommandOutcome outcome_of(lang::Result<std::string> result) {
  if (!result) return {"", result.errors(), false};
  if (!result->empty() && result->back() != '\n') *result += '\n';
  return output(std::move(*result));
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// Splits off the first word.
std::pair<std::string_view, std::string_view> split_word(std::string_view text) {
  text = trimmed(text);
  const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
  return {text.substr(0, end), trimmed(text.substr(end))};
}

CommandOutcome run_type(Session& session, std::string_view argument) {
  return outcome_of(session.type_of(std::string(argument)));
}

CommandOutcome run_show(Session& session, std::string_view argument) {
  const auto [stage, text] = split_word(argument);
  if (text.empty()) {
    return failed(
        Diagnostic(DiagnosticKind::BadCommand, "`:show` needs a stage and an expression")
            .note(fmt::format("note: the stages are {}", fmt::join(Session::stages(), ", "))));
  }
  return outcome_of(session.show(std::string(stage), std::string(text)));
}

CommandOutcome run_grad(Session& session, std::string_view argument) {
  return outcome_of(session.derivative(std::string(argument), lang::DiffMode::Grad));
}

CommandOutcome run_trace(Session& session, std::string_view argument) {
  auto trace = session.trace(std::string(argument));
  if (!trace) return {"", trace.errors(), false};
  return {std::move(trace->table), std::move(trace->errors), false};
}

CommandOutcome run_time(Session& session, std::string_view argument) {
  std::string text;
  const auto& statistics = session.evaluator().statistics();
  for (const auto& [mode, name] :
       {std::pair{interp::JitMode::Off, "interpreter"}, {interp::JitMode::Always, "jit"}}) {
    const auto compiled_before = statistics.kernels_run_native + statistics.functions_compiled;
    const auto timing = session.time(std::string(argument), mode);
    if (!timing) return {"", timing.errors(), false};
    const bool is_last = mode == interp::JitMode::Always;
    if (is_last &&
        statistics.kernels_run_native + statistics.functions_compiled == compiled_before) {
      return output(text + "jit          nothing to compile is in this\n" + timing->loops);
    }
    if (timing->has_effects) {
      return output(fmt::format("{:<12} {:>9}   with checking; run once, as it has effects\n{}",
                                name, duration(timing->first_seconds), timing->loops));
    }
    text += fmt::format("{:<12} {:>9}   median of {} runs; first {} with checking and compiling\n",
                        name, duration(timing->median_seconds), timing->runs,
                        duration(timing->first_seconds));
    if (is_last) text += timing->loops;
  }
  return output(std::move(text));
}

CommandOutcome run_profile(Session& session, std::string_view argument) {
  auto profile = session.profile(std::string(argument));
  if (!profile) return {"", profile.errors(), false};
  return {std::move(profile->table), std::move(profile->errors), false};
}

CommandOutcome run_seconds(Session& session, std::string_view argument) {
  const auto [count, text] = split_word(argument);
  int runs = 0;
  const auto parsed = std::from_chars(count.data(), count.data() + count.size(), runs);
  if (parsed.ec != std::errc() || runs < 1 || text.empty()) {
    return failed(Diagnostic(DiagnosticKind::BadCommand, "usage: :seconds RUNS EXPR"));
  }
  const auto seconds = session.run_times(std::string(text), runs);
  if (!seconds) return {"", seconds.errors(), false};
  return output(fmt::format("{}\n", fmt::join(*seconds, " ")));
}

std::string describe_op(const lang::OpDef& op) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < op.inputs.size(); ++i) parts.push_back(lang::input_usage(op, i));
  for (const auto& attr : op.attrs) parts.push_back(lang::attr_usage(op, attr));
  std::string text = fmt::format("{}({})\n{}\n", op.name, fmt::join(parts, ", "), op.doc);
  for (const auto& input : op.inputs) {
    if (!input.doc.empty()) text += fmt::format("  {}: {}\n", input.name, input.doc);
  }
  for (const auto& attr : op.attrs) {
    if (!attr.doc.empty()) text += fmt::format("  {}: {}\n", attr.name, attr.doc);
  }
  return text + example_text(op.example);
}

std::string describe_definition(Session& session, const std::string& name,
                                const lang::Definition& definition) {
  const auto type = session.type_of(name);
  std::string text =
      definition.parameters ? lang::usage_of(name, *definition.parameters) + "\n" : std::string();
  text += fmt::format("{} : {}\n", name, type ? *type : std::string("<ill-typed>"));
  if (!definition.doc.empty()) text += definition.doc + "\n";
  const auto* function = lang::as<lang::Function>(definition.function);
  if (function && lang::gradient_of(*function)) text += "It has a gradient of its own.\n";
  return text;
}

CommandOutcome run_doc(Session& session, std::string_view argument) {
  std::string name(argument);
  if (!name.empty() && name.front() == '@') name.erase(0, 1);
  if (const auto* definition = session.module().lookup(name))
    return output(describe_definition(session, name, *definition));
  if (const auto* op = lang::OpRegistry::instance().find(name)) return output(describe_op(*op));
  if (const auto* type = session.module().find_type(name)) {
    return output(lang::print_light_type_def(*type) + "\n" +
                  (type->doc.empty() ? "" : type->doc + "\n"));
  }
  if (const auto* constructor = session.module().find_constructor(name)) {
    return output(
        fmt::format("constructor of {}\n", lang::print_light_type_def(*constructor->owner)));
  }
  if (auto form = form_doc(name)) return output(std::move(*form));
  if (const std::string_view op = operator_of_sign(name); !op.empty()) {
    const std::string usage = name == "!" ? "`!a`" : fmt::format("`a {} b`", name);
    return output(
        fmt::format("{} is {}", usage, describe_op(lang::OpRegistry::instance().get(op))));
  }
  std::vector<std::string> names;
  std::vector<const lang::OpDef*> by_last_part;  // `softmax` for `nn.softmax`
  for (const auto* op : lang::OpRegistry::instance().all()) {
    names.push_back(op->name);
    if (op->name.ends_with("." + name)) by_last_part.push_back(op);
  }
  if (!by_last_part.empty()) {
    // The shortest is the plain one: `nn.softmax`, and not `qnn.softmax`.
    std::sort(by_last_part.begin(), by_last_part.end(), [](const auto* a, const auto* b) {
      return std::pair(a->name.size(), a->name) < std::pair(b->name.size(), b->name);
    });
    std::string text = describe_op(*by_last_part.front());
    for (std::size_t i = 1; i < by_last_part.size(); ++i)
      text += fmt::format("{}`{}`", i == 1 ? "see also " : ", ", by_last_part[i]->name);
    return output(by_last_part.size() > 1 ? text + "\n" : text);
  }
  for (std::string& form : form_names()) names.push_back(std::move(form));
  for (const auto* definition : session.module().definitions()) names.push_back(definition->name);
  Diagnostic diagnostic(DiagnosticKind::UnknownName, fmt::format("nothing is called `{}`", name));
  if (const auto close = lang::closest_names(name, names); !close.empty()) {
    diagnostic.note(fmt::format("help: did you mean `{}`?", close.front()));
  }
  return failed(std::move(diagnostic));
}

CommandOutcome run_source(Session& session, std::string_view argument) {
  if (!argument.empty() && argument.front() == '@') argument.remove_prefix(1);
  return outcome_of(session.source(std::string(argument)));
}

CommandOutcome run_explain(Session&, std::string_view argument) {
  return outcome_of(explain(argument));
}

CommandOutcome run_ops(Session& session, std::string_view argument) {
  std::string text;
  for (const auto* op : lang::OpRegistry::instance().all()) {
    if (op->name.find(argument) == std::string::npos || op->is_step) continue;
    text += fmt::format("{:<28} {}\n", op->name, op->doc.substr(0, op->doc.find('\n')));
  }
  std::string own;
  for (const auto* definition : session.module().definitions()) {
    const bool is_listed = definition->origin == lang::Origin::Own && definition->function &&
                           definition->instance_of.empty() &&
                           definition->name.find(argument) != std::string::npos &&
                           owner_of_gradient(session.module(), definition->name).empty();
    if (is_listed)
      own += fmt::format("{:<28} {}\n", definition->name,
                         definition->doc.substr(0, definition->doc.find('\n')));
  }
  if (!own.empty()) text += "yours:\n" + own;
  return output(text.empty() ? fmt::format("no operator has `{}` in its name\n", argument) : text);
}

CommandOutcome run_stats(Session& session, std::string_view argument) {
  if (argument.empty()) return output(describe_run(session));
  if (argument == "memory") return output(describe_memory(session));
  return failed(Diagnostic(DiagnosticKind::BadCommand, "usage: :stats [memory]"));
}

CommandOutcome run_jit(Session& session, std::string_view argument) {
  if (!argument.empty() && argument.front() == '@') argument.remove_prefix(1);
  return outcome_of(session.compiled(std::string(argument)));
}

CommandOutcome run_limit(Session& session, std::string_view argument) {
  if (argument.empty()) return output(describe_limits(session));
  const auto [what, amount] = split_word(argument);
  if (what == "memory") {
    if (const auto bytes = parse_bytes(amount)) {
      lang::set_memory_limit(*bytes);
      return output(describe_limits(session));
    }
  } else if (what == "time") {
    if (const auto seconds = parse_seconds(amount)) {
      session.set_seconds(*seconds);
      return output(describe_limits(session));
    }
  }
  return failed(Diagnostic(DiagnosticKind::BadCommand,
                           "`:limit` takes `memory` and a size, or `time` and a time")
                    .note("help: `:limit memory 2G`, `:limit time 500ms`, `:limit time none`"));
}

CommandOutcome run_load(Session&, std::string_view argument) {
  CommandOutcome outcome;
  outcome.file = argument;
  return outcome;
}

CommandOutcome run_help(Session&, std::string_view) {
  std::string text =
      "Type an expression, `let x = e`, `def f(x) { e }` or `type T { A, B(int32) }`.\n";
  for (const auto& command : commands()) {
    text += fmt::format("  {:<22} {}\n", fmt::format("{} {}", command.name, command.usage),
                        command.summary);
  }
  text +=
      "Ctrl-C stops an evaluation (pressed three times without an answer, the program), Ctrl-D "
      "leaves.\n";
  return output(std::move(text));
}

CommandOutcome run_quit(Session&, std::string_view) { return {"", {}, true}; }

}  // namespace

const std::vector<Command>& commands() {
  static const std::vector<Command> table = {
      {":type", "EXPR", "the type of an expression, without running it", run_type},
      {":show", "STAGE EXPR",
       "the program after a stage: ast, typed, anf, grad, opt, fused, loops, flow, llvm, asm, plan",
       run_show},
      {":grad", "EXPR", "the gradient of a function, or of the one that is called", run_grad},
      {":trace", "CALL",
       "what it computes, line by line; `grad CALL`, `jvp CALL`: with its derivatives", run_trace},
      {":time", "EXPR", "how long it takes in each tier", run_time},
      {":profile", "EXPR", "where its time goes, and the memory of its tensors, by line",
       run_profile},
      {":seconds", "RUNS EXPR", "the seconds of each run, for scripts", run_seconds},
      {":doc", "NAME", "what an operator, function or type is, with an example", run_doc},
      {":source", "NAME", "the definition of an operator or a function", run_source},
      {":explain", "KIND", "what a kind of error means, with an example", run_explain},
      {":ops", "[PART]", "the operators, or those with PART in their name", run_ops},
      {":load", "FILE", "runs a file here", run_load},
      {":limit", "[WHAT AMOUNT]", "the memory and the time that an entry may take", run_limit},
      {":stats", "[memory]", "kernels compiled and run so far; what came of memory", run_stats},
      {":jit", "[NAME]", "which functions are native code, and why others are not", run_jit},
      {":help", "", "this list", run_help},
      {":quit", "", "leaves", run_quit},
  };
  return table;
}

CommandOutcome run_command(Session& session, std::string_view line) {
  const auto [word, argument] = split_word(line);
  std::vector<const Command*> matches;
  std::vector<std::string> names;
  for (const auto& command : commands()) {
    names.emplace_back(command.name);
    if (command.name == word) {
      matches = {&command};
      break;
    }
    if (word.size() > 1 && command.name.substr(0, word.size()) == word) matches.push_back(&command);
  }
  if (matches.size() > 1) {
    std::vector<std::string_view> candidates;
    for (const auto* match : matches) candidates.push_back(match->name);
    return failed(Diagnostic(DiagnosticKind::BadCommand,
                             fmt::format("`{}` could be {}", word, fmt::join(candidates, " or "))));
  }
  if (matches.empty()) {
    Diagnostic diagnostic(DiagnosticKind::BadCommand,
                          fmt::format("there is no command `{}`", word));
    const auto close = lang::closest_names(word, names);
    diagnostic.note(close.empty() ? "help: `:help` lists the commands"
                                  : fmt::format("help: did you mean `{}`?", close.front()));
    return failed(std::move(diagnostic));
  }
  const Command& command = *matches.front();
  if (argument.empty() && !command.usage.empty() && command.usage.front() != '[') {
    return failed(Diagnostic(DiagnosticKind::BadCommand,
                             fmt::format("usage: {} {}", command.name, command.usage)));
  }
  return command.run(session, argument);
}

std::string describe_run(Session& session) {
  const interp::Statistics& statistics = session.evaluator().statistics();
  const std::string counts = fmt::format(
      "functions specialised  {}\n"
      "functions compiled     {}\n"
      "kernels compiled       {}\n"
      "time of compiling      {:.1f} ms\n"
      "kernels run natively   {}\n"
      "kernels run on lanes   {}\n"
      "kernels of libraries   {}\n"
      "tensor memory, peak    {:.1f} MiB\n",
      statistics.functions_specialised, statistics.functions_compiled, statistics.kernels_compiled,
      session.evaluator().compile_seconds() * 1e3, statistics.kernels_run_native,
      statistics.kernels_run_lanes, statistics.kernels_run_library,
      static_cast<double>(lang::Pool::instance().peak_bytes()) / (1 << 20));
  return counts + describe_loops(session.evaluator().loops());
}

std::string describe_memory(Session& session) {
  return fmt::format(
      "memory in use          {:.1f} MiB\n"
      "memory of the system   {} blocks for tensors, {} for cells\n"
      "other memory           {} allocations in evaluations\n"
      "native code            {} B\n",
      static_cast<double>(lang::memory_used()) / (1 << 20), lang::Pool::instance().fresh_blocks(),
      lang::cell_blocks_cut(), session.evaluator().statistics().allocations,
      interp::LoadedCode::bytes_in_use());
}

}  // namespace relay::repl
