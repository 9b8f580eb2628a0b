#include "typecheck/messages.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "lang/letters.h"
#include "lang/mistaken.h"
#include "lang/module.h"
#include "lang/number_text.h"
#include "lang/stop.h"
#include "lang/tensor.h"
#include "lang/visit.h"
#include "typecheck/core_rules.h"
#include "typecheck/relations.h"
#include "typecheck/unify.h"

namespace relay::typecheck {

using namespace lang;

std::string quote(const Span& span, std::string_view otherwise) {
  constexpr std::size_t kLongest = 32;
  std::string_view text = span ? span.text() : std::string_view();
  if (text.empty() || text.size() > kLongest || text.find('\n') != std::string_view::npos) {
    return std::string(otherwise);
  }
  return std::string(text);
}

std::string count_of(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string describe_type(const Type& type, Solver& solver) {
  const Type known = solver.resolve(type);
  if (as<VarType>(known) && solver.show(known) == "_") return "of a type that is open here";
  const auto* tensor = as<TensorType>(known);
  const bool is_open = tensor && !tensor->dtype.is_known() && solver.show(tensor->dtype) == "_";
  if (is_open && !tensor->shape.has_rank()) return "a tensor";
  if (is_open && tensor->shape.rank() == 0 && solver.show(known).find('_') != std::string::npos)
    return "a number";
  return fmt::format("`{}`", solver.show(known));
}

std::string literal_text(const Literal& literal, bool negated) {
  if (literal.elements) return quote(literal.span, "[...]");
  std::string text =
      literal.is_float
          ? float_text(DType::Float64, bits_from_double(DType::Float64, literal.real), true)
          : std::to_string(literal.integer);
  return negated ? "-" + text : text;
}

namespace {

// The literal whose dtype is still open and is that of `type`.
const Literal* open_literal(const Type& type, Solver& solver) {
  const auto* tensor = as<TensorType>(type);
  if (!tensor || tensor->dtype.is_known()) return nullptr;
  const Unknown* unknown = solver.find(*tensor->dtype.var());
  return unknown ? unknown->literal : nullptr;
}

std::optional<DType> known_dtype(const Type& type) {
  const auto* tensor = as<TensorType>(type);
  if (!tensor || !tensor->dtype.is_known()) return std::nullopt;
  return tensor->dtype.known();
}

// Is any float as good as another, and nothing else?
bool demands_float(const Type& type, Solver& solver) {
  const auto* tensor = as<TensorType>(type);
  if (!tensor || tensor->dtype.is_known()) return false;
  const Unknown* unknown = solver.find(*tensor->dtype.var());
  return unknown && Solver::accepts(unknown->requirements, DType::Float32) &&
         !Solver::accepts(unknown->requirements, DType::Int32);
}

// A number without a suffix that cannot be what its place demands: what `other`, a value, has, or
// what `place` tells of.
std::optional<Diagnostic> explain_literal(const Literal& literal, DType demanded, Span other,
                                          const std::string& demanded_text,
                                          const Mismatch* place = nullptr) {
  const auto label_demand = [&](Diagnostic& diagnostic) {
    if (other) {
      diagnostic.label(other, fmt::format("`{}`", demanded_text));
      return;
    }
    for (const Label& label : place ? place->labels : std::vector<Label>()) {
      if (label.span) diagnostic.label(label.span, label.text);
    }
  };
  std::string text = literal_text(literal, false);
  if (demanded == DType::Bool) {
    Diagnostic diagnostic(DiagnosticKind::TypeMismatch,
                          fmt::format("`{}` {}, and `bool` is needed here", text,
                                      literal.elements ? "holds numbers" : "is a number"),
                          literal.span);
    diagnostic.label(literal.span, literal.elements ? "numbers" : "a number");
    label_demand(diagnostic);
    if (!literal.elements && !literal.is_float && (literal.integer == 0 || literal.integer == 1)) {
      diagnostic.note(fmt::format("help: write `{}`", literal.integer == 1 ? "True" : "False"));
    }
    return diagnostic;
  }
  if (!literal.is_float || is_float(demanded)) return std::nullopt;
  Diagnostic diagnostic(
      DiagnosticKind::DTypeMismatch,
      fmt::format("`{}` {}, and it meets `{}`", text,
                  literal.elements ? "holds floats" : "is a float literal", name_of(demanded)),
      literal.span);
  diagnostic.label(literal.span, literal.elements ? "floats" : "a float");
  label_demand(diagnostic);
  const bool is_whole = !literal.elements && literal.real == std::floor(literal.real) &&
                        std::fabs(literal.real) < 1e15;
  // Where nobody says what it is for, it may be no code, as an argument of the command line.
  const bool is_code = place && !(place->subject.empty() && place->labels.empty());
  if (other) {
    diagnostic.note(fmt::format("help: `cast({}, dtype=\"float32\")` makes the other side a float",
                                quote(other, "...")));
  } else if (!is_whole && is_code) {
    diagnostic.note(
        fmt::format("help: `cast({}, dtype=\"{}\")` has that dtype", text, name_of(demanded)));
  }
  if (is_whole) {
    diagnostic.note(
        fmt::format("help: write `{}` for an integer", static_cast<std::int64_t>(literal.real)));
  }
  return diagnostic;
}

// The type of a pattern asks for parts, and for nothing of them.
bool is_of_pattern(const Type& type) {
  if (type->kind == TypeKind::Var) return true;
  const auto* tuple = as<TupleType>(type);
  return tuple && std::all_of(tuple->fields.begin(), tuple->fields.end(), is_of_pattern);
}

}  // namespace

bool fits(const Type& found, const Type& expected, Solver& solver) {
  Solver scratch;  // to which the unknowns of `solver` are as rigid as written variables
  TypeSubstitution literals;
  for (const TypeVarRef& var : solver.unknowns_of(found)) {
    const Unknown& unknown = solver.at(*var);
    if (!unknown.literal) continue;
    TypeVarRef open = scratch.fresh(VarKind::DType);
    scratch.at(*open).requirements = unknown.requirements;
    literals.dtypes.emplace(var.get(), DTypeTerm(open));
  }
  try {
    scratch.unify(substitute(solver.resolve(found), literals), solver.resolve(expected));
  } catch (const Failure&) {
    return false;
  }
  return scratch.open_equations().empty();
}

Failure explain_mismatch(Failure failure, const Mismatch& mismatch, Solver& solver) {
  Diagnostic& cause = failure.diagnostics.front();
  if (cause.span) return failure;
  if (cause.kind == DiagnosticKind::TypeTooLarge) {
    cause.span = mismatch.span;
    return failure;
  }
  Type found = solver.resolve(mismatch.found);
  Type expected = solver.resolve(mismatch.expected);
  if (cause.kind == DiagnosticKind::DTypeMismatch) {
    const Literal* literal = open_literal(found, solver);
    std::optional<DType> demanded = known_dtype(expected);
    if (literal && demanded) {
      if (auto diagnostic = explain_literal(*literal, *demanded, mismatch.other,
                                            to_string(expected), &mismatch)) {
        return Failure(std::move(*diagnostic));
      }
    }
    literal = open_literal(expected, solver);
    demanded = known_dtype(found);
    if (literal && demanded) {
      if (auto diagnostic = explain_literal(*literal, *demanded, mismatch.span, to_string(found))) {
        return Failure(std::move(*diagnostic));
      }
    }
  }
  if (cause.kind == DiagnosticKind::InfiniteType) {
    cause.span = mismatch.span;
    cause.label(mismatch.span, fmt::format("`{}`", solver.show(found)));
    return failure;
  }
  std::string message =
      mismatch.subject.empty()
          ? fmt::format("expected `{}`, found `{}`", solver.show(expected), solver.show(found))
          : fmt::format("{} must be `{}`, found `{}`", mismatch.subject, solver.show(expected),
                        solver.show(found));
  bool is_nested = found->kind != TypeKind::Tensor && found->kind == expected->kind;
  bool adds = cause.kind == DiagnosticKind::ShapeMismatch ||
              (cause.kind == DiagnosticKind::DTypeMismatch &&
               !(known_dtype(found) && known_dtype(expected))) ||
              is_nested;
  const auto* parts = as<TupleType>(found);
  const auto* other_parts = as<TupleType>(expected);
  if (parts && other_parts && parts->fields.size() != other_parts->fields.size()) {
    const bool is_clause = mismatch.subject == "this pattern";
    if (is_clause || (mismatch.subject.empty() && is_of_pattern(expected))) {
      if (is_clause) std::swap(parts, other_parts);
      message = fmt::format("the pattern has {}, and the value has {}",
                            count_of(other_parts->fields.size(), "part"), parts->fields.size());
    }
  } else if (adds) {
    message += ": " + cause.message;
  }
  Diagnostic diagnostic(cause.kind, std::move(message), mismatch.span);
  diagnostic.label(mismatch.span, describe_type(found, solver));
  for (const Label& label : mismatch.labels) {
    if (label.span) diagnostic.label(label.span, label.text);
  }
  for (const std::string& note : mismatch.notes) diagnostic.note(note);
  if (std::string help = lang::help_for_mistaken(found, mismatch.span); !help.empty())
    diagnostic.note(std::move(help));
  const auto* function = as<FunctionType>(found);
  if (function && function->params.empty() && fits(function->result, expected, solver)) {
    diagnostic.note(fmt::format("help: `{}()` calls it", quote(mismatch.span, "...")));
  }
  const auto* data = as<AdtType>(expected);
  if (data && data->def->name == "List" && data->def->origin == Origin::Prelude &&
      found->kind == TypeKind::Tensor) {
    diagnostic.note(std::string(kTensorForList));
  }
  std::optional<DType> from = known_dtype(found);
  std::optional<DType> to = known_dtype(expected);
  if (cause.kind == DiagnosticKind::DTypeMismatch && from && to) {
    diagnostic.note(fmt::format("help: `cast({}, dtype=\"{}\")` has that dtype",
                                quote(mismatch.span, "..."), name_of(*to)));
  }
  if (cause.kind == DiagnosticKind::DTypeMismatch && from && !to &&
      demands_float(expected, solver)) {
    diagnostic.note(fmt::format("help: `as_float({})` has floats", quote(mismatch.span, "...")));
  }
  return Failure(std::move(diagnostic));
}

void explain_rank(Mismatch& mismatch, const Function& function, const Variable& param,
                  Solver& solver) {
  const Type found = solver.resolve(mismatch.found);
  const Type expected = solver.resolve(mismatch.expected);
  const auto* argument = as<TensorType>(found);
  const auto* guessed = as<TensorType>(expected);
  if (param.type || !argument || !guessed || !argument->shape.has_rank() ||
      !guessed->shape.has_rank() || argument->shape.rank() <= guessed->shape.rank())
    return;
  const std::size_t rank = guessed->shape.rank();
  const Index* place = nullptr;
  visit_post_order(function.body, [&](const Expr& node) {
    const auto* index = as<Index>(node);
    const auto* var = index ? as<Var>(index->tensor) : nullptr;
    if (!place && var && var->variable.get() == &param && index->indices.size() == rank &&
        index->span)
      place = index;
  });
  if (!place) return;
  mismatch.labels.push_back(
      {place->span,
       fmt::format("{} here, so `{}` is taken to have {}",
                   rank == 1 ? "one index" : fmt::format("{} indices", rank), param.name,
                   rank == 1 ? "one axis" : fmt::format("{} axes", rank))});
  std::string row = quote(place->span, "");
  if (!row.ends_with(']')) return;
  row.pop_back();
  for (std::size_t axis = rank; axis < argument->shape.rank(); ++axis) row += ", :";
  mismatch.notes.push_back(
      fmt::format("help: `{}]` takes the axes behind, too; or annotate the "
                  "parameter, as in `{}: {}`",
                  row, param.name, solver.show(found)));
}

namespace {

bool accepts_arguments(const Relation& relation, const std::vector<Type>& args) {
  for (const Type& arg : args) {
    if (!is_ground(arg)) return false;
  }
  try {
    (void)ground_result_type(*relation.op, args, relation.attrs);
    return true;
  } catch (const Failure&) {
    return false;
  }
}

Span arg_span(const Relation& relation, std::size_t i) {
  return i < relation.arg_spans.size() ? relation.arg_spans[i] : Span();
}

// Would the call be right with the last two axes of one argument exchanged?
std::optional<std::string> transpose_help(const Relation& relation, const std::vector<Type>& args) {
  for (std::size_t i = args.size(); i-- > 0;) {
    const auto* tensor = as<TensorType>(args[i]);
    if (!tensor || !tensor->shape.has_rank() || tensor->shape.rank() != 2 || !arg_span(relation, i))
      continue;
    std::vector<Type> other = args;
    Shape turned{tensor->shape[1], tensor->shape[0]};
    other[i] = tensor_type(turned, tensor->dtype);
    if (!accepts_arguments(relation, other)) continue;
    return fmt::format("help: `transpose({})` has shape `{}`", quote(arg_span(relation, i), "..."),
                       to_string(turned));
  }
  return std::nullopt;
}

std::size_t rank_of(const Type& type) {
  const auto* tensor = as<TensorType>(type);
  return tensor && tensor->shape.has_rank() ? tensor->shape.rank() : 0;
}

// Of the arguments that are tensors with axes, do some have fewer?
bool have_several_ranks(const std::vector<Type>& args) {
  std::size_t rank = 0;
  bool differ = false;
  for (const Type& arg : args) {
    differ |= rank != 0 && rank_of(arg) != 0 && rank_of(arg) != rank;
    rank = std::max(rank, rank_of(arg));
  }
  return differ;
}

// Would the call be right with one more axis of extent 1 in one argument, which has fewer than
// others? Only if there is but one place for it.
std::optional<std::string> axis_help(const Relation& relation, const std::vector<Type>& args) {
  std::size_t most = 0;
  for (const Type& arg : args) most = std::max(most, rank_of(arg));
  const bool differ = have_several_ranks(args);
  std::optional<std::string> help;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const std::size_t rank = rank_of(args[i]);
    if (rank == 0 || (differ && rank == most) || !arg_span(relation, i)) continue;
    const auto& tensor = *as<TensorType>(args[i]);
    for (std::size_t axis = 0; axis <= rank; ++axis) {
      std::vector<Dim> dims = tensor.shape.dims();
      dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), Dim(1));
      std::vector<Type> other = args;
      other[i] = tensor_type(Shape(std::move(dims)), tensor.dtype);
      if (!accepts_arguments(relation, other)) continue;
      if (help) return std::nullopt;
      help = fmt::format("help: `expand_dims({}, axis={})` has shape `{}`",
                         quote(arg_span(relation, i), "..."), axis,
                         to_string(as<TensorType>(other[i])->shape));
    }
  }
  return help;
}

