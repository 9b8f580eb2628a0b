// What oneDNN and BLAS run gives what Relay gives, up to rounding.

#include <string>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "tests/support/passed_program.h"

namespace relay::tests {
namespace {

struct HandedOver {
  const char* params;  // of `f`, all float32
  const char* body;
  const char* args;
  const char* contains;  // in the program that is made
};

// Numbers of both signs, with no pattern that a layout could hide in.
constexpr const char* kNumbers =
    "def number(k: int64) -> float32 { cast((k * 7919i64 + 13i64) % 23i64 - 11i64, "
    "dtype=\"float32\") / 8.0 }\n";

std::string tensor(const std::string& shape) {
  std::string binders;
  std::string index = "3i64";
  std::string extent;
  int axis = 0;
  const auto flush = [&] {
    if (extent.empty()) return;
    const std::string name = "i" + std::to_string(axis++);
    binders += (binders.empty() ? "" : ", ") + name + " < " + extent;
    index = "(" + index + ") * 13i64 + " + name;
    extent.clear();
  };
  for (const char c : shape) {
    if (c == ',') flush();
    if (c >= '0' && c <= '9') extent += c;
  }
  flush();
  return "for " + binders + " { number(" + index + ") }";
}

// `(2, 3) (4)` as the arguments of a call.
std::string arguments(const std::string& shapes) {
  std::string made;
  std::size_t at = 0;
  while ((at = shapes.find('(', at)) != std::string::npos) {
    const std::size_t end = shapes.find(')', at);
    made += (made.empty() ? "" : ", ") + tensor(shapes.substr(at, end - at + 1));
    at = end;
  }
  return made;
}

std::string typed(const std::string& names, const std::string& shapes) {
  std::string made;
  std::size_t at = 0;
  for (const char name : names) {
    const std::size_t begin = shapes.find('(', at);
    const std::size_t end = shapes.find(')', begin);
    made += std::string(made.empty() ? "" : ", ") + name + ": Tensor[" +
            shapes.substr(begin, end - begin + 1) + ", float32]";
    at = end;
  }
  return made;
}

constexpr HandedOver kDnnl[] = {
    {"xw", "nn.conv2d(x, w)", "(2, 4, 9, 9) (8, 4, 3, 3)", "nn.conv2d"},
    {"xw", "nn.conv2d(x, w, strides=(2, 1), padding=(1, 0, 2, 1), dilation=(1, 2))",
     "(2, 4, 9, 9) (8, 4, 3, 3)", "Compiler=\"dnnl\""},
    {"xw", "nn.conv2d(x, w, groups=2, padding=1)", "(1, 4, 5, 5) (6, 2, 3, 3)",
     "Compiler=\"dnnl\""},
    {"xw", "nn.conv2d(x, w, groups=4, padding=1)", "(1, 4, 5, 5) (4, 1, 3, 3)",
     "Compiler=\"dnnl\""},
    {"xw", "nn.conv2d(x, w, data_layout=\"NHWC\", kernel_layout=\"HWIO\")",
     "(2, 7, 6, 3) (3, 2, 3, 5)", "Compiler=\"dnnl\""},
    {"xwb",
     "nn.relu(nn.bias_add(nn.conv2d(x, w, data_layout=\"NHWC\", kernel_layout=\"HWIO\"), b, "
     "axis=3))",
     "(2, 7, 6, 3) (3, 2, 3, 5) (5)", "dnnl.conv2d_bias_relu"},
    {"xwb", "tanh(nn.bias_add(nn.conv2d(x, w, padding=1), b))", "(1, 4, 5, 5) (8, 4, 3, 3) (8)",
     "dnnl.conv2d_bias_tanh"},
    {"xwbr", "sigmoid(nn.bias_add(nn.conv2d(x, w, padding=1), b) + r)",
     "(1, 4, 5, 5) (8, 4, 3, 3) (8) (1, 8, 5, 5)", "dnnl.conv2d_bias_sum_sigmoid"},
    {"xwr", "clip(r + nn.conv2d(x, w, padding=1), a_min=-1.0, a_max=2.0)",
     "(1, 4, 5, 5) (8, 4, 3, 3) (8, 1, 1)", "dnnl.conv2d_bias_clip"},
    {"xws", "nn.conv2d(x, w) * s", "(1, 4, 5, 5) (8, 4, 3, 3) (8, 1, 1)", "dnnl.conv2d_scale"},
    {"xw", "let y = nn.conv2d(x, w); y * sigmoid(y)", "(1, 4, 5, 5) (8, 4, 3, 3)",
     "dnnl.conv2d_swish"},
    {"xwgbmv", "nn.relu(nn.batch_norm(nn.conv2d(x, w), g, b, m, abs(v) + v * v).0)",
     "(1, 4, 5, 5) (8, 4, 3, 3) (8) (8) (8) (8)", "dnnl.conv2d_bn_relu"},
    {"xw", "nn.relu(nn.dense(x, w))", "(5, 7) (3, 7)", "dnnl.dense_relu"},
    {"xwb", "nn.dense(x, w) + b", "(5, 7) (3, 7) (3)", "dnnl.dense_bias"},
    {"xwbr", "tanh(nn.bias_add(nn.dense(x, w), b) + r)", "(5, 7) (3, 7) (3) (5, 3)",
     "dnnl.dense_bias_sum_tanh"},
    {"xwb", "nn.relu(nn.dense(x, w) + b)", "(5, 7) (3, 7) (5, 1)", "dnnl.dense_bias_relu"},
    {"x", "nn.max_pool2d(x, pool_size=(3, 2), strides=(2, 2), padding=(1, 0))", "(2, 3, 7, 6)",
     "nn.max_pool2d"},
    {"x", "nn.avg_pool2d(x, pool_size=(3, 2), strides=(2, 2), padding=(1, 0))", "(2, 3, 7, 6)",
     "Compiler=\"dnnl\""},
    {"x", "nn.avg_pool2d(x, pool_size=(3, 3), padding=(1, 1), count_include_pad=True)",
     "(2, 3, 7, 6)", "Compiler=\"dnnl\""},
    {"x", "nn.global_avg_pool2d(x)", "(2, 3, 7, 6)", "Compiler=\"dnnl\""},
    {"x", "nn.softmax(x, axis=1)", "(2, 3, 4)", "Compiler=\"dnnl\""},
    {"xy", "exp(x + y) - abs(y * x)", "(2, 3, 4) (3, 1)", "Compiler=\"dnnl\""},
    {"xy", "y - x", "(2, 3, 4) (4)", "def f"},
    {"xy", "let z = x + y; (z, exp(z), z, x)", "(2, 3) (3)", "Compiler=\"dnnl\""},
    {"x", "sqrt(abs(nn.leaky_relu(x, alpha=0.1)) + 1.0) * 2.0 + log(x * x + 1.0)", "(3, 4)",
     "Compiler=\"dnnl\""},
};

constexpr HandedOver kBlas[] = {
    {"xw", "nn.dense(x, w)", "(5, 7) (3, 7)", "Compiler=\"blas\""},
    {"xw", "nn.dense(x, w)", "(2, 5, 7) (3, 7)", "Compiler=\"blas\""},
    {"xw", "nn.matmul(x, w)", "(5, 7) (7, 3)", "Compiler=\"blas\""},
    {"xw", "nn.matmul(x, w, transpose_a=True, transpose_b=True)", "(7, 5) (3, 7)",
     "Compiler=\"blas\""},
    {"xw", "nn.batch_matmul(x, w)", "(4, 5, 7) (4, 7, 3)", "Compiler=\"blas\""},
    {"xw", "nn.batch_matmul(x, w, transpose_a=True, transpose_b=True)", "(4, 7, 5) (1, 3, 7)",
     "Compiler=\"blas\""},
    {"xw", "nn.dense(nn.dense(x, w), w)", "(3, 3) (3, 3)", "Compiler=\"blas\""},
    {"xw", "let y = nn.dense(x, w); (y, nn.dense(y, w), y, x)", "(3, 3) (3, 3)",
     "Compiler=\"blas\""},
};

void check(const HandedOver& each, const std::string& compiler) {
  const std::string text =
      fmt::format("{}def f({}) {{ {} }}\n", kNumbers, typed(each.params, each.args), each.body);
  const std::string call = "f(" + arguments(each.args) + ")";
  INFO(text << call);
  PassedProgram before(text);
  const std::string made =
      before.passed("SimplifyInference, FoldConstant, AnnotateExternalCompiler(" + compiler +
                    "), PartitionGraph");
  INFO(made);
  CHECK(made.find(each.contains) != std::string::npos);
  PassedProgram after(made);
  CHECK(is_close(after.value(call), before.value(call), 2e-5));
}

TEST_CASE("oneDNN runs calls and composites") {
  for (const HandedOver& each : kDnnl) check(each, "dnnl");
}

TEST_CASE("weights that are constants lie as oneDNN wants them, at every run") {
  const std::string text = fmt::format(
      "{}def f(x: Tensor[(2, 4, 9, 9), float32]) {{ nn.relu(nn.conv2d(x, reshape(sin(arange(0.0, "
      "288.0, 1.0)), newshape=(8, 4, 3, 3)))) }}\n",
      kNumbers);
  const std::string data = tensor("(2, 4, 9, 9)");
  const std::string call = "(f(" + data + "), f(negative(" + data + ")), f(" + data + "))";
  PassedProgram before(text);
  const std::string made =
      before.passed("FoldConstant, AnnotateExternalCompiler(dnnl), PartitionGraph");
  INFO(made);
  CHECK(made.find("tvmgen_default_dnnl_f_1(x)") != std::string::npos);
  PassedProgram after(made);
  CHECK(is_close(after.value(call), before.value(call), 2e-5));
}

TEST_CASE("BLAS runs products") {
  for (const HandedOver& each : kBlas) check(each, "blas");
}

}  // namespace
}  // namespace relay::tests
