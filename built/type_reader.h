#pragma once

#include <string_view>
#include <vector>

#include "built/snapshot.h"
#include "lang/attrs.h"
#include "lang/bytes.h"

namespace relay::built {

// Reads what a TypeWriter has written: the tables first, then references to them. Throws
// lang::Failure for what is none.
class TypeReader {
 public:
  // The sources and data types are kept by `into`.
  TypeReader(lang::ByteReader& from, Snapshot& into);

  std::string name() { return std::string(from_.at(names_)); }
  lang::Span span();
  const lang::TypeVarRef& type_var() { return from_.at(vars_); }
  const lang::TypeVarRef& type_var(lang::VarKind kind);
  const lang::Dim& dim() { return from_.at(dims_); }
  lang::Type type();  // may be null
  // By its number, not null.
  const lang::Type& type_at(std::uint64_t number) const;
  const lang::Constructor* constructor();
  lang::AttrsRef attrs();

 private:
  void read_source();
  void read_vars();
  void read_data_type();
  void read_dim();
  void read_type();
  lang::Type tensor();
  lang::Type function();
  std::vector<lang::Type> types();
  std::vector<lang::TypeVarRef> vars();
  std::vector<lang::Attr> list(int depth);
  lang::AttrValue value(int depth);

  lang::ByteReader& from_;
  Snapshot& into_;
  std::vector<std::string_view> names_;
  std::vector<const lang::Source*> sources_;
  std::size_t fields_ = 0;  // of all constructors
  std::vector<lang::TypeVarRef> vars_;
  std::vector<lang::Dim> dims_;
  std::vector<int> dim_depths_;
  std::vector<lang::Type> types_;
  std::vector<lang::AttrsRef> attrs_;
};

}  // namespace relay::built
