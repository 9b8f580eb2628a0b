#include <fmt/format.h>

#include "lang/call_form.h"
#include "lang/op.h"
#include "lang/print.h"
#include "repl/command_parts.h"
#include "repl/commands.h"
#include "repl/doc_forms.h"
#include "repl/explain.h"
#include "repl/names.h"

namespace relay::repl {

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
  const std::string name(plain_name(argument));
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
  if (const auto ops = operators_ending_in(name); !ops.empty()) {
    std::string text = describe_op(*ops.front());
    for (std::size_t i = 1; i < ops.size(); ++i)
      text += fmt::format("{}`{}`", i == 1 ? "see also " : ", ", ops[i]->name);
    return output(ops.size() > 1 ? text + "\n" : text);
  }
  return outcome_of(lang::capture([&]() -> std::string { unknown_name(name, session.module()); }));
}

CommandOutcome run_info(Session& session, std::string_view argument) {
  return outcome_of(session.info(std::string(plain_name(argument))));
}

CommandOutcome run_source(Session& session, std::string_view argument) {
  return outcome_of(session.source(std::string(plain_name(argument))));
}

CommandOutcome run_explain(Session&, std::string_view argument) {
  return outcome_of(explain(argument));
}

}  // namespace relay::repl
