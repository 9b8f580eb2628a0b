#include "kernels/dnnl_step.h"

#include <omp.h>

#include <algorithm>
#include <new>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

#include "kernels/dnnl_parts.h"
#include "kernels/scratch.h"

namespace relay::kernels {

namespace {

using lang::DType;
using lang::ExternalGraph;
using lang::ExternalNode;
using lang::ExternalType;
using Extents = dnnl::memory::dims;
using Described = dnnl::memory::desc;
using dnnl::algorithm;

constexpr auto kInference = dnnl::prop_kind::forward_inference;

// A step under construction.
class StepMaker {
 public:
  StepMaker(const ExternalGraph& graph, std::size_t first, std::size_t last, DnnlStep& step)
      : graph_(graph), last_(last), step_(step) {
    for (std::size_t i = first; i <= last; ++i) {
      if (graph.nodes[i].kind == ExternalNode::Kind::Call) calls_.push_back(i);
    }
  }

  std::string make() {
    for (const std::size_t call : calls_) {
      std::string why = check_dtypes(graph_.nodes[call]);
      if (!why.empty()) return why;
    }
    if (calls_.empty() || calls_.back() != last_) return "its result is not that of its last step";
    const ExternalNode& node = graph_.nodes[calls_[0]];
    if (node.op == "nn.conv2d") return convolution(node);
    if (node.op == "nn.dense") return dense(node);
    if (calls_.size() > 1) return fmt::format("it has no composite of `{}` and others", node.op);
    if (node.op == "nn.softmax") return softmax(node);
    if (node.op == "nn.max_pool2d" || node.op == "nn.avg_pool2d") return pool(node);
    if (node.op == "nn.global_avg_pool2d") return global_pool(node);
    if (eltwise_of(node)) return eltwise(node);
    if (binary_of(node)) return binary(node);
    return "it has no primitive for this operator";
  }

 private:
  const ExternalType& input(const ExternalNode& node, std::size_t i) const {
    return graph_.type_of(node.inputs[i]);
  }

  std::string check_dtypes(const ExternalNode& node) const {
    const auto check = [](const ExternalType& type) -> std::string {
      if (type.dtype != DType::Float32)
        return fmt::format("it is asked for float32 only, and this is {}", name_of(type.dtype));
      for (const std::int64_t extent : type.shape) {
        if (extent == 0) return "a tensor has no elements";
      }
      return type.shape.empty() ? "an operand is a scalar" : "";
    };
    for (const auto& value : node.inputs) {
      // Scalars are operands of what is done to each element.
      const ExternalType& type = graph_.type_of(value);
      std::string why = check(type);
      if (type.shape.empty() && type.dtype == DType::Float32 && binary_of(node)) why.clear();
      if (!why.empty()) return why;
    }
    if (node.outputs.size() != 1) return "it gives several tensors";
    return check(node.outputs[0]);
  }

  // --- Steps of one tensor ---

  template <class Primitive, class Made>
  void finish(const Made& made) {
    step_.primitive = Primitive(made);
    step_.scratch = made.scratchpad_desc().get_size();
  }
  void set_output(const Described& plain, const Described& wanted) {
    step_.output = {DNNL_ARG_DST, last_, plain, wanted};
  }
  void add_input(int argument, const lang::ExternalValue& value, const Described& plain,
                 const Described& wanted) {
    step_.inputs.push_back({argument, value.node, plain, wanted});
  }
  static dnnl::primitive_attr attributes(const dnnl::post_ops& posts = {}) {
    dnnl::primitive_attr made;
    made.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    made.set_post_ops(posts);
    return made;
  }
  static Described plain_of(const ExternalType& type) {
    return in_order(type.shape, natural_order(type.shape.size()));
  }

  std::string eltwise(const ExternalNode& node) {
    const Eltwise how = *eltwise_of(node);
    const Described plain = plain_of(node.outputs[0]);
    const dnnl::eltwise_forward::primitive_desc made(
        dnnl::eltwise_forward::desc(kInference, how.kind, plain, how.alpha, how.beta), attributes(),
        dnnl_engine());
    finish<dnnl::eltwise_forward>(made);
    add_input(DNNL_ARG_SRC, node.inputs[0], plain, plain);
    set_output(plain, plain);
    return {};
  }

