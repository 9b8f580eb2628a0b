#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lang/code_image.h"
#include "lang/diagnostic.h"
#include "lang/expr.h"
#include "lang/module.h"
#include "lang/op.h"
#include "lang/source.h"
#include "lang/type.h"
#include "lang/value.h"

namespace relay::built {

// A part of a program, prepared for the evaluator, apart from the process that prepared it.
struct Snapshot {
  struct Function {  // as interp::Host::prepared gives it for `name` at a ground type
    std::string name;
    lang::Type type;
    lang::Expr code;
  };
  struct Binding {  // a top-level binding that the functions use
    std::string name;
    lang::Value value;
  };
  std::vector<Function> functions;
  std::uint32_t entry_count = 0;  // so many of them, the first ones, are called from outside
  std::vector<Binding> bindings;
  std::map<std::string, lang::CodeImage>
      images;                         // native code, by the key under which it is asked for
  std::vector<std::string> features;  // of the processor for which that is

  // What read() has made and everything above points into; write() finds it by itself.
  std::vector<lang::TypeDefRef> types;
  std::vector<std::unique_ptr<const lang::OpDef>> operators;  // effects that are in no registry
  lang::SourceStore sources;
};

// The snapshot as bytes, the same for the same snapshot: graphs stay graphs, and what is one
// variable, tensor, cell or reference stays one. Of a data type its documentation is left out, and
// of a reference when it was written. Cost: linear in what is written; long chains of `let` and
// long lists take no stack. Throws lang::Failure (Unsupported) for what has no bytes: a function
// value in a binding, an operator that is in no registry and more than an effect, what nests too
// deeply.
std::string write(const Snapshot& snapshot);

// What write() was given. Needs the operators to be registered. Tensors of more than a few elements
// lie where they lie in `bytes`, which must stay as they are for as long as anything of the
// snapshot lives; where that is at a multiple of 64, so are the tensors. Fails where the bytes are
// of another version, cut short or damaged.
lang::Result<std::unique_ptr<Snapshot>> read(std::string_view bytes);

}  // namespace relay::built
