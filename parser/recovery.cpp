#include "parser/recovery.h"

#include <array>
#include <string_view>

#include "parser/lexical.h"
#include "parser/parse.h"

namespace relay::parser {
namespace {

// More would help nobody, and a file that is no program would give one for each line.
constexpr std::size_t kMostErrors = 50;

using grammar::scan_name;

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  for (const std::string_view candidate : words) {
    if (candidate == word) return true;
  }
  return false;
}

// Goes from token to token and knows which brackets are open: those that were open where the error
// is, and those that were opened behind it. A closing bracket closes the innermost of its kind,
// with all that is open inside.
class Scanner {
 public:
  Scanner(const Builder& builder, std::size_t first_opener, const char* at, const char* end)
      : begin_(builder.begin()), at_(at), end_(end) {
    for (std::size_t i = first_opener; i < builder.openers.size(); ++i)
      open_.push_back(closer_of(begin_[builder.openers[i].at]));
    old_ = open_.size();
    skip_space();
  }
  // Of a text in which no bracket is known to be open.
  explicit Scanner(std::string_view text)
      : begin_(text.data()), at_(begin_), end_(begin_ + text.size()) {
    skip_space();
  }

  const char* at() const { return at_; }
  const char* before_space() const { return before_space_; }
  bool at_end() const { return at_ == end_; }
  char token() const { return *at_; }
  std::string_view word() const { return scan_name(at_, end_, false); }
  bool is_first_on_line() const {
    const char* p = at_;
    while (p != begin_ && (p[-1] == ' ' || p[-1] == '\t')) --p;
    return p == begin_ || p[-1] == '\n';
  }
  bool is_in_first_column() const { return at_ == begin_ || at_[-1] == '\n'; }
  std::size_t depth() const { return open_.size(); }
  bool is_inside_braces() const {
    for (const char closer : open_) {
      if (closer == '}') return true;
    }
    return false;
  }
  bool is_inside_new_bracket() const { return open_.size() > old_; }
  // Was there a string or comment without end?
  bool is_in_open_text() const { return is_in_open_text_; }
  // Does the closing bracket here belong to nothing that is known to be open?
  bool closes_what_is_outside() const {
    return is_closer(*at_) && open_.find(*at_) == std::string::npos;
  }

  void close_all() {
    open_.clear();
    old_ = 0;
  }

  void next() {
    const char c = *at_;
    if (const char closer = closer_of(c)) {
      open_.push_back(closer);
      ++at_;
    } else if (is_closer(c)) {
      if (const std::size_t found = open_.rfind(c); found != std::string::npos) open_.resize(found);
      old_ = std::min(old_, open_.size());
      ++at_;
    } else if (c == '"') {
      skip_string();
    } else if (const std::string_view name = word(); !name.empty()) {
      at_ += name.size();
    } else {
      ++at_;
    }
    skip_space();
  }

 private:
  static char closer_of(char c) { return c == '(' ? ')' : c == '[' ? ']' : c == '{' ? '}' : '\0'; }
  static bool is_closer(char c) { return c == ')' || c == ']' || c == '}'; }
  void skip_space() {
    before_space_ = at_;
    const Gap gap = skip_gap(at_, end_, Breaks::Skip);
    at_ = gap.end;
    if (gap.open_comment) is_in_open_text_ = true;
  }
  // One that does not end on its line is taken for a stray quote.
  void skip_string() {
    const char* p = at_ + 1;
    while (p != end_ && *p != '"' && *p != '\n') p += *p == '\\' && end_ - p > 1 ? 2 : 1;
    const bool is_closed = p != end_ && *p == '"';
    if (!is_closed) is_in_open_text_ = true;
    at_ = is_closed ? p + 1 : at_ + 1;
  }

