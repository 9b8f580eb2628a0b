#include "repl/completion/walk.h"

#include <algorithm>
#include <array>

#include "lang/schedule.h"
#include "parser/scan.h"

namespace relay::repl::completion {

namespace grammar = parser::grammar;

namespace {

bool is_definition_word(const Token& token) {
  return token.is_word() &&
         (token.is("def") || token.is("type") || token.is("extern") || token.is("import"));
}

bool is_closer(const Token& token) {
  return token.kind == TokenKind::Sign && (token.is(")") || token.is("]") || token.is("}"));
}

}  // namespace

std::string_view Walk::between(std::size_t first, std::size_t end) const {
  if (first >= end || end > tokens_.size()) return {};
  const std::size_t begin = token(first).begin;
  return text_.substr(begin, token(end - 1).end - begin);
}

bool Walk::ends_operand(std::size_t i) const {
  if (i == 0) return false;
  const Token& before = token(i - 1);
  if (before.kind != TokenKind::Sign) {
    return !before.is_word() || !grammar::is_keyword(before.text, false);
  }
  return is_closer(before) || before.is("_");
}

// At the top level a line ends an item that may be complete.
bool Walk::begins_item(std::size_t i) const {
  const Token& now = token(i);
  if (now.in_first_column && is_definition_word(now)) return true;
  if (frames_.size() > 1 || i == 0) return false;
  if (is_definition_word(now) && ends_operand(i) && !now.is("type")) return true;
  if (!now.first_on_line) return false;
  if (now.is("else") || now.is("with") || now.is("{") || is_closer(now)) return false;
  return ends_operand(i) || token(i - 1).is(";");
}

void Walk::run() {
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    if (i > 0 && begins_item(i)) {
      while (frames_.size() > 1) pop();
      end_item(i);
    }
    step(i);
  }
}

void Walk::begin_line() {
  const std::size_t end = tokens_.size();
  if (frames_.size() == 1 && end > 0 && (ends_operand(end) || token(end - 1).is(";")))
    end_item(end);
}

void Walk::step(std::size_t i) {
  const Token& now = token(i);
  if (now.is_word()) return word(i);
  if (now.kind == TokenKind::Sign) sign(i);
}

void Walk::word(std::size_t i) {
  Frame& frame = top();
  const Token& now = token(i);
  if (i > 0 && token(i - 1).is(".")) return;
  if (frame.role == Role::TypeParams) frame.dims.emplace_back(now.text);
  if (frame.role == Role::Constructors && i == frame.part) {
    constructors_.emplace_back(now.text);
    signatures_.push_back({std::string(now.text), {}});
  }
  if (frame.role == Role::Fields && i == frame.part) {
    fields_.emplace_back(now.text);
    if (!signatures_.empty()) signatures_.back().arguments.emplace_back(now.text);
  }
  if (frame.role == Role::Steps) return add_step_word(i);
  if (frame.in_type) return;
  if (frame.construct == Construct::For && frame.wants_index) {
    frame.indices.emplace_back(now.text);
    scheduled_.emplace_back(now.text);
    frame.wants_index = false;
    return;
  }
  const auto begin = [&](Construct construct) {
    frame.construct = construct;
    frame.construct_at = i;
  };
  const bool at_name = i > 0 && (token(i - 1).is("let") || token(i - 1).is("def"));
  if (at_name) return;
  if (now.is("let")) {
    frame.let = i;
    frame.let_equals = kNowhere;
    if (frame.role != Role::Top && i + 1 < tokens_.size() && token(i + 1).is_word())
      scheduled_.emplace_back(token(i + 1).text);
  } else if (now.is("def") || now.is("fn")) {
    if (now.is("def")) frame.def = i;
    begin(Construct::Function);
    frame.has_params = false;
    frame.params.clear();
    frame.type_params.clear();
    frame.dims.clear();
    frame.param_names.clear();
  } else if (now.is("match")) {
    begin(Construct::Match);
  } else if (now.is("if")) {
    begin(Construct::If);
  } else if (now.is("with") && ends_operand(i)) {
    begin(Construct::With);
    frame.subject_end = i;
  } else if (now.is("type") && frame.role == Role::Top) {
    begin(Construct::TypeDef);
    if (i + 1 < tokens_.size()) types_.emplace_back(token(i + 1).text);
  } else if (now.is("schedule") && frame.role == Role::Top && i == frame.part) {
    begin(Construct::Schedule);
    if (i + 1 < tokens_.size()) scheduled_.emplace_back(token(i + 1).text);
    frame.has_params = false;
    frame.param_names.clear();
  } else if (now.is("for") || now.is("scatter") ||
             (grammar::is_reduction(now.text) && i + 1 < tokens_.size() &&
              token(i + 1).is_word())) {
    const bool is_scattered =
        frame.construct == Construct::For && i > 0 && token(i - 1).is("scatter");
    begin(Construct::For);
    frame.indices.clear();
    frame.wants_index = !now.is("scatter") && !is_scattered;
  }
}

