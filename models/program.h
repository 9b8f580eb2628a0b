#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "lang/diagnostic.h"
#include "lang/tensor.h"
#include "lang/type.h"
#include "models/names.h"

namespace relay::models {

// A line of a function: `let NAME = EXPRESSION;`, both in the light notation.
struct Line {
  std::string name;
  std::string expression;
  std::string comment = {};  // whole lines in front of it, without `//`
};

// Lines, and the expression that is the value.
struct Block {
  std::vector<Line> lines;
  std::string result;
};

struct Parameter {
  std::string name;
  lang::Type type;  // dimension variables become those of the function
};

// The program that an importer writes: light Relay, and a file with its weights. The weights are
// the fields of a record, `Weights`, which the functions have as their parameter `w`:
//
//   type Weights { Weights { fc_weight: Tensor[(10, 64), float32] } }
//   let weights = Weights(fc_weight = load("model.safetensors", "fc.weight"))
//   def model[n](w: Weights, x: Tensor[(n, 64), float32]) { … }
//   def main[n](x: Tensor[(n, 64), float32]) { model(weights, x) }
//
// so that `grad` of the model is a record of the same fields. A model without weights is `main`
// alone.
class Program {
 public:
  // `title`: the line of comment on top.
  explicit Program(std::string title);

  // Names of values, of helpers and of parameters. Those of the program itself are taken.
  Names& names() { return names_; }

  // Keeps a tensor under its own name in the file, and gives the expression that reads it:
  // `w.NAME`. The same name again is the same weight.
  std::string weight(const std::string& name, lang::TensorRef tensor);
  // Its type, to be asked of an expression that mentions it.
  static lang::Type type_of(const lang::Tensor& tensor);

  // A definition that lines call, once however often it is asked for. `text`: the whole item, `def
  // NAME(…) { … }`. Its name should have a dot, or be taken from names().
  void define(const std::string& name, std::string text);
  bool is_defined(const std::string& name) const { return defined_.contains(name); }

  // The model itself; the last thing that is said.
  void set_model(std::string doc, std::vector<Parameter> parameters, Block body);

  bool has_weights() const { return !weights_.empty(); }
  // The program, laid out by the formatter, with the weights in the file `weights_file`. Fails
  // where that cannot be read as a program: a mistake of the importer's.
  lang::Result<std::string> text(const std::string& weights_file) const;
  // Writes the text to `path`, and the weights beside it, where there are any: `model.relay` and
  // `model.safetensors`. Fails with what the formats say.
  lang::Result<bool> write(const std::string& path) const;
  // The file of the weights for a program at `path`.
  static std::string weights_path(const std::string& path);

 private:
  struct Kept {
    std::string name;   // in the file
    std::string field;  // in the record
    lang::TensorRef tensor;
  };
  std::string record() const;
  std::string model() const;

  std::string title_;
  Names names_;
  Names fields_;
  // The weights that were asked for by one name, by what their elements hash to.
  struct Namesakes {
    std::unordered_multimap<std::size_t, std::size_t> places;  // in weights_
    int next = 2;                                              // number of the next name
  };
  std::vector<Kept> weights_;
  std::unordered_set<std::string> weight_names_;
  std::unordered_map<std::string, Namesakes> namesakes_;
  std::vector<std::string> definitions_;
  std::set<std::string> defined_;
  std::string doc_;
  std::vector<Parameter> parameters_;
  Block body_;
};

// Lines that neither the value nor a line that stays mentions are gone.
void remove_unused(Block& block);
// Where the value is what the last line names, it is that line's expression.
void shorten(Block& block);
// `{ let a = …; … result }`, for a block inside of an expression: a branch, a function literal.
std::string block_text(const Block& block);
// A string of the language, quoted.
std::string string_literal(std::string_view text);

}  // namespace relay::models
