#pragma once

#include <vector>

#include "built/tables.h"
#include "built/tensor_writer.h"
#include "built/type_writer.h"
#include "lang/expr.h"
#include "lang/op.h"

namespace relay::built {

// Writes the tables of variables, operators, patterns and expressions.
class CodeWriter {
 public:
  CodeWriter(TypeWriter& types, TensorWriter& tensors) : types_(types), tensors_(tensors) {}

  // Each writes a reference.
  void expr(const lang::Expr& expr, lang::ByteWriter& to);
  void op(const lang::OpDef& op, lang::ByteWriter& to);

  void append_names_to(lang::ByteWriter& to) const;  // variables and operators
  void append_to(lang::ByteWriter& to) const;        // patterns and expressions

 private:
  void variable(const lang::VariableRef& variable, lang::ByteWriter& to);
  void variables(const std::vector<lang::VariableRef>& variables, lang::ByteWriter& to);
  void pattern(const lang::PatternRef& pattern, lang::ByteWriter& to);
  void emit(const lang::Pattern& pattern);
  void emit(const lang::Expr& expr);
  void type_of(const lang::Expr& expr, lang::ByteWriter& to);
  void parts(const lang::Expr& expr, lang::ByteWriter& to);
  void part(const lang::Expr& expr, lang::ByteWriter& to);
  void list(const std::vector<lang::Expr>& exprs, lang::ByteWriter& to);
  void binders(const std::vector<lang::IndexBinder>& binders, lang::ByteWriter& to);
  void literal(const lang::Literal& literal, lang::ByteWriter& to);
  void function(const lang::Function& function, lang::ByteWriter& to);
  void match(const lang::Match& match, lang::ByteWriter& to);

  TypeWriter& types_;
  TensorWriter& tensors_;
  Table<lang::Variable> variables_;
  Table<lang::OpDef> ops_;
  Table<lang::Pattern> patterns_;
  Table<lang::ExprNode> exprs_;
};

}  // namespace relay::built
