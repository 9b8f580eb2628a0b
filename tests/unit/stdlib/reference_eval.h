#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "lang/expr.h"

// The meaning of definitions at concrete shapes, as slowly and plainly as it can be written: every
// number is a double, every tensor a row-major vector. It shares no code with loops/ or interp/.
namespace relay::stdlib_test {

struct Array {
  lang::DType dtype = lang::DType::Float64;
  std::vector<std::int64_t> shape;
  std::vector<double> data;
  std::vector<Array> fields;  // of a tuple
  bool is_tuple = false;
};

Array array(lang::DType dtype, std::vector<std::int64_t> shape, std::vector<double> data);
Array tuple_of(std::vector<Array> fields);
lang::Type type_of(const Array& value);  // with constant dims

class Evaluator {
 public:
  void bind(const lang::VariableRef& variable, Array value) {
    values_[variable.get()] = std::move(value);
  }
  Array eval(const lang::Expr& expr);

 private:
  Array eval_uncached(const lang::Expr& expr);
  Array eval_call(const lang::Call& call);
  double scalar(const lang::Expr& expr);
  void for_indices(const std::vector<lang::IndexBinder>& binders,
                   const std::function<void(const std::vector<std::int64_t>&)>& body);
  std::map<const lang::Variable*, Array> values_;
};

// A call of an operator through its definition.
Array apply(const std::string& name, const std::vector<Array>& args,
            const std::vector<lang::Attr>& attrs = {});

}  // namespace relay::stdlib_test