// Would the call be right with one argument cast to the dtype of another? Integers go to floats.
std::optional<std::string> cast_help(const Relation& relation, const std::vector<Type>& args) {
  for (bool to_float : {true, false}) {
    for (std::size_t i = args.size(); i-- > 0;) {
      for (std::size_t j = 0; j < args.size(); ++j) {
        std::optional<DType> from = known_dtype(args[i]);
        std::optional<DType> to = known_dtype(args[j]);
        if (!from || !to || *from == *to || !arg_span(relation, i)) continue;
        if (to_float && !(is_float(*to) && !is_float(*from))) continue;
        std::vector<Type> other = args;
        other[i] = tensor_type(as<TensorType>(args[i])->shape, *to);
        if (!accepts_arguments(relation, other)) continue;
        return fmt::format("help: `cast({}, dtype=\"{}\")` has dtype `{}`",
                           quote(arg_span(relation, i), "..."), name_of(*to), name_of(*to));
      }
    }
  }
  for (std::size_t i = 0; i < args.size(); ++i) {  // `sqrt(n)`
    const std::optional<DType> from = known_dtype(args[i]);
    if (!from || is_float(*from) || !arg_span(relation, i)) continue;
    std::vector<Type> other = args;
    other[i] = tensor_type(as<TensorType>(args[i])->shape, DType::Float32);
    if (accepts_arguments(relation, other))
      return fmt::format("help: `cast({}, dtype=\"float32\")` is a float",
                         quote(arg_span(relation, i), "..."));
  }
  return std::nullopt;
}

