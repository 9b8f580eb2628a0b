#include "tests/support/conformance_check.h"

#include <map>
#include <optional>

#include <fmt/format.h>

#include "interp/stack.h"
#include "lang/alpha_equal.h"
#include "lang/diagnostic.h"
#include "lang/module.h"
#include "lang/print.h"
#include "parser/parse.h"
#include "tests/support/conformance_eval.h"
#include "tests/support/conformance_pass.h"
#include "tests/support/first_line.h"
#include "typecheck/infer.h"

namespace relay::tests {
namespace {

using lang::Diagnostic;
using lang::Expr;
using lang::Result;
using lang::Type;
using parser::ItemKind;

// A text that was read: a module and, of a text that is one, an expression.
struct Program {
  lang::Module module;
  Expr expression;
};

// Kept by the caller for as long as anything points into it.
class Reader {
 public:
  Result<Program> read(const std::string& text, const lang::Module& scope) {
    return lang::capture([&] {
      Program program;
      program.module = scope;
      const lang::Source* source = sources_.add("record", text);
      parser::Parsed parsed = parser::parse(*source, scope, parser::Notation::Strict).or_throw();
      for (parser::Item& item : parsed.items) {
        if (item.kind == ItemKind::Type) program.module.define(item.type_def);
        if (item.kind == ItemKind::Def) {
          program.module.define(
              lang::Definition{item.name, item.expr, nullptr, lang::Origin::Own, "", item.span});
        }
        if (item.kind == ItemKind::Expression) program.expression = item.expr;
      }
      return program;
    });
  }

