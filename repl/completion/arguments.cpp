#include "repl/completion/arguments.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lang/call_form.h"
#include "lang/op.h"

namespace relay::repl::completion {

namespace {

bool has(const std::vector<std::string>& list, std::string_view text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

std::size_t arguments_before(const CallPlace& call) {
  return call.before.size() + (call.is_piped ? 1 : 0);
}

const lang::OpDef* operator_of(const CallPlace& call) {
  return lang::OpRegistry::instance().find(call.callee);
}

// The words of `A, B or C`; nothing for other texts.
std::vector<std::string> words_of_choice(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  const auto take = [&] {
    if (!word.empty() && word != "or") words.push_back(word);
    word.clear();
  };
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '_') {
      word += c;
    } else if (c == ' ' || c == ',' || c == '`') {
      take();
    } else {
      return {};
    }
  }
  take();
  return words;
}

// `NHWC` for `NCHW`: the channels behind all that is counted.
std::string channels_last(std::string_view layout) {
  const bool is_weight = layout.starts_with("OI");
  if (!is_weight && !layout.starts_with("NC")) return {};
  const std::string_view axes = layout.substr(2);
  return is_weight ? std::string(axes) + "IO" : "N" + std::string(axes) + "C";
}

// The strings that an attribute may be, where the record tells: its summary lists them with the
// default among them, or it is a layout.
std::vector<std::string> choices_of(const lang::AttrSpec& spec) {
  const std::string* usual = spec.default_value ? spec.default_value->as_string() : nullptr;
  if (!usual || usual->empty()) return {};
  const std::vector<std::string> words = words_of_choice(spec.doc);
  if (has(words, *usual) && words.size() > 1) return words;
  std::vector<std::string> choices = {*usual};
  if (std::string other = channels_last(*usual);
      spec.name.ends_with("layout") && !other.empty() && other != *usual)
    choices.push_back(std::move(other));
  return choices;
}

void add_values_of(const lang::OpDef& op, const lang::AttrSpec& spec, std::string_view quote,
                   std::vector<Name>& names) {
  const auto add = [&](std::string text) {
    names.push_back({std::move(text), Group::Attribute, lang::attr_usage(op, spec), true});
  };
  if (spec.kind == lang::AttrKind::DType) {
    for (int i = 0; i < lang::kDTypeCount; ++i)
      add(fmt::format("{0}{1}{0}", quote, lang::name_of(static_cast<lang::DType>(i))));
  }
  if (spec.kind == lang::AttrKind::Bool && !quote.empty()) {
    add("True");
    add("False");
  }
  if (spec.kind != lang::AttrKind::String) return;
  for (const std::string& choice : choices_of(spec)) add(fmt::format("{0}{1}{0}", quote, choice));
}

}  // namespace

void add_attributes(const State& state, const CallPlace& call, std::vector<Name>& names) {
  const auto add = [&](const std::string& name, std::string detail) {
    if (!has(call.given, name)) names.push_back({name + "=", Group::Attribute, std::move(detail)});
  };
  const lang::Definition* definition = state.module.lookup(call.callee);
  const lang::OpDef* op = operator_of(call);
  const bool is_own = definition && definition->origin == lang::Origin::Own;
  if (definition && (is_own || !op)) {
    if (!definition->parameters) return;
    const auto& list = definition->parameters->list;
    for (std::size_t i = arguments_before(call); i < list.size(); ++i) {
      const lang::Parameter& each = list[i];
      std::string usage = each.name;
      if (each.attribute) usage += "=" + each.attribute->to_string();
      if (each.default_value) usage += "=" + std::string(each.default_value->span.text());
      add(each.name, usage);
    }
  } else if (const lang::Constructor* constructor = state.module.find_constructor(call.callee)) {
    for (std::size_t i = call.before.size(); i < constructor->field_names.size(); ++i)
      add(constructor->field_names[i], lang::to_string(constructor->fields[i]));
  } else if (op) {
    for (const lang::AttrSpec& spec : op->attrs) add(spec.name, lang::attr_usage(*op, spec));
  }
}

void add_attributes(const std::vector<Signature>& signatures, const CallPlace& call,
                    std::vector<Name>& names) {
  for (const Signature& signature : signatures) {
    if (signature.name != call.callee) continue;
    for (std::size_t i = arguments_before(call); i < signature.arguments.size(); ++i) {
      const std::string& name = signature.arguments[i];
      if (!has(call.given, name)) names.push_back({name + "=", Group::Attribute, "a parameter"});
    }
  }
}

void add_attribute_values(const CallPlace& call, std::string_view quote, bool is_string,
                          std::vector<Name>& names) {
  const lang::OpDef* op = operator_of(call);
  if (!op) return;
  for (const lang::AttrSpec& spec : op->attrs) {
    const bool is_meant = call.attribute == spec.name ||
                          (is_string && call.attribute.empty() && !has(call.given, spec.name));
    if (is_meant) add_values_of(*op, spec, quote, names);
  }
}

bool takes_file(const CallPlace& call) {
  const lang::OpDef* op = operator_of(call);
  if (!op) return false;
  return std::any_of(op->attrs.begin(), op->attrs.end(), [&](const lang::AttrSpec& spec) {
    const bool is_meant = call.attribute.empty() || call.attribute == spec.name;
    return spec.name == "path" && is_meant && !has(call.given, spec.name);
  });
}

namespace {

// How many arguments a global takes; 0 where it is none.
std::size_t arity_of(const State& state, const CallPlace& call) {
  const lang::Definition* definition = state.module.lookup(call.callee);
  const lang::OpDef* op = operator_of(call);
  const bool is_own = definition && definition->origin == lang::Origin::Own;
  if (definition && (is_own || !op)) {
    const auto* function = lang::as<lang::Function>(definition->function);
    return function ? function->params.size() : 0;
  }
  if (const auto* constructor = state.module.find_constructor(call.callee))
    return constructor->fields.size();
  if (!op) return 0;
  return static_cast<std::size_t>(
      std::count_if(op->inputs.begin(), op->inputs.end(),
                    [](const lang::InputSpec& input) { return !input.is_optional; }));
}

}  // namespace

std::optional<std::string> function_of_the_rest(const State& state, const CallPlace& call) {
  const std::size_t arity = arity_of(state, call);
  if (arity <= arguments_before(call)) return std::nullopt;
  std::vector<std::string> holes;
  std::vector<std::string> arguments;
  if (call.is_piped) arguments.emplace_back("hole_piped");
  arguments.insert(arguments.end(), call.before.begin(), call.before.end());
  while (arguments.size() < arity) {
    holes.push_back(fmt::format("hole_{}", holes.size()));
    arguments.push_back(holes.back());
  }
  if (call.is_piped) holes.emplace_back("hole_piped");
  return fmt::format("fn ({}) {{ {}({}) }}", fmt::join(holes, ", "), call.callee,
                     fmt::join(arguments, ", "));
}

}  // namespace relay::repl::completion
