#include "external/graph_view.h"

#include <nlohmann/json.hpp>

namespace relay::external {

namespace {

nlohmann::ordered_json json_of(const lang::AttrValue& value) {
  if (const bool* flag = value.as_bool()) return *flag;
  if (const std::int64_t* number = value.as_int()) return *number;
  if (const double* number = value.as_float()) return *number;
  if (const std::string* text = value.as_string()) return *text;
  if (const auto* list = value.as_list()) {
    auto json = nlohmann::ordered_json::array();
    for (const lang::AttrValue& each : *list) json.push_back(json_of(each));
    return json;
  }
  if (value.is_null()) return nullptr;
  if (const lang::DType* dtype = value.as_dtype()) return std::string(lang::name_of(*dtype));
  return value.to_string();
}

std::vector<RelayValue> plain(const std::vector<lang::ExternalValue>& values) {
  std::vector<RelayValue> made;
  made.reserve(values.size());
  for (const lang::ExternalValue& value : values)
    made.push_back(
        {static_cast<std::int32_t>(value.node), static_cast<std::int32_t>(value.output)});
  return made;
}

std::int32_t count(std::size_t size) { return static_cast<std::int32_t>(size); }

}  // namespace

DLDataType dl_type(lang::DType dtype) {
  const auto bits = static_cast<std::uint8_t>(8 * lang::size_of(dtype));
  if (dtype == lang::DType::Bool) return {kDLBool, 8, 1};
  if (dtype == lang::DType::BFloat16) return {kDLBfloat, 16, 1};
  if (lang::is_float(dtype)) return {kDLFloat, bits, 1};
  return {static_cast<std::uint8_t>(lang::is_unsigned_int(dtype) ? kDLUInt : kDLInt), bits, 1};
}

DLTensor dl_tensor(lang::DType dtype, std::vector<std::int64_t>& shape) {
  DLTensor tensor{};
  tensor.device = {kDLCPU, 0};
  tensor.ndim = count(shape.size());
  tensor.dtype = dl_type(dtype);
  tensor.shape = shape.data();
  return tensor;
}

std::string attributes_json(const lang::AttrsRef& attrs) {
  auto json = nlohmann::ordered_json::object();
  if (attrs) {
    for (const lang::Attr& attr : attrs->list) json[attr.key] = json_of(attr.value);
  }
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

GraphView::GraphView(const lang::ExternalGraph& graph) {
  for (const lang::ExternalNode& node : graph.nodes) {
    RelayNode made{};
    made.kind = static_cast<std::int32_t>(node.kind);
    made.composite = node.composite;
    auto& outputs = tensors_.emplace_back();
    for (const lang::ExternalType& type : node.outputs)
      outputs.push_back(dl_tensor(type.dtype, shapes_.emplace_back(type.shape)));
    if (node.kind == lang::ExternalNode::Kind::Constant) outputs[0].data = node.constant->data();
    made.output_count = count(outputs.size());
    made.outputs = outputs.data();
    if (node.kind == lang::ExternalNode::Kind::Call) {
      made.op = texts_.emplace_back(node.op).c_str();
      made.attributes = texts_.emplace_back(attributes_json(node.attrs)).c_str();
      const auto& inputs = values_.emplace_back(plain(node.inputs));
      made.input_count = count(inputs.size());
      made.inputs = inputs.data();
    }
    nodes_.push_back(made);
  }
  for (const lang::ExternalComposite& each : graph.composites)
    composites_.push_back({each.name.c_str(), count(each.first), count(each.last)});
  const auto& results = values_.emplace_back(plain(graph.results));
  graph_ = {graph.symbol.c_str(), graph.text.c_str(),      count(nodes_.size()),
            nodes_.data(),        count(graph.parameters), count(composites_.size()),
            composites_.data(),   count(results.size()),   results.data()};
}

}  // namespace relay::external