void Walk::sign(std::size_t i) {
  const Token& now = token(i);
  Frame& frame = top();
  if (now.is("(") || now.is("[") || now.is("{")) return open(i);
  if (is_closer(now)) return close(i);
  if (now.is("=")) return equals(i);
  if (now.is(",")) return comma(i);
  if (now.is("=>")) return arrow(i);
  if (now.is(";")) return end_statement(i);
  if (now.is("->")) {
    frame.in_type = true;
  } else if (now.is(":")) {
    const bool is_annotated =
        frame.role == Role::Params || frame.role == Role::Fields || in_pattern(frame);
    if (is_annotated && !frame.is_after_equals) frame.in_type = true;
  }
}

// --- Brackets ---

void Walk::open(std::size_t i) {
  Frame inside;
  inside.opener = i;
  inside.part = i + 1;
  inside.binders = binders_.size();
  const char opener = token(i).text.front();
  if (opener == '(') open_paren(i, inside);
  if (opener == '[') open_bracket(i, inside);
  if (opener == '{') open_brace(i, inside);
  ++open_[inside.closer];
  frames_.push_back(std::move(inside));
}

void Walk::open_paren(std::size_t i, Frame& inside) {
  Frame& frame = top();
  inside.closer = ')';
  const bool follows = ends_operand(i) && !token(i).first_on_line;
  const bool begins_shape =
      frame.role == Role::TypeArgs && i == frame.part && frame.callee == "Tensor";
  const bool is_scattered =
      frame.construct == Construct::For && i > 1 && token(i - 2).is("scatter");
  if (begins_shape || frame.role == Role::Dims) {
    inside.role = Role::Dims;
  } else if (frame.in_type || frame.role == Role::Constructors) {
    inside.role = Role::TypeGroup;
    inside.in_type = true;
  } else if ((frame.construct == Construct::Function || frame.construct == Construct::Schedule) &&
             !frame.has_params) {
    inside.role = Role::Params;
  } else if (in_pattern(frame)) {
    inside.role = Role::Pattern;
  } else if (!is_scattered && follows && frame.role == Role::Top && is_at(frame.part, "import")) {
    inside.role = Role::Names;
  } else if (!is_scattered && follows) {
    inside.role = Role::Call;
    inside.callee = dotted_before(i);
    std::size_t first = i;
    while (first > 0 && (token(first - 1).is_word() || token(first - 1).is("."))) --first;
    inside.is_piped = first > 0 && token(first - 1).is("|>");
  } else {
    inside.role = Role::Group;
  }
}

void Walk::open_bracket(std::size_t i, Frame& inside) {
  Frame& frame = top();
  inside.closer = ']';
  if (frame.in_type) {
    inside.role = Role::TypeArgs;
    inside.in_type = true;
    inside.callee = dotted_before(i);
  } else if ((frame.construct == Construct::Function && !frame.has_params) ||
             frame.construct == Construct::TypeDef) {
    inside.role = Role::TypeParams;
  } else {
    inside.role = ends_operand(i) && !token(i).first_on_line ? Role::Index : Role::List;
  }
}

