#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lang/value.h"

// The table of cases: one row says how an operator is called and what NumPy says of it. The inputs
// are generated, with the same bits here and in reference.py. tests/README.md tells how to write a
// row.
namespace relay::tests {

struct CaseInput {
  bool is_tuple = false;
  std::vector<CaseInput> fields;  // of a tuple
  lang::DType dtype = lang::DType::Float32;
  std::vector<std::int64_t> shape;
  double low = 0;
  double high = 0;
  std::vector<std::string> data;  // explicit elements; empty: generated between low and high
  bool has_data = false;
};

struct CaseRow {
  std::string op;
  std::vector<CaseInput> inputs;
  std::string attrs;               // light notation; empty: none
  std::vector<std::string> notes;  // see tests/README.md
  std::string key;                 // under which the result is recorded
  std::string place;               // FILE:LINE

  bool has_note(std::string_view note) const;
};

// Throws std::runtime_error with the place of what cannot be read.
std::vector<CaseRow> read_cases(const std::string& path);

// The numbers of the table: between 0 and 1, all different within one input.
double unit_number(std::int64_t element, std::int64_t input);

// The arguments of a row. `input` numbers the leaves.
std::vector<lang::Value> make_arguments(const CaseRow& row);
// A float64 tensor with elements between low and high.
lang::Value make_numbers(const std::vector<std::int64_t>& shape, double low, double high,
                         std::int64_t input);

// How the dims of parameters are written.
struct CaseDims {
  enum Kind {
    Constant,
    Symbolic,  // equal extents above 1 are one dimension variable
    Any,       // `?`
  };
  Kind kind = Constant;
  // Where these are written, by the places of the extents in the parameters; all others are
  // constants. Empty: everywhere.
  std::set<std::size_t> places = {};

  CaseDims(Kind kind) : kind(kind) {}
  CaseDims(Kind kind, std::set<std::size_t> places) : kind(kind), places(std::move(places)) {}
  bool is_at(std::size_t place) const {
    return kind != Constant && (places.empty() || places.contains(place));
  }
  std::string describe() const;  // "with `?` dims", "with a symbolic extent at 3"
};
// One extent at a time, and one set of equal extents above 1: all others are constants.
std::vector<CaseDims> single_extents(const CaseRow& row);
// `a: Tensor[(2, 3), float32], b: ...`
std::string parameters_text(const CaseRow& row, const CaseDims& dims);
// `place`: of the input's first extent; becomes that of what follows.
std::string type_text(const CaseInput& input, const CaseDims& dims, std::size_t& place);
std::string parameter_name(std::size_t index);  // a, b, c, ...
// `op(a, b, attrs)`
std::string call_text(const CaseRow& row);
// `fn (parameters) { call }`; with dimension variables, where there are any, `fn[n2, n3] ...`.
std::string function_text(const CaseRow& row, const CaseDims& dims);
// `[n2, n3]`: the dimension variables that the parameters mention; empty where there are none.
std::string variables_text(const CaseRow& row, const CaseDims& dims);

}  // namespace relay::tests
