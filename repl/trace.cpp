#include "repl/trace.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <deque>
#include <span>

#include <fmt/format.h>

#include "lang/derivative.h"
#include "lang/utf8.h"
#include "repl/columns.h"

namespace relay::repl {

using lang::Value;
using lang::ValueKind;

namespace {

constexpr std::size_t kWidest = 44;     // of a column
constexpr int kDeepest = 6;             // calls inside calls that are shown
constexpr std::size_t kSteps = 5;       // of a loop, else its first and last two
constexpr std::size_t kMost = 200'000;  // events that are kept

// The constructor of a mirror as that of the primal: `List_Tangent_3_Cons` is `Cons`.
std::string plain_name(const std::string& name) {
  static constexpr std::string_view kMark = "_Tangent_";
  std::size_t at = name.rfind(kMark);
  if (at == std::string::npos) return name;
  at += kMark.size();
  std::size_t behind = at;
  while (behind < name.size() && std::isdigit(static_cast<unsigned char>(name[behind])) != 0)
    ++behind;
  return name.substr(behind > at && behind < name.size() && name[behind] == '_' ? behind + 1 : at);
}
bool holds_float(const Value& value) {
  if (value.is_scalar()) return lang::is_float(value.dtype());
  if (value.is_tensor()) return lang::is_float(value.as_tensor().dtype());
  return true;
}

// An adjoint or a tangent as the value prints that it belongs to: records with the names of their
// fields, data with its own constructors. What is so deep that no column shows it stays as it is.
class Shown {
 public:
  Value of(const Value& derivative, const Value& primal, std::size_t depth = 0) {
    if (depth > kWidest) return derivative;
    if (derivative.kind() == ValueKind::Adt) {
      if (primal.kind() == ValueKind::Adt) return data(derivative, primal, depth);
      return of_function(derivative, depth);
    }
    if (derivative.kind() != ValueKind::Tuple) return derivative;
    const std::span<Value> parts = derivative.as_tuple().fields();
    const bool is_record = primal.kind() == ValueKind::Adt;
    if (!is_record && primal.kind() != ValueKind::Tuple) return derivative;
    const std::span<Value> fields =
        is_record ? primal.as_adt().fields() : primal.as_tuple().fields();
    if (parts.size() != fields.size() || parts.empty()) return derivative;
    std::vector<Value> shown;
    for (std::size_t i = 0; i < parts.size(); ++i)
      shown.push_back(of(parts[i], fields[i], depth + 1));
    if (!is_record) return Value::tuple(lang::TupleCell::make(shown));
    return Value::adt(lang::AdtCell::make(&primal.as_adt().constructor(), shown));
  }

 private:
  // Fields that have no tangent are left out in mirrors.
  Value data(const Value& derivative, const Value& primal, std::size_t depth) {
    const lang::AdtCell& cell = derivative.as_adt();
    const std::span<Value> parts = cell.fields();
    const std::span<Value> fields = primal.as_adt().fields();
    const bool is_zero = cell.tag() == 0 && &cell.constructor() != &primal.as_adt().constructor();
    const bool is_whole = parts.size() == fields.size();
    std::vector<Value> shown;
    std::size_t next = 0;
    for (const Value& field : fields) {
      const bool is_there = is_whole || holds_float(field);
      if (is_there && next == parts.size()) break;
      shown.push_back(is_there ? of(parts[next++], field, depth + 1) : Value::unit());
    }
    if (!is_zero && next == parts.size() && shown.size() == fields.size())
      return Value::adt(lang::AdtCell::make(&primal.as_adt().constructor(), shown));
    return named(plain_name(cell.constructor().name), {parts.begin(), parts.end()});
  }

  // What a function captured has adjoints.
  Value of_function(const Value& derivative, std::size_t depth) {
    const std::span<Value> parts = derivative.as_adt().fields();
    if (parts.empty()) return named("0", {});
    std::vector<Value> shown;
    for (const Value& part : parts) {
      const bool is_data = part.kind() == ValueKind::Adt;
      shown.push_back(is_data ? of_function(part, depth + 1) : part);
    }
    return named("captured", std::move(shown));
  }

  Value named(std::string name, std::vector<Value> fields) {
    lang::Constructor& constructor = made_.emplace_back();
    constructor.name = std::move(name);
    return Value::adt(lang::AdtCell::make(&constructor, fields));
  }