std::optional<Diagnostic> literal_argument(const Relation& relation, const std::vector<Type>& args,
                                           Solver& solver) {
  for (const Type& arg : args) {
    const Literal* literal = open_literal(arg, solver);
    if (!literal) continue;
    for (std::size_t j = 0; j < args.size(); ++j) {
      std::optional<DType> demanded = known_dtype(args[j]);
      if (!demanded) continue;
      if (*demanded == DType::Bool) {
        // That a truth is needed in place of the number is so only where the operator takes truths.
        std::vector<Type> truths = args;
        for (Type& each : truths) {
          if (open_literal(each, solver))
            each = tensor_type(as<TensorType>(each)->shape, DType::Bool);
        }
        if (!accepts_arguments(relation, truths)) continue;
      }
      if (auto diagnostic =
              explain_literal(*literal, *demanded, arg_span(relation, j), to_string(args[j]))) {
        return diagnostic;
      }
    }
  }
  return std::nullopt;
}

// A rule writes types as they are; of a literal, a person wants to see the dtype that it would
// have.
void show_types(Diagnostic& diagnostic, const std::vector<Type>& args, Solver& solver) {
  for (const Type& arg : args) {
    const std::string raw = fmt::format("`{}`", to_string(arg));
    const std::string shown = fmt::format("`{}`", solver.show(arg));
    if (raw == shown) continue;
    const auto replace = [&](std::string& text) {
      for (std::size_t at = text.find(raw); at != std::string::npos;
           at = text.find(raw, at + shown.size()))
        text.replace(at, raw.size(), shown);
    };
    replace(diagnostic.message);
    for (Label& label : diagnostic.labels) replace(label.text);
  }
}