  std::string binary(const ExternalNode& node) {
    const std::vector<std::int64_t>& shape = node.outputs[0].shape;
    const std::size_t whole = input(node, 0).shape == shape ? 0 : 1;
    const bool is_turned = whole == 1 && node.op == "subtract";
    if (input(node, whole).shape != shape || is_turned) return "the left operand is stretched";
    const std::size_t other = 1 - whole;
    const Described plain = plain_of(node.outputs[0]);
    const auto beside = stretched(node, other, shape.size());
    if (!beside) return "an operand is stretched in a way that it has not";
    const Described small = in_order(*beside, natural_order(shape.size()));
    const dnnl::binary::primitive_desc made(
        dnnl::binary::desc(*binary_of(node), plain, small, plain), attributes(), dnnl_engine());
    finish<dnnl::binary>(made);
    add_input(DNNL_ARG_SRC_0, node.inputs[whole], plain, plain);
    add_input(DNNL_ARG_SRC_1, node.inputs[other], small, small);
    set_output(plain, plain);
    return {};
  }

  std::string softmax(const ExternalNode& node) {
    const Described plain = plain_of(node.outputs[0]);
    std::int64_t axis = node.attrs->get_int("axis");
    if (axis < 0) axis += static_cast<std::int64_t>(node.outputs[0].shape.size());
    const dnnl::softmax_forward::primitive_desc made(
        dnnl::softmax_forward::desc(kInference, plain, static_cast<int>(axis)), attributes(),
        dnnl_engine());
    finish<dnnl::softmax_forward>(made);
    add_input(DNNL_ARG_SRC, node.inputs[0], plain, plain);
    set_output(plain, plain);
    return {};
  }

  // --- Windows ---

  // top, left and bottom, right, of one, two or four numbers.
  static std::pair<Extents, Extents> padding_of(const ExternalNode& node) {
    const std::vector<std::int64_t> given = node.attrs->get_ints("padding");
    if (given.size() == 4) return {{given[0], given[1]}, {given[2], given[3]}};
    const Extents both = given.size() == 2 ? Extents{given[0], given[1]} : Extents(2, given[0]);
    return {both, both};
  }
  static Extents pair_of(const ExternalNode& node, const char* name) {
    const std::vector<std::int64_t> given = node.attrs->get_ints(name);
    return given.size() == 1 ? Extents(2, given[0]) : Extents(given.begin(), given.end());
  }
  // Nothing but NCHW and NHWC.
  static std::optional<Order> data_order(const ExternalNode& node, const char* name) {
    const std::string& layout = node.attrs->get_string(name);
    if (layout == "NCHW" || layout == "NHWC") return order_of_layout(layout, "NCHW");
    return std::nullopt;
  }

  std::string pool(const ExternalNode& node) {
    const auto order = data_order(node, "layout");
    if (!order) return fmt::format("it has no layout `{}`", node.attrs->get_string("layout"));
    if (node.attrs->get_bool("ceil_mode")) return "it has no pool with `ceil_mode`";
    const bool is_max = node.op == "nn.max_pool2d";
    for (const std::int64_t each : pair_of(node, "dilation")) {
      if (each != 1) return "it has no dilated pool";
    }
    const algorithm kind = is_max ? algorithm::pooling_max
                           : node.attrs->get_bool("count_include_pad")
                               ? algorithm::pooling_avg_include_padding
                               : algorithm::pooling_avg_exclude_padding;
    return pool_of(node, kind, *order, pair_of(node, "strides"), pair_of(node, "pool_size"),
                   padding_of(node));
  }

