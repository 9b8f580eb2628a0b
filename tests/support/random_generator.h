#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/random_program.h"
#include "tests/support/random_type.h"

// The maker of random programs, for the sources that hold its productions.
namespace relay::tests {

// Productions take a type and an amount of fuel, which bounds the size of what they make, and give
// text. The first choice of each is the simplest.
class Generator {
 public:
  Generator(Random& random, const ProgramOptions& options) : random_(random), options_(options) {}
  RandomProgram run();

 private:
  struct Name {
    std::string text;
    Ty type;
  };
  struct Callee {
    std::string name;
    std::vector<Ty> params;
    Ty result;
    bool counted = false;  // takes a count first
    std::uint32_t features = 0;
  };
  using Produce = std::string(const Ty& type, int fuel);
  using Production = Produce Generator::*;
  struct Weighted {
    int weight;
    Production make;
  };

  // --- random_program.cpp: types, numbers, names ---
  bool is_float() const { return lang::is_float(options_.dtype); }
  std::string_view dtype_name() const { return lang::name_of(options_.dtype); }
  std::string type_text(const Ty& type);
  std::string number_digits(double value) const;
  std::string scalar(double value) const;
  std::string literal(const Shape& shape, std::size_t axis = 0);
  std::string small_count();
  Ty tensor_type();
  Ty data_type(int depth);  // no functions in it
  Ty new_type(int depth);
  Ty any_type(int depth = 2);
  Ty function_type();
  std::string fresh(std::string_view prefix);
  std::vector<int> shares(int fuel, std::size_t count);
  void use(Feature feature) { features_ |= 1U << static_cast<unsigned>(feature); }
  std::string constant(const Ty& type, int depth);  // a value, for an argument
  const Name* variable(const Ty& type);
  // A variable of this kind, or null.
  const Name* variable_of(Ty::Kind kind);
  const Name* data_variable();

  // --- random_definitions.cpp ---
  void define_some();
  void define_main();
  std::string inner_product(const Ty& type);  // the name of the function
  std::string total(const Ty& type);          // the same
  std::vector<Ty> parameter_types(std::size_t count);
  std::string parameters(const std::vector<Ty>& types, bool annotated);
  void define(Callee callee, const std::string& text);
  void define_helper();
  void define_loop();
  void define_mutual();
  void define_list_recursion();
  void define_tree_recursion();
  void define_maker();

  // --- random_expression.cpp: any type; control flow ---
  std::string expression(const Ty& type, int fuel);
  std::string leaf(const Ty& type, int fuel = 0);
  std::string tame(const Ty& type, const std::string& value);
  // `body` of that type, in which the tensors among the last `count` names are used, or most are.
  std::string using_names(const Ty& type, std::string body, std::size_t count);
  Produce let, let_pattern, projection, of_data, conditional, match_option, match_list, match_two,
      match_tree, match_choice, scrutinee, local_loop, local_list_loop, place_loop, checkpoint,
      reference, reference_loop, reference_in_closure;
  std::string condition(int fuel);
  std::string pattern(const Ty& type, int depth);  // one that everything fits
  std::string clause(const std::string& pattern, const Ty& type, int fuel, std::size_t scope);

  // --- random_function.cpp: functions as values ---
  const Callee* callee_for(const Ty& type);  // one that gives this type, or null
  std::string call_of(const Callee& callee, int fuel);
  Produce call, call_variable, let_function, lambda, known_function, composed, fold, fold_tree,
      fold_functions, function_in_data, higher_order, picked, nested_gradient;

  // --- random_combinators.cpp ---
  Ty type_of_order(std::size_t order);
  Produce applied, repeated, rearranged_function, state_monad;
  std::string plan(int fuel);

  // --- random_data.cpp: tuples, lists, options, trees, records ---
  std::string construct(const Ty& type, int fuel);
  std::string derived_data(const Ty& type, int fuel);
  std::string derived_list(const Ty& type, int fuel);

  // --- random_tensor.cpp ---
  Produce unary, binary, broadcast, chosen, reduced, indexed, indexed_vector, indexed_matrix,
      rearranged, rearranged_vector, rearranged_matrix, product;
  std::string combine(const std::string& a, const std::string& b);
  std::string range(const std::string& index, std::int64_t extent);
  std::string indexed_scalar(int fuel);
  std::string element(const std::vector<std::string>& at, int fuel);

  Random& random_;
  const ProgramOptions options_;
  RandomProgram program_;
  std::vector<Shape> shapes_;  // those of most tensors
  std::vector<Ty> palette_;    // most types
  std::vector<Name> scope_;
  std::vector<Callee> callees_;
  std::set<std::string> declared_;                     // library definitions in the text
  std::map<std::string, std::string> inner_products_;  // by type
  std::map<std::string, std::string> totals_;
  std::string library_;
  std::string require(std::string_view name);  // puts a library definition into the text
  std::uint32_t features_ = 0;
  int names_ = 0;
  int index_depth_ = 0;     // inside bodies of index notation
  int gradient_depth_ = 0;  // inside functions that are differentiated
};

}  // namespace relay::tests
