// Passes on convolutional networks: random chains of convolutions, scales, biases, pools and sums
// mean the same when scales move into weights and layouts change; and networks of integers that are
// written as floats between `qnn.dequantize` and `qnn.quantize` give the same integers, or the
// next.

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "tests/support/passed_program.h"
#include "tests/support/property.h"
#include "tests/support/random.h"

namespace relay::tests {
namespace {

constexpr std::uint64_t kNetworks = 60;

// A program whose function is `f`, and a call of it.
struct Network {
  std::string text;
  std::string call;
};

class NetworkWriter {
 public:
  explicit NetworkWriter(std::uint64_t seed) : random_(seed) {}

  Network floats() {
    param("x", shape(channels_, extent_));
    const std::size_t steps = 4 + random_.below(6);
    for (std::size_t i = 0; i < steps; ++i) float_step();
    if (!has_convolution_) convolution();
    return finished("v" + std::to_string(last_));
  }

  Network integers() {
    types_ = "int8";
    param("x", shape(channels_, extent_));
    bind(fmt::format("qnn.dequantize(v0, {}, {}, out_dtype=\"float32\")", scale(),
                     random_.below(9)));
    const std::size_t steps = 1 + random_.below(5);
    for (std::size_t i = 0; i < steps; ++i) integer_step();
    return finished(
        fmt::format("qnn.quantize(v{}, 1.0, {}, out_dtype=\"int8\")", last_, random_.below(5)));
  }

 private:
  // --- Steps ---

  void float_step() {
    switch (random_.below(12)) {
      case 0:
      case 1:
      case 2:
        return convolution();
      case 3:
      case 4:
      case 5:
        return bind(fmt::format("{} * {}", current(), per_channel(true)));
      case 6:
        return bind(fmt::format("{} + {}", current(), per_channel(false)));
      case 7:
        return bind(fmt::format("nn.relu({})", current()));
      case 8:
        return bind(fmt::format("nn.leaky_relu({}, alpha=0.5)", current()));
      case 9:
        return pool(random_.one_in(2) ? "nn.max_pool2d" : "nn.avg_pool2d");
      case 10:
        return earlier_ ? bind(fmt::format("{} - v{}", current(), *earlier_)) : remember();
      default:
        return remember();
    }
  }

  void integer_step() {
    switch (random_.below(5)) {
      case 0:
        return quantized_convolution();
      case 1:
        return bind(fmt::format("nn.relu({})", current()));
      case 2:
        return pool("nn.max_pool2d");
      case 3:
        return bind(fmt::format("transpose({}, axes=[0, 1, 3, 2])", current()));
      default:
        return bind(fmt::format("reshape({}, newshape=[1, {}, {}, {}])", current(), channels_,
                                extent_, extent_));
    }
  }

  void convolution() {
    has_convolution_ = true;
    const std::size_t results = 2 * (1 + random_.below(3));
    const std::string weight = fmt::format("w{}", last_);
    param(weight, fmt::format("{}, {}, 3, 3", results, channels_));
    bind(fmt::format("nn.conv2d({}, {}, padding=[1, 1])", current(), weight));
    channels_ = results;
    earlier_.reset();
  }

  void quantized_convolution() {
    if (has_convolution_) return bind(fmt::format("nn.relu({})", current()));
    has_convolution_ = true;
    param("w", fmt::format("2, {}, 1, 1", channels_));
    const std::string data = current();
    bind("qnn.dequantize(w, 0.25, 0, out_dtype=\"float32\")");
    const std::string weight = current();
    bind(fmt::format("nn.conv2d({}, {})", data, weight));
    channels_ = 2;
    if (random_.one_in(2)) bind(fmt::format("{} + [[[2.0]], [[-1.0]]]", current()));
  }

  void pool(const char* op) {
    if (extent_ < 4) return remember();
    extent_ /= 2;
    earlier_.reset();
    bind(fmt::format("{}({}, pool_size=[2, 2], strides=[2, 2])", op, current()));
  }

  void remember() { earlier_ = last_; }

  // --- Text ---

  std::string current() const { return fmt::format("v{}", last_); }
  std::string scale() { return random_.one_in(2) ? "0.5" : "0.25"; }
  static std::string shape(std::size_t channels, std::size_t extent) {
    return fmt::format("1, {}, {}, {}", channels, extent, extent);
  }