void add_argument_labels(Diagnostic& diagnostic, const Relation& relation,
                         const std::vector<Type>& args, Solver& solver) {
  if (is_core_rule(*relation.op)) {
    if (Span span = arg_span(relation, 0))
      diagnostic.label(span, fmt::format("`{}`", solver.show(args.back())));
    return;
  }
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (Span span = arg_span(relation, i)) diagnostic.label(span, describe_type(args[i], solver));
  }
}

// The elements of `[a, b]`, which is a call of `stack` that nobody has written; null elsewhere.
const Tuple* elements_of_list(const Relation& relation) {
  if (relation.op->name != "stack" || !relation.needed_by.empty() || !relation.call ||
      !relation.span || !relation.span.text().starts_with('['))
    return nullptr;
  return as<Tuple>(relation.call->args[0]);
}

// `[k, 2.5]`: the integer that would have to be a float.
std::optional<Diagnostic> explain_list_of_dtypes(const Relation& relation, const Tuple& elements,
                                                 const TupleType& types, Solver& solver) {
  const auto dtype_of = [&](const Type& type) {
    const Literal* literal = open_literal(type, solver);
    return literal && literal->is_float ? std::optional(DType::Float32) : known_dtype(type);
  };
  std::optional<std::size_t> integer;
  std::optional<std::size_t> real;
  for (std::size_t i = 0; i < types.fields.size(); ++i) {
    const std::optional<DType> dtype = dtype_of(types.fields[i]);
    if (!dtype) continue;
    if (is_float(*dtype) && !real) real = i;
    if (is_int(*dtype) && !integer) integer = i;
  }
  if (!integer || !real) return std::nullopt;
  const DType dtype = *dtype_of(types.fields[*real]);
  const Type& found = types.fields[*integer];
  Diagnostic diagnostic(DiagnosticKind::DTypeMismatch,
                        fmt::format("the elements of a tensor have one dtype, found `{}` and `{}`",
                                    name_of(*known_dtype(found)), name_of(dtype)),
                        relation.span);
  for (const std::size_t i : {*integer, *real})
    diagnostic.label(elements.fields[i]->span, describe_type(types.fields[i], solver));
  diagnostic.note(fmt::format("help: `cast({}, dtype=\"{}\")` has dtype `{}`",
                              quote(elements.fields[*integer]->span, "..."), name_of(dtype),
                              name_of(dtype)));
  return diagnostic;
}