  const char* begin_;
  const char* at_;
  const char* end_;
  const char* before_space_ = nullptr;
  std::string open_;  // the closing brackets that are due
  std::size_t old_ = 0;
  bool is_in_open_text_ = false;
};

// Where an item surely begins, whatever brackets seem to be open: forgetting to close one is a
// common error.
bool begins_definition(const Scanner& scanner) {
  return scanner.is_in_first_column() &&
         is_one_of(scanner.word(), {"def", "type", "extern", "import"});
}

bool begins_item(const Scanner& scanner, bool strict) {
  if (begins_definition(scanner)) return true;
  if (strict) {
    const bool is_outside = scanner.depth() == 0 && scanner.is_first_on_line();
    return is_outside &&
           (scanner.token() == '#' || is_one_of(scanner.word(), {"def", "type", "extern"}));
  }
  if (scanner.word() == "let") return scanner.is_in_first_column() && !scanner.is_inside_braces();
  // A line outside brackets, unless it can only be the rest of something.
  return scanner.depth() == 0 && scanner.is_first_on_line() && !scanner.closes_what_is_outside() &&
         !is_one_of(scanner.word(), {"else", "with"}) && scanner.token() != '|';
}

bool can_report(Builder& builder, const SyntaxStop& stop) {
  return builder.recovers && (stop.reported || builder.errors.size() < kMostErrors);
}

void report(Builder& builder, SyntaxStop& stop) {
  if (!stop.reported) builder.errors.push_back(stop.diagnostic);
  stop.reported = true;
}

// Does a binding go on here whose `let` has been forgotten: `a = 3.0`, `a: float32 = 3.0`?
bool follows_name(char c) { return c == '=' || c == ':'; }

// Of what a block had on the stack when it failed: whole statements stay, and the names of those
// that are not whole, such as of `let y = sin x`, which has been read as far as `sin`.
void keep_statements(Builder& builder, std::size_t mark, const char* error) {
  const char* text = builder.begin();
  const auto goes_on = [&](const Node& node) {
    return text + node.end < error &&
           std::string_view(text + node.end, error).find_first_not_of(" \t") ==
               std::string_view::npos;
  };
  const auto is_let_name = [&](const Node& node) {
    const char* p = text + node.begin;
    while (p != text && (p[-1] == ' ' || p[-1] == '\n' || p[-1] == '\t' || p[-1] == '\r')) --p;
    return p - text >= 3 && std::string_view(p - 3, 3) == "let";
  };
  if (builder.pushed_since(mark) > 0) builder.unwrap(Syntax::Sequence);
  builder.keep_since(mark, [&](Node& node) {
    switch (node.kind) {
      case Syntax::Let: {
        const Node& target = *node.child(0);
        if (target.kind != Syntax::Name || !goes_on(node)) return true;
        node.begin = target.begin;
        node.end = target.end;
        node.count = 0;
        break;
      }
      case Syntax::Bind:
      case Syntax::FreeVar:
      case Syntax::Broken:
        return true;
      case Syntax::Local:
      case Syntax::Name:
        if (!is_let_name(node) && !(goes_on(node) && follows_name(*error))) return false;
        break;
      case Syntax::Graph: {
        const Gap gap = skip_gap(text + node.end, builder.end(), Breaks::Skip);
        if (gap.end == builder.end() || *gap.end != '=') return false;
        break;
      }
      default:
        return false;
    }
    builder.make_broken(node);
    return true;
  });
}

// The names that the item in [begin, end) would define, as leaves.
void push_names(Builder& builder, const char* begin, const char* end) {
  Scanner scanner(builder, builder.openers.size(), begin, end);
  std::string_view word = scanner.word();
  if (word == "extern") {
    scanner.next();
    if (!scanner.at_end()) word = scanner.word();
  }
  if (scanner.at_end()) return;
  if (!is_one_of(word, {"def", "let", "type"})) {
    const char* const name = scanner.at();
    scanner.next();
    if (!word.empty() && !scanner.at_end() && follows_name(scanner.token()))
      builder.leaf(Syntax::Name, name, name + word.size());
    return;
  }
  const auto push = [&] {
    if (scanner.at_end()) return;
    if (scanner.token() == '%' || scanner.token() == '@') scanner.next();
    if (scanner.at_end() || scanner.word().empty()) return;
    builder.leaf(Syntax::Name, scanner.at(), scanner.at() + scanner.word().size());
  };
  scanner.next();
  push();
  if (word != "type") return;
  for (bool is_first = false; !scanner.at_end();) {  // of a constructor
    if (is_first) push();
    if (scanner.at_end()) return;
    is_first = (scanner.token() == '{' && scanner.depth() == 0) ||
               (scanner.token() == ',' && scanner.depth() == 1);
    scanner.next();
  }
}

// Behind the bracket that is innermost, where that is closed before the block ends or a binding
// begins: what stands in it, a `;` too, belongs to it. Else nothing changes.
bool leave_bracket(Scanner& scanner) {
  Scanner ahead = scanner;
  const std::size_t depth = scanner.depth();
  for (; !ahead.at_end() && !begins_definition(ahead); ahead.next()) {
    if (ahead.depth() < depth) {
      scanner = ahead;
      return true;
    }
    if (ahead.depth() == depth && (ahead.word() == "let" || ahead.token() == '}')) return false;
  }
  return false;
}

}  // namespace

