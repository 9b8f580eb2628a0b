#include <array>
#include <cmath>

#include "bench/gradbench/gradbench.h"

namespace {

using Matrix = std::array<double, 16>;  // 4 by 4, row by row
using Turn = std::array<double, 9>;

struct Data {
  Integers parents, triangles, correspondences;
  std::vector<Matrix> relatives, inverses;
  Numbers positions, weights, theta, us, points;
  std::size_t bones, vertices, c;
};

Matrix operator*(const Matrix& a, const Matrix& b) {
  Matrix result{};
  for (int i = 0; i < 4; ++i) {
    for (int k = 0; k < 4; ++k) {
      for (int j = 0; j < 4; ++j) result[4 * i + j] += a[4 * i + k] * b[4 * k + j];
    }
  }
  return result;
}

const Matrix kIdentity = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};

// The turn about an axis (0: x, 2: z), or its derivative by the angle.
Matrix about(int axis, double angle, bool is_slope) {
  const int i = (axis + 1) % 3, j = (axis + 2) % 3;
  Matrix result = is_slope ? Matrix{} : kIdentity;
  const double c = is_slope ? -std::sin(angle) : std::cos(angle),
               s = is_slope ? std::cos(angle) : std::sin(angle);
  result[5 * i] = result[5 * j] = c;
  result[4 * i + j] = -s;
  result[4 * j + i] = s;
  return result;
}

// The rotation by `r`, and its derivative by element `by` of `r`, if that is not negative.
Turn rotation(const double* r, int by) {
  const double angle = std::sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
  if (angle < 1e-4) return by < 0 ? Turn{1, 0, 0, 0, 1, 0, 0, 0, 1} : Turn{};
  const double u[3] = {r[0] / angle, r[1] / angle, r[2] / angle}, s = std::sin(angle),
               c = std::cos(angle);
  Turn result{};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      const int k = 3 - i - j;
      const double sign = i == j ? 0 : (j - i + 3) % 3 == 1 ? -1 : 1;
      const double across = i == j ? 0 : sign * u[k], same = i == j;
      if (by < 0) {
        result[3 * i + j] = same * c + (1 - c) * u[i] * u[j] + s * across;
        continue;
      }
      const auto du = [&](int a) { return ((a == by) - u[a] * u[by]) / angle; };
      result[3 * i + j] = u[by] * (-same * s + s * u[i] * u[j] + c * across) +
                          (1 - c) * (du(i) * u[j] + u[i] * du(j)) + (i == j ? 0 : s * sign * du(k));
    }
  }
  return result;
}

// Bone 2 + 4 f + joint of finger f, by its angles.
Matrix pose(const double* theta, std::size_t bone, int by) {
  const int finger = (static_cast<int>(bone) - 2) / 4, joint = (static_cast<int>(bone) - 2) % 4;
  if (bone < 2 || joint == 3) return kIdentity;
  const double* angles = theta + 6 + 4 * finger;
  if (joint == 0) return about(2, angles[1], by == 1) * about(0, angles[0], by == 0);
  return about(0, angles[1 + joint], by == 1 + joint);
}

// The transforms of all bones, from where they are at rest.
struct Skeleton {
  std::vector<Matrix> absolutes, transforms;
};
Skeleton skeleton(const Data& in) {
  Skeleton result{std::vector<Matrix>(in.bones), std::vector<Matrix>(in.bones)};
  for (std::size_t bone = 0; bone < in.bones; ++bone) {
    const Matrix own = in.relatives[bone] * pose(in.theta.data(), bone, -1);
    result.absolutes[bone] = in.parents[bone] < 0 ? own : result.absolutes[in.parents[bone]] * own;
    result.transforms[bone] = result.absolutes[bone] * in.inverses[bone];
  }
  return result;
}

// Adds to `skin`, for each vertex, what the bones from `begin` to `end` make of its position.
void add_skin(const Data& in, const std::vector<Matrix>& transforms, std::size_t begin,
              std::size_t end, Numbers& skin) {
  for (std::size_t v = 0; v < in.vertices; ++v) {
    double blended[12] = {};
    for (std::size_t bone = begin; bone < end; ++bone) {
      const double weight = in.weights[v * in.bones + bone];
      for (int i = 0; i < 12; ++i) blended[i] += weight * transforms[bone][i];
    }
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 4; ++j) skin[3 * v + i] += blended[4 * i + j] * in.positions[4 * v + j];
    }
  }
}

void turn(const Turn& by, const double* x, double* result) {
  for (int i = 0; i < 3; ++i)
    result[i] = by[3 * i] * x[0] + by[3 * i + 1] * x[1] + by[3 * i + 2] * x[2];
}

// The vertices of the posed hand; `skin` before they are turned and moved as one.
void pose_vertices(const Data& in, const std::vector<Matrix>& transforms, Numbers& skin,
                   Numbers& hand) {
  skin.assign(3 * in.vertices, 0);
  hand.resize(3 * in.vertices);
  add_skin(in, transforms, 0, in.bones, skin);
  const Turn whole = rotation(in.theta.data(), -1);
  for (std::size_t v = 0; v < in.vertices; ++v) {
    turn(whole, &skin[3 * v], &hand[3 * v]);
    for (int i = 0; i < 3; ++i) hand[3 * v + i] += in.theta[3 + i];
  }
}

