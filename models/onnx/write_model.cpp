// Models as messages of ONNX's definitions.
#include "models/onnx/write_model.h"

namespace relay::models::onnx {

std::int64_t number_of(lang::DType dtype) {
  using lang::DType;
  switch (dtype) {
    case DType::Float32:
      return 1;
    case DType::UInt8:
      return 2;
    case DType::Int8:
      return 3;
    case DType::UInt16:
      return 4;
    case DType::Int16:
      return 5;
    case DType::Int32:
      return 6;
    case DType::Int64:
      return 7;
    case DType::Bool:
      return 9;
    case DType::Float16:
      return 10;
    case DType::Float64:
      return 11;
    case DType::UInt32:
      return 12;
    case DType::UInt64:
      return 13;
    case DType::BFloat16:
      return 16;
  }
  return 0;
}

}  // namespace relay::models::onnx

#ifndef RELAY_HAS_ONNX

namespace relay::models::onnx {

bool has_onnx() { return false; }

lang::Result<std::string> write_model(const Model&) {
  return lang::Diagnostic(lang::DiagnosticKind::Unsupported,
                          "not supported: this build has no ONNX")
      .note(
          "help: install libonnx-dev, libprotobuf-dev and protobuf-compiler (Debian), and build "
          "anew");
}

}  // namespace relay::models::onnx

#else

#include <limits>

#include <onnx/onnx_pb.h>

namespace relay::models::onnx {

namespace {

namespace pb = ::onnx;

constexpr std::int64_t kIrVersion = 8;

void fill(pb::TensorProto& proto, const lang::TensorRef& given) {
  const lang::TensorRef tensor = lang::contiguous(given);
  proto.set_data_type(static_cast<int>(number_of(tensor->dtype())));
  for (const std::int64_t extent : tensor->shape()) proto.add_dims(extent);
  proto.set_raw_data(tensor->data(), static_cast<std::size_t>(tensor->element_count()) *
                                         lang::size_of(tensor->dtype()));
}

void fill(pb::ValueInfoProto& proto, const Port& port) {
  proto.set_name(port.name);
  auto& type = *proto.mutable_type()->mutable_tensor_type();
  type.set_elem_type(static_cast<int>(number_of(port.dtype.value())));
  auto& shape = *type.mutable_shape();
  for (const Extent& extent : port.shape.value()) {
    auto& dim = *shape.add_dim();
    if (extent.number) {
      dim.set_dim_value(*extent.number);
    } else if (!extent.name.empty()) {
      dim.set_dim_param(extent.name);
    }
  }
}

void fill(pb::GraphProto& proto, const Graph& graph);

struct AttributeFiller {
  pb::AttributeProto& proto;
  void operator()(std::int64_t value) const {
    proto.set_type(pb::AttributeProto::INT);
    proto.set_i(value);
  }
  void operator()(double value) const {
    proto.set_type(pb::AttributeProto::FLOAT);
    proto.set_f(static_cast<float>(value));
  }
  void operator()(const std::string& value) const {
    proto.set_type(pb::AttributeProto::STRING);
    proto.set_s(value);
  }
  void operator()(const lang::TensorRef& value) const {
    proto.set_type(pb::AttributeProto::TENSOR);
    fill(*proto.mutable_t(), value);
  }
  void operator()(const std::shared_ptr<Graph>& value) const {
    proto.set_type(pb::AttributeProto::GRAPH);
    fill(*proto.mutable_g(), *value);
  }
  void operator()(const std::vector<std::int64_t>& values) const {
    proto.set_type(pb::AttributeProto::INTS);
    for (const std::int64_t each : values) proto.add_ints(each);
  }
  void operator()(const std::vector<double>& values) const {
    proto.set_type(pb::AttributeProto::FLOATS);
    for (const double each : values) proto.add_floats(static_cast<float>(each));
  }
  void operator()(const std::vector<std::string>& values) const {
    proto.set_type(pb::AttributeProto::STRINGS);
    for (const std::string& each : values) proto.add_strings(each);
  }
};

void fill(pb::NodeProto& proto, const Node& node) {
  proto.set_op_type(node.op);
  proto.set_domain(node.domain);
  proto.set_name(node.name);
  for (const std::string& each : node.inputs) proto.add_input(each);
  for (const std::string& each : node.outputs) proto.add_output(each);
  for (const auto& [key, value] : node.attributes) {
    pb::AttributeProto& attribute = *proto.add_attribute();
    attribute.set_name(key);
    std::visit(AttributeFiller{attribute}, value);
  }
}

void fill(pb::GraphProto& proto, const Graph& graph) {
  proto.set_name(graph.name);
  for (const Port& each : graph.inputs) fill(*proto.add_input(), each);
  for (const Port& each : graph.outputs) fill(*proto.add_output(), each);
  for (const Weight& each : graph.weights) {
    pb::TensorProto& tensor = *proto.add_initializer();
    fill(tensor, each.tensor);
    tensor.set_name(each.name);
  }
  for (const Node& each : graph.nodes) fill(*proto.add_node(), each);
}

}  // namespace

bool has_onnx() { return true; }

lang::Result<std::string> write_model(const Model& model) {
  const google::protobuf::LogSilencer silence;
  pb::ModelProto proto;
  proto.set_ir_version(kIrVersion);
  proto.set_producer_name(model.producer);
  for (const auto& [domain, version] : model.opsets) {
    auto& opset = *proto.add_opset_import();
    opset.set_domain(domain);
    opset.set_version(version);
  }
  fill(*proto.mutable_graph(), model.graph);
  std::string bytes;
  const bool fits = proto.ByteSizeLong() <= std::numeric_limits<std::int32_t>::max();
  if (!fits || !proto.SerializeToString(&bytes)) {
    return lang::Diagnostic(lang::DiagnosticKind::Unsupported,
                            "not supported: a model of more than 2 GB in one file");
  }
  return bytes;
}

}  // namespace relay::models::onnx

#endif
