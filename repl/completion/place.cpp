#include "repl/completion/place.h"

#include <cctype>
#include <utility>

#include "parser/scan.h"
#include "repl/completion/walk.h"

namespace relay::repl::completion {

namespace {

bool is_value_name(const Token& token) {
  return token.is_word() && !token.is("_") && !parser::grammar::is_keyword(token.text, false);
}

}  // namespace

std::vector<std::string> Walk::pattern_names(std::size_t first, std::size_t end) const {
  std::vector<std::string> names;
  bool in_type = false;
  int depth_of_type = 0;
  for (std::size_t i = first; i < end; ++i) {
    const Token& now = token(i);
    if (in_type) {
      if (now.is("(") || now.is("[")) ++depth_of_type;
      if ((now.is(")") || now.is("]")) && --depth_of_type < 0) in_type = false;
      if (now.is(",") && depth_of_type == 0) in_type = false;
      continue;
    }
    if (now.is(":")) {
      in_type = true;
      depth_of_type = 0;
      continue;
    }
    const bool is_constructor = is_at(i + 1, "(") || is_at(i + 1, "{");
    const bool is_field = is_at(i + 1, "=") && i + 1 < end;
    if (is_value_name(now) && !is_constructor && !is_field) names.emplace_back(now.text);
  }
  return names;
}

// Without the default values, so that they make a function literal.
std::string Walk::parameters(std::size_t first, std::size_t end,
                             std::vector<std::string>& names) const {
  std::string text;
  int depth = 0;
  bool at_name = true;
  bool in_default = false;
  for (std::size_t i = first; i < end; ++i) {
    const Token& now = token(i);
    if (now.is("(") || now.is("[") || now.is("{")) ++depth;
    if (now.is(")") || now.is("]") || now.is("}")) --depth;
    if (depth == 0 && now.is(",")) {
      at_name = true;
      in_default = false;
    } else if (depth == 0 && now.is("=")) {
      in_default = true;
    } else if (at_name && now.is_word()) {
      names.emplace_back(now.text);
      at_name = false;
    }
    if (in_default) continue;
    text += now.text;
    if (now.is_word() && i + 1 < end && token(i + 1).is_word()) text += ' ';
    if (now.is(",")) text += ' ';
  }
  return text;
}

std::string Walk::dotted_before(std::size_t end) const {
  std::size_t first = end;
  while (first > 0) {
    const Token& now = token(first - 1);
    const bool continues = first < end && token(first).is(".") && now.is_word();
    const bool is_dot = now.is(".") && first < end && token(first).is_word();
    if (first < end && !continues && !is_dot) break;
    if (first == end && !now.is_word()) break;
    --first;
  }
  if (first == end || parser::grammar::is_keyword(token(first).text, false)) return {};
  std::string name;
  for (std::size_t i = first; i < end; ++i) name += token(i).text;
  return name;
}

std::size_t Walk::opener_of(std::size_t closer) const {
  int depth = 0;
  for (std::size_t i = closer + 1; i > 0; --i) {
    const Token& each = token(i - 1);
    if (each.is(")") || each.is("]") || each.is("}")) ++depth;
    if (each.is("(") || each.is("[") || each.is("{")) --depth;
    if (depth == 0) return i - 1;
  }
  return kNowhere;
}

std::string Walk::operand_before(std::size_t end) const {
  std::size_t first = end;
  while (true) {
    while (first > 0 && (token(first - 1).is(")") || token(first - 1).is("]"))) {
      const std::size_t opener = opener_of(first - 1);
      if (opener == kNowhere) return {};
      first = opener;
      const bool is_called = ends_operand(first) && !token(first).first_on_line;
      if (!is_called) return std::string(between(first, end));
    }
    if (first == 0) return {};
    const Token& part = token(first - 1);
    const bool is_name = part.is_word() && !parser::grammar::is_keyword(part.text, false);
    if (!is_name && part.kind != TokenKind::Number) return {};
    --first;
    if (first < 2 || !token(first - 1).is(".")) return std::string(between(first, end));
    --first;
  }
}

CallPlace Walk::call_of(const Frame& frame) const {
  CallPlace call;
  call.callee = frame.callee;
  for (const auto& [first, end] : frame.arguments) call.before.emplace_back(between(first, end));
  call.given = frame.given;
  call.is_piped = frame.is_piped;
  call.at_start = frame.part == tokens_.size();
  if (frame.is_after_equals) call.attribute = std::string(token(frame.part).text);
  return call;
}

PlaceKind Walk::kind_of_type(const Frame& frame) const {
  const bool in_tensor = frame.role == Role::TypeArgs && frame.callee == "Tensor";
  if (in_tensor && frame.part > frame.opener + 1) return PlaceKind::DType;
  return PlaceKind::Type;
}

PlaceKind Walk::kind_of(const Frame& frame, Place& place) const {
  const std::size_t end = tokens_.size();
  const Token* before = end > 0 ? &tokens_.back() : nullptr;
  if (frame.role == Role::Dims) return PlaceKind::Dim;
  if (frame.in_type || frame.role == Role::TypeGroup) return kind_of_type(frame);
  switch (frame.role) {
    case Role::TypeParams:
    case Role::Fields:
    case Role::Constructors:
      return PlaceKind::Nothing;
    case Role::Params:
      place.in_params = true;
      return frame.is_after_equals ? PlaceKind::Value : PlaceKind::Nothing;
    case Role::With:
      place.head = operand_before(frame.subject_end);
      if (!frame.is_after_equals) return PlaceKind::FieldName;
      break;
    case Role::Names: {
      std::size_t i = frame.opener;
      while (i > 0 && token(i - 1).kind != TokenKind::String) --i;
      if (i > 0) place.path = std::string(token(i - 1).text);
      return PlaceKind::ImportName;
    }
    case Role::Steps:
      return PlaceKind::Step;
    default:
      break;
  }
  if (in_pattern(frame)) return PlaceKind::Pattern;
  const bool names_something =
      before && (before->is("def") || before->is("type") || before->is("extern") ||
                 before->is("import") || before->is("as"));
  if (names_something && before->is_word()) return PlaceKind::Nothing;
  if (frame.construct == Construct::For && frame.wants_index) return PlaceKind::Nothing;
  if (frame.construct == Construct::Function && !frame.has_params) return PlaceKind::Nothing;
  if (frame.construct == Construct::Schedule && before == &token(frame.part))
    return PlaceKind::Value;
  place.in_block = frame.part == end && (frame.role == Role::Top || frame.role == Role::Block ||
                                         frame.role == Role::Group || frame.role == Role::Cases);
  if (frame.part != end && ends_operand(end)) return PlaceKind::After;
  if (frame.part == end && frame.role == Role::Top) return PlaceKind::Item;
  return PlaceKind::Value;
}

Place Walk::place() const {
  Place place;
  place.binders = binders_;
  place.imports = imports_;
  place.types = types_;
  place.constructors = constructors_;
  place.fields = fields_;
  place.signatures = signatures_;
  const Frame& frame = frames_.back();
  if (!tokens_.empty() && tokens_.back().is(".")) {
    place.kind = PlaceKind::Member;
    place.head = operand_before(tokens_.size() - 1);
    if (place.head.empty()) place.kind = PlaceKind::Nothing;
  } else {
    place.kind = kind_of(frame, place);
  }
  // A call reaches through parentheses that only group.
  if (frame.role == Role::Call && !frame.callee.empty()) place.call = call_of(frame);
  for (const Frame& each : frames_) {
    // A function may call itself in its own `let`.
    if (each.let != kNowhere && each.let_equals != kNowhere) {
      place.binders.push_back({Binder::Kind::Global,
                               {},
                               {},
                               {},
                               pattern_names(each.let + 1, each.let_equals),
                               {},
                               each.role == Role::Top});
    }
    if (each.construct == Construct::Function || each.construct == Construct::TypeDef)
      place.type_params.insert(place.type_params.end(), each.dims.begin(), each.dims.end());
  }
  // A definition that has begun may call itself.
  const Frame& outermost = frames_.front();
  if (outermost.def != kNowhere && outermost.def + 1 < tokens_.size()) {
    std::string name(between(outermost.def + 1, outermost.def + 2));
    place.binders.push_back({Binder::Kind::Global, {}, {}, {}, {std::move(name)}, {}, true});
  }
  return place;
}

Place place_at_end(std::string_view text, std::string_view rest) {
  Tokens tokens = tokens_of(text);
  Place place;
  if (tokens.ends_in_comment) return place;
  const bool is_in_string =
      !tokens.list.empty() && tokens.list.back().is_open && tokens.list.back().end == text.size();
  if (is_in_string) {
    const Token last = tokens.list.back();
    tokens.list.pop_back();
    Walk walk(text, tokens);
    walk.run();
    place = walk.place();
    place.kind = PlaceKind::String;
    place.begin = last.begin + 1;
    place.in_import = !tokens.list.empty() && tokens.list.back().is("import");
    return place;
  }
  const std::size_t begin = begin_of_name(text, text.size());
  const std::string_view before = text.substr(0, begin);
  const bool is_number =
      begin < text.size() && std::isdigit(static_cast<unsigned char>(text[begin]));
  tokens = tokens_of(before);
  // A line break right before the place ends an item that may be complete.
  const std::size_t last_end = tokens.list.empty() ? 0 : tokens.list.back().end;
  const bool on_new_line = before.find('\n', last_end) != std::string_view::npos;
  Walk walk(before, tokens);
  walk.run();
  if (on_new_line) walk.begin_line();
  place = walk.place();
  place.begin = begin;
  if (is_number) place.kind = PlaceKind::Nothing;
  const DefinedNames later = names_defined_in(rest);
  for (const std::string& name : later.values)
    place.binders.push_back({Binder::Kind::Global, {}, {}, {}, {name}, {}, true});
  const auto append = [](auto& list, const auto& more) {
    list.insert(list.end(), more.begin(), more.end());
  };
  append(place.types, later.types);
  append(place.fields, later.fields);
  append(place.signatures, later.signatures);
  append(place.constructors, later.constructors);
  return place;
}

DefinedNames names_defined_in(std::string_view text) {
  const Tokens tokens = tokens_of(text);
  Walk walk(text, tokens);
  walk.run();
  if (!tokens.list.empty()) walk.begin_line();
  Place end = walk.place();
  DefinedNames names;
  for (const Binder& binder : end.binders) {
    if (binder.is_global)
      names.values.insert(names.values.end(), binder.names.begin(), binder.names.end());
  }
  names.types = std::move(end.types);
  names.constructors = std::move(end.constructors);
  names.fields = std::move(end.fields);
  names.signatures = std::move(end.signatures);
  return names;
}

}  // namespace relay::repl::completion