// The corners that a point is held against, with their shares: three, or one in the simple variant.
struct Place {
  std::int64_t corners[3];
  double shares[3];
  int count;
};
Place place(const Data& in, std::size_t i, bool is_simple) {
  const std::int64_t k = in.correspondences[i];
  if (is_simple) return {{k, 0, 0}, {1, 0, 0}, 1};
  const double* u = &in.us[2 * i];
  const std::int64_t* t = &in.triangles[3 * k];
  return {{t[0], t[1], t[2]}, {u[0], u[1], 1 - u[0] - u[1]}, 3};
}
double held(const Place& where, const Numbers& numbers, int a) {
  double sum = 0;
  for (int k = 0; k < where.count; ++k) sum += where.shares[k] * numbers[3 * where.corners[k] + a];
  return sum;
}

void objective(const Data& in, bool is_simple, Numbers& errors) {
  Numbers skin, hand;
  pose_vertices(in, skeleton(in).transforms, skin, hand);
  errors.resize(3 * in.c);
  for (std::size_t i = 0; i < in.c; ++i) {
    const Place where = place(in, i, is_simple);
    for (int a = 0; a < 3; ++a) errors[3 * i + a] = in.points[3 * i + a] - held(where, hand, a);
  }
}

// Writes the column of the Jacobian for the tangents of the vertices.
void write_column(const Data& in, bool is_simple, const Numbers& tangents, std::size_t column,
                  Numbers& rows) {
  const std::size_t width = is_simple ? 26 : 28;
  for (std::size_t i = 0; i < in.c; ++i) {
    const Place where = place(in, i, is_simple);
    for (int a = 0; a < 3; ++a) rows[(3 * i + a) * width + column] = -held(where, tangents, a);
  }
}

void jacobian(const Data& in, bool is_simple, Numbers& rows) {
  const std::size_t width = is_simple ? 26 : 28, first = width - 26;
  const Skeleton at = skeleton(in);
  Numbers skin, hand, tangents(3 * in.vertices), skin_tangents(3 * in.vertices);
  pose_vertices(in, at.transforms, skin, hand);
  rows.assign(3 * in.c * width, 0);
  for (std::size_t i = 0; i < in.c && !is_simple; ++i) {
    const std::int64_t* t = &in.triangles[3 * in.correspondences[i]];
    for (int a = 0; a < 3; ++a) {
      for (int k = 0; k < 2; ++k)
        rows[(3 * i + a) * width + k] = hand[3 * t[2] + a] - hand[3 * t[k] + a];
    }
  }
  for (int k = 0; k < 3; ++k) {
    const Turn slope = rotation(in.theta.data(), k);
    for (std::size_t v = 0; v < in.vertices; ++v) turn(slope, &skin[3 * v], &tangents[3 * v]);
    write_column(in, is_simple, tangents, first + k, rows);
    for (std::size_t i = 0; i < in.c; ++i) rows[(3 * i + k) * width + first + 3 + k] = -1;
  }
  // An angle moves its bone and those that hang on it, which stand behind it.
  const Turn whole = rotation(in.theta.data(), -1);
  std::vector<Matrix> absolute_tangents(in.bones), transform_tangents(in.bones);
  for (int angle = 0; angle < 20; ++angle) {
    const std::size_t finger = angle / 4, by = angle % 4,
                      begin = 2 + 4 * finger + (by > 0 ? by - 1 : 0);
    std::size_t end = begin + 1;
    while (end < in.bones && in.parents[end] >= static_cast<std::int64_t>(begin)) ++end;
    for (std::size_t bone = begin; bone < end; ++bone) {
      const Matrix own = in.relatives[bone] *
                         pose(in.theta.data(), bone, bone == begin ? static_cast<int>(by) : -1);
      const std::size_t parent = in.parents[bone];
      absolute_tangents[bone] =
          (bone == begin ? at.absolutes[parent] : absolute_tangents[parent]) * own;
      transform_tangents[bone] = absolute_tangents[bone] * in.inverses[bone];
    }
    std::fill(skin_tangents.begin(), skin_tangents.end(), 0);
    add_skin(in, transform_tangents, begin, end, skin_tangents);
    for (std::size_t v = 0; v < in.vertices; ++v)
      turn(whole, &skin_tangents[3 * v], &tangents[3 * v]);
    write_column(in, is_simple, tangents, first + 6 + angle, rows);
  }
}

std::vector<Matrix> matrices(const Numbers& numbers) {
  std::vector<Matrix> result(numbers.size() / 16);
  for (std::size_t i = 0; i < numbers.size(); ++i) result[i / 16][i % 16] = numbers[i];
  return result;
}

}  // namespace

Functions functions(const Inputs& inputs) {
  Data in{inputs.integers("parents"),
          inputs.integers("triangles"),
          inputs.integers("correspondences"),
          matrices(inputs.numbers("relatives")),
          matrices(inputs.numbers("inverses")),
          inputs.numbers("positions"),
          inputs.numbers("weights"),
          inputs.numbers("theta"),
          inputs.numbers("us"),
          inputs.numbers("points"),
          0,
          0,
          0};
  in.bones = in.parents.size();
  in.vertices = in.positions.size() / 4;
  in.c = in.correspondences.size();
  Functions result;
  for (const bool is_simple : {false, true}) {
    const std::string variant = is_simple ? "simple " : "";
    result[variant + "objective"] = [=](Results& out) { objective(in, is_simple, out.numbers); };
    result[variant + "jacobian"] = [=](Results& out) { jacobian(in, is_simple, out.numbers); };
  }
  return result;
}
