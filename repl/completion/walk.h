#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "repl/completion/place.h"

// Private to place.cpp and walk.cpp.
namespace relay::repl::completion {

// What an open bracket, or the text's top level, holds.
enum class Role : std::uint8_t {
  Top,
  Params,
  TypeParams,
  Call,
  Group,  // parentheses, which may hold statements
  Block,
  Steps,  // of a schedule
  Cases,
  Constructors,
  Fields,     // of a record type
  TypeArgs,   // `Tensor[..]`, `List[..]`
  TypeGroup,  // `(A, B)` as a type
  Dims,       // the shape in `Tensor[(..), d]`
  With,
  List,
  Index,
  Pattern,
  Names,  // of an import
};

// A construct that has begun in a frame and waits for its `{`.
enum class Construct : std::uint8_t { None, Function, Match, If, For, With, TypeDef, Schedule };

inline constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

struct Frame {
  Role role = Role::Top;
  char closer = '\0';
  std::size_t opener = kNowhere;  // token
  std::size_t part = 0;           // token where the part at hand begins: item, statement, argument
  std::size_t binders = 0;        // how many there were outside
  bool in_type = false;
  bool is_after_equals = false;       // in this part
  std::size_t let = kNowhere;         // token of the `let` of this part
  std::size_t let_equals = kNowhere;  // its `=`, once that is there
  std::size_t def = kNowhere;         // the same of `def`
  Construct construct = Construct::None;
  std::size_t construct_at = kNowhere;
  std::string type_params;
  std::string params;
  std::vector<std::string> dims;
  std::vector<std::string> param_names;
  bool has_params = false;
  std::vector<std::string> indices;  // of a For
  bool wants_index = false;
  bool in_pattern = false;             // Cases: before `=>`
  std::string_view scrutinee;          // Cases
  std::size_t subject_end = kNowhere;  // With: the token behind the record
  std::string callee;                  // Call
  bool is_piped = false;
  std::vector<std::pair<std::size_t, std::size_t>> arguments;  // their tokens
  std::vector<std::string> given;
};

// One walk over the tokens of a text.
class Walk {
 public:
  Walk(std::string_view text, const Tokens& tokens) : text_(text), tokens_(tokens.list) {
    frames_.emplace_back();
  }
  void run();
  // The place is on a line of its own behind the tokens.
  void begin_line();
  Place place() const;

 private:
  const Token& token(std::size_t i) const { return tokens_[i]; }
  Frame& top() { return frames_.back(); }
  bool is_at(std::size_t i, std::string_view text) const {
    return i < tokens_.size() && tokens_[i].text == text;
  }
  std::string_view between(std::size_t first, std::size_t end) const;  // the text of these tokens
  bool ends_operand(std::size_t i) const;  // may an expression end with the token before `i`?
  bool begins_item(std::size_t i) const;

  void step(std::size_t i);
  void word(std::size_t i);
  void sign(std::size_t i);
  void open(std::size_t i);
  void open_paren(std::size_t i, Frame& inside);
  void open_bracket(std::size_t i, Frame& inside);
  void open_brace(std::size_t i, Frame& inside);
  void close(std::size_t i);
  void pop();
  void closed(const Frame& inside, std::size_t i);
  void equals(std::size_t i);
  void add_let(std::size_t end, bool is_global);
  void comma(std::size_t i);
  void arrow(std::size_t i);
  void end_statement(std::size_t i);
  void end_item(std::size_t i);
  void end_import(std::size_t first, std::size_t end);
  void next_part(std::size_t i);
  void add_function_binder();
  void add_schedule_binder(const Frame& frame);
  void add_step_word(std::size_t i);
  bool in_let_pattern(const Frame& frame) const {
    return frame.let != kNowhere && frame.let_equals == kNowhere && !frame.in_type;
  }
  bool in_pattern(const Frame& frame) const {
    return frame.role == Role::Pattern || (frame.role == Role::Cases && frame.in_pattern) ||
           in_let_pattern(frame);
  }
  std::vector<std::string> pattern_names(std::size_t first, std::size_t end) const;
  std::string parameters(std::size_t first, std::size_t end, std::vector<std::string>& names) const;
  std::string dotted_before(std::size_t end) const;   // the name that ends before token `end`
  std::size_t opener_of(std::size_t closer) const;    // kNowhere if there is none
  std::string operand_before(std::size_t end) const;  // an operand with its calls and fields
  PlaceKind kind_of(const Frame& frame, Place& place) const;
  PlaceKind kind_of_type(const Frame& frame) const;
  CallPlace call_of(const Frame& frame) const;

  std::string_view text_;
  const std::vector<Token>& tokens_;
  std::vector<Frame> frames_;
  std::map<char, std::size_t> open_;  // how many frames have that closer
  std::vector<Binder> binders_;
  std::vector<std::string> scheduled_;  // indices of all index notation so far, and schedules
  std::vector<ImportedNames> imports_;
  std::vector<std::string> types_;
  std::vector<std::string> constructors_;
  std::vector<std::string> fields_;
  std::vector<Signature> signatures_;
};

}  // namespace relay::repl::completion
