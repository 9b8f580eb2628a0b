#include <algorithm>

#include <fmt/format.h>

#include "lang/call_form.h"
#include "lang/op.h"
#include "lang/print.h"
#include "repl/command_parts.h"
#include "repl/commands.h"
#include "repl/doc_forms.h"
#include "repl/explain.h"
#include "repl/let_function.h"

namespace relay::repl {

using lang::Diagnostic;
using lang::DiagnosticKind;

namespace {

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

}  // namespace

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

}  // namespace relay::repl