// `[f, g]`, `[point, point]`: no tensor has such elements.
std::optional<Diagnostic> explain_list(DiagnosticKind kind, const Relation& relation,
                                       const std::vector<Type>& args, Solver& solver) {
  const Tuple* elements = elements_of_list(relation);
  const auto* types = elements ? as<TupleType>(args[0]) : nullptr;
  if (!types || types->fields.size() != elements->fields.size()) return std::nullopt;
  if (kind == DiagnosticKind::DTypeMismatch)
    return explain_list_of_dtypes(relation, *elements, *types, solver);
  const auto is_no_tensor = [](const Type& type) {
    return type->kind != TypeKind::Tensor && type->kind != TypeKind::Var;
  };
  const auto first = std::find_if(types->fields.begin(), types->fields.end(), is_no_tensor);
  if (kind != DiagnosticKind::TypeMismatch || first == types->fields.end()) return std::nullopt;
  const std::string shown = solver.show(*first);
  Diagnostic diagnostic(kind,
                        fmt::format("`[…]` makes a tensor, and `{}` is no element of one", shown),
                        relation.span);
  diagnostic.label(elements->fields[static_cast<std::size_t>(first - types->fields.begin())]->span,
                   fmt::format("`{}`", shown));
  constexpr std::size_t kMostElements = 4;
  const bool are_alike = std::all_of(types->fields.begin(), types->fields.end(),
                                     [&](const Type& type) { return solver.show(type) == shown; });
  if (!are_alike || types->fields.size() > kMostElements) return diagnostic;
  std::string list = "Nil";
  for (std::size_t i = elements->fields.size(); i-- > 0;)
    list = fmt::format("Cons({}, {})", quote(elements->fields[i]->span, "..."), list);
  diagnostic.note(fmt::format("help: a list is `{}`", list));
  return diagnostic;
}