void Walk::open_brace(std::size_t i, Frame& inside) {
  Frame& frame = top();
  inside.closer = '}';
  if (frame.role == Role::Constructors) {
    inside.role = Role::Fields;
    return;
  }
  if (in_pattern(frame)) {
    inside.role = Role::Pattern;
    return;
  }
  frame.in_type = false;
  inside.role = Role::Block;
  switch (frame.construct) {
    case Construct::Function:
      if (frame.has_params) add_function_binder();
      break;
    case Construct::Match: {
      inside.role = Role::Cases;
      inside.in_pattern = true;
      const std::size_t first = frame.construct_at + 1;
      inside.scrutinee = between(is_at(first, "?") ? first + 1 : first, i);
      break;
    }
    case Construct::For:
      for (const std::string& index : frame.indices)
        binders_.push_back({Binder::Kind::Index, {}, {}, {}, {index}, {}, false});
      break;
    case Construct::Schedule:
      inside.role = Role::Steps;
      add_schedule_binder(frame);
      break;
    case Construct::With:
      inside.role = Role::With;
      inside.subject_end = frame.subject_end;
      break;
    case Construct::TypeDef:
      inside.role = Role::Constructors;
      break;
    case Construct::If:
    case Construct::None:
      break;
  }
}

void Walk::close(std::size_t i) {
  const char closer = token(i).text.front();
  if (open_[closer] == 0) return;
  std::size_t found = frames_.size();
  while (found > 1 && frames_[found - 1].closer != closer) --found;
  while (frames_.size() > found) pop();
  const Frame inside = std::move(top());
  pop();
  closed(inside, i);
}

void Walk::pop() {
  if (top().role != Role::Top) binders_.resize(std::min(binders_.size(), top().binders));
  --open_[top().closer];
  frames_.pop_back();
}

void Walk::closed(const Frame& inside, std::size_t i) {
  Frame& frame = top();
  switch (inside.role) {
    case Role::Params:
      frame.params = "(" + parameters(inside.opener + 1, i, frame.param_names) + ")";
      frame.has_params = true;
      break;
    case Role::TypeParams:
      frame.type_params = between(inside.opener, i + 1);
      frame.dims = inside.dims;
      break;
    case Role::Group:  // of `scatter sum (t) i { .. }`
      if (frame.construct == Construct::For && inside.opener > 1 &&
          token(inside.opener - 2).is("scatter"))
        frame.wants_index = true;
      break;
    case Role::Block:
    case Role::Steps:
    case Role::Cases:
    case Role::With:
    case Role::Constructors:
      frame.construct = Construct::None;
      break;
    default:
      break;
  }
}

// --- Parts ---

void Walk::next_part(std::size_t i) {
  Frame& frame = top();
  frame.part = i + 1;
  frame.is_after_equals = false;
  frame.construct = Construct::None;
  frame.in_type = frame.role == Role::TypeArgs || frame.role == Role::TypeGroup;
}

void Walk::equals(std::size_t i) {
  Frame& frame = top();
  frame.in_type = false;
  if (frame.let != kNowhere && frame.let_equals == kNowhere) {
    frame.let_equals = i;
  } else if (frame.construct == Construct::Function && frame.has_params &&
             frame.role == Role::Top) {
    add_function_binder();
    frame.construct = Construct::None;
  } else {
    frame.is_after_equals = true;
  }
}

void Walk::comma(std::size_t i) {
  Frame& frame = top();
  if (frame.construct == Construct::For) {
    frame.wants_index = true;
    return;
  }
  if (frame.role == Role::Call) {
    if (frame.is_after_equals) {
      frame.given.emplace_back(token(frame.part).text);
    } else {
      frame.arguments.emplace_back(frame.part, i);
    }
  }
  if (frame.role == Role::With) frame.given.emplace_back(token(frame.part).text);
  if (frame.role == Role::Cases) {
    binders_.resize(std::min(binders_.size(), frame.binders));
    frame.in_pattern = true;
  }
  next_part(i);
}

void Walk::arrow(std::size_t i) {
  Frame& frame = top();
  if (frame.role != Role::Cases || !frame.in_pattern) return;
  frame.in_pattern = false;
  frame.in_type = false;
  binders_.push_back({Binder::Kind::Case,
                      {},
                      frame.scrutinee,
                      between(frame.part, i),
                      pattern_names(frame.part, i),
                      {},
                      false});
  frame.part = i + 1;
}

