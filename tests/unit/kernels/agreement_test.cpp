// What the libraries compute agrees with the definitions that the loops run, for any number of
// threads with the same bits, and in both tiers.

#include <dlfcn.h>

#include <cmath>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "repl/session.h"

namespace relay::tests {
namespace {

struct Case {
  const char* expression;
  int library_kernels;  // at least
};

// Numbers without a pattern that a sum could hide in.
const char* const kPrelude = R"(
def noise(n, s) { for i < n { sin(cast(i, dtype="float32") * 12.9898 + s) } }
def noise64(n, s) { for i < n { sin(cast(i, dtype="float64") * 12.9898 + s) } }
let a = reshape(noise(64 * 96, 0.1), newshape=[64, 96]);
let b = reshape(noise(96 * 80, 0.2), newshape=[96, 80]);
let w = reshape(noise(80 * 96, 0.3), newshape=[80, 96]);
let c = noise(80, 2.0);
let d = reshape(noise64(64 * 96, 0.1), newshape=[64, 96]);
let e = reshape(noise64(96 * 80, 0.2), newshape=[96, 80]);
let p = reshape(noise(300 * 260, 0.1), newshape=[300, 260]);
let q = reshape(noise(260 * 310, 0.1), newshape=[260, 310]);
let r = reshape(noise(6 * 40 * 50, 0.4), newshape=[6, 40, 50]);
let s = reshape(noise(6 * 30 * 50, 0.5), newshape=[6, 30, 50]);
let t = reshape(noise(4 * 20 * 3 * 32, 0.6), newshape=[4, 20, 3, 32]);
let u = reshape(noise(20000 * 40, 0.7), newshape=[20000, 40]);
let v = reshape(noise(20000 * 36, 0.8), newshape=[20000, 36]);
let x1 = reshape(noise(4 * 16 * 900, 0.4), newshape=[4, 16, 900]);
let k1 = reshape(noise(32 * 16 * 5, 0.5), newshape=[32, 16, 5]);
let x = reshape(noise(4 * 16 * 20 * 22, 0.4), newshape=[4, 16, 20, 22]);
let k = reshape(noise(32 * 16 * 9, 0.5), newshape=[32, 16, 3, 3]);
let xl = transpose(x, axes=[0, 2, 3, 1]);
let k7 = reshape(noise(64 * 16 * 49, 0.5), newshape=[64, 16, 7, 7]);
let kp = reshape(noise(64 * 16, 0.5), newshape=[64, 16, 1, 1]);
let kg = reshape(noise(64 * 4 * 9, 0.5), newshape=[64, 4, 3, 3]);
let xd = reshape(noise(4 * 64 * 24 * 24, 0.4), newshape=[4, 64, 24, 24]);
let kd = reshape(noise(64 * 9, 0.5), newshape=[64, 1, 3, 3]);
let kt = reshape(noise(16 * 32 * 9, 0.5), newshape=[16, 32, 3, 3]);
let x3 = reshape(noise(2 * 8 * 6 * 12 * 12, 0.4), newshape=[2, 8, 6, 12, 12]);
let k3 = reshape(noise(16 * 8 * 27, 0.5), newshape=[16, 8, 3, 3, 3]);
let xs = reshape(noise(32 * 40 * 40, 0.4), newshape=[1, 32, 40, 40]);
let ks = reshape(noise(64 * 32 * 9, 0.5), newshape=[64, 32, 3, 3]);
def squares(y) { sum(y * y) }
def conv_loss(x, k) { squares(nn.conv2d(x, k, padding=[1, 1], strides=[2, 2])) }
def plain_loss(x, k) { squares(nn.conv2d(x, k, padding=[1, 1])) }
def dilated_loss(x, k) { squares(nn.conv2d(x, k, padding=[2, 1], dilation=[2, 1])) }
def grouped_loss(x, k) { squares(nn.conv2d(x, k, padding=[1, 1], groups=4)) }
def deep_loss(x, k) { squares(nn.conv2d(x, k, padding=[1, 1], groups=64)) }
def loss3(x, k) { squares(nn.conv3d(x, k, padding=[1, 1, 1])) }
def loss1(x, k) { squares(nn.conv1d(x, k, padding=[2], strides=[3])) }
def transposed_loss(x, k) { squares(nn.conv2d_transpose(x, k, strides=[2, 2], padding=[1, 1])) }
def written(x: Tensor[(4, 16, 20, 22), float32], k: Tensor[(32, 16, 3, 3), float32]) {
  squares(for n < 4, o < 32, y < 18, z < 20 { sum c, i, j { x[n, c, y + i, z + j] * k[o, c, i, j] } })
}
def strided(x: Tensor[(4, 16, 20, 22), float32], k: Tensor[(32, 16, 3, 3), float32]) {
  squares(for n < 4, o < 32, y < 9, z < 10 { sum c, i, j { x[n, c, 2 * y + i, 2 * z + j] * k[o, c, i, j] } })
}
def guarded_read(x: Tensor[(4, 16, 20, 22), float32], k: Tensor[(32, 16, 3, 3), float32]) {
  squares(for n < 4, o < 32, y < 20, z < 22 {
    sum c, i, j {
      (if y + i >= 1 && y + i - 1 < 20 && z + j - 1 >= 0 && z + j - 1 < 22 { x[n, c, y + i - 1, z + j - 1] } else { 0.0 }) * k[o, c, i, j]
    }
  })
}
def guarded_product(x: Tensor[(4, 16, 20, 22), float32], k: Tensor[(32, 16, 3, 3), float32]) {
  squares(for n < 4, o < 32, y < 20, z < 22 {
    sum c, i, j {
      let r = y + i - 1;
      let s = z + j - 1;
      if r >= 0 && r < 20 && s >= 0 && s < 22 { x[n, c, r, s] * k[o, c, i, j] } else { 0.0 }
    }
  })
}
def guards_in_one_another(x: Tensor[(4, 16, 20, 22), float32], k: Tensor[(32, 16, 3, 3), float32]) {
  squares(for n < 4, o < 32, y < 20, z < 22 {
    sum c, i, j {
      let r = y + i - 1;
      let s = z + j - 1;
      if r >= 0 && r < 20 { if s >= 0 && s < 22 { k[o, c, i, j] * x[n, c, r, s] } else { 0.0 } } else { 0.0 }
    }
  })
}
def tanh_of_guarded(x: Tensor[(4, 16, 20, 22), float32], k: Tensor[(32, 16, 3, 3), float32]) {
  for n < 4, o < 32, y < 20, z < 22 {
    tanh(sum c, i, j { if y + i >= 1 && y + i <= 20 && z + j > 0 && z + j - 1 < 22 { x[n, c, y + i - 1, z + j - 1] * k[o, c, i, j] } else { 0.0 } })
  }
}
def guarded_row(x: Tensor[(4, 16, 900), float32], k: Tensor[(32, 16, 5), float32]) {
  squares(for n < 4, o < 32, y < 450 {
    sum c, i { if 2 * y + i - 2 >= 0 && 2 * y + i - 2 < 900 { x[n, c, 2 * y + i - 2] * k[o, c, i] } else { 0.0 } }
  })
}
def guarded_otherwise(x: Tensor[(4, 16, 20, 22), float32], k: Tensor[(32, 16, 3, 3), float32]) {
  for n < 4, o < 32, y < 18, z < 20 { sum c, i, j { if y + i < 15 { x[n, c, y + i, z + j] * k[o, c, i, j] } else { 0.0 } } }
}
def guarded_by_tap(x: Tensor[(4, 16, 20, 22), float32], k: Tensor[(32, 16, 3, 3), float32]) {
  for n < 4, o < 32, y < 18, z < 20 { sum c, i, j { if i < j { x[n, c, y + i, z + j] * k[o, c, i, j] } else { 0.0 } } }
}
def guarded_with_ones(x: Tensor[(4, 16, 20, 22), float32], k: Tensor[(32, 16, 3, 3), float32]) {
  for n < 4, o < 32, y < 20, z < 20 { sum c, i, j { if y + i >= 1 && y + i < 21 { x[n, c, y + i - 1, z + j] * k[o, c, i, j] } else { 1.0 } } }
}
def product(a: Tensor[(64, 96), float32], b: Tensor[(96, 80), float32]) {
  squares(for i, j { sum k { a[i, k] * b[k, j] } })
}
def dense_loss(a, w) { squares(nn.dense(a, w)) }
def few(x: Tensor[(300, 260), float32], k: Tensor[(5, 5), float32]) {
  for y < 296, z < 256 { sum i < 5, j < 5 { x[y + i, z + j] * k[i, j] } }
}
let ko = reshape(noise(25, 0.5), newshape=[5, 5]);
let kf = reshape(noise(16 * 49, 0.5), newshape=[1, 16, 7, 7]);
let g = reshape(noise(64 * 80, 0.9), newshape=[64, 80]);
let f = reshape(noise(40 * 36, 0.9), newshape=[40, 36]);
let m = reshape(noise(80 * 80, 1.1), newshape=[80, 80]);
def gathered(n: int32, sum: Tensor[(64, 80), float32]) {
  if n == 0 { sum } else { gathered(n - 1, sum + matmul(a * cast(n, dtype="float32"), b)) }
}
def powers(n: int32, sum: Tensor[(64, 80), float32]) {
  if n == 0 { sum } else { powers(n - 1, matmul(sum, m * 0.1) + sum) }
}
)";

// Several products in one sum.
const Case kSums[] = {
    {"jvp(fn (a, b) { for i, j { sum k { a[i, k] * b[k, j] } } })(a, b, a * 0.5, b * 0.25)", 3},
    {"for i < 64, j < 80 { sum k { a[i, k] * b[k, j] - a[63 - i, k] * b[k, 79 - j] } }", 0},
    {"for i, j { sum k { a[i, k] * b[k, j] - c[j] * 2.0 } }", 0},
    {"for i, j { sum k { -(a[i, k] * b[k, j]) - a[i, k] * w[j, k] } }", 2},
    {"{ let y = for i, j { sum k { a[i, k] * b[k, j] + w[j, k] * a[i, k] } }; (y, matmul(y, m)) }",
     3},
    {"for i, j { tanh(sum k { a[i, k] * b[k, j] + w[j, k] * a[i, k] }) * c[j] }", 2},
    {"for i, j { sum k { a[i, k] * b[k, j] + (a[i, k] * w[j, k] - a[i, k] * b[k, j]) } }", 3},
    {"for i, j { (sum k { a[i, k] * b[k, j] + w[j, k] * a[i, k] }, sum k { a[i, k] * w[j, k] }) }",
     3},
    {"tanh_of_guarded(x, k)", 1},
    {"hvp(guarded_product)(x, k, x * 0.5, k * 0.25)", 5},
    {"jvp(guarded_read)(x, k, x * 0.5, k * 0.25)", 3},
    {"jvp(written)(x, k, x * 0.5, k * 0.25)", 3},
};

const Case kFactors[] = {
    {"for i, j { sum k { 2.0 * a[i, k] * b[k, j] } }", 1},
    {"for i, j { sum k { a[i, k] * b[k, j] / 96.0 } }", 1},
    {"for i, j { sum k { -(a[i, k] * b[k, j]) } }", 1},
    {"for i, j { sum k { a[i, k] * b[k, j] * w[0, k] } }", 1},
    {"for i, j { sum k { a[i, k] * b[k, j] * a[i, 0] / (2.0 + c[j]) } }", 1},
    {"for i, j { sum k { a[i, k] * exp(b[k, j]) } }", 1},
    {"for i, j { sum k { (b[k, i] - c[i]) * (b[k, j] - c[j]) } }", 1},
    {"for i, j { sum k { maximum(a[i, k], 0.0) * b[k, j] } }", 1},
    {"for i, j { sum k { (if k < i { a[i, k] } else { 0.0 }) * b[k, j] } }", 1},
    {"for i, j { c[j] + sum k { 2.0 * a[i, k] * exp(b[k, j]) - a[i, k] * w[j, k] * a[i, 3] } }", 2},
    {"for i, n { sum y, z { x[0, i, y, z] * k[n, i, 0, 0] * xl[0, y, z, i] } }", 0},
    {"for i, n < 36 { sum y < 20, z < 3 { t[0, y, z, i] * r[0, y, n] * s[z, 0, n] } }",
     1},  // three, joined
    {"for i, h, n < 36 { sum y < 20 { (sum z { t[n / 9, y, z, i] * k[h, y / 2, z, 0] }) * b[y, n] "
     "} }",
     0},
    {"for n, i, h < 20 { sum y < 20 { (sum z < 3 { t[0, y, z, i] * b[h, z] }) * r[n, h, y] } }", 1},
    {"for n < 40, i, h < 20 { sum y < 20 { b[n, y] * (sum z < 3 { t[1, y, z, i] * b[h, z] * 2.0 }) "
     "} }",
     1},
    {"for n < 6, i, h < 20 { -sum y < 20 { c[y] * (-sum z < 3 { t[1, y, z, i] * b[h, z] }) * r[n, "
     "h, "
     "y] / "
     "a[n, 0] } }",
     1},
    {"for i, j { sum k { (if k < i { a[i, k] * b[k, j] } else { 0.0 }) } }", 0},
    {"for i, j { sum k { a[i, k] / (2.0 + b[k, j]) } }", 0},
    {"jvp(fn (a, b) { for i, j { sum k { sin(a[i, k]) * b[k, j] * 0.5 } } })(a, b, a * 0.5, b)", 3},
    {"grad(fn (a, b) { sum i, j { (sum k { sin(a[i, k]) * exp(b[k, j]) * 0.5 }) * g[i, j] } })(a, "
     "b)",
     2},
};

const Case kNested[] = {
    {"for i, l < 60 { sum j, k < 80 { d[i, j] * e[j, k] * d[l, k] } }", 2},
    {"for i, l < 60 { -3.0 * sum j, k < 80 { d[i, j] * e[j, k] / 7.0 * d[l, k] } }", 2},
    {"jvp(fn (d, e) { for i, l < 60 { sum j, k < 80 { d[i, j] * e[j, k] * d[l, k] } } })(d, e, d, "
     "e)",
     2},
    {"grad(fn (d, e) { sum i, l < 60 { (sum j, k < 80 { d[i, j] * e[j, k] * d[l, k] }) * d[i, l] } "
     "})(d, e)",
     4},
    {"for i { sum j, k < 80 { d[i, j] * e[j, k] * d[0, k] } }", 0},
    {"for i, l < 60 { sum k < 80 { (sum j { d[i, j] * e[j, k] }) * d[l, k] } }", 2},
    {"for i, l < 96 { sum k { exp(0.1 * sum j { a[i, j] * b[j, k] }) * w[k, l] } }", 2},
    {"for l < 80 { sum i { let y = sum k { a[i, k] * b[k, l] }; y * y } }", 1},
    {"sum i, j { let r = (sum k { a[i, k] * b[k, j] }) - g[i, j]; r * r }", 1},
    {"grad(fn (a, b) { sum i, j { let r = (sum k { a[i, k] * b[k, j] }) - g[i, j]; r * r } })(a, "
     "b)",
     3},
    {"{ let logits = fn (x, y) { for i, d { sum j { exp(0.1 * sum k { x[i, k] * y[j, k] }) * y[j, "
     "d] } } };"
     " grad(fn (x, y) { squares(logits(x, y)) })(a, w) }",
     6},
    {"for i, j { a[i, j] / sum k { a[i, k] * a[i, k] } }", 0},
    {"for i, j { sum k { if i < j { a[i, k] * b[k, j] } else { 0.0 } } }", 1},
    {"for i, j { sum k { if i < j { 0.0 } else { a[i, k] * b[k, j] } } }", 1},
};

const Case kContractions[] = {
    {"nn.dense(a, w)", 1},
    {"matmul(a, b)", 1},
    {"matmul(d, e)", 1},
    {"matmul(transpose(b), transpose(a))", 1},
    {"nn.matmul(a, w, transpose_b=True)", 1},
    {"nn.matmul(transpose(a), w, transpose_a=True, transpose_b=True)", 1},
    {"nn.relu(nn.bias_add(nn.dense(a, w), noise(80, 1.0)))", 1},
    {"for i, j { sum k { a[i, k] * b[k, j] } }", 1},
    {"for i, j { sum k { a[i, k] * b[k, j] } + c[j] }", 1},
    {"for i, j { if i < j { sum k { a[i, k] * b[k, j] } } else { c[j] } }", 1},
    {"grad(product)(a, b)", 3},
    {"for i < 32, j { sum k { a[2 * i, k] * b[k, j] } }", 1},
    {"matmul(a[:, 3:67], b[5:69, :])", 1},
    {"matmul(p, q)", 1},
    {"matmul(nn.relu(p), q) + 1.0", 1},
    {"nn.batch_matmul(r, s, transpose_b=True)", 1},
    {"for n, i, j { sum k { r[n, i, k] * s[n, j, k] } }", 1},
    {"for n, h, i, j { sum c { t[n, i, h, c] * t[n, j, h, c] } }", 1},
    {"matmul(transpose(u), v)", 1},
    {"for i, j { sum n { u[n, i] * v[n, j] } }", 1},
    {"matmul(a, reshape(b, newshape=[96, 80]))", 1},
    {"nn.dense(reshape(r, newshape=[240, 50]), reshape(s, newshape=[180, 50]))", 1},
    {"for i, j { sum n, k { r[n, i, k] * s[n, j, k] } }", 1},
    {"grad(dense_loss)(a, w)", 3},
    {"nn.dense(p[3:4, :], p)", 1},
    {"nn.dense(p, p[3:4, :])", 1},
    {"for i { sum k { p[i, k] * p[7, k] } }", 1},
};

// Products that go over their rows together with what comes before and after them, on several
// threads.
const Case kRows[] = {
    {"nn.batch_matmul(nn.softmax(nn.batch_matmul(r, s, transpose_b=True)), s, transpose_b=False)",
     2},
    {"nn.softmax(nn.batch_matmul(r[:, 1:38, :] * 0.5, s[:, :, :], transpose_b=True)) + 1.0", 1},
    {"nn.relu(nn.dense(nn.relu(nn.dense(a, w)), m)) * 0.5", 2},
    {"{ let y = nn.dense(a * 2.0, w); nn.relu(nn.dense(nn.softmax(y), m)) + y }", 2},
    {"{ let y = matmul(nn.softmax(p), q); (y, sum(y, axis=[1]), nn.softmax(y)) }", 1},
    {"{ let y = matmul(transpose(nn.softmax(u)), v); y - max(y, axis=[1], keepdims=True) }", 1},
    {"for n { let y = matmul(r[n], transpose(s[n])); matmul(nn.softmax(y), s[n]) }", 2},
};

// Products that are added to what is there.
const Case kAdditions[] = {
    {"g + matmul(a, b)", 1},
    {"matmul(a, b) + g", 1},
    {"for i < 64, j { g[i, j] + sum k { a[i, k] * b[k, j] } }", 1},
    {"f + matmul(transpose(u), v)", 1},
    {"f[:, 0:30] + matmul(transpose(u), v[:, 0:30])", 1},
    {"matmul(a, b) + matmul(a * 2.0, b)", 2},
    {"{ let y = matmul(a, b); (g + y, y) }", 1},
    {"{ let y = g + matmul(a, b); (y, matmul(y, m)) }", 2},
    {"{ let y = g * 2.0; (y + matmul(a, b), y) }", 1},
    {"gathered(5, g)", 5},
    {"powers(5, g)", 5},
};

const Case kWindows[] = {
    {"nn.conv2d(x, k)", 1},
    {"nn.conv2d(x, k, padding=[1, 1])", 1},
    {"nn.conv2d(x, k, padding=[2, 1, 0, 1])", 1},
    {"nn.conv2d(x, k, padding=[1, 1], strides=[2, 2], dilation=[2, 2])", 1},
    {"nn.conv2d(x, k, padding=[1, 0], strides=[1, 3])", 1},
    {"nn.conv2d(x, k7, padding=[3, 3], strides=[2, 2])", 1},
    {"nn.conv2d(x, kp)", 1},
    {"nn.conv2d(x, kp, strides=[2, 2])", 0},
    {"nn.conv2d(x, kg, padding=[1, 1], groups=4)", 1},
    {"nn.conv2d(xd, kd, padding=[1, 1], groups=64)", 1},
    {"nn.conv2d(xs, ks, padding=[1, 1])", 1},
    {"nn.relu(nn.bias_add(nn.conv2d(x, k, padding=[1, 1]), noise(32, 1.0)))", 1},
    {"nn.conv2d(nn.relu(x), k, padding=[1, 1])", 1},
    {"nn.conv2d(xl, k, padding=[1, 1], data_layout=\"NHWC\")", 1},
    {"nn.conv2d(copy(xl), k, padding=[1, 1], data_layout=\"NHWC\")", 1},
    {"nn.conv2d(x, transpose(k, axes=[2, 3, 1, 0]), kernel_layout=\"HWIO\")", 1},
    {"nn.conv1d(x1, k1, padding=[2], strides=[2])", 1},
    {"nn.conv3d(x3, k3, padding=[1, 1, 1], strides=[1, 2, 1])", 1},
    {"nn.conv2d_transpose(x, kt)", 1},
    {"nn.conv2d_transpose(x, kt, strides=[2, 2], padding=[1, 1])", 1},
    {"nn.conv2d_transpose(x, kt, strides=[2, 2], padding=[1, 1], output_padding=[1, 1])", 1},
    {"for n < 4, o, y < 18, z < 20 { sum c, i, j { x[n, c, y + i, z + j] * k[o, c, i, j] } }", 1},
    {"grad(written)(x, k)", 3},
    {"grad(strided)(x, k)", 3},
    {"guarded_read(x, k)", 1},
    {"guarded_product(x, k)", 1},
    {"guards_in_one_another(x, k)", 1},
    {"guarded_row(x1, k1)", 1},
    {"grad(guarded_read)(x, k)", 3},
    {"grad(guarded_product)(x, k)", 3},
    {"grad(guards_in_one_another)(x, k)", 3},
    {"grad(guarded_row)(x1, k1)", 2},
    {"grad(conv_loss)(x, k)", 3},
    {"grad(plain_loss)(x, k)", 3},
    {"grad(plain_loss)(xs, ks)", 3},
    {"grad(dilated_loss)(x, k)", 3},
    {"grad(grouped_loss)(x, kg)", 3},
    {"grad(deep_loss)(xd, kd)", 1},
    {"grad(loss3)(x3, k3)", 3},
    {"grad(loss1)(x1, k1)", 3},
    {"grad(transposed_loss)(x, kt)", 2},
};

std::unique_ptr<repl::Session> session(bool kernels, int threads,
                                       interp::JitMode mode = interp::JitMode::Off) {
  repl::SessionOptions options;
  options.jit = mode;
  options.kernels = kernels ? repl::LibraryKernels::Auto : repl::LibraryKernels::Off;
  options.threads = threads;
  auto made = std::make_unique<repl::Session>(options);
  const auto errors = made->run("<prelude>", kPrelude, nullptr);
  if (!errors.empty()) FAIL(errors.front().message);
  return made;
}

void leaves(const lang::Value& value, std::vector<lang::TensorRef>& into) {
  if (value.kind() == lang::ValueKind::Tuple) {
    for (const lang::Value& field : value.as_tuple().fields()) leaves(field, into);
  } else {
    into.push_back(value.to_tensor());
  }
}

// The largest difference, as a part of the largest number.
double difference(const lang::Value& a, const lang::Value& b) {
  std::vector<lang::TensorRef> left, right;
  leaves(a, left);
  leaves(b, right);
  double worst = 0;
  for (std::size_t i = 0; i < left.size(); ++i) {
    double largest = 0;
    double apart = 0;
    for (std::int64_t j = 0; j < left[i]->element_count(); ++j) {
      largest = std::max(largest, std::abs(left[i]->number_at(j)));
      const double difference = std::abs(left[i]->number_at(j) - right[i]->number_at(j));
      apart = difference <= apart ? apart : difference;  // NaN wins
    }
    worst = apart / largest <= worst ? worst : apart / largest;
  }
  return worst;
}

lang::Value value_of(repl::Session& session, const char* expression) {
  auto value = session.evaluate(expression);
  if (!value) FAIL(expression << ": " << value.errors().front().message);
  return *value;
}

bool has_library() { return dlopen("librelay_kernels.so", RTLD_NOW | RTLD_LOCAL) != nullptr; }

template <std::size_t N>
void check(const Case (&cases)[N]) {
  if (!has_library()) {
    WARN("built without library kernels");
    return;
  }
  const auto loops = session(false, 2, interp::JitMode::Always);
  const auto one = session(true, 1);
  const auto three = session(true, 3, interp::JitMode::Always);
  for (const Case& each : cases) {
    INFO(each.expression);
    const lang::Value expected = value_of(*loops, each.expression);
    const auto before = one->evaluator().statistics().kernels_run_library;
    const lang::Value found = value_of(*one, each.expression);
    CHECK(one->evaluator().statistics().kernels_run_library - before >= each.library_kernels);
    CHECK(difference(expected, found) < 1e-5);
    CHECK(lang::bit_equal(found, value_of(*three, each.expression)));
  }
  CHECK(loops->evaluator().statistics().kernels_run_library == 0);
}

TEST_CASE("library contractions agree with the definitions") { check(kContractions); }

TEST_CASE("products go over rows together with their neighbours") { check(kRows); }

TEST_CASE("library contractions are added to what is there") { check(kAdditions); }

TEST_CASE("a product that is added in a loop takes no kernel but the library's") {
  if (!has_library()) return;
  const auto session = relay::tests::session(true, 1);
  value_of(*session, "gathered(2, g)");
  const auto& statistics = session->evaluator().statistics();
  const auto before = statistics.kernels_run_lanes;
  value_of(*session, "gathered(22, g)");
  // `a * n` at each step, and `g`, which is used later, is copied at the first.
  CHECK(statistics.kernels_run_lanes - before == 22 + 1);
}

TEST_CASE("what a body writes twice is one product") {
  if (!has_library()) return;
  const auto session = relay::tests::session(true, 1);
  value_of(*session,
           "for i, j { (1.0 + sum k { a[i, k] * b[k, j] }) / exp(sum l { a[i, l] * b[l, j] }) }");
  CHECK(session->evaluator().statistics().kernels_run_library == 1);
}

TEST_CASE("what is no work for a library stays with the loops") {
  const auto session = relay::tests::session(true, 1);
  for (const char* expression : {
           "for i { sum k { u[i, k] * v[0, 3] } }",               // no product of two operands
           "for i { sum n { u[n, i] * u[n, 3] } }",               // a matrix and a vector
           "for i < 16, j < 20 { sum k { a[i, k] * b[k, j] } }",  // few products
           "cast(matmul(cast(a, dtype=\"int32\"), cast(b, dtype=\"int32\")), dtype=\"float32\")",
           "matmul(cast(a, dtype=\"float16\"), cast(b, dtype=\"float16\"))",
           "guarded_otherwise(x, k)",  // zeros where there are elements
           "guarded_by_tap(x, k)",
           "guarded_with_ones(x, k)",
           "few(p, ko)",                        // one channel
           "nn.conv2d(x, kf, padding=[3, 3])",  // one channel out
           "grad(fn (y) { sum(few(y, ko) * few(y, ko)) })(p)",
           "grad(fn (y) { sum(few(p, y) * few(p, y)) })(ko)",
       }) {
    INFO(expression);
    value_of(*session, expression);
    CHECK(session->evaluator().statistics().kernels_run_library == 0);
  }
}

TEST_CASE("library windows agree with the definitions") { check(kWindows); }
TEST_CASE("sums of several products agree with the definitions") { check(kSums); }
TEST_CASE("products of more than two reads agree with the definitions") { check(kFactors); }
TEST_CASE("sums of products inside of reductions agree with the definitions") { check(kNested); }

}  // namespace
}  // namespace relay::tests
