#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <fmt/format.h>

#include "lang/type.h"
#include "models/nnvm/attributes.h"
#include "models/nnvm/symbol.h"
#include "models/program.h"
#include "models/typer.h"

namespace relay::models::nnvm {

// A value of the program: what lines write for it, and its type.
struct Operand {
  std::string text;
  lang::Type type;  // null: a variable whose shape nobody has said yet, or what follows from one
};

// An output of a node, or a variable.
struct Entry {
  Operand operand;
  bool is_variable = false;
  std::string name = {};  // of a variable, in the file
  bool is_used = false;
};

// Thrown where an input has no type: what follows from it has none either.
struct NotKnown {};

// One node on its way into the program: its builder asks for inputs and attributes, and gives an
// expression in the light notation for each output.
class OperatorCall {
 public:
  OperatorCall(const SymbolNode& node, std::string_view word, std::vector<Entry*> inputs,
               Program& program, Typer& typer, Block& block);

  const Attributes attributes;
  // What the table of operators says besides the builder: the name of the operator here.
  const std::string_view word;
  const std::string& name() const { return node_.name; }

  // Inputs. Each is used where it is asked for its text; what is not used is no parameter of the
  // program. All fail where there is no input of that number.
  std::size_t input_count() const { return inputs_.size(); }
  const std::string& text(std::size_t i);
  std::vector<std::string> texts();
  bool is_known(std::size_t i) const;
  const lang::TensorType& tensor(std::size_t i);
  std::size_t rank(std::size_t i);
  std::int64_t extent(std::size_t i, std::size_t axis);  // fails where it is no constant
  lang::DType dtype(std::size_t i);
  // From the front, of one that may count from the end. Fails where there is no such axis.
  std::int64_t axis(std::int64_t given, std::size_t rank) const;

  // What shape an input must have; one that is still open gets it. Fails with both shapes.
  void expect(std::size_t i, const std::vector<std::int64_t>& shape, lang::DType dtype);
  // The shape of another input, for one that is still open.
  void expect_like(std::size_t i, std::size_t other);

  // A line in front of the node's, called after the node and `suffix`; gives its name.
  std::string let(std::string_view suffix, const std::string& expression);
  // The type of what `let` or `text` gave, as a tensor's.
  const lang::TensorType& tensor_of(const std::string& text);
  // The type of an expression over such values.
  lang::Type type_of(const std::string& expression);
  // The next output: a line of the node's name.
  void result(const std::string& expression);
  // The next output, which is already there.
  void same(const std::string& text);
  // A definition of the program that lines may call.
  void define(const std::string& name, const std::string& text);

  const std::vector<Operand>& outputs() const { return outputs_; }
  // The inputs that were used, and the lines.
  const std::vector<Operand>& values() const { return values_; }

  [[noreturn]] void unsupported(const std::string& what) const;
  [[noreturn]] void bad(const std::string& what) const;

 private:
  Entry& entry(std::size_t i) const;
  std::vector<Operand>::iterator find(const std::string& text);

  const SymbolNode& node_;
  std::vector<Entry*> inputs_;
  Program& program_;
  Typer& typer_;
  Block& block_;
  std::vector<Operand> values_;
  std::vector<Operand> outputs_;
};

// --- pieces of expressions ---

std::string text_of(const Attributes::Integers& numbers);  // `[1, 2]`
std::string text_of(double number);                        // `0.5`, `(-1e-05)`
std::string text_of(bool flag);                            // `True`
// `, key=value`; nothing where the value is the operator's own default.
template <class T>
requires(!std::is_convertible_v<T, std::string_view> && !std::is_integral_v<T>) ||
    std::is_same_v<T, bool> std::string
    option(std::string_view key, const T& value, const T& otherwise) {
  return value == otherwise ? std::string() : fmt::format(", {}={}", key, text_of(value));
}
// The same of integers and of strings.
std::string option(std::string_view key, std::int64_t value, std::int64_t otherwise);
std::string option(std::string_view key, std::string_view value, std::string_view otherwise);

}  // namespace relay::models::nnvm
