#include "kernels/dnnl_parts.h"

#include <algorithm>

namespace relay::kernels {

const dnnl::engine& dnnl_engine() {
  static const auto* const made = new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return *made;
}

std::optional<Eltwise> eltwise_of(const lang::ExternalNode& node) {
  if (node.op == "nn.relu") return Eltwise{dnnl::algorithm::eltwise_relu};
  if (node.op == "tanh") return Eltwise{dnnl::algorithm::eltwise_tanh};
  if (node.op == "sigmoid") return Eltwise{dnnl::algorithm::eltwise_logistic};
  if (node.op == "exp") return Eltwise{dnnl::algorithm::eltwise_exp};
  if (node.op == "log") return Eltwise{dnnl::algorithm::eltwise_log};
  if (node.op == "sqrt") return Eltwise{dnnl::algorithm::eltwise_sqrt};
  if (node.op == "abs") return Eltwise{dnnl::algorithm::eltwise_abs};
  if (node.op == "nn.leaky_relu") {
    return Eltwise{dnnl::algorithm::eltwise_relu,
                   static_cast<float>(node.attrs->get_float("alpha"))};
  }
  if (node.op == "clip") {
    if (node.attrs->is_null("a_min") || node.attrs->is_null("a_max")) return std::nullopt;
    return Eltwise{dnnl::algorithm::eltwise_clip,
                   static_cast<float>(node.attrs->get_float("a_min")),
                   static_cast<float>(node.attrs->get_float("a_max"))};
  }
  return std::nullopt;
}

std::optional<dnnl::algorithm> binary_of(const lang::ExternalNode& node) {
  if (node.op == "add" || node.op == "nn.bias_add") return dnnl::algorithm::binary_add;
  if (node.op == "multiply") return dnnl::algorithm::binary_mul;
  if (node.op == "subtract") return dnnl::algorithm::binary_sub;
  return std::nullopt;
}

Order order_of_layout(std::string_view layout, std::string_view wanted) {
  Order order;
  for (const char axis : wanted) order.push_back(layout.find(axis));
  return order;
}

Order natural_order(std::size_t rank) {
  Order order(rank);
  for (std::size_t i = 0; i < rank; ++i) order[i] = i;
  return order;
}

dnnl::memory::desc strided(const dnnl::memory::dims& extents, const dnnl::memory::dims& strides) {
  dnnl::memory::dims settled = strides;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    if (extents[i] != 1) continue;
    settled[i] = 1;
    for (std::size_t j = 0; j < extents.size(); ++j) {
      if (extents[j] != 1) settled[i] = std::max(settled[i], extents[j] * strides[j]);
    }
  }
  return {extents, dnnl::memory::data_type::f32, settled};
}

dnnl::memory::desc in_order(const std::vector<std::int64_t>& shape, const Order& order) {
  dnnl::memory::dims strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  dnnl::memory::dims extents;
  dnnl::memory::dims steps;
  for (const std::size_t axis : order) {
    extents.push_back(shape[axis]);
    steps.push_back(strides[axis]);
  }
  return strided(extents, steps);
}

dnnl::memory::desc any_layout(const dnnl::memory::desc& plain) {
  return {plain.dims(), plain.data_type(), dnnl::memory::format_tag::any};
}

}  // namespace relay::kernels
