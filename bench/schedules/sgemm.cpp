// Seconds of products of 512 by 512 matrices of float32 by oneDNN, on one thread: of each run, on a
// line.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <oneapi/dnnl/dnnl.h>

int main(int argc, char** argv) {
  const int runs = argc > 1 ? std::atoi(argv[1]) : 10;
  constexpr dnnl_dim_t kSize = 512;
  std::vector<float> a(kSize * kSize), b(kSize * kSize), c(kSize * kSize);
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<float>(i % 97) * 0.01F;
    b[i] = static_cast<float>(i % 89) * 0.01F;
  }
  for (int run = -1; run < runs; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    dnnl_sgemm('N', 'N', kSize, kSize, kSize, 1.0F, a.data(), kSize, b.data(), kSize, 0.0F,
               c.data(), kSize);
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (run >= 0) std::printf("%g ", seconds);
  }
  std::printf("\n");
}
