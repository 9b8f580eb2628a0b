#include <fmt/ranges.h>

#include "models/nnvm/common_operators.h"
#include "models/nnvm/mxnet_builders.h"

// MXNet's fused recurrent layers: a function that calls itself for each element of the sequences,
// and weights that are pieces of one vector.
namespace relay::models::nnvm {

namespace {

struct RnnMode {
  std::string_view name;  // of MXNet
  std::int64_t gates;
  bool has_cell;
  std::string_view step;  // from `now` and `past` to `new`, and of an LSTM `cell`
};

// `{0}` is the part of the first gate, and so on.
constexpr RnnMode kModes[] = {
    {"rnn_relu", 1, false, "let new = nn.relu(now + past);\n"},
    {"rnn_tanh", 1, false, "let new = tanh(now + past);\n"},
    {"lstm", 4, true,
     "let gates = now + past;\n"
     "let cell = sigmoid(gates{1}) * c + sigmoid(gates{0}) * tanh(gates{2});\n"
     "let new = sigmoid(gates{3}) * tanh(cell);\n"},
    {"gru", 3, false,
     "let reset = sigmoid(now{0} + past{0});\n"
     "let update = sigmoid(now{1} + past{1});\n"
     "let new = (1.0 - update) * tanh(now{2} + reset * past{2}) + update * h;\n"},
};

const RnnMode& mode_of(OperatorCall& call) {
  const std::string name = call.attributes.text("mode");
  for (const RnnMode& mode : kModes) {
    if (mode.name == name) return mode;
  }
  call.bad(fmt::format("`mode` is `{}`", name));
}

// The function for one layer in one direction.
std::string layer_text(const RnnMode& mode, const std::string& name, bool is_reverse,
                       lang::DType dtype) {
  const auto type = lang::name_of(dtype);
  const std::string many = mode.gates == 1 ? "hidden" : fmt::format("{} * hidden", mode.gates);
  const std::string state = fmt::format("Tensor[(batch, hidden), {}]", type);
  const auto part = [](std::int64_t gate) {
    if (gate == 0) return std::string("[:, 0:hidden]");
    return fmt::format("[:, {}hidden:{} * hidden]", gate == 1 ? "" : fmt::format("{} * ", gate),
                       gate + 1);
  };
  const std::string cell = mode.has_cell ? fmt::format(", c: {}", state) : "";
  const std::string place = is_reverse ? "place" : "t";
  std::string text = fmt::format(
      "/// A layer `{0}` of MXNet{1}: what comes of each step, and the last state.\n"
      "def {2}[time, batch, features, hidden](x: Tensor[(time, batch, features), {3}], "
      "w: Tensor[({4}, features), {3}], r: Tensor[({4}, hidden), {3}], b: Tensor[({4}), {3}], "
      "rb: Tensor[({4}), {3}], h: {5}{6}) {{\n"
      "let inputs = nn.dense(reshape(x, newshape=[-3, 0]), w) + b;\n"
      "let step = fn (t: int64, h: {5}{6}, ys: Tensor[(time, batch, hidden), {3}]) {{\n"
      "if t == time {{ (ys, h{7}) }} else {{\n",
      mode.name, is_reverse ? ", from the end to the beginning" : "", name, type, many, state, cell,
      mode.has_cell ? ", c" : "");
  if (is_reverse) text += "let place = time - 1 - t;\n";
  text += fmt::format(
      "let now = for row < batch, k < {} {{ inputs[{} * batch + row, k] }};\n"
      "let past = nn.dense(h, r) + rb;\n",
      many, place);
  text += fmt::format(fmt::runtime(mode.step), part(0), part(1), part(2), part(3));
  return text + fmt::format(
                    "step(t + 1, new{0}, ys with {{ [{1}] = new }})\n}}\n}};\n"
                    "step(0, h{2}, zeros(shape=[time, batch, hidden], dtype=\"{3}\"))\n}}",
                    mode.has_cell ? ", cell" : "", place, mode.has_cell ? ", c" : "", type);
}

// Where the pieces of the vector of weights begin: all matrices stand before all biases.
struct Pieces {
  std::int64_t matrices = 0;
  std::int64_t biases = 0;
};

}  // namespace

void mx_rnn(OperatorCall& call) {
  const Attributes& attributes = call.attributes;
  const RnnMode& mode = mode_of(call);
  const std::int64_t hidden = attributes.integer("state_size");
  const std::int64_t layers = attributes.integer("num_layers");
  const std::int64_t directions = attributes.flag("bidirectional", false) ? 2 : 1;
  const bool gives_states = attributes.flag("state_outputs", false);
  attributes.ignore({"p", "lstm_state_clip_nan"});
  for (const char* key : {"projection_size", "lstm_state_clip_min", "lstm_state_clip_max"}) {
    if (attributes.has(key)) call.unsupported(fmt::format("`{}`", key));
  }
  if (attributes.flag("use_sequence_length", false)) call.unsupported("`use_sequence_length`");
  constexpr std::int64_t kMost = 1 << 20;
  if (hidden < 1 || hidden > kMost || layers < 1 || layers > 1000)
    call.bad(fmt::format("`state_size` is {} and `num_layers` {}", hidden, layers));
  if (call.rank(0) != 3) call.bad("its data is no (time, batch, features)");
  const lang::DType dtype = call.dtype(0);
  const std::int64_t rows = mode.gates * hidden;
  std::int64_t features = call.extent(0, 2);
  if (features > (std::int64_t{1} << 30)) call.bad(fmt::format("it has {} features", features));
  const std::int64_t inner = hidden * directions;
  Pieces at;
  at.biases = directions * rows * (features + hidden + (layers - 1) * (inner + hidden));
  call.expect(1, {at.biases + layers * directions * 2 * rows}, dtype);
  for (std::size_t i = 2; i < (mode.has_cell ? 4U : 3U); ++i) {
    if (!call.is_known(i)) call.expect(i, {layers * directions, call.extent(0, 1), hidden}, dtype);
  }
  const std::string weights = call.text(1);
  const auto piece = [&](std::int64_t& from, std::int64_t size) {
    from += size;
    return fmt::format("{}[{}:{}]", weights, from - size, from);
  };
  const auto matrix = [&](std::int64_t columns) {
    return fmt::format("reshape({}, newshape=[{}, {}])", piece(at.matrices, rows * columns), rows,
                       columns);
  };
  std::string x = call.text(0);
  std::vector<std::string> states, cells;
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    std::vector<std::string> outputs;
    for (std::int64_t direction = 0; direction < directions; ++direction) {
      const std::string name = fmt::format(
          "mxnet.{}{}{}", mode.name, direction == 1 ? "_reverse" : "",
          dtype == lang::DType::Float32 ? "" : fmt::format("_{}", lang::name_of(dtype)));
      call.define(name, layer_text(mode, name, direction == 1, dtype));
      const std::int64_t place = layer * directions + direction;
      std::string arguments = fmt::format("{}, {}", x, matrix(features));
      arguments += ", " + matrix(hidden);
      arguments += ", " + piece(at.biases, rows);
      arguments += ", " + piece(at.biases, rows);
      arguments += fmt::format(", take({}, {}, axis=0)", call.text(2), place);
      if (mode.has_cell) arguments += fmt::format(", take({}, {}, axis=0)", call.text(3), place);
      const std::string result =
          call.let(fmt::format("layer{}{}", layer, direction == 1 ? "_reverse" : ""),
                   fmt::format("{}({})", name, arguments));
      outputs.push_back(result + ".0");
      states.push_back(result + ".1");
      if (mode.has_cell) cells.push_back(result + ".2");
    }
    x = outputs.size() == 1 ? outputs.front()
                            : call.let(fmt::format("both{}", layer),
                                       fmt::format("concatenate({}, axis=2)", tuple_text(outputs)));
    features = inner;
  }
  call.same(x);
  if (!gives_states) return;
  call.same(call.let("state", fmt::format("stack({}, axis=0)", tuple_text(states))));
  if (mode.has_cell)
    call.same(call.let("cell", fmt::format("stack({}, axis=0)", tuple_text(cells))));
}

}  // namespace relay::models::nnvm
