#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lang/external_compiler.h"
#include "opt/pass_program.h"

// Private to the passes that hand parts of programs to external compilers.
namespace relay::opt {

using lang::kNoCompiler;

// The option that they have in common.
lang::AttrSpec compilers_option();
// Those that it names, else, of a function, those that it asks for: `compiler="dnnl"`. Throws
// Failure.
std::vector<lang::ExternalCompiler*> compilers_for(const lang::Attrs& options,
                                                   const lang::Expr& code, const PassHost& host);

// Why the compiler does not run a step of code in A-normal form; empty: it does.
std::string refusal_of(lang::ExternalCompiler& compiler, const lang::Expr& step);

// The mark that a step is, `annotation.compiler_begin` or `_end`; nothing for other steps.
struct CompilerMark {
  bool is_begin;
  std::string compiler;
  lang::Expr value;
};
std::optional<CompilerMark> compiler_mark(const lang::Expr& step);
lang::Expr marked_value(const lang::Expr& value, bool is_begin, const std::string& compiler);

// Are the atoms one variable, one global, or one constant, bit for bit?
bool is_same_value(const lang::Expr& a, const lang::Expr& b);

// The name of the composite that a step calls, whose literal is bound in `block` or stands in the
// call; null for other steps.
const std::string* composite_called(const lang::Expr& step, const lang::Block& block);

// Blocks of a function in A-normal form, those inside of branches and functions first, but none of
// units (lang/function_fact.h) and of index notation. Their results are atoms.
class BlockRewriter {
 public:
  virtual ~BlockRewriter() = default;
  // Of a function, or of an expression.
  lang::Expr run(const lang::Expr& code);

 protected:
  // False: nothing has changed.
  virtual bool rewrite(lang::Block& block) = 0;

 private:
  lang::Expr scope(const lang::Expr& body);
  lang::Expr nested(const lang::Expr& value);
};

// The second and third step of annotating, of one function; the first is merge_composites
// (opt/merge_composites.h).
lang::Expr annotate_targets(const lang::Expr& function,
                            const std::vector<lang::ExternalCompiler*>& compilers,
                            bool includes_tuples);
lang::Expr merge_compiler_regions(const lang::Expr& function, lang::Program* program);

}  // namespace relay::opt
