// The external compiler `blas`: products of matrices by `sgemm` and `dgemm` of whatever BLAS the
// system has, which is looked for when one is to run.

#include "kernels/blas_compiler.h"

#include <dlfcn.h>

#include <limits>

#include <fmt/format.h>

#include "kernels/step_code.h"

namespace relay::kernels {

namespace {

using lang::DType;
using lang::ExternalGraph;
using lang::ExternalNode;
using lang::ExternalType;

// Fortran's: columns lie side by side.
template <class T>
using Gemm = void (*)(const char* trans_a, const char* trans_b, const int* m, const int* n,
                      const int* k, const T* alpha, const T* a, const int* lda, const T* b,
                      const int* ldb, const T* beta, T* c, const int* ldc);

struct Blas {
  Gemm<float> sgemm = nullptr;
  Gemm<double> dgemm = nullptr;
};

// Null functions if there is none. Never unloaded: some keep threads.
const Blas& blas() {
  static const Blas found = [] {
    Blas made;
    for (const char* name : {"libopenblas.so.0", "libblas.so.3", "libmkl_rt.so.2"}) {
      void* const object = dlopen(name, RTLD_NOW | RTLD_LOCAL);
      if (!object) continue;
      made.sgemm = reinterpret_cast<Gemm<float>>(dlsym(object, "sgemm_"));
      made.dgemm = reinterpret_cast<Gemm<double>>(dlsym(object, "dgemm_"));
      if (made.sgemm && made.dgemm) return made;
    }
    return Blas();
  }();
  return found;
}

// c (m by n, row-major) = a (m by k) b (k by n), each maybe transposed where it lies.
struct MatrixProduct {
  std::size_t a = 0, b = 0, c = 0;  // nodes
  std::int64_t batch = 1;
  int m = 0, n = 0, k = 0;
  bool transpose_a = false, transpose_b = false;
  std::int64_t a_step = 0, b_step = 0;  // between the matrices of a batch
  bool is_double = false;
};

constexpr std::string_view kOnly =
    "it runs `nn.dense`, `nn.matmul` and `nn.batch_matmul` of float32 and float64";

// Says why not, or fills in the product.
std::string product_of(const ExternalGraph& graph, std::size_t place, MatrixProduct& made) {
  const ExternalNode& node = graph.nodes[place];
  const bool is_dense = node.op == "nn.dense";
  const bool is_batch = node.op == "nn.batch_matmul";
  if (!is_dense && !is_batch && node.op != "nn.matmul") return std::string(kOnly);
  const ExternalType& a = graph.type_of(node.inputs[0]);
  const ExternalType& b = graph.type_of(node.inputs[1]);
  const ExternalType& c = node.outputs[0];
  const bool is_double = c.dtype == DType::Float64;
  if ((!is_double && c.dtype != DType::Float32) || a.dtype != c.dtype || b.dtype != c.dtype)
    return fmt::format("it has no product of `{}` and `{}`", name_of(a.dtype), name_of(b.dtype));
  const std::size_t rank = is_batch ? 3 : 2;
  if (b.shape.size() != rank || (is_batch ? a.shape.size() != 3 : a.shape.empty()))
    return "an operand is no matrix";
  const bool transpose_a = !is_dense && node.attrs->get_bool("transpose_a");
  const bool transpose_b = is_dense || node.attrs->get_bool("transpose_b");
  if (transpose_a && a.shape.size() != rank) return "an operand is no matrix";
  std::int64_t rows = 1;
  for (std::size_t i = is_batch ? 1 : 0; i + 1 < c.shape.size(); ++i) rows *= c.shape[i];
  const std::int64_t columns = c.shape.back();
  const std::int64_t sum = transpose_b ? b.shape[rank - 1] : b.shape[rank - 2];
  constexpr std::int64_t kMost = std::numeric_limits<int>::max();
  if (rows > kMost || columns > kMost || sum > kMost) return "a matrix is too large for it";
  made.a = node.inputs[0].node;
  made.b = node.inputs[1].node;
  made.c = place;
  made.batch = is_batch ? c.shape[0] : 1;
  made.m = static_cast<int>(rows);
  made.n = static_cast<int>(columns);
  made.k = static_cast<int>(sum);
  made.transpose_a = transpose_a;
  made.transpose_b = transpose_b;
  if (is_batch) {
    made.a_step = a.shape[0] == 1 ? 0 : a.shape[1] * a.shape[2];
    made.b_step = b.shape[0] == 1 ? 0 : b.shape[1] * b.shape[2];
  }
  made.is_double = is_double;
  return {};
}

template <class T>
void multiply_by_blas(Gemm<T> gemm, const MatrixProduct& product, const NodeMemory& memory) {
  const T* const a = reinterpret_cast<const T*>(memory[product.a]);
  const T* const b = reinterpret_cast<const T*>(memory[product.b]);
  T* const c = reinterpret_cast<T*>(memory[product.c]);
  const T one = 1;
  const T zero = 0;
  // Row-major c = a b is column-major c' = b' a'.
  const char b_as = product.transpose_b ? 'T' : 'N';
  const char a_as = product.transpose_a ? 'T' : 'N';
  const auto at_least_one = [](int extent) { return extent > 1 ? extent : 1; };
  const int b_lead = at_least_one(product.transpose_b ? product.k : product.n);
  const int a_lead = at_least_one(product.transpose_a ? product.m : product.k);
  const int c_lead = at_least_one(product.n);
  const std::int64_t c_step = std::int64_t{product.m} * product.n;
  for (std::int64_t i = 0; i < product.batch; ++i) {
    gemm(&b_as, &a_as, &product.n, &product.m, &product.k, &one, b + i * product.b_step, &b_lead,
         a + i * product.a_step, &a_lead, &zero, c + i * c_step, &c_lead);
  }
}

CodeStep step_of(const MatrixProduct& product) {
  return {product.c, [product](const NodeMemory& memory) {
            if (product.is_double) {
              multiply_by_blas(blas().dgemm, product, memory);
            } else {
              multiply_by_blas(blas().sgemm, product, memory);
            }
          }};
}

class BlasCompiler final : public lang::ExternalCompiler {
 public:
  std::string name() const override { return "blas"; }
  std::string origin() const override { return "the system's BLAS"; }

  std::string refusal(const ExternalGraph& graph) override {
    MatrixProduct product;
    return product_of(graph, graph.nodes.size() - 1, product);
  }

  Made compile(const ExternalGraph& graph) override {
    std::vector<CodeStep> steps;
    for (std::size_t i = graph.parameters; i < graph.nodes.size(); ++i) {
      if (graph.nodes[i].kind != ExternalNode::Kind::Call) continue;
      MatrixProduct product;
      std::string why = product_of(graph, i, product);
      if (!why.empty()) return {nullptr, fmt::format("`{}`: {}", graph.nodes[i].op, why)};
      steps.push_back(step_of(product));
    }
    if (!blas().sgemm)
      return {nullptr, "there is no BLAS on this machine (Debian: libopenblas0, or libblas3)"};
    return {code_of_steps(graph, std::move(steps)), {}};
  }
};

}  // namespace

std::unique_ptr<lang::ExternalCompiler> make_blas_compiler() {
  return std::make_unique<BlasCompiler>();
}

}  // namespace relay::kernels