  std::string global_pool(const ExternalNode& node) {
    const auto order = data_order(node, "layout");
    if (!order) return fmt::format("it has no layout `{}`", node.attrs->get_string("layout"));
    const std::vector<std::int64_t>& shape = input(node, 0).shape;
    const Extents whole = {shape[(*order)[2]], shape[(*order)[3]]};
    return pool_of(node, algorithm::pooling_avg_exclude_padding, *order, {1, 1}, whole,
                   {{0, 0}, {0, 0}});
  }

  std::string pool_of(const ExternalNode& node, algorithm kind, const Order& order,
                      const Extents& strides, const Extents& size,
                      const std::pair<Extents, Extents>& padding) {
    const Described in = in_order(input(node, 0).shape, order);
    const Described out = in_order(node.outputs[0].shape, order);
    const dnnl::pooling_forward::primitive_desc made(
        dnnl::pooling_forward::desc(kInference, kind, in, out, strides, size, padding.first,
                                    padding.second),
        attributes(), dnnl_engine());
    finish<dnnl::pooling_forward>(made);
    add_input(DNNL_ARG_SRC, node.inputs[0], in, in);
    set_output(out, out);
    return {};
  }

  // --- Products and convolutions, and what is done to each element of their results ---

  // An operand beside a tensor of that rank: its shape, with axes of extent 1 in front. That of
  // `nn.bias_add` has one axis.
  std::optional<std::vector<std::int64_t>> stretched(const ExternalNode& node, std::size_t i,
                                                     std::size_t rank) const {
    const std::vector<std::int64_t>& shape = input(node, i).shape;
    std::vector<std::int64_t> made(rank, 1);
    if (node.op == "nn.bias_add") {
      std::int64_t axis = node.attrs->get_int("axis");
      if (axis < 0) axis += static_cast<std::int64_t>(rank);
      made[static_cast<std::size_t>(axis)] = shape[0];
      return made;
    }
    if (shape.size() > rank) return std::nullopt;
    std::copy(shape.begin(), shape.end(), made.end() - static_cast<std::ptrdiff_t>(shape.size()));
    return made;
  }

  struct Posts {
    dnnl::post_ops ops;
    std::optional<lang::ExternalValue> bias;
  };

  // The calls behind the first, each of which takes what the one before gives. `order`: of the
  // axes.
  std::string read_posts(const Order& order, Posts& posts) {
    const std::vector<std::int64_t>& shape = graph_.nodes[calls_[0]].outputs[0].shape;
    for (std::size_t i = 1; i < calls_.size(); ++i) {
      const ExternalNode& node = graph_.nodes[calls_[i]];
      const std::size_t before = calls_[i - 1];
      // x * sigmoid(x)
      if (node.op == "sigmoid" && i + 1 < calls_.size() && is_swish(before, i)) {
        posts.ops.append_eltwise(1, algorithm::eltwise_swish, 1, 0);
        ++i;
        continue;
      }
      if (const auto how = eltwise_of(node); how && node.inputs[0].node == before) {
        posts.ops.append_eltwise(1, how->kind, how->alpha, how->beta);
        continue;
      }
      const auto how = binary_of(node);
      if (!how || node.outputs[0].shape != shape)
        return fmt::format("it does not do `{}` to each element", node.op);
      const std::size_t own = node.inputs[0].node == before ? 0 : 1;
      const lang::ExternalValue& other = node.inputs[1 - own];
      const bool is_turned = own == 1 && *how == algorithm::binary_sub;
      // The primitive keeps nothing of what is between its steps.
      const bool is_own = std::find(calls_.begin(), calls_.end(), other.node) != calls_.end();
      if (node.inputs[own].node != before || is_own || is_turned)
        return fmt::format("`{}` is no step of a chain", node.op);
      const auto beside = stretched(node, 1 - own, shape.size());
      if (!beside) return "an operand is stretched in a way that it has not";
      const Described plain = in_order(*beside, order);
      if (i == 1 && *how == algorithm::binary_add && is_bias(plain.dims(), order, shape)) {
        posts.bias = other;
        continue;
      }
      const int place = posts.ops.len();
      posts.ops.append_binary(*how, plain);
      add_input(DNNL_ARG_ATTR_MULTIPLE_POST_OP(place) | DNNL_ARG_SRC_1, other, plain, plain);
    }
    return {};
  }