  // A number for each channel; scales above zero are more frequent.
  std::string per_channel(bool is_scale) {
    const bool is_positive = is_scale && !random_.one_in(4);
    std::string list;
    for (std::size_t i = 0; i < channels_; ++i) {
      const double number = random_.number();
      list += fmt::format("{}[[{}f64]]", i == 0 ? "" : ", ",
                          is_positive ? std::abs(number) + 0.1 : number);
    }
    return "[" + list + "]";
  }

  void bind(const std::string& value) { body_ += fmt::format("  let v{} = {};\n", ++last_, value); }

  void param(const std::string& name, const std::string& extents) {
    params_ += fmt::format("{}{}: Tensor[({}), {}]", params_.empty() ? "" : ", ",
                           name == "x" ? "v0" : name, extents, types_);
    const std::string numbers =
        types_ == "int8"
            ? fmt::format(
                  "cast(random.uniform(random.key({}), -100.0, 100.0, out_shape=[{}]).1, "
                  "dtype=\"int8\")",
                  ++key_, extents)
            : fmt::format(
                  "random.uniform(random.key({}), -1.0, 1.0, out_shape=[{}], "
                  "out_dtype=\"float64\").1",
                  ++key_, extents);
    args_ += (args_.empty() ? "" : ", ") + numbers;
  }

  Network finished(const std::string& result) const {
    return {fmt::format("def f({}) {{\n{}  {}\n}}\n", params_, body_, result),
            fmt::format("f({})", args_)};
  }

  Random random_;
  std::size_t channels_ = 4;
  std::size_t extent_ = 8;
  std::size_t last_ = 0;
  std::size_t key_ = 0;
  std::optional<std::size_t> earlier_;  // a value of the present shape
  bool has_convolution_ = false;
  std::string types_ = "float64";
  std::string params_;
  std::string args_;
  std::string body_;
};

void check_idempotent(PassedProgram& written, const std::string& passes) {
  CHECK(written.passed(passes) == written.passed(passes + ", " + passes));
}

TEST_CASE("scales that move and layouts that change keep what networks compute") {
  const std::vector<std::string> lists = {"BackwardFoldScaleAxis",
                                          "ForwardFoldScaleAxis",
                                          "FoldScaleAxis",
                                          "ConvertLayout",
                                          "ConvertLayout(data_layout=\"NCHW2c\")",
                                          "AlterOpLayout(block=2), FoldConstant",
                                          "ConvertLayout, FoldScaleAxis",
                                          "FoldScaleAxis, AlterOpLayout(block=2)",
                                          "ConvertLayout, ConvertLayout(data_layout=\"NCHW\")"};
  const auto all = seeds(kNetworks);
  std::size_t folded = 0;
  for (const std::uint64_t seed : all) {
    const Network network = NetworkWriter(seed).floats();
    PassedProgram written(network.text);
    const std::string before = written.passed("InferType");
    folded += written.passed("FoldScaleAxis") != before ? 1 : 0;
    CHECK(written.passed("ConvertLayout") != before);
    const lang::Value expected = written.value(network.call);
    for (const std::string& passes : lists) {
      INFO(passes << " of seed " << seed << "\n" << network.text);
      const std::string text = written.passed(passes);
      INFO(text);
      PassedProgram made(text);
      CHECK(is_close(made.value(network.call), expected, 1e-9));
    }
    INFO("seed " << seed << "\n" << network.text);
    PassedProgram once(network.text);
    check_idempotent(once, "FoldScaleAxis");
    check_idempotent(once, "ConvertLayout");
  }
  CHECK(folded * 3 >= all.size());
}

TEST_CASE("integers in the place of floats between quantized values are the same, or the next") {
  for (const std::uint64_t seed : seeds(kNetworks)) {
    const Network network = NetworkWriter(seed).integers();
    PassedProgram written(network.text);
    const std::string text = written.passed("FakeQuantizationToInteger");
    INFO("seed " << seed << "\n" << network.text << text);
    CHECK(text.find("qnn.dequantize") == std::string::npos);
    const lang::TensorRef expected = written.value(network.call).to_tensor();
    const lang::TensorRef found = PassedProgram(text).value(network.call).to_tensor();
    const lang::TensorRef plain =
        PassedProgram(written.passed("Legalize")).value(network.call).to_tensor();
    REQUIRE(found->element_count() == expected->element_count());
    for (std::int64_t i = 0; i < found->element_count(); ++i) {
      CHECK(std::abs(found->number_at(i) - expected->number_at(i)) <= 1);
      CHECK(plain->number_at(i) == expected->number_at(i));
    }
  }
}

}  // namespace
}  // namespace relay::tests