  std::deque<lang::Constructor> made_;
};

// A value that fits in a column: as it prints, or what can be said of it.
std::string summary(const Value& value) {
  const std::string text = to_string(value, {.max_elements = 8, .edge_items = 2});
  if (text.find('\n') == std::string::npos && lang::code_points(text) <= kWidest) return text;
  if (value.is_tensor()) {
    const lang::Tensor& tensor = value.as_tensor();
    std::string shape;
    for (const std::int64_t extent : tensor.shape())
      shape += (shape.empty() ? "" : ", ") + std::to_string(extent);
    double least = INFINITY, largest = -INFINITY, sum = 0;
    for (std::int64_t i = 0; i < tensor.element_count(); ++i) {
      const double x = tensor.number_at(i);
      least = std::min(least, x);
      largest = std::max(largest, x);
      sum += x;
    }
    return fmt::format("({}) {:.4g} to {:.4g}, mean {:.4g}", shape, least, largest,
                       sum / static_cast<double>(tensor.element_count()));
  }
  std::string line;
  for (const char c : text) {
    const bool is_space = std::isspace(static_cast<unsigned char>(c)) != 0;
    if (!is_space || (!line.empty() && line.back() != ' ')) line += is_space ? ' ' : c;
  }
  return line;
}

std::string cut(const std::string& text) { return shortened(text, kWidest); }

}  // namespace

Value TraceRecorder::tell(const std::string& name, const lang::Attrs& attrs,
                          const std::vector<Value>& values) {
  const auto place = static_cast<std::size_t>(attrs.get_int("place"));
  if (name == kTraceMark) {
    const TracePlace::Kind kind = places_[place].kind;
    if (kind == TracePlace::Kind::Leave) {
      --depth_;
    } else if (events_.size() < kMost) {
      events_.push_back({place, depth_});
    }
    if (kind == TracePlace::Kind::Enter) ++depth_;
    return Value::unit();
  }
  if (name == kTraceStep) {
    const std::size_t number = events_.size();
    if (number < kMost) {
      events_.push_back({place, depth_, values[0], {}, false});
      events_.back().has_derivative =
          places_[place].kind != TracePlace::Kind::Choice && holds_float(values[0]);
    }
    return Value::scalar(lang::DType::Int64, number);
  }
  if (name != kTraceValue) {
    const auto number =
        static_cast<std::size_t>(lang::int_from_bits(lang::DType::Int64, values[1].bits()));
    if (number < events_.size()) events_[number].derivative = values[0];
  }
  return values[0];
}

// The events that are shown, in order. In the place of those that are left out stands, once, their
// number with the highest bit set.
std::vector<std::size_t> TraceRecorder::kept() const {
  constexpr std::size_t kGap = ~(~std::size_t{0} >> 1U);
  std::vector<std::size_t> result;
  std::size_t i = 0;
  while (i < events_.size()) {
    const Event& event = events_[i];
    if (event.depth > kDeepest) {
      std::size_t end = i;
      while (end < events_.size() && events_[end].depth > kDeepest) ++end;
      result.push_back((end - i) | kGap);
      i = end;
      continue;
    }
    // The steps of a loop begin at one place, at one depth.
    std::vector<std::size_t> starts;
    if (places_[event.place].is_entry) {
      for (std::size_t j = i; j < events_.size() && events_[j].depth >= event.depth; ++j) {
        if (events_[j].depth == event.depth && events_[j].place == event.place) starts.push_back(j);
      }
    }
    if (starts.size() <= kSteps) {
      result.push_back(i++);
      continue;
    }
    const std::size_t first_out = starts[2];
    const std::size_t last_in = starts[starts.size() - 2];
    for (std::size_t j = i; j < first_out; ++j) {
      if (events_[j].depth <= kDeepest) result.push_back(j);
    }
    result.push_back((last_in - first_out) | kGap);
    for (i = last_in; i < events_.size() && events_[i].depth >= event.depth; ++i) {
      if (events_[i].depth <= kDeepest) result.push_back(i);
    }
  }
  return result;
}

std::string TraceRecorder::table(const std::string& second) const {
  constexpr std::size_t kGap = ~(~std::size_t{0} >> 1U);
  std::vector<Row> rows;
  int depth = 0;
  for (const std::size_t number : kept()) {
    if ((number & kGap) != 0) {
      rows.push_back({depth, fmt::format("… {} more lines", number & ~kGap), "", ""});
      continue;
    }
    const Event& event = events_[number];
    depth = event.depth;
    const bool is_seen = !second.empty() && event.has_derivative;
    rows.push_back({event.depth, places_[event.place].label,
                    event.value ? summary(*event.value) : "",
                    !is_seen           ? ""
                    : event.derivative ? summary(Shown().of(*event.derivative, *event.value))
                                       : "-"});
  }
  std::size_t widest = 6, widest_value = 5;
  for (Row& row : rows) {
    row.label = std::string(2 * static_cast<std::size_t>(row.depth), ' ') + cut(row.label);
    row.value = cut(row.value);
    row.derivative = cut(row.derivative);
    widest = std::max(widest, lang::code_points(row.label));
    widest_value = std::max(widest_value, lang::code_points(row.value));
  }
  const auto line = [&](const std::string& label, const std::string& value,
                        const std::string& derivative) {
    std::string text = filled(label, widest) + " | ";
    text += second.empty() ? value : filled(value, widest_value) + " | " + derivative;
    return text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
  };
  std::string text = line("source", "value", second);
  for (const Row& row : rows) text += line(row.label, row.value, row.derivative);
  return text;
}

namespace {

// Derivatives belong to the lines of a function with a text; any other can be called in one.
[[noreturn]] void fail_without_text(const lang::Call& call, lang::DiffMode mode,
                                    const lang::Type& type) {
  lang::Diagnostic diagnostic(lang::DiagnosticKind::BadCommand,
                              "nothing to trace: the function has no text of its own here",
                              call.callee->span);
  const auto* function = lang::as<lang::FunctionType>(type);
  std::string args;
  std::string params;
  bool has_texts = function && call.callee->span && !(call.callee->span == call.span);
  for (std::size_t i = 0; i < call.args.size(); ++i) {
    has_texts &= static_cast<bool>(call.args[i]->span);
    args += (i == 0 ? "" : ", ") + std::string(call.args[i]->span ? call.args[i]->span.text() : "");
    params += fmt::format("{}x{}", i == 0 ? "" : ", ", i == 0 ? "" : std::to_string(i));
  }
  if (has_texts) {
    diagnostic.note(
        fmt::format("help: a function around it has: `:trace {} (fn ({}) {{ {}({}) }})({})`",
                    name_of(mode), params, call.callee->span.text(), params, args));
  }
  throw lang::Failure(std::move(diagnostic));
}

struct Watched {
  lang::Expr run;
  std::string second;  // the heading of the last column
};

// An expression is the body of a function without parameters, unless it calls one with a text.
Watched watched_run(const lang::Expr& given, Instrumenter& instrumenter,
                    typecheck::Checker& checker) {
  const lang::Expr typed = checker.check(given).or_throw();
  if (const auto* call = lang::as<lang::Call>(typed)) {
    const lang::Expr callee = instrumenter.instrumented(call->callee);
    if (!instrumenter.places().empty())
      return {lang::make_call(callee, call->args, call->attrs, typed->span, typed->type), ""};
  }
  const lang::Type type = lang::function_type({}, typed->type);
  const lang::Expr body = instrumenter.instrumented(
      lang::make_function({}, typed->type, typed, {}, nullptr, typed->span, type));
  if (instrumenter.places().empty()) {
    lang::fail(lang::DiagnosticKind::BadCommand, "nothing to trace: nothing is computed here",
               given->span);
  }
  return {lang::make_call(body, {}, nullptr, typed->span, typed->type), ""};
}

Watched watched_derivative(const lang::Expr& given, lang::DiffMode mode, Instrumenter& instrumenter,
                           typecheck::Checker& checker) {
  const auto* call = lang::as<lang::Call>(given);
  if (!call) {
    lang::fail(lang::DiagnosticKind::BadCommand,
               "`:trace` takes the call of a function here, as in `grad f(x)` or `jvp f(x, dx)`",
               given->span);
  }
  const lang::Expr whole =
      lang::make_call(lang::make_differentiate(mode, call->callee, call->callee->span), call->args,
                      call->attrs, given->span);
  const lang::Expr typed = checker.check(whole).or_throw();
  const auto& typed_call = lang::cast<lang::Call>(typed);
  const auto& derivative = lang::cast<lang::Differentiate>(typed_call.callee);
  const lang::Expr function = instrumenter.instrumented(derivative.fn);
  if (instrumenter.places().empty()) fail_without_text(*call, mode, derivative.fn->type);
  const lang::Expr callee =
      lang::make_differentiate(mode, function, derivative.span, derivative.type);
  return {lang::make_call(callee, typed_call.args, typed_call.attrs, typed->span, typed->type),
          mode == lang::DiffMode::Jvp ? "tangent" : "adjoint"};
}

}  // namespace

Session::Trace traced(const lang::Expr& call, std::optional<lang::DiffMode> mode,
                      lang::Module& module, typecheck::Checker& checker, Pipeline& pipeline,
                      interp::Evaluator& evaluator) {
  Instrumenter instrumenter(module, checker, pipeline);
  lang::Expr given = call;
  // `grad(f)(x)` is `grad f(x)`
  const auto* outer = lang::as<lang::Call>(call);
  const auto* form = outer ? lang::as<lang::Differentiate>(outer->callee) : nullptr;
  if (!mode && form && (form->mode == lang::DiffMode::Grad || form->mode == lang::DiffMode::Jvp)) {
    mode = form->mode;
    given = lang::make_call(form->fn, outer->args, outer->attrs, call->span);
  }
  const Watched watched = mode ? watched_derivative(given, *mode, instrumenter, checker)
                               : watched_run(given, instrumenter, checker);
  TraceRecorder recorder(instrumenter.places());
  pipeline.set_recorder(&recorder);
  const auto value =
      evaluator.evaluate(pipeline.finish(pipeline.optimise(pipeline.to_core(watched.run))));
  pipeline.set_recorder(nullptr);
  if (!value && recorder.is_empty()) throw lang::Failure(value.errors());
  return {recorder.table(watched.second), value ? std::vector<lang::Diagnostic>{} : value.errors()};
}

}  // namespace relay::repl