  bool is_swish(std::size_t before, std::size_t i) const {
    const ExternalNode& sigmoid = graph_.nodes[calls_[i]];
    const ExternalNode& product = graph_.nodes[calls_[i + 1]];
    if (product.op != "multiply" || sigmoid.inputs[0].node != before) return false;
    const std::size_t a = product.inputs[0].node;
    const std::size_t b = product.inputs[1].node;
    return (a == before && b == calls_[i]) || (b == before && a == calls_[i]);
  }

  // A number for each channel, and nothing else?
  static bool is_bias(const Extents& extents, const Order& order,
                      const std::vector<std::int64_t>& shape) {
    for (std::size_t i = 0; i < extents.size(); ++i) {
      if (extents[i] != (i == 1 ? shape[order[1]] : 1)) return false;
    }
    return true;
  }

  Described add_bias(const Posts& posts) {
    if (!posts.bias) return {};
    const ExternalType& type = graph_.type_of(*posts.bias);
    std::int64_t count = 1;
    for (const std::int64_t extent : type.shape) count *= extent;
    const Described plain({count}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::a);
    add_input(DNNL_ARG_BIAS, *posts.bias, plain, plain);
    return plain;
  }

  std::string convolution(const ExternalNode& node) {
    const auto order = data_order(node, "data_layout");
    const std::string& kernel_layout = node.attrs->get_string("kernel_layout");
    if (!order || (kernel_layout != "OIHW" && kernel_layout != "HWIO")) {
      return fmt::format("it has no layouts `{}` and `{}`", node.attrs->get_string("data_layout"),
                         kernel_layout);
    }
    const std::string& out_layout = node.attrs->get_string("out_layout");
    if (!out_layout.empty() && out_layout != node.attrs->get_string("data_layout"))
      return "the result has another layout than the data";
    const std::int64_t groups = node.attrs->get_int("groups");
    if (groups > 1 && kernel_layout != "OIHW") return "it has groups of kernels `OIHW` only";
    Posts posts;
    std::string why = read_posts(*order, posts);
    if (!why.empty()) return why;
    const Described in = in_order(input(node, 0).shape, *order);
    const Described out = in_order(node.outputs[0].shape, *order);
    Described kernel = in_order(input(node, 1).shape, order_of_layout(kernel_layout, "OIHW"));
    if (groups > 1) {
      Extents extents = kernel.dims();
      extents[0] /= groups;
      extents.insert(extents.begin(), groups);
      kernel = Described(extents, dnnl::memory::data_type::f32, dnnl::memory::format_tag::abcde);
    }
    Extents dilation = pair_of(node, "dilation");
    for (auto& each : dilation) --each;
    const auto padding = padding_of(node);
    const Described bias = add_bias(posts);
    using Forward = dnnl::convolution_forward;
    constexpr auto kHow = algorithm::convolution_direct;
    const Extents strides = pair_of(node, "strides");
    const auto desc =
        posts.bias
            ? Forward::desc(kInference, kHow, any_layout(in), any_layout(kernel), bias,
                            any_layout(out), strides, dilation, padding.first, padding.second)
            : Forward::desc(kInference, kHow, any_layout(in), any_layout(kernel), any_layout(out),
                            strides, dilation, padding.first, padding.second);
    const Forward::primitive_desc made(desc, attributes(posts.ops), dnnl_engine());
    finish<Forward>(made);
    add_input(DNNL_ARG_SRC, node.inputs[0], in, made.src_desc());
    add_input(DNNL_ARG_WEIGHTS, node.inputs[1], kernel, made.weights_desc());
    set_output(out, made.dst_desc());
    return {};
  }

