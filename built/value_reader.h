#pragma once

#include <vector>

#include "built/code_reader.h"
#include "lang/value.h"

namespace relay::built {

// Reads what a ValueWriter has written: the tables first, then values.
class ValueReader {
 public:
  ValueReader(lang::ByteReader& from, TypeReader& types, TensorReader& tensors, CodeReader& code);
  lang::Value value();

 private:
  void read_cell();

  lang::ByteReader& from_;
  TypeReader& types_;
  TensorReader& tensors_;
  CodeReader& code_;
  std::vector<lang::Ref<lang::ReferenceCell>> references_;
  std::vector<lang::Value> cells_;
};

}  // namespace relay::built
