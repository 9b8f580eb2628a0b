#include <cmath>

#include "bench/gradbench/gradbench.h"

namespace {

struct Data {
  Numbers main, extra, state, sequence;
  std::size_t l, b, c;
  const double* weights(std::size_t layer) const { return &main[8 * layer * b]; }
  const double* biases(std::size_t layer) const { return weights(layer) + 4 * b; }
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// What a layer computes in a step and the way back reads, in parts of b: its input, the state
// before, the four gates, the hyperbolic tangent of the cell after.
enum Part { kInput, kHidden, kCell, kForget, kIn, kOut, kChange, kTanh, kParts };

void layer(const Data& in, std::size_t index, const double* x, double* hidden, double* cell,
           double* kept) {
  const std::size_t b = in.b;
  const double* w = in.weights(index);
  const double* v = in.biases(index);
  for (std::size_t i = 0; i < b; ++i) {
    kept[kInput * b + i] = x[i];
    kept[kHidden * b + i] = hidden[i];
    kept[kCell * b + i] = cell[i];
    const double forget = kept[kForget * b + i] = sigmoid(x[i] * w[i] + v[i]);
    const double ingate = kept[kIn * b + i] = sigmoid(hidden[i] * w[b + i] + v[b + i]);
    const double outgate = kept[kOut * b + i] = sigmoid(x[i] * w[2 * b + i] + v[2 * b + i]);
    const double change = kept[kChange * b + i] =
        std::tanh(hidden[i] * w[3 * b + i] + v[3 * b + i]);
    cell[i] = cell[i] * forget + ingate * change;
    hidden[i] = outgate * (kept[kTanh * b + i] = std::tanh(cell[i]));
  }
}

// Runs a step; `outputs` are y, `kept` has room for all layers. The loss of the step.
double step(const Data& in, std::size_t t, Numbers& state, double* kept, double* y, double* norm) {
  const std::size_t b = in.b;
  for (std::size_t i = 0; i < b; ++i) y[i] = in.sequence[t * b + i] * in.extra[i];
  const double* x = y;
  for (std::size_t index = 0; index < in.l; ++index) {
    double* hidden = &state[2 * index * b];
    layer(in, index, x, hidden, hidden + b, kept + index * kParts * b);
    x = hidden;
  }
  double sum = 2;
  for (std::size_t i = 0; i < b; ++i) {
    y[i] = x[i] * in.extra[b + i] + in.extra[2 * b + i];
    sum += std::exp(y[i]);
  }
  *norm = std::log(sum);
  double loss = 0;
  for (std::size_t i = 0; i < b; ++i) loss += in.sequence[(t + 1) * b + i] * (y[i] - *norm);
  return loss;
}

double objective(const Data& in) {
  Numbers state = in.state, kept(in.l * kParts * in.b), y(in.b);
  double total = 0, norm = 0;
  for (std::size_t t = 0; t + 1 < in.c; ++t)
    total += step(in, t, state, kept.data(), y.data(), &norm);
  return -total / static_cast<double>(in.b * (in.c - 1));
}

// Adjoints of hidden and cell come as those behind the step and leave as those before it;
// `x_adjoint` is added to.
void layer_back(const Data& in, std::size_t index, const double* kept, double* hidden_adjoint,
                double* cell_adjoint, double* x_adjoint, double* main_adjoint) {
  const std::size_t b = in.b;
  const double* w = in.weights(index);
  double* w_adjoint = main_adjoint + 8 * index * b;
  double* v_adjoint = w_adjoint + 4 * b;
  for (std::size_t i = 0; i < b; ++i) {
    const double x = kept[kInput * b + i], hidden = kept[kHidden * b + i],
                 forget = kept[kForget * b + i];
    const double ingate = kept[kIn * b + i], outgate = kept[kOut * b + i],
                 change = kept[kChange * b + i];
    const double bent = kept[kTanh * b + i];
    const double cell = cell_adjoint[i] + hidden_adjoint[i] * outgate * (1 - bent * bent);
    const double adjoints[4] = {
        cell * kept[kCell * b + i] * forget * (1 - forget), cell * change * ingate * (1 - ingate),
        hidden_adjoint[i] * bent * outgate * (1 - outgate), cell * ingate * (1 - change * change)};
    const double inputs[4] = {x, hidden, x, hidden};
    for (std::size_t gate = 0; gate < 4; ++gate) {
      w_adjoint[gate * b + i] += adjoints[gate] * inputs[gate];
      v_adjoint[gate * b + i] += adjoints[gate];
    }
    x_adjoint[i] += adjoints[0] * w[i] + adjoints[2] * w[2 * b + i];
    hidden_adjoint[i] = adjoints[1] * w[b + i] + adjoints[3] * w[3 * b + i];
    cell_adjoint[i] = cell * forget;
  }
}

void gradient(const Data& in, Numbers& tape, Numbers& ys, Numbers& slopes) {
  const std::size_t b = in.b, steps = in.c - 1, room = in.l * kParts * b;
  Numbers state = in.state, norms(steps), last(steps * b);
  tape.resize(steps * room);
  ys.resize(steps * b);
  for (std::size_t t = 0; t < steps; ++t) {
    step(in, t, state, &tape[t * room], &ys[t * b], &norms[t]);
    std::copy_n(&state[2 * (in.l - 1) * b], b, &last[t * b]);
  }
  slopes.assign(in.main.size() + in.extra.size(), 0);
  double* extra_adjoint = slopes.data() + in.main.size();
  Numbers adjoints(2 * in.l * b), x_adjoint(b);
  const double seed = -1 / static_cast<double>(b * steps);
  for (std::size_t t = steps; t-- > 0;) {
    double count = 0;
    for (std::size_t i = 0; i < b; ++i) count += in.sequence[(t + 1) * b + i];
    double* hidden = &adjoints[2 * (in.l - 1) * b];
    for (std::size_t i = 0; i < b; ++i) {
      const double y =
          seed * (in.sequence[(t + 1) * b + i] - count * std::exp(ys[t * b + i] - norms[t]));
      extra_adjoint[b + i] += y * last[t * b + i];
      extra_adjoint[2 * b + i] += y;
      hidden[i] += y * in.extra[b + i];
    }
    for (std::size_t index = in.l; index-- > 0;) {
      double* own = &adjoints[2 * index * b];
      double* below = index > 0 ? own - 2 * b : x_adjoint.data();
      if (index == 0) std::fill(x_adjoint.begin(), x_adjoint.end(), 0);
      layer_back(in, index, &tape[t * room + index * kParts * b], own, own + b, below,
                 slopes.data());
    }
    for (std::size_t i = 0; i < b; ++i) extra_adjoint[i] += x_adjoint[i] * in.sequence[t * b + i];
  }
}

}  // namespace

Functions functions(const Inputs& inputs) {
  Data in{inputs.numbers("main"),          inputs.numbers("extra"),
          inputs.numbers("state"),         inputs.numbers("sequence"),
          inputs.shape("state").at(0) / 2, inputs.shape("state").at(1),
          inputs.shape("sequence").at(0)};
  return {{"objective", [in](Results& out) { out.numbers.assign(1, objective(in)); }},
          {"jacobian", [in, tape = Numbers(), ys = Numbers()](Results& out) mutable {
             gradient(in, tape, ys, out.numbers);
           }}};
}
