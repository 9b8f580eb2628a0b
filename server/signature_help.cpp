#include <string>
#include <vector>

#include <fmt/format.h>

#include "lang/call_form.h"
#include "lang/op.h"
#include "repl/completion/place.h"
#include "repl/completion/probe.h"
#include "server/features.h"
#include "server/target.h"

namespace relay::server {

namespace {

struct Signature {
  std::string label;
  std::vector<std::string> parameters;  // as they stand in the label
  std::vector<std::string> names;
  std::vector<std::string> docs;
  std::string doc;

  void add(std::string name, std::string shown, std::string about = "") {
    label += (parameters.empty() ? "" : ", ") + shown;
    names.push_back(std::move(name));
    parameters.push_back(std::move(shown));
    docs.push_back(std::move(about));
  }
};

Signature signature_of(const lang::OpDef& op) {
  Signature found{op.name + "(", {}, {}, {}, op.doc.substr(0, op.doc.find('\n'))};
  for (std::size_t i = 0; i < op.inputs.size(); ++i)
    found.add(op.inputs[i].name, lang::input_usage(op, i), op.inputs[i].doc);
  for (const lang::AttrSpec& attr : op.attrs)
    found.add(attr.name, lang::attr_usage(op, attr), attr.doc);
  found.label += ")";
  return found;
}

Signature signature_of(Analysis& analysis, const std::string& name,
                       const lang::Definition& definition) {
  Signature found{name + "(", {}, {}, {}, definition.doc};
  const auto* function = lang::as<lang::Function>(definition.function);
  const auto scheme = analysis.checker().scheme(definition.name);
  const auto* type = scheme ? lang::as<lang::FunctionType>(scheme->type) : nullptr;
  // Parameters that are attributes are none of the function's.
  std::size_t place = 0;
  const auto typed = [&](const std::string& parameter) {
    const std::size_t at = place++;
    if (!type || at >= type->params.size()) return parameter;
    const std::string shown = repl::completion::shown(type->params[at]);
    return shown.empty() ? parameter : fmt::format("{}: {}", parameter, shown);
  };
  if (definition.parameters) {
    for (const lang::Parameter& each : definition.parameters->list) {
      if (each.attribute) {
        found.add(each.name, fmt::format("{}={}", each.name, each.attribute->to_string()));
      } else {
        found.add(each.name, typed(each.name));
      }
    }
  } else if (function) {
    for (const lang::VariableRef& each : function->params) found.add(each->name, typed(each->name));
  }
  found.label += ")";
  if (type) {
    const std::string result = repl::completion::shown(type->result);
    if (!result.empty()) found.label += " -> " + result;
  }
  return found;
}

Signature signature_of(const lang::Constructor& constructor) {
  Signature found{constructor.name + "(", {}, {}, {}, constructor.owner->doc};
  for (std::size_t i = 0; i < constructor.fields.size(); ++i) {
    const std::string type = lang::to_string(constructor.fields[i]);
    if (constructor.field_names.empty()) {
      found.add("", type);
    } else {
      found.add(constructor.field_names[i],
                fmt::format("{} = {}", constructor.field_names[i], type));
    }
  }
  found.label += ") -> " + constructor.owner->name;
  return found;
}

}  // namespace

Json signature_help(Workspace& workspace, const Json& params) {
  Document& document = workspace.document(params);
  Analysis& analysis = document.analysis();
  const std::string_view text = document.text();
  const std::size_t offset = document.lines().offset(text, member(params, "position"));
  Signature found;
  std::size_t active = 0;
  analysis.within_limits([&] {
    const auto place = repl::completion::place_at_end(text.substr(0, offset), text.substr(offset));
    if (!place.call || place.call->callee.empty()) return;
    const repl::completion::CallPlace& call = *place.call;
    if (const lang::Definition* definition = analysis.module().lookup(call.callee);
        definition && definition->function) {
      found = signature_of(analysis, call.callee, *definition);
    } else if (const auto* constructor = analysis.module().find_constructor(call.callee)) {
      found = signature_of(*constructor);
    } else if (const lang::OpDef* op = lang::OpRegistry::instance().find(call.callee)) {
      found = signature_of(*op);
    }
    active = call.before.size() + (call.is_piped ? 1 : 0);
    for (std::size_t i = 0; i < found.names.size(); ++i) {
      if (!call.attribute.empty() && found.names[i] == call.attribute) active = i;
    }
  });
  if (found.label.empty()) return nullptr;
  Json parameters = Json::array();
  for (std::size_t i = 0; i < found.parameters.size(); ++i) {
    Json parameter = {{"label", found.parameters[i]}};
    if (!found.docs[i].empty()) parameter["documentation"] = found.docs[i];
    parameters.push_back(std::move(parameter));
  }
  Json signature = {{"label", found.label}, {"parameters", std::move(parameters)}};
  if (!found.doc.empty()) signature["documentation"] = found.doc;
  return {{"signatures", Json::array({std::move(signature)})},
          {"activeSignature", 0},
          {"activeParameter", active}};
}

}  // namespace relay::server