  std::string dense(const ExternalNode& node) {
    if (input(node, 0).shape.size() != 2) return "the data of `nn.dense` are no matrix";
    const Order order = natural_order(2);
    Posts posts;
    std::string why = read_posts(order, posts);
    if (!why.empty()) return why;
    const Described in = plain_of(input(node, 0));
    const Described weights = plain_of(input(node, 1));
    const Described out = plain_of(node.outputs[0]);
    const Described bias = add_bias(posts);
    using Forward = dnnl::inner_product_forward;
    const auto desc =
        posts.bias
            ? Forward::desc(kInference, any_layout(in), any_layout(weights), bias, any_layout(out))
            : Forward::desc(kInference, any_layout(in), any_layout(weights), any_layout(out));
    const Forward::primitive_desc made(desc, attributes(posts.ops), dnnl_engine());
    finish<Forward>(made);
    add_input(DNNL_ARG_SRC, node.inputs[0], in, made.src_desc());
    add_input(DNNL_ARG_WEIGHTS, node.inputs[1], weights, made.weights_desc());
    set_output(out, made.dst_desc());
    return {};
  }

  const ExternalGraph& graph_;
  std::size_t last_;
  DnnlStep& step_;
  std::vector<std::size_t> calls_;
};

void bring_to(const Described& from, std::byte* source, const Described& to, std::byte* target,
              dnnl::stream& stream) {
  dnnl::memory a(from, dnnl_engine(), source);
  dnnl::memory b(to, dnnl_engine(), target);
  dnnl::reorder(a, b).execute(stream, a, b);
}

}  // namespace

std::string DnnlStep::keep_constants(const ExternalGraph& graph) {
  return error_of([&] {
    dnnl::stream stream(dnnl_engine());
    for (Operand& each : inputs) {
      const lang::TensorRef& constant = graph.nodes[each.node].constant;
      if (!constant || each.plain == each.wanted) continue;
      each.kept = lang::Buffer::allocate(each.wanted.get_size());
      bring_to(each.plain, constant->data(), each.wanted, each.kept->data(), stream);
      stream.wait();
    }
    return std::string();
  });
}

void DnnlStep::run(const NodeMemory& memory) const {
  omp_set_num_threads(1);  // as when it was made: then no bit depends on how many there are
  dnnl::stream stream(dnnl_engine());
  std::vector<Scratch> moved;
  std::unordered_map<int, dnnl::memory> arguments;
  for (const Operand& each : inputs) {
    std::byte* data = each.kept ? each.kept->data() : memory[each.node];
    if (!each.kept && each.plain != each.wanted) {
      moved.emplace_back(each.wanted.get_size());
      bring_to(each.plain, data, each.wanted, moved.back().data(), stream);
      data = moved.back().data();
    }
    arguments.emplace(each.argument, dnnl::memory(each.wanted, dnnl_engine(), data));
  }
  std::byte* result = memory[output.node];
  const bool is_reordered = output.plain != output.wanted;
  if (is_reordered) {
    moved.emplace_back(output.wanted.get_size());
    result = moved.back().data();
  }
  arguments.emplace(output.argument, dnnl::memory(output.wanted, dnnl_engine(), result));
  const Scratch work(scratch);
  if (scratch != 0) {
    const Described bytes({static_cast<dnnl::memory::dim>(scratch)}, dnnl::memory::data_type::u8,
                          dnnl::memory::format_tag::a);
    arguments.emplace(DNNL_ARG_SCRATCHPAD, dnnl::memory(bytes, dnnl_engine(), work.data()));
  }
  primitive.execute(stream, arguments);
  stream.wait();
  if (is_reordered) bring_to(output.wanted, result, output.plain, memory[output.node], stream);
  stream.wait();
}

std::string make_dnnl_step(const ExternalGraph& graph, std::size_t first, std::size_t last,
                           DnnlStep& step) {
  omp_set_num_threads(1);  // oneDNN settles how many threads a primitive takes when it makes it
  try {
    return StepMaker(graph, first, last, step).make();
  } catch (const dnnl::error& error) {
    return fmt::format("oneDNN has no such primitive: {}", error.message);
  } catch (const std::bad_alloc&) {
    return "out of memory";
  }
}

}  // namespace relay::kernels
