#include "lang/op.h"

#include <algorithm>
#include <map>
#include <memory>

#include "lang/attr_check.h"
#include "lang/familiar_names.h"

namespace relay::lang {
namespace {

struct Records {
  std::map<std::string, std::unique_ptr<const OpDef>, std::less<>> by_name;
  std::map<std::string, const OpDef*, std::less<>> by_spelling;  // other than its name
  std::vector<const OpDef*> sorted;
};

Records& records() {
  static Records instance;
  return instance;
}

std::string in_code(std::string_view name) { return "`" + std::string(name) + "`"; }

std::string_view describe(AttrKind kind) {
  switch (kind) {
    case AttrKind::Bool:
      return "`True` or `False`";
    case AttrKind::Int:
      return "an integer";
    case AttrKind::Float:
      return "a number";
    case AttrKind::String:
      return "a string";
    case AttrKind::DType:
      return "a dtype such as `\"float32\"`";
    case AttrKind::IntList:
      return "a list of integers";
    case AttrKind::IntOrIntList:
      return "an integer or a list of integers";
    case AttrKind::FloatList:
      return "a list of numbers";
    case AttrKind::Any:
      return "a value";
  }
  return "a value";
}

bool is_int_list(const AttrValue& value) {
  const AttrValue::List* list = value.as_list();
  return list && std::all_of(list->begin(), list->end(),
                             [](const AttrValue& element) { return element.as_int() != nullptr; });
}

std::optional<AttrValue> float_list(const AttrValue& value) {
  const AttrValue::List* list = value.as_list();
  if (!list) return std::nullopt;
  AttrValue::List floats;
  for (const AttrValue& element : *list) {
    std::optional<AttrValue> number = coerce_attr(AttrKind::Float, element);
    if (!number) return std::nullopt;
    floats.push_back(std::move(*number));
  }
  return AttrValue(std::move(floats));
}

std::vector<std::string> dtype_names() {
  std::vector<std::string> names;
  for (int i = 0; i < kDTypeCount; ++i) names.emplace_back(name_of(static_cast<DType>(i)));
  return names;
}

void suggest(Diagnostic& diagnostic, std::string_view name,
             const std::vector<std::string>& candidates) {
  const std::vector<std::string> close = closest_names(name, candidates);
  if (!close.empty()) diagnostic.note("help: did you mean " + in_code(close.front()) + "?");
}

Span span_of(const Attr& attr, Span fallback) { return attr.span ? attr.span : fallback; }

[[noreturn]] void fail_unknown(const std::string& owner, const std::vector<AttrSpec>& specs,
                               const Attr& attr, Span span) {
  Diagnostic diagnostic(DiagnosticKind::UnknownAttribute,
                        in_code(owner) + " has no attribute " + in_code(attr.key),
                        span_of(attr, span));
  std::vector<std::string> names;
  std::string list;
  for (const AttrSpec& spec : specs) {
    names.push_back(spec.name);
    list += (list.empty() ? "" : ", ") + in_code(spec.name);
  }
  for (const FamiliarAttribute& each : familiar_attributes()) {
    if (each.theirs != attr.key || !diagnostic.notes.empty()) continue;
    if (std::find(names.begin(), names.end(), each.ours) != names.end())
      diagnostic.note("help: did you mean " + in_code(std::string(each.ours)) + "?");
  }
  if (diagnostic.notes.empty()) suggest(diagnostic, attr.key, names);
  if (diagnostic.notes.empty()) {
    diagnostic.note(list.empty() ? "note: it has no attributes"
                                 : "note: its attributes are " + list);
  }
  throw Failure(std::move(diagnostic));
}

[[noreturn]] void fail_bad(const std::string& owner, const AttrSpec& spec, const Attr& attr,
                           Span span) {
  Diagnostic diagnostic(DiagnosticKind::BadAttribute,
                        "attribute " + in_code(spec.name) + " of " + in_code(owner) + " must be " +
                            std::string(describe(spec.kind)) + (spec.nullable ? " or `None`" : "") +
                            ", not `" + attr.value.to_string() + "`",
                        span_of(attr, span));
  const std::string* text = attr.value.as_string();
  if (spec.kind == AttrKind::DType && text) suggest(diagnostic, *text, dtype_names());
  throw Failure(std::move(diagnostic));
}

AttrValue complete_one(const std::string& owner, const AttrSpec& spec, const Attr* attr,
                       Span span) {
  if (!attr) {
    if (spec.default_value) return *spec.default_value;
    throw Failure(Diagnostic(DiagnosticKind::MissingAttribute,
                             in_code(owner) + " needs the attribute " + in_code(spec.name) + ", " +
                                 std::string(describe(spec.kind)) +
                                 (spec.nullable ? " or `None`" : ""),
                             span));
  }
  if (attr->value.is_null() && spec.nullable) return attr->value;
  std::optional<AttrValue> value = coerce_attr(spec.kind, attr->value);
  if (!value) fail_bad(owner, spec, *attr, span);
  return std::move(*value);
}

}  // namespace

std::string_view words_for(TensorPrimitive primitive) {
  switch (primitive) {
    case TensorPrimitive::None:
      break;
    case TensorPrimitive::Order:
      return "an order";
    case TensorPrimitive::Reinterpret:
      return "the bits";
    case TensorPrimitive::Copy:
      return "a copy";
  }
  return "";
}

OpRegistry& OpRegistry::instance() {
  static OpRegistry registry;
  return registry;
}

void OpRegistry::add(OpDef op) {
  RELAY_CHECK(!op.name.empty() && !op.doc.empty() && !op.example.empty(),
              "operator `" + op.name + "` needs a name, a documentation and an example");
  auto [entry, is_new] = records().by_name.try_emplace(op.name, nullptr);
  RELAY_CHECK(is_new, "operator `" + op.name + "` is registered twice");
  entry->second = std::make_unique<const OpDef>(std::move(op));
  std::vector<const OpDef*>& sorted = records().sorted;
  const OpDef* added = entry->second.get();
  sorted.insert(std::upper_bound(sorted.begin(), sorted.end(), added,
                                 [](const OpDef* a, const OpDef* b) { return a->name < b->name; }),
                added);
}

void OpRegistry::alias(std::string_view spelling, std::string_view name) {
  const OpDef& op = get(name);
  RELAY_CHECK(find(spelling) == nullptr, "operator `" + std::string(spelling) + "` is named twice");
  records().by_spelling.emplace(spelling, &op);
}

const OpDef* OpRegistry::find(std::string_view name) const {
  const auto found = records().by_name.find(name);
  if (found != records().by_name.end()) return found->second.get();
  const auto spelled = records().by_spelling.find(name);
  return spelled == records().by_spelling.end() ? nullptr : spelled->second;
}

const OpDef& OpRegistry::get(std::string_view name) const {
  const OpDef* op = find(name);
  RELAY_CHECK(op, "there is no operator `" + std::string(name) + "`");
  return *op;
}

const std::vector<const OpDef*>& OpRegistry::all() const { return records().sorted; }

namespace {

template <class Rule, class Call>
auto given_by(const Rule& rule, const Call& call) -> std::optional<decltype(rule(call))> {
  try {
    return rule(call);
  } catch (const SymbolicExtent&) {
    return std::nullopt;
  }
}

}  // namespace

std::optional<Expr> definition_at(const OpDef& op, const DefinitionCall& call, Algebra algebra) {
  const AlgebraScope scope(algebra);
  return given_by(op.definition, call);
}

std::optional<std::vector<Expr>> gradient_at(const OpDef& op, const GradientCall& call) {
  return given_by(op.gradient, call);
}

std::optional<Expr> tangent_at(const OpDef& op, const TangentCall& call) {
  return given_by(op.tangent, call);
}

std::optional<ArithmeticStep> arithmetic_step(const Expr& expr) {
  if (const auto* node = as<Primitive>(expr)) return ArithmeticStep{node->prim, node->args};
  const auto* call = as<Call>(expr);
  const auto* op = call ? as<Operator>(call->callee) : nullptr;
  if (!op || !op->op->elementwise) return std::nullopt;
  return ArithmeticStep{*op->op->elementwise, call->args};
}

const OpDef& static_form_of(const OpDef& op) {
  return op.unlisted_static_form ? *op.unlisted_static_form
                                 : OpRegistry::instance().get(op.static_form);
}

std::optional<AttrValue> coerce_attr(AttrKind kind, const AttrValue& value) {
  switch (kind) {
    case AttrKind::Bool:
      if (value.as_bool()) return value;
      if (const std::int64_t* i = value.as_int(); i && (*i == 0 || *i == 1))
        return AttrValue(*i == 1);
      break;
    case AttrKind::Int:
      if (value.as_int()) return value;
      break;
    case AttrKind::Float:
      if (value.as_float()) return value;
      if (const std::int64_t* i = value.as_int()) return AttrValue(static_cast<double>(*i));
      break;
    case AttrKind::String:
      if (value.as_string()) return value;
      break;
    case AttrKind::DType:
      if (value.as_dtype()) return value;
      if (const std::string* s = value.as_string()) {
        if (const std::optional<DType> dtype = parse_dtype(*s)) return AttrValue(*dtype);
      }
      break;
    case AttrKind::IntList:
      if (is_int_list(value)) return value;
      break;
    case AttrKind::IntOrIntList:
      if (value.as_int() || is_int_list(value)) return value;
      break;
    case AttrKind::FloatList:
      return float_list(value);
    case AttrKind::Any:
      if (!value.is_null()) return value;
      break;
  }
  return std::nullopt;
}

AttrsRef complete_attrs(const std::string& owner, const std::vector<AttrSpec>& specs,
                        const AttrsRef& given, Span span) {
  static const std::vector<Attr> none;
  static const AttrsRef no_attrs = make_attrs({});
  if (!given && specs.empty()) return no_attrs;
  const std::vector<Attr>& list = given ? given->list : none;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Attr& attr = list[i];
    // Relay's texts name the structure that the attributes belong to; the record already says it.
    if (attr.key == "attrs_type_key") continue;
    const bool known = std::any_of(specs.begin(), specs.end(),
                                   [&](const AttrSpec& spec) { return spec.name == attr.key; });
    if (!known) fail_unknown(owner, specs, attr, span);
    for (std::size_t j = 0; j < i; ++j) {
      if (list[j].key != attr.key) continue;
      fail(DiagnosticKind::BadAttribute, "attribute " + in_code(attr.key) + " is written twice",
           span_of(attr, span));
    }
  }
  std::vector<Attr> complete;
  complete.reserve(specs.size());
  for (const AttrSpec& spec : specs) {
    const auto attr = std::find_if(list.begin(), list.end(), [&](const Attr& candidate) {
      return candidate.key == spec.name;
    });
    const Attr* found = attr == list.end() ? nullptr : &*attr;
    complete.push_back(
        {spec.name, complete_one(owner, spec, found, span), found ? found->span : Span()});
  }
  return given && complete == list ? given : make_attrs(std::move(complete));
}

AttrsRef complete_attrs(const OpDef& op, const AttrsRef& given, Span span) {
  return complete_attrs(op.name, op.attrs, given, span);
}

}  // namespace relay::lang