std::string argument_list(const std::vector<Type>& args, Solver& solver) {
  std::string text;
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (i > 0) text += i + 1 == args.size() ? " and " : ", ";
    text += fmt::format("`{}`", solver.show(args[i]));
  }
  return text;
}

}  // namespace

namespace {

// `sin -x`, which subtracts from a function, unless its argument stands in parentheses.
std::optional<std::string> negated_argument(const Relation& relation,
                                            const std::vector<Type>& args) {
  if (args.size() != 2 || args[0]->kind != TypeKind::Function || !relation.arg_spans[0] ||
      !relation.arg_spans[1])
    return std::nullopt;
  const Span function = relation.arg_spans[0], value = relation.arg_spans[1];
  if (function.source != value.source || !is_written_as_name(function.text())) return std::nullopt;
  const std::string_view between =
      function.source->text().substr(function.end, value.begin - function.end);
  if (between.empty() || between.back() != '-' ||
      between.find_first_not_of(' ') + 1 != between.size())
    return std::nullopt;
  return fmt::format("help: a call has parentheses: `{}(-{})`", function.text(), value.text());
}

}  // namespace

Failure explain_relation(Failure failure, const Relation& relation, Solver& solver) {
  Diagnostic& diagnostic = failure.diagnostics.front();
  if (lang::is_stop(diagnostic.kind)) return failure;
  std::vector<Type> args;
  for (const Type& arg : relation.args) args.push_back(solver.resolve(arg));
  show_types(diagnostic, args, solver);
  if (!diagnostic.span) {
    if (auto better = explain_list(diagnostic.kind, relation, args, solver))
      return Failure(std::move(*better));
  }
  bool is_core = is_core_rule(*relation.op);
  if (diagnostic.kind == DiagnosticKind::DTypeMismatch) {
    if (auto better = literal_argument(relation, args, solver)) return Failure(std::move(*better));
  }
  bool from_solver = !diagnostic.span;
  if (from_solver) {
    diagnostic.span = relation.span;
    if (!is_core) {
      diagnostic.message = fmt::format("`{}` does not take {}: {}", relation.op->name,
                                       argument_list(args, solver), diagnostic.message);
    }
  }
  if (from_solver || !is_core) diagnostic.labels.clear();
  if (diagnostic.labels.empty()) add_argument_labels(diagnostic, relation, args, solver);
  if (!relation.needed_by.empty()) {
    if (!is_core && !from_solver) {
      diagnostic.message = fmt::format("`{}` of {}: {}", relation.op->name,
                                       argument_list(args, solver), diagnostic.message);
    }
    diagnostic.note(fmt::format("note: needed by `{}`", relation.needed_by));
    return failure;
  }
  if (diagnostic.notes.empty() && !is_core) {
    std::optional<std::string> help;
    switch (diagnostic.kind) {
      case DiagnosticKind::DTypeMismatch:
        help = cast_help(relation, args);
        break;
      case DiagnosticKind::ShapeMismatch:
      case DiagnosticKind::BroadcastMismatch:
        if (have_several_ranks(args)) help = axis_help(relation, args);
        if (!help) help = transpose_help(relation, args);
        break;
      case DiagnosticKind::RankMismatch:
        help = axis_help(relation, args);
        break;
      case DiagnosticKind::TypeMismatch:
        help = negated_argument(relation, args);
        break;
      default:
        break;
    }
    if (help) diagnostic.note(std::move(*help));
  }
  return failure;
}

}  // namespace relay::typecheck