 private:
  lang::SourceStore sources_;
};

std::string print(const Program& program) {
  const lang::PrintOptions options{.header = true};
  return program.expression ? lang::print(program.expression, options)
                            : lang::print_module(program.module, options);
}

// Printed with its variables named by kind and order of appearance.
std::string canonical(const Type& type) {
  lang::TypeSubstitution names;
  int next = 0;
  for (const lang::TypeVarRef& var : lang::variables_of(type)) {
    const lang::TypeVarRef named = lang::TypeVar::rigid(var->kind, fmt::format("v{}", next++));
    switch (var->kind) {
      case lang::VarKind::Type:
        names.types.emplace(var.get(), lang::var_type(named));
        break;
      case lang::VarKind::Shape:
        names.shapes.emplace(var.get(), lang::Shape(named));
        break;
      case lang::VarKind::DType:
        names.dtypes.emplace(var.get(), lang::DTypeTerm(named));
        break;
      case lang::VarKind::Dim:
        names.dims.emplace(var.get(), lang::Dim::variable(named));
        break;
    }
  }
  return lang::to_string(lang::substitute(type, names));
}

// What a function's annotations say; `_` where there is none.
Type written_type(const Expr& expr) {
  const auto& function = lang::cast<lang::Function>(expr);
  std::vector<Type> params;
  for (const lang::VariableRef& param : function.params)
    params.push_back(param->type ? param->type : lang::incomplete_type());
  return lang::function_type(std::move(params),
                             function.result ? function.result : lang::incomplete_type());
}

// The types of a module's functions; the first errors if one has none.
Result<std::map<std::string, Type>> inferred_types(const lang::Module& module) {
  typecheck::Checker checker(module);
  return lang::capture([&] {
    std::map<std::string, Type> types;
    for (const lang::Definition* definition : module.definitions()) {
      if (definition->function)
        types.emplace(definition->name, checker.scheme(definition->name).or_throw().type);
    }
    return types;
  });
}

void compare_types(const std::map<std::string, Type>& ours, const Program& typed,
                   Agreement& outcome) {
  for (const lang::Definition* definition : typed.module.definitions()) {
    const auto found = ours.find(definition->name);
    const std::string theirs = canonical(written_type(definition->function));
    const std::string mine = found == ours.end() ? "none" : canonical(found->second);
    if (mine == theirs) continue;
    outcome.agrees = false;
    outcome.difference =
        fmt::format("`@{}` has type `{}`, Relay says `{}`", definition->name, mine, theirs);
    return;
  }
}

void check_round_trip(Reader& reader, const Program& program, const lang::Module& scope,
                      Agreement& outcome) {
  const std::string printed = print(program);
  const Result<Program> again = reader.read(printed, scope);
  if (!again) {
    outcome.reads_back = false;
    outcome.read_back_trouble =
        "what we print does not parse: " + first_line(again.errors().front());
    return;
  }
  if (print(*again) == printed) return;
  outcome.reads_back = false;
  outcome.read_back_trouble = "print, parse, print is not the identity";
}

// What Relay printed, against what we read.
void compare_result(Reader& reader, const Record& record, const Program& program,
                    const std::optional<std::map<std::string, Type>>& types,
                    const lang::Module& scope, Agreement& outcome) {
  const bool is_expression = record.kind == "parse" && record.is_expression;
  if (record.result.empty() || (!is_expression && record.kind != "infer")) return;
  const Result<Program> theirs = reader.read(record.result, scope);
  if (!theirs) {
    outcome.agrees = false;
    outcome.difference = "what Relay prints does not parse: " + first_line(theirs.errors().front());
  } else if (!is_expression) {
    compare_types(*types, *theirs, outcome);
  } else if (program.expression && theirs->expression &&
             !lang::alpha_equal(program.expression, theirs->expression, true)) {
    outcome.agrees = false;
    outcome.difference = "we read another program than Relay";
  }
}

Agreement check(const Record& record) {
  Reader reader;
  lang::Module scope;
  if (!record.init_module.empty()) scope = reader.read(record.init_module, scope).or_throw().module;
  Agreement outcome;
  const Result<Program> program = reader.read(record.source, scope);
  std::vector<Diagnostic> errors;
  std::optional<std::map<std::string, Type>> types;
  if (!program) {
    errors = program.errors();
  } else if (!record.is_expression) {
    Result<std::map<std::string, Type>> inferred = inferred_types(program->module);
    if (inferred) {
      types = std::move(*inferred);
    } else {
      errors = inferred.errors();
    }
  }
  if (errors.empty() != record.accepted) {
    outcome.agrees = false;
    outcome.difference = errors.empty() ? "we accept, Relay rejects: " + first_line(record.error)
                                        : "we reject, Relay accepts: " + first_line(errors.front());
  }
  if (!errors.empty()) return outcome;
  check_round_trip(reader, *program, scope, outcome);
  if (outcome.agrees && record.accepted)
    compare_result(reader, record, *program, types, scope, outcome);
  return outcome;
}

}  // namespace

bool is_checked(const Record& record) {
  if (record.kind == "pass") return record.accepted && has_pass(record);
  return record.kind == "parse" || record.kind == "infer" || record.kind == "mutant" ||
         record.kind == "eval";
}

Agreement check_record(const Record& record) {
  Agreement outcome;
  if (record.kind == "eval" || record.kind == "pass") {
    try {
      if (record.kind == "eval") {
        outcome.difference = evaluate_record(record);
      } else {
        PassOutcome passed = run_pass(record);
        outcome.difference = std::move(passed.difference);
        outcome.is_comparable = passed.is_comparable;
      }
    } catch (const std::exception& error) {
      outcome.difference = fmt::format("internal error: {}", first_line(error.what()));
    }
    outcome.agrees = outcome.difference.empty();
    return outcome;
  }
  interp::EvaluationStack::instance().run([&] {
    try {
      outcome = check(record);
    } catch (const lang::Failure& failure) {
      outcome.agrees = false;
      outcome.difference = first_line(failure.diagnostics.front());
    } catch (const std::exception& error) {
      outcome.agrees = false;
      outcome.difference = fmt::format("internal error: {}", first_line(error.what()));
    }
  });
  return outcome;
}

}  // namespace relay::tests
