// LSTM, GRU and RNN: a function that calls itself for each step of time, and writes what comes of
// it into the tensor that it hands on.
#include <array>
#include <cstdint>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "models/onnx/operators.h"
#include "models/onnx/writing.h"

namespace relay::models::onnx {

namespace {

using lang::DType;

// What a node's attributes say of its cell, for one direction.
struct Cell {
  std::string op;
  DType dtype;
  std::vector<std::string> activations;
  std::vector<double> alphas, betas;  // of each activation
  std::optional<double> clip;
  bool is_reverse = false;
  bool has_lengths = false;
  bool has_peepholes = false;
  bool couples_gates = false;  // input_forget
  bool resets_behind = false;  // linear_before_reset
  bool starts_at_zero = false;
  std::uint64_t hidden = 0;  // a number in the text: what is known is faster than a dimension

  // The extents of some gates.
  std::string rows(std::size_t from, std::size_t to) const {
    return fmt::format("{}:{}", from * hidden, to * hidden);
  }
  std::string number(double value) const { return literal(value, dtype); }
};

std::size_t gates_of(std::string_view op) { return op == "LSTM" ? 4 : op == "GRU" ? 3 : 1; }
std::size_t activations_of(std::string_view op) { return op == "LSTM" ? 3 : op == "GRU" ? 2 : 1; }

std::string activation(const Call& call, const Cell& cell, std::size_t k, std::string x) {
  const std::string& name = cell.activations[k];
  if (cell.clip)
    x = fmt::format("clip({}, a_min={}, a_max={})", x, literal(-*cell.clip, DType::Float32),
                    literal(*cell.clip, DType::Float32));
  const auto alpha = [&](double otherwise) {
    return cell.number(k < cell.alphas.size() ? cell.alphas[k] : otherwise);
  };
  const auto beta = [&](double otherwise) {
    return cell.number(k < cell.betas.size() ? cell.betas[k] : otherwise);
  };
  const std::string zero = cell.number(0);
  const std::string one = cell.number(1);
  if (name == "Sigmoid") return fmt::format("sigmoid({})", x);
  if (name == "Tanh") return fmt::format("tanh({})", x);
  if (name == "Relu") return fmt::format("nn.relu({})", x);
  if (name == "Softplus") return fmt::format("nn.softplus({})", x);
  if (name == "Softsign") return fmt::format("({0}) / ({1} + abs({0}))", x, one);
  if (name == "Affine") return fmt::format("({} * ({}) + {})", alpha(1), x, beta(0));
  if (name == "ScaledTanh") return fmt::format("({} * tanh({} * ({})))", alpha(1), beta(1), x);
  if (name == "HardSigmoid")
    return fmt::format("minimum(maximum({} * ({}) + {}, {}), {})", alpha(0.2), x, beta(0.5), zero,
                       one);
  if (name == "LeakyRelu")
    return fmt::format("where({0} > {1}, {0}, {2} * ({0}))", x, zero, alpha(0.01));
  if (name == "ThresholdedRelu")
    return fmt::format("where({0} > {1}, {0}, {2})", x, alpha(1), zero);
  if (name == "Elu")
    return fmt::format("where({0} > {1}, {0}, {2} * expm1({0}))", x, zero, alpha(1));
  call.unsupported(fmt::format("the activation `{}`", name));
}

// The rows of gate `k` among the columns of `text`.
std::string gate(const Cell& cell, std::string_view text, std::size_t k) {
  return fmt::format("{}[:, {}]", text, cell.rows(k, k + 1));
}

std::string peephole(const Cell& cell, std::size_t k, std::string_view state) {
  if (!cell.has_peepholes) return {};
  const std::string part = fmt::format("p[{}]", cell.rows(k, k + 1));
  return fmt::format(" + {} * {}", part, state);
}

// The lines that make the next state.
std::string step_lines(const Call& call, const Cell& cell) {
  const auto f = [&](std::size_t k, const std::string& x) { return activation(call, cell, k, x); };
  if (cell.op == "RNN")
    return fmt::format("let new = {};\n", f(0, "inputs[place, :, :] + nn.dense(h, r)"));
  std::string text;
  if (cell.op == "LSTM") {
    text = "let gates = inputs[place, :, :] + nn.dense(h, r);\n";
    text += fmt::format("let input = {};\n", f(0, gate(cell, "gates", 0) + peephole(cell, 0, "c")));
    text += cell.couples_gates ? fmt::format("let forget = {} - input;\n", cell.number(1))
                               : fmt::format("let forget = {};\n",
                                             f(0, gate(cell, "gates", 2) + peephole(cell, 2, "c")));
    text += fmt::format("let cell = forget * c + input * {};\n", f(1, gate(cell, "gates", 3)));
    text +=
        fmt::format("let output = {};\n", f(0, gate(cell, "gates", 1) + peephole(cell, 1, "cell")));
    return text + fmt::format("let new = output * {};\n", f(2, "cell"));
  }
  // One product for all gates, unless the last is of what the reset leaves.
  text = fmt::format("let now = inputs[place, :, :];\nlet gates = nn.dense(h, r{});\n",
                     cell.resets_behind ? "" : fmt::format("[{}, :]", cell.rows(0, 2)));
  text += fmt::format("let update = {};\n",
                      f(0, gate(cell, "now", 0) + " + " + gate(cell, "gates", 0)));
  text +=
      fmt::format("let reset = {};\n", f(0, gate(cell, "now", 1) + " + " + gate(cell, "gates", 1)));
  const std::string past = cell.resets_behind
                               ? "reset * (" + gate(cell, "gates", 2) + " + rb)"
                               : fmt::format("nn.dense(reset * h, r[{}, :])", cell.rows(2, 3));
  text += fmt::format("let candidate = {};\n", f(1, gate(cell, "now", 2) + " + " + past));
  return text + fmt::format("let new = ({} - update) * candidate + update * h;\n", cell.number(1));
}

std::string definition(const Call& call, const Cell& cell, const std::string& name) {
  const bool is_lstm = cell.op == "LSTM";
  const std::size_t gates = gates_of(cell.op);
  const std::string type = std::string(lang::name_of(cell.dtype));
  const std::uint64_t many = gates * cell.hidden;
  const std::string state = fmt::format("Tensor[(batch, {}), {}]", cell.hidden, type);
  std::string text = fmt::format("/// {}{}: what comes of each step of time, and the last state.\n",
                                 cell.op, cell.is_reverse ? ", from the end to the beginning" : "");
  text += fmt::format(
      "def {0}[time, batch, features](x: Tensor[(time, batch, features), {1}], w: "
      "Tensor[({2}, features), {1}], r: Tensor[({2}, {3}), {1}], b: Tensor[({2}), {1}]",
      name, type, many, cell.hidden);
  if (!cell.starts_at_zero) text += ", h: " + state + (is_lstm ? ", c: " + state : "");
  if (cell.resets_behind) text += fmt::format(", rb: Tensor[({}), {}]", cell.hidden, type);
  if (cell.has_peepholes) text += fmt::format(", p: Tensor[({}), {}]", 3 * cell.hidden, type);
  if (cell.has_lengths) text += ", lengths: Tensor[(batch), int32]";
  text += ") {\nlet inputs = x @ transpose(w) + b;\n";
  std::string lines = step_lines(call, cell);
  if (cell.is_reverse) lines = "let place = time - 1 - t;\n" + lines;
  std::string kept = "new";
  std::string written = "new";
  std::string cell_kept = "cell";
  if (cell.has_lengths) {
    lines += fmt::format("let goes = expand_dims(cast({}, dtype=\"int32\") < lengths, axis=1);\n",
                         cell.is_reverse ? "place" : "t");
    kept = "where(goes, new, h)";
    cell_kept = "where(goes, cell, c)";
    written = fmt::format("where(goes, new, {})", cell.number(0));
  }
  const std::string place = cell.is_reverse ? "place" : "t";
  if (!cell.is_reverse) {
    for (std::size_t at = 0; (at = lines.find("[place,")) != std::string::npos;)
      lines.replace(at, 7, "[t,");
  }
  text +=
      fmt::format("let step = fn (t: int64, h: {0}{1}, ys: Tensor[(time, batch, {3}), {2}]) {{\n",
                  state, is_lstm ? fmt::format(", c: {}", state) : "", type, cell.hidden);
  text += fmt::format(
      "if t == time {{ (ys, h{}) }} else {{\n{}step(t + 1, {}{}, ys with {{ [{}] = {} "
      "}})\n}}\n}};\n",
      is_lstm ? ", c" : "", lines, kept, is_lstm ? ", " + cell_kept : "", place, written);
  if (cell.starts_at_zero)
    text += fmt::format("let zero = zeros(shape=[batch, {}], dtype=\"{}\");\n", cell.hidden, type);
  const std::string h = cell.starts_at_zero ? "zero" : "h";
  const std::string c = cell.starts_at_zero ? "zero" : "c";
  return text + fmt::format("step(0, {}{}, zeros(shape=[time, batch, {}], dtype=\"{}\"))\n}}", h,
                            is_lstm ? ", " + c : "", cell.hidden, type);
}

// What a part of a constant is called among the weights.
std::string name_of_part(const Value& whole, std::size_t direction) {
  if (whole.constant->shape()[0] == 1) return whole.name;
  return fmt::format("{}.{}", whole.name, direction == 0 ? "forward" : "reverse");
}

// One of the directions of a weight: a weight of its own, where it is a constant, so that no call
// takes it out of the whole.
std::string direction_of(Call& call, std::size_t k, std::size_t direction) {
  const Value& whole = call.in(k);
  // The types say what is wrong with one that has no such part.
  const bool has_part = whole.constant && whole.constant->rank() > 0 &&
                        static_cast<std::size_t>(whole.constant->shape()[0]) > direction;
  if (!has_part) return fmt::format("take({}, {}, axis=0)", call.text(k), direction);
  const lang::TensorRef all = lang::contiguous(whole.constant);
  lang::TensorRef part =
      lang::Tensor::make(all->dtype(), {all->shape().begin() + 1, all->shape().end()});
  const std::int64_t count = part->element_count();
  for (std::int64_t at = 0; at < count; ++at)
    part->set_bits(at, all->bits_at(static_cast<std::int64_t>(direction) * count + at));
  Value value = constant_value(name_of_part(whole, direction), std::move(part));
  value.is_weight = true;
  return call.importer.text_of(value);
}

bool is_zero(const Value& value) {
  if (!value.constant) return value.is_zero;
  for (std::int64_t k = 0; k < value.constant->element_count(); ++k) {
    if (value.constant->bits_at(k) != 0) return false;
  }
  return true;
}

Cell cell_of(const Call& call, std::size_t direction, std::size_t directions) {
  Cell cell{.op = call.node.op,
            .dtype = call.in(0).dtype(),
            .activations = {},
            .alphas = {},
            .betas = {},
            .clip = std::nullopt};
  const std::size_t count = activations_of(cell.op);
  static const std::vector<std::string> kLstm = {"Sigmoid", "Tanh", "Tanh"};
  static const std::vector<std::string> kGru = {"Sigmoid", "Tanh"};
  static const std::vector<std::string> kRnn = {"Tanh"};
  cell.activations = cell.op == "LSTM" ? kLstm : cell.op == "GRU" ? kGru : kRnn;
  if (const auto* names = call.node.find<std::vector<std::string>>("activations");
      names && !names->empty()) {
    if (names->size() != count * directions)
      call.bad(fmt::format("there are {} activations, not {}", names->size(), count * directions));
    cell.activations.assign(names->begin() + static_cast<std::ptrdiff_t>(direction * count),
                            names->begin() + static_cast<std::ptrdiff_t>((direction + 1) * count));
  }
  const auto parameters = [&](std::string_view key) {
    const auto* list = call.node.find<std::vector<double>>(key);
    if (!list || list->size() <= direction * count) return std::vector<double>();
    const auto end = std::min(list->size(), (direction + 1) * count);
    return std::vector<double>(list->begin() + static_cast<std::ptrdiff_t>(direction * count),
                               list->begin() + static_cast<std::ptrdiff_t>(end));
  };
  cell.alphas = parameters("activation_alpha");
  cell.betas = parameters("activation_beta");
  if (const auto* clip = call.node.find<double>("clip")) cell.clip = *clip;
  cell.has_lengths = call.has(4);
  cell.has_peepholes = cell.op == "LSTM" && call.has(7);
  cell.couples_gates = call.integer("input_forget", 0) != 0;
  cell.resets_behind = cell.op == "GRU" && call.integer("linear_before_reset", 0) != 0;
  return cell;
}

// The biases of input and state, which are added up; those that are added behind a reset are apart.
struct Biases {
  std::string all, behind;
};
// Of constants: the sum is the weight.
Biases known_biases(Call& call, const Cell& cell, std::size_t direction, std::int64_t count) {
  const lang::TensorRef all = lang::contiguous(call.in(3).constant);
  const auto gates = static_cast<std::int64_t>(gates_of(cell.op));
  const std::int64_t begin = static_cast<std::int64_t>(direction) * 2 * gates * count;
  const std::string name = name_of_part(call.in(3), direction);
  const auto weight = [&](const std::string& own, std::int64_t extent, const auto& number) {
    lang::TensorRef tensor = lang::Tensor::make(cell.dtype, {extent});
    for (std::int64_t at = 0; at < extent; ++at)
      tensor->set_bits(at, lang::bits_from_double(cell.dtype, number(at)));
    Value value = constant_value(own, std::move(tensor));
    value.is_weight = true;
    return call.importer.text_of(value);
  };
  const std::int64_t summed = cell.resets_behind ? 2 * count : gates * count;
  Biases made;
  made.all = weight(name, gates * count, [&](std::int64_t at) {
    const double input = all->number_at(begin + at);
    return at < summed ? input + all->number_at(begin + gates * count + at) : input;
  });
  if (cell.resets_behind) {
    made.behind = weight(name + ".candidate", count, [&](std::int64_t at) {
      return all->number_at(begin + gates * count + summed + at);
    });
  }
  return made;
}

Biases biases_of(Call& call, const Cell& cell, std::size_t direction, const std::string& hidden,
                 std::int64_t count) {
  const auto gates = static_cast<std::int64_t>(gates_of(cell.op));
  const std::string type = dtype_text(cell.dtype);
  if (!call.has(3))
    return {fmt::format("zeros(shape=[{}], dtype={})", gates * count, type),
            fmt::format("zeros(shape=[{}], dtype={})", count, type)};
  if (const lang::TensorRef& known = call.in(3).constant;
      known && known->rank() == 2 && known->dtype() == cell.dtype &&
      static_cast<std::size_t>(known->shape()[0]) > direction &&
      known->shape()[1] == 2 * gates * count)
    return known_biases(call, cell, direction, count);
  const Value b = call.let("bias", direction_of(call, 3, direction));
  const auto part = [&](std::int64_t from, std::int64_t to) {
    return fmt::format("{}[{}:{}]", b.text, from * count, to * count);
  };
  if (!cell.resets_behind)
    return {fmt::format("{} + {}", part(0, gates), part(gates, 2 * gates)), hidden};
  const std::string sum = fmt::format("{} + {}", part(0, 2), part(3, 5));
  return {fmt::format("concatenate(({}, {}), axis=0)", sum, part(2, 3)), part(5, 6)};
}

void recurrent(Call& call) {
  const std::string& op = call.node.op;
  const std::string way = call.string("direction", "forward");
  const std::size_t directions = way == "bidirectional" ? 2 : 1;
  if (way != "forward" && way != "reverse" && way != "bidirectional")
    call.bad(fmt::format("the direction `{}`", way));
  if (call.rank(0) != 3 || call.rank(1) != 3 || call.rank(2) != 3)
    call.bad("data and weights have three axes");
  const bool is_batch_first = call.integer("layout", 0) != 0;
  const bool is_lstm = op == "LSTM";
  std::string x = call.text(0);
  if (is_batch_first) x = call.let("by_time", fmt::format("transpose({}, axes=[1, 0, 2])", x)).text;
  const std::int64_t hidden = call.extent(2, 2);
  const std::string batch = call.in(0).dims()[is_batch_first ? 0 : 1].to_string();
  std::string lengths;
  if (call.has(4)) lengths = call.text(4);
  std::vector<std::string> ys, hs, cs;
  for (std::size_t direction = 0; direction < directions; ++direction) {
    Cell cell = cell_of(call, direction, directions);
    cell.is_reverse = way == "reverse" || direction == 1;
    cell.hidden = static_cast<std::uint64_t>(hidden);
    const auto is_known_zero = [&](std::size_t k) { return !call.has(k) || is_zero(call.in(k)); };
    cell.starts_at_zero = is_known_zero(5) && (!is_lstm || is_known_zero(6));
    const auto start = [&](std::size_t k) {
      if (is_known_zero(k))
        return fmt::format("zeros(shape=[{}, {}], dtype={})", batch, hidden,
                           dtype_text(cell.dtype));
      return is_batch_first ? fmt::format("take({}, {}, axis=1)", call.text(k), direction)
                            : direction_of(call, k, direction);
    };
    const Biases biases = biases_of(call, cell, direction, "", hidden);
    std::string base = "onnx.";
    for (const char c : op) base += static_cast<char>(c + 32);
    if (cell.is_reverse) base += "_reverse";
    const std::string name = call.importer.definition(
        base, [&](const std::string& own) { return definition(call, cell, own); });
    std::string arguments = fmt::format("{}, {}, {}, {}", x, direction_of(call, 1, direction),
                                        direction_of(call, 2, direction), biases.all);
    if (!cell.starts_at_zero) arguments += ", " + start(5) + (is_lstm ? ", " + start(6) : "");
    if (cell.resets_behind) arguments += ", " + biases.behind;
    if (cell.has_peepholes) arguments += ", " + direction_of(call, 7, direction);
    if (cell.has_lengths) arguments += ", " + lengths;
    const Value result = call.let(directions == 1   ? "steps"
                                  : cell.is_reverse ? "backward"
                                                    : "forward",
                                  fmt::format("{}({})", name, arguments));
    ys.push_back(result.text + ".0");
    hs.push_back(result.text + ".1");
    if (is_lstm) cs.push_back(result.text + ".2");
  }
  const auto together = [&](const std::vector<std::string>& parts, std::size_t axis) {
    return parts.size() == 1 ? fmt::format("expand_dims({}, axis={})", parts[0], axis)
                             : fmt::format("stack(({}), axis={})", fmt::join(parts, ", "), axis);
  };
  const std::string y = together(ys, 1);
  call.give(is_batch_first ? fmt::format("transpose({}, axes=[2, 0, 1, 3])", y) : y);
  call.give(together(hs, is_batch_first ? 1 : 0));
  if (is_lstm) call.give(together(cs, is_batch_first ? 1 : 0));
}

constexpr auto kRecurrentOperators = std::to_array<Operator>({
    {"LSTM", &recurrent, "a recursive function over time; hidden size known", "", false},
    {"GRU", &recurrent, "a recursive function over time; hidden size known", "", false},
    {"RNN", &recurrent, "a recursive function over time; hidden size known", "", false},
});

}  // namespace

std::span<const Operator> recurrent_operators() { return kRecurrentOperators; }

}  // namespace relay::models::onnx