Resumption resume_in_block(Builder& builder, SyntaxStop& stop, const Builder::State& inside,
                           const char* end) {
  const bool is_local = stop.diagnostic.kind == lang::DiagnosticKind::SyntaxError && !stop.at_end;
  if (stop.reported || !is_local || !can_report(builder, stop)) return {};
  const char* const error = builder.begin() + stop.diagnostic.span.begin;
  Scanner scanner(builder, inside.openers, error, end);
  for (; !scanner.at_end() && !begins_definition(scanner); scanner.next()) {
    while (scanner.token() == ';' && scanner.depth() > 0 && leave_bracket(scanner)) {
    }
    if (scanner.at_end() || begins_definition(scanner)) break;
    const bool is_end = scanner.token() == '}' && scanner.closes_what_is_outside();
    const bool is_outside = !scanner.is_inside_new_bracket() && !scanner.is_inside_braces();
    const bool is_break = scanner.token() == ';' && is_outside;
    const bool is_next = scanner.word() == "let" && is_outside;  // where a `;` has been forgotten
    if (!is_end && !is_break && !is_next) continue;
    report(builder, stop);
    Resumption resumption{scanner.at(), is_next};
    if (is_break) {
      scanner.next();
      resumption = {scanner.at(), scanner.at_end() || scanner.token() != '}'};
    }
    builder.restore(inside, false);
    keep_statements(builder, inside.mark, error);
    // The value, unless one follows.
    if (!resumption.more) builder.leaf(Syntax::Broken, error, error);
    return resumption;
  }
  report(builder, stop);  // no block further out will find its end either
  return {};
}

const char* resume_at_item(Builder& builder, SyntaxStop& stop, const Builder::State& outside,
                           const char* begin, const char* end) {
  if (!can_report(builder, stop)) return nullptr;
  // That the text ends too early is most often what an error before it leads to.
  const bool follows = stop.at_end && builder.errors.size() > outside.errors;
  if (!follows) report(builder, stop);
  begin = skip_gap(begin, end, Breaks::Skip).end;
  // From the error on: what stands before it has been read, and its brackets are known.
  const char* error = builder.begin() + stop.diagnostic.span.begin;
  Scanner scanner(builder, outside.openers, error, end);
  if (error == begin && !scanner.at_end()) scanner.next();
  while (!scanner.at_end() && !begins_item(scanner, builder.strict)) scanner.next();
  builder.restore(outside, true);
  const char* stop_at = scanner.at_end() ? end : scanner.before_space();
  push_names(builder, begin, stop_at);
  builder.wrap(Syntax::Broken, outside.mark, builder.offset(begin), builder.offset(stop_at));
  builder.wrap(Syntax::Item, outside.mark, builder.offset(begin), builder.offset(stop_at));
  return stop_at;
}

bool has_open_brackets(std::string_view text) {
  Scanner scanner(text);
  for (; !scanner.at_end(); scanner.next()) {
    if (begins_definition(scanner)) scanner.close_all();
  }
  return scanner.depth() > 0 && !scanner.is_in_open_text();
}

bool is_cut_by(std::string_view text, std::string_view line) {
  const Scanner scanner(line);
  return !scanner.at_end() && begins_definition(scanner) && has_open_brackets(text);
}

}  // namespace relay::parser
