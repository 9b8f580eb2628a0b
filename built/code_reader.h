#pragma once

#include <vector>

#include "built/tensor_reader.h"
#include "built/type_reader.h"
#include "lang/expr.h"
#include "lang/op.h"

namespace relay::built {

// Reads what a CodeWriter has written: the tables first, then references to them.
class CodeReader {
 public:
  // Operators that are in no registry are kept by `into`.
  CodeReader(lang::ByteReader& from, TypeReader& types, Snapshot& into)
      : from_(from), types_(types), into_(into) {}

  void read_names();  // variables and operators
  // Patterns and expressions; the tensors must live as long as this.
  void read_expressions(TensorReader& tensors);

  const lang::Expr& expr() { return from_.at(exprs_); }
  const lang::OpDef* op() { return from_.at(ops_); }

 private:
  const lang::VariableRef& variable() { return from_.at(variables_); }
  void read_variable();
  void read_op();
  const lang::OpDef* effect();
  lang::PatternRef read_pattern();
  lang::Expr read_expr();
  struct Head;
  lang::Expr read_parts(const Head& head);
  lang::Expr read_index_notation(const Head& head);
  lang::Expr literal(const Head& head);
  lang::Expr let(const Head& head);
  lang::Expr function(const Head& head);
  lang::Expr call(const Head& head);
  lang::Expr match(const Head& head);
  const lang::Expr& part();
  std::vector<lang::Expr> list();
  std::vector<lang::IndexBinder> binders();
  template <class Enum>
  Enum enumerator(Enum last);

  lang::ByteReader& from_;
  TypeReader& types_;
  Snapshot& into_;
  TensorReader* tensors_ = nullptr;
  std::vector<lang::VariableRef> variables_;
  std::vector<const lang::OpDef*> ops_;
  std::vector<lang::PatternRef> patterns_;
  std::vector<lang::Expr> exprs_;
};

}  // namespace relay::built
