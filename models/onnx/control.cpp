// If, Loop and Scan: branches, and functions that call themselves.
#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/onnx/operators.h"
#include "models/onnx/writing.h"

namespace relay::models::onnx {

namespace {

using lang::Dim;
using lang::DType;
using lang::Type;

const Graph& graph_of(const Call& call, std::string_view key) {
  const auto* graph = call.node.find<std::shared_ptr<Graph>>(key);
  if (!graph) call.bad(fmt::format("the graph `{}` is missing", key));
  return **graph;
}

std::string tuple_text(const std::vector<std::string>& texts) {
  return texts.size() == 1 ? texts[0] : fmt::format("({})", fmt::join(texts, ", "));
}

std::string scalar_text(Call& call, std::size_t k) {
  return call.rank(k) == 0 ? call.text(k) : fmt::format("reshape({}, newshape=[])", call.text(k));
}

// Does nothing but the value at hand tell this extent?
bool is_open(const Dim& dim) {
  bool result = dim.is_any();
  dim.for_each_variable([&](const lang::TypeVarRef& var) {
    result = result || var->name.find('(') != std::string::npos;
  });
  return result;
}

// A type as an annotation: extents that no name stands for are open.
Type annotated(const Value& value) {
  std::vector<Dim> dims;
  for (const Dim& dim : value.dims()) {
    dims.push_back(is_open(dim) ? Dim::any() : dim);
  }
  return lang::tensor_type(lang::Shape(std::move(dims)), value.dtype());
}

std::string text_of_inner(Importer& importer, Importer::Inner& inner) {
  std::vector<std::string> texts;
  for (Value& each : inner.outputs) texts.push_back(importer.text_of(each));
  inner.block.result = tuple_text(texts);
  remove_unused(inner.block);
  shorten(inner.block);
  return block_text(inner.block);
}

void branch(Call& call) {
  const Graph& then_graph = graph_of(call, "then_branch");
  const Graph& else_graph = graph_of(call, "else_branch");
  const std::size_t count = call.node.outputs.size();
  if (then_graph.outputs.size() != count || else_graph.outputs.size() != count)
    call.bad("its branches have not as many outputs as it has");
  // PyTorch's exporter asks for an extent before it drops an axis: only the branch that is taken
  // has the rank that what follows needs.
  if (const auto known = numbers_of(call.in(0)); known && known->size() == 1) {
    Importer::Inner taken = call.importer.inner(known->front() != 0 ? then_graph : else_graph, {});
    call.importer.append(std::move(taken.block));
    for (Value& each : taken.outputs) call.give(std::move(each));
    return;
  }
  const std::string condition = scalar_text(call, 0);
  Importer::Inner yes = call.importer.inner(then_graph, {});
  Importer::Inner no = call.importer.inner(else_graph, {});
  const std::string text =
      fmt::format("if {} {} else {}", condition, text_of_inner(call.importer, yes),
                  text_of_inner(call.importer, no));
  if (count == 1) return call.give(text);
  call.give_fields(text);
}

// What Loop and Scan have in common: a function of the step, the state and the tensors that are
// written, one part for each step.
struct Recursion {
  const Graph& body;
  std::string step;                // the name of the number of the step
  std::string condition;           // the name of a parameter; empty: there is none
  std::vector<Value> parameters;   // of the body, in its order
  std::vector<Value> states;       // as they begin
  std::vector<std::string> names;  // of the states in the body
  std::size_t first_state = 0;     // among the outputs of the body
  std::string count;               // of steps; empty: as long as the condition holds
};

struct Written {
  std::string name;
  Value part;
};

// The body with states whose extents stay what they are; those that do not are open.
Importer::Inner settled_body(Call& call, Recursion& loop) {
  for (int attempt = 0; attempt < 3; ++attempt) {
    for (std::size_t k = 0; k < loop.names.size(); ++k)
      call.importer.declare(loop.names[k], loop.states[k].type);
    Importer::Inner inner = call.importer.inner(loop.body, loop.parameters);
    if (inner.outputs.size() != loop.body.outputs.size()) call.bad("the body has lost an output");
    bool has_changed = false;
    for (std::size_t k = 0; k < loop.states.size(); ++k) {
      const Value& next = inner.outputs.at(loop.first_state + k);
      Value& state = loop.states[k];
      if (next.dtype() != state.dtype() || next.rank() != state.rank())
        call.unsupported(
            fmt::format("the state `{}`, whose type changes from step to step", state.name));
      std::vector<Dim> dims = state.dims();
      for (std::size_t axis = 0; axis < dims.size(); ++axis) {
        // What is not known of the next state is checked when it runs.
        if (dims[axis] == next.dims()[axis] || is_open(next.dims()[axis])) continue;
        const std::string open = fmt::format("dim_of({}, axis={})", loop.names[k], axis);
        if (dims[axis].to_string() == open) continue;
        dims[axis] = Dim::variable(lang::TypeVar::rigid(lang::VarKind::Dim, open));
        has_changed = true;
      }
      state.type = lang::tensor_type(lang::Shape(dims), state.dtype());
      for (Value& parameter : loop.parameters) {
        if (parameter.text == loop.names[k]) parameter.type = state.type;
      }
    }
    if (!has_changed) return inner;
  }
  call.unsupported("a state whose extents do not settle");
}

// `{ let loop = fn (…) { … }; loop(0, …) }`, and which tensors it writes.
std::string recursion_text(Call& call, Recursion& loop, Importer::Inner& inner,
                           const std::vector<std::string>& starts, const std::string& going,
                           std::vector<Written>& written, bool may_stop) {
  Importer& importer = call.importer;
  const std::size_t first_part = loop.first_state + loop.states.size();
  for (std::size_t k = first_part; k < inner.outputs.size(); ++k) {
    importer.text_of(inner.outputs[k]);
    // What is written of a state has the state's extents.
    for (std::size_t state = 0; state < loop.states.size(); ++state) {
      if (inner.outputs[loop.first_state + state].text == inner.outputs[k].text)
        inner.outputs[k].type = loop.states[state].type;
    }
    const std::vector<Dim>& extents = inner.outputs[k].dims();
    if (std::any_of(extents.begin(), extents.end(), &is_open))
      call.unsupported(fmt::format(
          "`{}`, of which a part is written in each step whose extents are not known before",
          loop.body.outputs[k].name));
    written.push_back(
        {importer.program().names().unique(loop.body.outputs[k].name, "ys"), inner.outputs[k]});
  }
  const std::string name = importer.program().names().unique("loop", "loop");
  std::vector<std::string> parameters = {fmt::format("{}: int64", loop.step)};
  std::vector<std::string> next = {fmt::format("{} + 1", loop.step)};
  std::vector<std::string> first = {"0i64"};
  std::vector<std::string> results;
  if (!loop.condition.empty()) {
    parameters.push_back(fmt::format("{}: bool", loop.condition));
    next.push_back(importer.text_of(inner.outputs[0]));
    first.push_back(going);
  }
  for (std::size_t k = 0; k < loop.states.size(); ++k) {
    parameters.push_back(
        fmt::format("{}: {}", loop.names[k], lang::to_string(annotated(loop.states[k]))));
    next.push_back(importer.text_of(inner.outputs[loop.first_state + k]));
    first.push_back(starts[k]);
    results.push_back(loop.names[k]);
  }
  for (const Written& each : written) {
    const Type part = annotated(each.part);
    std::vector<Dim> dims = lang::as<lang::TensorType>(part)->shape.dims();
    std::vector<std::string> extents = {loop.count.empty() ? "0" : loop.count};
    for (const Dim& dim : each.part.dims()) extents.push_back(dim.to_string());
    dims.insert(dims.begin(), Dim::any());
    parameters.push_back(
        fmt::format("{}: {}", each.name,
                    lang::to_string(lang::tensor_type(lang::Shape(dims), each.part.dtype()))));
    next.push_back(
        loop.count.empty()
            ? fmt::format("concatenate(({}, expand_dims({}, axis=0)), axis=0)", each.name,
                          each.part.text)
            : fmt::format("{} with {{ [{}] = {} }}", each.name, loop.step, each.part.text));
    first.push_back(fmt::format("zeros(shape=[{}], dtype={})", fmt::join(extents, ", "),
                                dtype_text(each.part.dtype())));
    results.push_back(each.name);
  }
  if (may_stop) results.push_back(loop.step);
  inner.block.result = fmt::format("{}({})", name, fmt::join(next, ", "));
  std::string goes =
      loop.count.empty() ? std::string() : fmt::format("{} < {}", loop.step, loop.count);
  if (!loop.condition.empty())
    goes = goes.empty() ? loop.condition : fmt::format("{} && {}", loop.condition, goes);
  return fmt::format("{{\nlet {0} = fn ({1}) {{\nif {2} {3} else {{\n{4}\n}}\n}};\n{0}({5})\n}}",
                     name, fmt::join(parameters, ", "), goes, block_text(inner.block),
                     tuple_text(results), fmt::join(first, ", "));
}

bool is_true(const Value& value) {
  return value.constant && value.constant->element_count() == 1 && value.constant->bits_at(0) != 0;
}

Value parameter(Call& call, Recursion& loop, const Port& port, const Type& type) {
  const std::string name = call.importer.program().names().unique(port.name, "s");
  call.importer.declare(name, type);
  loop.parameters.push_back({.name = port.name, .text = name, .type = type});
  return loop.parameters.back();
}

void give_results(Call& call, const std::string& text, std::size_t states,
                  const std::vector<Written>& written, bool may_stop) {
  const std::size_t count = states + written.size();
  if (count == 1 && !may_stop) return call.give(text);
  const Value result = call.let(call.node.name.empty() ? "loop_result" : call.node.name, text);
  for (std::size_t k = 0; k < count; ++k) {
    const Value part = call.importer.field(result, k, call.output_name(k));
    if (k < states || !may_stop) {
      call.give(part);
    } else {
      call.give(fmt::format("{}[0:{}.{}]", part.text, result.text, count));
    }
  }
}

void loop(Call& call) {
  const Graph& body = graph_of(call, "body");
  if (body.inputs.size() < 2 || body.outputs.empty() || call.input_count() < 2 ||
      body.inputs.size() != call.input_count())
    call.bad("its body has not the inputs that it is given");
  Recursion loop{.body = body,
                 .step = {},
                 .condition = {},
                 .parameters = {},
                 .states = {},
                 .names = {},
                 .first_state = 1,
                 .count = {}};
  if (call.has(0)) {
    const auto count = integers_of(call.in(0));
    // The largest number there is stands for none.
    if (!count || (*count)[0] < std::numeric_limits<std::int32_t>::max())
      loop.count = scalar_text(call, 0);
    if (count && (*count)[0] < std::numeric_limits<std::int32_t>::max())
      loop.count = fmt::format("{}", (*count)[0]);
  }
  loop.step = parameter(call, loop, body.inputs[0], lang::scalar_type(DType::Int64)).text;
  const std::string going =
      parameter(call, loop, body.inputs[1], lang::scalar_type(DType::Bool)).text;
  std::vector<std::string> starts;
  for (std::size_t k = 2; k < call.input_count(); ++k) {
    Value& start = call.in(k);
    starts.push_back(call.text(k));
    const Value inner = parameter(call, loop, body.inputs[k], start.type);
    loop.names.push_back(inner.text);
    loop.states.push_back({.name = start.name, .text = inner.text, .type = start.type});
  }
  if (body.outputs.size() < 1 + loop.states.size())
    call.bad("its body has not an output for each state");
  Importer::Inner inner = settled_body(call, loop);
  const Value& next = inner.outputs[0];
  const bool starts_true = !call.has(1) || is_true(call.in(1));
  const bool may_stop = !(starts_true && (is_true(next) || next.text == going));
  if (may_stop || loop.count.empty()) loop.condition = going;
  std::vector<Written> written;
  const std::string text =
      recursion_text(call, loop, inner, starts, call.has(1) ? scalar_text(call, 1) : "True",
                     written, may_stop && !loop.count.empty());
  give_results(call, text, loop.states.size(), written, may_stop && !loop.count.empty());
}

// The part of a scanned input at a step.
std::string part_text(const std::string& x, std::size_t axis, std::size_t rank,
                      const std::string& place) {
  std::vector<std::string> places(rank, ":");
  places[axis] = place;
  return fmt::format("{}[{}]", x, fmt::join(places, ", "));
}

void scan(Call& call) {
  const Graph& body = graph_of(call, "body");
  const std::int64_t scanned = call.integer("num_scan_inputs", 0);
  const auto inputs = static_cast<std::int64_t>(call.input_count());
  if (scanned < 1 || scanned > inputs || static_cast<std::int64_t>(body.inputs.size()) != inputs)
    call.bad("its body has not the inputs that it is given");
  const auto states = static_cast<std::size_t>(inputs - scanned);
  const auto list = [&](std::string_view key, std::size_t k) {
    const auto all = call.integers(key);
    return all && k < all->size() ? (*all)[k] : 0;
  };
  Recursion loop{.body = body,
                 .step = call.importer.program().names().unique("t", "t"),
                 .condition = {},
                 .parameters = {},
                 .states = {},
                 .names = {},
                 .first_state = 0,
                 .count = {}};
  call.importer.declare(loop.step, lang::scalar_type(DType::Int64));
  std::vector<std::string> starts;
  Block block;
  for (std::size_t k = 0; k < call.input_count(); ++k) {
    Value& value = call.in(k);
    if (k < states) {
      starts.push_back(call.text(k));
      const Value inner = parameter(call, loop, body.inputs[k], value.type);
      loop.names.push_back(inner.text);
      loop.states.push_back({.name = value.name, .text = inner.text, .type = value.type});
      continue;
    }
    const std::size_t axis = call.axis(list("scan_input_axes", k - states), value.rank());
    if (loop.count.empty()) loop.count = value.dims()[axis].to_string();
    std::string place = loop.step;
    if (list("scan_input_directions", k - states) != 0)
      place = fmt::format("{} - 1 - {}", value.dims()[axis].to_string(), loop.step);
    const std::string text = part_text(call.text(k), axis, value.rank(), place);
    const Type type = call.importer.type_of(text);
    const Value inner = parameter(call, loop, body.inputs[k], type);
    block.lines.push_back({inner.text, text});
  }
  if (body.outputs.size() < states) call.bad("its body has not an output for each state");
  Importer::Inner inner = settled_body(call, loop);
  inner.block.lines.insert(inner.block.lines.begin(), block.lines.begin(), block.lines.end());
  for (std::size_t k = 0; k + states < body.outputs.size(); ++k) {
    if (list("scan_output_directions", k) != 0)
      call.unsupported("outputs that are written from the end");
    if (list("scan_output_axes", k) != 0)
      call.unsupported("outputs that are written along another axis than the first");
  }
  std::vector<Written> written;
  const std::string text = recursion_text(call, loop, inner, starts, "", written, false);
  give_results(call, text, states, written, false);
}

constexpr auto kControlOperators = std::to_array<Operator>({
    {"If", &branch, "an `if`", "", false},
    {"Loop", &loop, "a function that calls itself; no sequences as states", "", false},
    {"Scan", &scan, "a function that calls itself; outputs along the first axis", "", false},
});

}  // namespace

std::span<const Operator> control_operators() { return kControlOperators; }

}  // namespace relay::models::onnx