void Walk::end_statement(std::size_t i) {
  if (frames_.size() == 1) {
    end_item(i + 1);
    return;
  }
  Frame& frame = top();
  add_let(i, false);
  frame.let = kNowhere;
  next_part(i);
}

// The `let` of the part that ends before token `end`, if it has one.
void Walk::add_let(std::size_t end, bool is_global) {
  const Frame& frame = top();
  if (frame.let == kNowhere || frame.let_equals == kNowhere) return;
  binders_.push_back({Binder::Kind::Let,
                      {},
                      between(frame.let, end),
                      {},
                      pattern_names(frame.let + 1, frame.let_equals),
                      {},
                      is_global});
}

void Walk::end_item(std::size_t i) {
  Frame& frame = top();
  std::size_t end = i;
  while (end > frame.part && token(end - 1).is(";")) --end;
  const bool is_def = frame.def != kNowhere && frame.has_params;
  // Parameters of a function without braces are over.
  while (!binders_.empty() && !binders_.back().is_global) binders_.pop_back();
  if (is_def) {
    std::size_t body = frame.def;
    while (body < end && !token(body).is("(") && !token(body).is("[")) ++body;
    std::string name = dotted_before(body);
    const std::string rest(between(body, end));
    const bool has_braces = end > 0 && token(end - 1).is("}");
    std::string text = name.find('.') == std::string::npos && has_braces
                           ? "let " + name + " = fn " + rest + ";"
                           : std::string();
    signatures_.push_back({name, frame.param_names});
    binders_.push_back(
        {Binder::Kind::Global, std::move(text), {}, {}, {std::move(name)}, {}, true});
  } else {
    add_let(end, true);
  }
  if (is_at(frame.part, "import")) end_import(frame.part, end);
  frame = Frame();
  frame.part = i;
}

// `import "f.relay" as f`, `import "f.relay" (a, b as c)`
void Walk::end_import(std::size_t first, std::size_t end) {
  if (first + 1 >= end || token(first + 1).kind != TokenKind::String) return;
  const std::string_view path = token(first + 1).text;
  if (path.size() < 2) return;
  ImportedNames import{std::string(path.substr(1, path.size() - 2)), {}, {}};
  if (first + 3 < end && token(first + 2).is("as")) import.prefix = token(first + 3).text;
  if (first + 2 < end && token(first + 2).is("(")) {
    for (std::size_t i = first + 3; i < end; ++i) {
      const bool is_last_word = is_at(i + 1, ",") || is_at(i + 1, ")");
      if (is_last_word && token(i).is_word()) import.names.push_back(dotted_before(i + 1));
    }
  }
  imports_.push_back(std::move(import));
}

void Walk::add_function_binder() {
  const Frame& frame = top();
  binders_.push_back({Binder::Kind::Function,
                      frame.type_params + frame.params,
                      {},
                      {},
                      frame.param_names,
                      frame.dims,
                      false});
}

// What a step may mention: parameters, loops by the names of indices, tensors of functions, other
// steps.
void Walk::add_schedule_binder(const Frame& frame) {
  std::vector<std::string> names = frame.param_names;
  names.insert(names.end(), scheduled_.begin(), scheduled_.end());
  for (const std::string& word : lang::schedule_words()) names.push_back(word);
  binders_.push_back({Binder::Kind::Schedule, {}, {}, {}, std::move(names), {}, false});
}

// A step's word, or a loop with the names that the step makes of it. What a step of one's own makes
// is not known here: mostly it splits what it is given.
void Walk::add_step_word(std::size_t i) {
  std::size_t first = i;
  while (first > top().opener + 1 && !token(first).first_on_line && !token(first - 1).is(";"))
    --first;
  std::vector<std::string>& names = binders_.back().names;
  const std::string name(token(i).text);
  names.push_back(name);
  if (i == first) return;
  const std::string_view word = token(first).text;
  const std::size_t place = i - first;
  if (word == "fuse" && place == 2)
    names.push_back(std::string(token(first + 1).text) + "_" + name);
  const bool is_split = word == "split"  ? place == 1
                        : word == "tile" ? place <= 2
                                         : lang::step_form(word).empty();
  if (!is_split) return;
  for (const char* end : {"_o", "_i"}) names.push_back(name + end);
}

}  // namespace relay::repl::completion
