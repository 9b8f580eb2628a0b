#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <oneapi/dnnl/dnnl.hpp>

#include "lang/external_graph.h"

// How oneDNN says what operators and tensors are.
namespace relay::kernels {

// The processor.
const dnnl::engine& dnnl_engine();

// What is done to each element of a tensor, where that is an operation of oneDNN's.
struct Eltwise {
  dnnl::algorithm kind;
  float alpha = 0, beta = 0;
};
std::optional<Eltwise> eltwise_of(const lang::ExternalNode& node);
// The same of two operands.
std::optional<dnnl::algorithm> binary_of(const lang::ExternalNode& node);

// Axes of oneDNN's order, each as the axis of the tensor.
using Order = std::vector<std::size_t>;
Order order_of_layout(std::string_view layout, std::string_view wanted);
Order natural_order(std::size_t rank);

// A tensor of float32 that lies so. Strides of axes of extent 1 mean nothing, and oneDNN wants them
// in order.
dnnl::memory::desc strided(const dnnl::memory::dims& extents, const dnnl::memory::dims& strides);
// A row-major tensor whose axes oneDNN counts in that order.
dnnl::memory::desc in_order(const std::vector<std::int64_t>& shape, const Order& order);
// The same extents, lying as a primitive wants them.
dnnl::memory::desc any_layout(const dnnl::memory::desc& plain);

}  // namespace relay::kernels
