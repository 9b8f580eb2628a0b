#include <array>
#include <cmath>

#include "bench/gradbench/gradbench.h"

namespace {

using Vector = std::array<double, 3>;

struct Data {
  Numbers cameras, points, weights, features;
  std::int64_t n, m, p;
};

Vector cross(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
double dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

Vector turned(const Vector& r, const Vector& y) {
  const double square = dot(r, r);
  Vector result;
  if (square == 0) {
    const Vector across = cross(r, y);
    for (int i = 0; i < 3; ++i) result[i] = y[i] + across[i];
    return result;
  }
  const double angle = std::sqrt(square), c = std::cos(angle), s = std::sin(angle);
  const Vector u = {r[0] / angle, r[1] / angle, r[2] / angle}, across = cross(u, y);
  const double along = dot(u, y) * (1 - c);
  for (int i = 0; i < 3; ++i) result[i] = y[i] * c + across[i] * s + u[i] * along;
  return result;
}

void residual(const double* camera, const double* point, double weight, const double* feature,
              double* error) {
  const Vector y = turned({camera[0], camera[1], camera[2]},
                          {point[0] - camera[3], point[1] - camera[4], point[2] - camera[5]});
  const double g[2] = {y[0] / y[2], y[1] / y[2]}, s = g[0] * g[0] + g[1] * g[1];
  const double bend = 1 + camera[9] * s + camera[10] * s * s;
  for (int i = 0; i < 2; ++i)
    error[i] = weight * (g[i] * bend * camera[6] + camera[7 + i] - feature[i]);
}

// The matrix of the turn about r, and its products with y, differentiated by each element of r.
void turn_slopes(const Vector& r, const Vector& y, double matrix[3][3], double by_r[3][3]) {
  const double square = dot(r, r);
  if (square == 0) {
    for (int k = 0; k < 3; ++k) {
      Vector unit{};
      unit[k] = 1;
      const Vector across = cross(unit, y), column = cross(r, unit);
      for (int i = 0; i < 3; ++i) {
        by_r[i][k] = across[i];
        matrix[i][k] = unit[i] + column[i];
      }
    }
    return;
  }
  const double angle = std::sqrt(square), c = std::cos(angle), s = std::sin(angle);
  const Vector u = {r[0] / angle, r[1] / angle, r[2] / angle}, across = cross(u, y);
  const double along = dot(u, y);
  for (int k = 0; k < 3; ++k) {
    Vector unit{}, du;
    unit[k] = 1;
    const Vector column = cross(u, unit);
    for (int i = 0; i < 3; ++i) {
      matrix[i][k] = unit[i] * c + column[i] * s + u[i] * u[k] * (1 - c);
      du[i] = (unit[i] - u[i] * u[k]) / angle;
    }
    const Vector d_across = cross(du, y);
    const double d_along = dot(du, y);
    for (int i = 0; i < 3; ++i) {
      by_r[i][k] = u[k] * (across[i] * c - y[i] * s + u[i] * along * s) + d_across[i] * s +
                   (du[i] * along + u[i] * d_along) * (1 - c);
    }
  }
}

// Two rows of 15: by the camera, the point and the weight.
void block(const double* camera, const double* point, double weight, const double* feature,
           double* rows) {
  const Vector offset = {point[0] - camera[3], point[1] - camera[4], point[2] - camera[5]};
  const Vector r = {camera[0], camera[1], camera[2]};
  double turn[3][3], by_r[3][3];
  turn_slopes(r, offset, turn, by_r);
  Vector y;
  for (int i = 0; i < 3; ++i)
    y[i] = turn[i][0] * offset[0] + turn[i][1] * offset[1] + turn[i][2] * offset[2];
  const double g[2] = {y[0] / y[2], y[1] / y[2]}, s = g[0] * g[0] + g[1] * g[1], f = camera[6];
  const double bend = 1 + camera[9] * s + camera[10] * s * s,
               slope = 2 * (camera[9] + 2 * camera[10] * s);
  for (int i = 0; i < 2; ++i) {
    double* row = rows + 15 * i;
    double by_g[2] = {slope * g[i] * g[0], slope * g[i] * g[1]};
    by_g[i] += bend;
    const double by_y[3] = {by_g[0] / y[2], by_g[1] / y[2],
                            -(by_g[0] * g[0] + by_g[1] * g[1]) / y[2]};
    for (int k = 0; k < 3; ++k) {
      double turned_slope = 0, moved_slope = 0;
      for (int j = 0; j < 3; ++j) {
        turned_slope += by_y[j] * by_r[j][k];
        moved_slope += by_y[j] * turn[j][k];
      }
      row[k] = weight * f * turned_slope;
      row[3 + k] = -weight * f * moved_slope;
      row[11 + k] = weight * f * moved_slope;
    }
    row[6] = weight * g[i] * bend;
    row[7] = i == 0 ? weight : 0;
    row[8] = i == 1 ? weight : 0;
    row[9] = weight * f * g[i] * s;
    row[10] = weight * f * g[i] * s * s;
    row[14] = g[i] * bend * f + camera[7 + i] - feature[i];
  }
}

void objective(const Data& in, Numbers& errors) {
  errors.resize(static_cast<std::size_t>(3 * in.p));
  for (std::int64_t i = 0; i < in.p; ++i) {
    residual(&in.cameras[i % in.n * 11], &in.points[i % in.m * 3], in.weights[i],
             &in.features[2 * i], &errors[2 * i]);
    errors[2 * in.p + i] = 1 - in.weights[i] * in.weights[i];
  }
}

// Row starts and columns, and the entries.
void jacobian(const Data& in, Integers& places, Numbers& entries) {
  places.resize(static_cast<std::size_t>(3 * in.p + 1 + 31 * in.p));
  entries.resize(static_cast<std::size_t>(31 * in.p));
  std::int64_t* columns = &places[3 * in.p + 1];
  for (std::int64_t row = 0; row <= 3 * in.p; ++row)
    places[row] = row <= 2 * in.p ? 15 * row : 28 * in.p + row;
  for (std::int64_t i = 0; i < in.p; ++i) {
    const std::int64_t camera = i % in.n, point = i % in.m, last = 11 * in.n + 3 * in.m + i;
    block(&in.cameras[camera * 11], &in.points[point * 3], in.weights[i], &in.features[2 * i],
          &entries[30 * i]);
    for (int row = 0; row < 2; ++row) {
      std::int64_t* own = columns + 30 * i + 15 * row;
      for (int k = 0; k < 11; ++k) own[k] = 11 * camera + k;
      for (int k = 0; k < 3; ++k) own[11 + k] = 11 * in.n + 3 * point + k;
      own[14] = last;
    }
    columns[30 * in.p + i] = last;
    entries[30 * in.p + i] = -2 * in.weights[i];
  }
}

}  // namespace

Functions functions(const Inputs& inputs) {
  Data in{inputs.numbers("cameras"),
          inputs.numbers("points"),
          inputs.numbers("weights"),
          inputs.numbers("features"),
          0,
          0,
          0};
  in.n = static_cast<std::int64_t>(in.cameras.size() / 11);
  in.m = static_cast<std::int64_t>(in.points.size() / 3);
  in.p = static_cast<std::int64_t>(in.weights.size());
  return {{"objective", [in](Results& out) { objective(in, out.numbers); }},
          {"jacobian", [in](Results& out) { jacobian(in, out.integers, out.numbers); }}};
}
