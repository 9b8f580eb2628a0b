#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lang/diagnostic.h"
#include "lang/module.h"
#include "typecheck/infer.h"

// Warnings about what a new definition does to earlier ones.
namespace relay::repl {

// Where the text of a function has its name; empty if it has none.
lang::Span name_span(const lang::Definition& definition);

// `type` takes the name of an imported type or of one of the prelude, whose constructors then mean
// nothing any more. `module`: before `type` is defined in it.
std::optional<lang::Diagnostic> hidden_constructors(const lang::TypeDef& type,
                                                    const lang::Module& module);

// The name of an operator, or of the prelude, which means something else once it has been defined
// here; nothing where it is no such name. `module`: before that.
std::optional<lang::Diagnostic> hidden_builtin(const std::string& name, lang::Span span,
                                               const lang::Module& module);

// The names in `changed` have got other meanings: a warning for each that own definitions use,
// which do not type-check any more. Cost: a walk over the own definitions, and inference of those
// that use what has changed.
std::vector<lang::Diagnostic> stale_definitions(const std::map<std::string, lang::Span>& changed,
                                                const lang::Module& module,
                                                typecheck::Checker& checker);

// An own type that has been defined again.
struct ChangedType {
  const lang::TypeDef* old;
  lang::Span span;  // of the new one
};
// A warning for each of them that own definitions and values still have. Cost: a walk over all own
// definitions, and inference of those that have no type yet.
std::vector<lang::Diagnostic> left_with_older(const std::vector<ChangedType>& changed,
                                              const lang::Module& module,
                                              typecheck::Checker& checker);

}  // namespace relay::repl
