#include "tests/support/pass_programs.h"

namespace relay::tests {

namespace {

// Tensors of known elements, not too regular.
constexpr const char* kCallOfNet =
    R"(main(tanh(reshape(arange(0.0, 96.0, 1.0) * 0.7, newshape=[1, 6, 4, 4])),
  sin(reshape(arange(0.0, 108.0, 1.0), newshape=[2, 6, 3, 3]))))";

}  // namespace

const std::vector<PassProgramText>& pass_programs() {
  static const std::vector<PassProgramText> kPrograms = {
      // --- forms ---
      {"lets and sharing", "def main(x: float32) { let a = sin(x); let b = exp(a); a * b + b }",
       "main(0.5)"},
      {"a shared value before a branch",
       "def main(x: float32) { let y = exp(x); if x > 1.0 { y * 2.0 } else { sin(y) - y } }",
       "main(1.5)"},
      {"a value for one branch", "def main(x: int32) { let y = 10 / x; if x > 0 { y } else { 0 } }",
       "main(3)"},
      {"nested branches",
       "def main(x: float32) { let a = x * x; if a > 1.0 { let b = a + 1.0; if b > 3.0 { b * a } "
       "else { b } } else { a } }",
       "main(1.2)"},
      {"a captured value in a loop",
       R"(def main(x: Tensor[(2), float32], n: int32) {
  let w = exp(x);
  let go = fn (i: int32, s: Tensor[(2), float32]) -> Tensor[(2), float32] {
    if i < n { go(i + 1, s + w) } else { s }
  };
  go(0, x)
})",
       "main([0.5, -1.0], 3)"},
      {"functions that give functions",
       R"(def twice(f: fn (float32) -> float32) { fn (y: float32) { f(f(y)) } }
def main(x: float32) {
  let add = fn (y: float32) { x + y };
  let mul = fn (y: float32) { add(y) * x };
  twice(mul)(3.0) + twice(fn (z) { z - x })(1.0)
})",
       "main(0.25)"},
      {"functions in data",
       R"(def main(x: float32) {
  let fs = Cons(fn (y: float32) { y * x }, Cons(fn (y: float32) { y + x }, Nil));
  foldl(fn (s: float32, f: fn (float32) -> float32) { f(s) }, 2.0, fs)
})",
       "main(3.0)"},
      {"constructors and globals as values",
       R"(def half(x: float32) { x / 2.0 }
def total(xs: List[Option[float32]]) -> float32 {
  match xs { Cons(Some(x), rest) => x + total(rest), Cons(None, rest) => total(rest), Nil => 0.0 }
}
def main(x: float32) { total(map(Some, map(half, Cons(x, Cons(2.0, Nil))))) })",
       "main(3.0)"},
      {"references",
       R"(def main(x: float32) {
  let r = ref(x);
  let a = ref_read(r);
  ref_write(r, a * 2.0);
  let b = ref_read(r);
  let f = fn (y: float32) { ref_write(r, y); ref_read(r) + a };
  let c = f(b + 1.0);
  (a, b, c, ref_read(r))
})",
       "main(1.5)"},
      {"recursion over a list",
       R"(def sum_of(xs: List[float32]) -> float32 {
  match xs { Cons(x, rest) => x * x + sum_of(rest), Nil => 0.0 }
}
def main(x: float32) { sum_of(Cons(x, Cons(x + 1.0, Nil))) })",
       "main(0.5)"},
      {"match with several clauses",
       R"(type Shape { Circle(float32), Box(float32, float32) }
def area(s: Shape) { match s { Circle(r) => 3.0 * r * r, Box(a, b) => a * b } }
def main(x: float32) { let y = x + 1.0; area(Circle(y)) + area(Box(x, y)) })",
       "main(2.0)"},
      {"index notation",
       "def main(x: Tensor[(3, 4), float32]) { let m = exp(x); for i < 3 { sum k < 4 { m[i, k] * "
       "x[i, k] / 4.0 } } }",
       "main(reshape(arange(0.0, 12.0, 1.0) / 10.0, newshape=[3, 4]))"},
      {"dimension variables",
       "def scaled[n, m](x: Tensor[(n, m), float32]) { let f = fn (t: Tensor[(n, m), float32]) { t "
       "* 2.0 }; sum(f(x) + x) }\n"
       "def main(x: Tensor[(2, 3), float32]) { scaled(x) }",
       "main([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])"},
      {"a gradient of a captured value",
       "def main(x: float32) { let w = x * x; let f = fn (y: float32) { sin(y) * w }; (f(1.0), "
       "grad(f)(2.0)) }",
       "main(0.75)"},
      {"a group",
       "def main(x: Tensor[(4), float32]) { let g = fn (t: Tensor[(4), float32], Primitive=1) { "
       "exp(t) + t / 3.0 }; g(x) * g(x + 1.0) }",
       "main([1.0, 2.0, -1.0, 0.5])"},
      {"mutual recursion",
       R"(def even(n: int32) -> bool { if n == 0 { True } else { odd(n - 1) } }
def odd(n: int32) -> bool { if n == 0 { False } else { even(n - 1) } }
def main(n: int32) { (even(n), odd(n)) })",
       "main(7)"},
      // --- arithmetic ---
      {"divisions by constants",
       "def main(x: Tensor[(3), float32]) { (x / 3.0, x / 0.0, x / 1e-42, x / [2.0, 4.0, 5.0], 1.0 "
       "/ x, x / x) }",
       "main([1.0, -2.5, 7.0])"},
      {"divisions of integers", "def main(x: Tensor[(3), int32]) { (x / 3, x / [2, 4, 5]) }",
       "main([7, -9, 100])"},
      {"divisions of scalars", "def main(x: float64) { (x / 3.0, x / 8.0, 2.0 / x) }",
       "main(0.7f64)"},
      {"biases",
       "def main(x: Tensor[(2, 3, 2), float32], b: Tensor[(3), float32], c: Tensor[(2), float32]) "
       "{ (nn.bias_add(x, b), nn.bias_add(x, c, axis=-1), nn.bias_add(x, c, axis=0)) }",
       "main(reshape(arange(0.0, 12.0, 1.0), newshape=[2, 3, 2]), [1.0, 2.0, 3.0], [10.0, 20.0])"},
      {"functions with fast forms",
       "def main(x: Tensor[(2, 3), float32]) { (exp(x), tanh(x), erf(x), nn.softmax(x), "
       "nn.softmax(x, axis=0)) }",
       "main([[1.0, -2.0, 0.5], [3.0, 0.0, 1.0]])"},
      {"batch norm",
       "def main(x: Tensor[(2, 3), float32], g: Tensor[(3), float32], m: Tensor[(3), float32], v: "
       "Tensor[(3), float32]) { let t = nn.batch_norm(x, g, m, m, v); let u = "
       "nn.batch_norm(transpose(x), v, m, g, v, axis=0, scale=False); (t.0, t.2, u.0) }",
       "main([[1.0, 2.0, 3.0], [4.0, 5.0, 7.0]], [1.0, 0.5, 2.0], [0.5, 1.5, 1.0], [1.0, 4.0, "
       "2.0])"},
      {"norms",
       "def main(x: Tensor[(2, 4, 3), float32], g: Tensor[(4), float32], h: Tensor[(3), float32]) "
       "{ (nn.layer_norm(x, h, h), nn.instance_norm(x, g, g), nn.group_norm(x, g, g, "
       "num_groups=2), nn.l2_normalize(x, eps=1e-6f, axis=[1])) }",
       "main(sin(reshape(arange(0.0, 24.0, 1.0), newshape=[2, 4, 3])), [1.0, 2.0, 0.5, 1.5], [1.0, "
       "-1.0, 2.0])"},
      {"norms of half floats",
       "def main(x: Tensor[(2, 4), float16], g: Tensor[(4), float16]) { (nn.layer_norm(x, g, g), "
       "nn.l2_normalize(x, eps=1e-3f, axis=[1])) }",
       "main(cast([[1.0, 2.0, 3.0, 5.0], [0.5, -1.0, 2.0, 4.0]], dtype=\"float16\"), cast([1.0, "
       "2.0, 0.5, 1.0], dtype=\"float16\"))"},
      {"norms of unknown extents",
       "def main(x: Tensor[(?, 3), float32], g: Tensor[(3), float32]) { nn.layer_norm(x, g, g) }",
       "main([[1.0, 2.0, 4.0], [0.0, 1.0, -1.0]], [1.0, 2.0, 3.0])"},
      {"dropout",
       "def main(x: Tensor[(4), float32]) { let d = nn.dropout(x, rate=0.5); (d.0 * 2.0, d.1) }",
       "main([1.0, 2.0, 3.0, 4.0])"},
      {"dropout that drops",
       "def main(x: Tensor[(4), float32]) { nn.dropout(x, random.key(1), rate=0.5).0 }",
       "main([1.0, 2.0, 3.0, 4.0])"},
      // --- padding ---
      {"padding before a convolution",
       "def main(x: Tensor[(1, 6, 4, 4), float32], w: Tensor[(2, 6, 3, 3), float32]) { "
       "nn.conv2d(nn.pad(x, 0.0, pad_width=[[0, 0], [0, 0], [1, 2], [0, 1]]), w, padding=[1, 0], "
       "strides=[2, 1]) }",
       kCallOfNet},
      {"padding that is no convolution's",
       "def main(x: Tensor[(1, 6, 4, 4), float32], w: Tensor[(2, 6, 3, 3), float32]) { let p = "
       "nn.pad(x, 1.5, pad_width=[[0, 0], [0, 0], [1, 1], [1, 1]]); let q = nn.pad(x, 0.0, "
       "pad_width=[[1, 0], [0, 0], [1, 1], [1, 1]]); let r = nn.pad(x, 0.0, pad_width=[[0, 0], [0, "
       "0], [1, 1], [1, 1]], pad_mode=\"edge\"); (nn.conv2d(p, w), nn.conv2d(q, w), nn.conv2d(r, "
       "w), sum(p)) }",
       kCallOfNet},
      {"negative padding",
       "def main(x: Tensor[(1, 6, 4, 4), float32], w: Tensor[(2, 6, 3, 3), float32]) { "
       "nn.conv2d(nn.pad(x, 0.0, pad_width=[[0, 0], [0, 0], [1, -1], [0, 0]]), w) }",
       kCallOfNet},
      {"padding before pools",
       "def main(x: Tensor[(1, 6, 4, 4), float32], w: Tensor[(2, 6, 3, 3), float32]) { let p = "
       "nn.pad(x, 0.0, pad_width=[[0, 0], [0, 0], [1, 1], [1, 1]]); let q = nn.pad(x, -inf, "
       "pad_width=[[0, 0], [0, 0], [1, 1], [1, 1]]); (nn.avg_pool2d(p, pool_size=[2, 2]), "
       "nn.avg_pool2d(p, pool_size=[2, 2], padding=[1, 1]), nn.avg_pool2d(p, pool_size=[2, 2], "
       "padding=[1, 1], count_include_pad=True), nn.max_pool2d(q, pool_size=[2, 2]), "
       "nn.max_pool2d(q, pool_size=[1, 1]), nn.max_pool2d(p, pool_size=[2, 2]), nn.max_pool2d(q, "
       "pool_size=[2, 2], strides=[2, 2], ceil_mode=True)) }",
       kCallOfNet},
      {"padding of integers",
       "def main(x: Tensor[(1, 4, 2), int32], w: Tensor[(3, 2, 2), int32]) { (nn.conv1d(nn.pad(x, "
       "0, pad_width=[[0, 0], [2, 1], [0, 0]]), w, data_layout=\"NWC\", kernel_layout=\"WIO\"), "
       "nn.max_pool1d(nn.pad(x, -2147483648, pad_width=[[0, 0], [1, 1], [0, 0]]), pool_size=[2], "
       "layout=\"NWC\")) }",
       "main([[[1, 2], [3, -4], [5, 6], [7, 8]]], [[[1, 2], [3, 4]], [[5, 6], [7, 8]], [[9, 1], "
       "[2, 3]]])"},
      {"a dilated convolution",
       R"(def main(x: Tensor[(1, 5, 5, 4), float32], w: Tensor[(3, 3, 4, 2), float32]) {
  let blocks = nn.space_to_batch_nd(x, block_shape=[2, 2], paddings=[[2, 3], [2, 3]]);
  let sums = nn.conv2d(blocks, w, data_layout="NHWC", kernel_layout="HWIO");
  let y = nn.batch_to_space_nd(sums, block_shape=[2, 2], crops=[[0, 1], [0, 1]]);
  let z = nn.batch_to_space_nd(sums, block_shape=[2, 2], crops=[[1, 0], [0, 2]]);
  (y, z, nn.batch_to_space_nd(sums, block_shape=[2, 1], crops=[[0, 1], [0, 1]]))
})",
       "main(sin(reshape(arange(0.0, 100.0, 1.0), newshape=[1, 5, 5, 4])), "
       "tanh(reshape(arange(-1.0, 71.0, 1.0) / 9.0, newshape=[3, 3, 4, 2])))"},
      // --- extents that are values ---
      {"an extent of another tensor",
       "def main(x: Tensor[(2, 6), float32], y: Tensor[(3, 4), float32]) { dyn.reshape(x, "
       "shape_of(y)) + y }",
       "main(reshape(arange(0.0, 12.0, 1.0), newshape=[2, 6]), ones([3, 4]))"},
      {"extents that are computed",
       "def main(x: Tensor[(2, 6), float32]) { let s = shape_of(x); let t = dyn.reshape(x, "
       "concatenate((s[1:2], s[0:1]))); let u = dyn.tile(t, [1, 2] + s * 0); "
       "dyn.broadcast_to(sum(u, axis=[1]), [2, 6]) * 2.0 }",
       "main(reshape(arange(0.0, 12.0, 1.0), newshape=[2, 6]))"},
      {"extents that only running knows",
       "def main(x: Tensor[(6), float32], n: int64) { sum(dyn.reshape(x, stack((n, 6 / n)))) + "
       "cast(n, dtype=\"float32\") }",
       "main([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 2i64)"},
      {"known extents in a branch",
       "def main(x: Tensor[(2, 6), float32], c: bool) { let y = if c { dyn.reshape(x, [3, 4]) } "
       "else { dyn.reshape(x, [4, 3]) }; sum(y, axis=[0]) }",
       "main(reshape(arange(0.0, 12.0, 1.0), newshape=[2, 6]), False)"},
      {"known extents in data and behind a call",
       R"(def half(t: Tensor[(?, ?), float32]) { t * 0.5 }
def total(ts: List[Tensor[(?, ?), float32]]) -> float32 {
  match ts { Cons(t, rest) => sum(t) + total(rest), Nil => 0.0 }
}
def main(x: Tensor[(2, 6), float32]) {
  let a = dyn.reshape(x, [3, 4]);
  let b = dyn.reshape(x, [4, 3]) + 1.0;
  let r = ref(a);
  ref_write(r, b);
  let c = dyn.reshape(x, [12]);
  (total(Cons(a, Cons(b, Nil))), half(a), half(b), sum(ref_read(r)), c + c, for i < 3 { c[i] })
})",
       "main(reshape(arange(0.0, 12.0, 1.0), newshape=[2, 6]))"},
      {"slices and ranges of known extents",
       "def main(x: Tensor[(5, 4), float32]) { let s = shape_of(x); (dyn.strided_slice(x, [1, 0], "
       "s, [2, 1]), arange(0, s[0], 1), dyn.topk(x, 2, axis=1, ret_type=\"values\"), dyn.full(x[0, "
       "0], s), dyn.one_hot([0, 1], 1.0, 0.0, 3, depth=None)) }",
       "main(sin(reshape(arange(0.0, 20.0, 1.0), newshape=[5, 4])))"},
      // --- parallel branches ---
      {"dense layers side by side",
       R"(def main(x: Tensor[(2, 4), float32], a: Tensor[(3, 4), float32], b: Tensor[(5, 4), float32]) {
  let p = nn.dense(x, a);
  let q = nn.dense(x, b) + 1.0;
  let r = nn.dense(x, reshape(transpose(a), newshape=[3, 4]));
  let s = nn.dense(x, a * sum(p));
  let t = nn.dense(x, a + 1.0);
  (p, q, r, s, t)
})",
       "main(sin(reshape(arange(0.0, 8.0, 1.0), newshape=[2, 4])), sin(reshape(arange(0.0, 12.0, "
       "1.0), newshape=[3, 4])), cos(reshape(arange(0.0, 20.0, 1.0), newshape=[5, 4])))"},
      {"dense layers of the same units",
       R"(def main(x: Tensor[(2, 3, 4), float32], y: Tensor[(2, 4), float32], a: Tensor[(3, 4), float32]) {
  (nn.dense(x, a), nn.dense(x, a * 2.0), tanh(nn.dense(x, a + 1.0)),
   nn.dense(y, a), nn.dense(y, a - 1.0), nn.dense(y, a * a))
})",
       "main(sin(reshape(arange(0.0, 24.0, 1.0), newshape=[2, 3, 4])), cos(reshape(arange(0.0, "
       "8.0, 1.0), newshape=[2, 4])), sin(reshape(arange(0.0, 12.0, 1.0), newshape=[3, 4])))"},
      {"dense layers in a branch, behind references",
       R"(def main(x: Tensor[(2, 4), float32], a: Tensor[(3, 4), float32], c: bool) {
  let r = ref(a);
  if c {
    let p = nn.dense(x, ref_read(r));
    ref_write(r, a * sum(p));
    let q = nn.dense(x, ref_read(r));
    ref_write(r, a * 3.0);
    let s = nn.dense(x, ref_read(r));
    (p, q, s)
  } else { (nn.dense(x, a), nn.dense(x, a), nn.dense(x, a)) }
})",
       "main(sin(reshape(arange(0.0, 8.0, 1.0), newshape=[2, 4])), sin(reshape(arange(0.0, 12.0, "
       "1.0), newshape=[3, 4])), True)"},
      {"convolutions side by side",
       R"(def main(x: Tensor[(1, 6, 4, 4), float32], w: Tensor[(2, 6, 3, 3), float32]) {
  let k = w * 0.5;
  let p = nn.conv2d(x, w, padding=[1, 1]);
  let q = nn.conv2d(x, k, padding=[1, 1]);
  let r = nn.conv2d(x, concatenate((k, w)), padding=[1, 1]);
  (p, nn.relu(q), r, nn.conv2d(x, w), nn.conv2d(x, w, padding=[1, 1], strides=[2, 2]))
})",
       kCallOfNet},
      {"products of batches side by side",
       R"(def main(x: Tensor[(2, 3, 4), float32], a: Tensor[(2, 4, 2), float32], b: Tensor[(1, 4, 5), float32]) {
  let t = transpose(a, axes=[0, 2, 1]);
  (nn.batch_matmul(x, a), nn.batch_matmul(x, a + 1.0), nn.batch_matmul(x, a * 2.0), nn.batch_matmul(x, b),
   nn.batch_matmul(x, t, transpose_b=True), nn.batch_matmul(x, t * 3.0, transpose_b=True),
   nn.batch_matmul(x, t + t, transpose_b=True))
})",
       "main(sin(reshape(arange(0.0, 24.0, 1.0), newshape=[2, 3, 4])), cos(reshape(arange(0.0, "
       "16.0, 1.0), newshape=[2, 4, 2])), sin(reshape(arange(0.0, 20.0, 1.0), newshape=[1, 4, "
       "5])))"},
      // --- precision ---
      {"a small network",
       R"(def layer(x: Tensor[(2, 4), float32], w: Tensor[(4, 4), float32]) { tanh(nn.dense(x, w) + 0.5) }
def main(x: Tensor[(2, 4), float32], w: Tensor[(4, 4), float32]) {
  let h = layer(layer(x, w), w);
  let y = nn.dense(h, w);
  let z = if sum(y) > 0.0 { y } else { -y };
  (nn.softmax(y), z, split(y, indices_or_sections=2).1, clip(y, a_min=-1e6, a_max=1e6))
})",
       "main(sin(reshape(arange(0.0, 8.0, 1.0), newshape=[2, 4])), cos(reshape(arange(0.0, 16.0, "
       "1.0), newshape=[4, 4])))"},
      {"a network of doubles, and of integers",
       R"(def main(x: Tensor[(2, 4), float64], w: Tensor[(3, 4), float64], n: Tensor[(2, 4), int32]) {
  (nn.dense(x, w) + 1.0, nn.dense(n, n))
})",
       "main(cast([[1.0, 2.0, 3.0, 4.0], [0.5, 1.5, 2.5, 3.5]], dtype=\"float64\"), ones([3, 4], "
       "dtype=\"float64\"), [[1, 2, 3, 4], [5, 6, 7, 8]])"},
      {"a recursive network",
       R"(def main(x: Tensor[(1, 4), float32], w: Tensor[(4, 4), float32], n: int32) {
  let go = fn (i: int32, h: Tensor[(1, 4), float32]) -> Tensor[(1, 4), float32] {
    if i == 0 { h } else { go(i - 1, tanh(nn.dense(h, w))) }
  };
  let total = for i < 4 { sum k < 4 { nn.dense(x, w)[0, k] * w[i, k] } };
  (go(n, x), total)
})",
       "main([[1.0, -0.5, 0.25, 2.0]], cos(reshape(arange(0.0, 16.0, 1.0), newshape=[4, 4])), 3)"},
  };
  return kPrograms;
}

}  // namespace relay::tests
