#pragma once

#include <string>
#include <vector>

#include "built/code_writer.h"
#include "lang/value.h"

namespace relay::built {

// Writes the tables of references and cells.
class ValueWriter {
 public:
  ValueWriter(TypeWriter& types, TensorWriter& tensors, CodeWriter& code)
      : types_(types), tensors_(tensors), code_(code) {}

  // The value of the binding of that name.
  void value(const lang::Value& value, const std::string& binding, lang::ByteWriter& to);

  // Nothing may be written after that.
  void finish();
  void append_to(lang::ByteWriter& to) const;

 private:
  void cells_of(const lang::Value& value, const std::string& binding);
  void emit(const lang::Value& cell, const std::string& binding);
  void field(const lang::Value& value, const std::string& binding, lang::ByteWriter& to);
  void reference(lang::ReferenceCell& cell, const std::string& binding, lang::ByteWriter& to);

  TypeWriter& types_;
  TensorWriter& tensors_;
  CodeWriter& code_;
  Table<lang::Counted> cells_;
  Table<lang::ReferenceCell> references_;
  struct Reference {
    const lang::ReferenceCell* cell;
    std::string binding;  // from which it is reached
  };
  std::vector<Reference> all_references_;
};

}  // namespace relay::built
