// The one file that knows protobuf.
#include "models/onnx/onnx.h"

#ifndef RELAY_HAS_ONNX

namespace relay::models::onnx {

lang::Result<Model> read_model(const std::string&) {
  return lang::Diagnostic(
      lang::DiagnosticKind::Unsupported,
      "not supported: this build has no ONNX (Debian: libonnx-dev, libprotobuf-dev)");
}

}  // namespace relay::models::onnx

#else

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <limits>
#include <set>

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include "formats/bytes.h"

namespace relay::models::onnx {

namespace {

namespace pb = ::onnx;
using lang::DiagnosticKind;
using lang::DType;
using lang::Tensor;
using lang::TensorRef;

constexpr std::size_t kMostAxes = 64;

std::optional<DType> dtype_of(int type) {
  switch (type) {
    case pb::TensorProto::FLOAT:
      return DType::Float32;
    case pb::TensorProto::UINT8:
      return DType::UInt8;
    case pb::TensorProto::INT8:
      return DType::Int8;
    case pb::TensorProto::UINT16:
      return DType::UInt16;
    case pb::TensorProto::INT16:
      return DType::Int16;
    case pb::TensorProto::INT32:
      return DType::Int32;
    case pb::TensorProto::INT64:
      return DType::Int64;
    case pb::TensorProto::BOOL:
      return DType::Bool;
    case pb::TensorProto::FLOAT16:
      return DType::Float16;
    case pb::TensorProto::DOUBLE:
      return DType::Float64;
    case pb::TensorProto::UINT32:
      return DType::UInt32;
    case pb::TensorProto::UINT64:
      return DType::UInt64;
    case pb::TensorProto::BFLOAT16:
      return DType::BFloat16;
    default:
      return std::nullopt;
  }
}

// A file as it is read: what is said of it names it.
class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path) {}

  Model read() {
    pb::ModelProto proto;
    const std::string bytes = whole_file();
    if (!proto.ParseFromString(bytes) || !proto.has_graph())
      bad("this is no ONNX model: its bytes are no message of ONNX's definitions with a graph");
    Model model;
    model.producer = proto.producer_name();
    if (!proto.producer_version().empty()) model.producer += " " + proto.producer_version();
    for (const auto& each : proto.opset_import())
      model.opsets[each.domain() == "ai.onnx" ? std::string() : each.domain()] = each.version();
    if (proto.functions_size() > 0)
      unsupported(fmt::format("functions of a model's own (`{}`)", proto.functions(0).name()));
    model.graph = graph(proto.graph());
    return model;
  }

 private:
  [[noreturn]] void bad(const std::string& what) const {
    lang::fail(DiagnosticKind::BadData, fmt::format("{}: {}", path_, what));
  }
  [[noreturn]] void unsupported(const std::string& what) const {
    lang::fail(DiagnosticKind::Unsupported, fmt::format("{}: not supported: {}", path_, what));
  }

  std::string whole_file() const {
    formats::FileReader reader({.path = path_});
    reader.require_regular("a model");
    if (reader.size() > std::numeric_limits<std::int32_t>::max())
      unsupported("a model of more than 2 GB in one file");
    std::string bytes(static_cast<std::size_t>(reader.size()), '\0');
    reader.read(std::as_writable_bytes(std::span(bytes)));
    return bytes;
  }

  // The number of elements; more than there can be is an error.
  std::int64_t element_count(const pb::TensorProto& proto) const {
    if (static_cast<std::size_t>(proto.dims_size()) > kMostAxes)
      bad(fmt::format("the tensor {} has {} axes", quote(proto.name()), proto.dims_size()));
    std::int64_t count = 1;
    for (const std::int64_t extent : proto.dims()) {
      if (extent < 0 || __builtin_mul_overflow(count, extent, &count) ||
          count > std::numeric_limits<std::int32_t>::max() * 64LL) {
        bad(fmt::format("the tensor {} has the extent {}", quote(proto.name()), extent));
      }
    }
    return count;
  }
  static std::string quote(std::string_view text) { return formats::in_backticks(text); }

  TensorRef tensor(const pb::TensorProto& proto) const {
    const auto dtype = dtype_of(proto.data_type());
    if (!dtype)
      unsupported(fmt::format("the tensor {} of strings, complex or unknown numbers (type {})",
                              quote(proto.name()), proto.data_type()));
    if (proto.has_segment()) unsupported("tensors in segments");
    const std::int64_t count = element_count(proto);
    const auto bytes = count * static_cast<std::int64_t>(lang::size_of(*dtype));
    const std::vector<std::int64_t> shape(proto.dims().begin(), proto.dims().end());
    if (proto.data_location() == pb::TensorProto::EXTERNAL)
      return external(proto, *dtype, shape, bytes);
    if (proto.has_raw_data()) {
      if (static_cast<std::int64_t>(proto.raw_data().size()) != bytes)
        bad_size(proto, static_cast<std::int64_t>(proto.raw_data().size()), bytes, "bytes");
      TensorRef result = Tensor::make(*dtype, shape);
      std::copy_n(reinterpret_cast<const std::byte*>(proto.raw_data().data()), bytes,
                  result->data());
      return checked_bools(std::move(result));
    }
    return from_fields(proto, *dtype, shape, count);
  }

  [[noreturn]] void bad_size(const pb::TensorProto& proto, std::int64_t found, std::int64_t wanted,
                             std::string_view unit) const {
    bad(fmt::format("the tensor {} has {} {}, and its shape asks for {}", quote(proto.name()),
                    found, unit, wanted));
  }

  static TensorRef checked_bools(TensorRef tensor) {
    if (tensor->dtype() != DType::Bool) return tensor;
    auto* bytes = tensor->data_as<std::uint8_t>();
    for (std::int64_t k = 0; k < tensor->element_count(); ++k) bytes[k] = bytes[k] != 0;
    return tensor;
  }

  TensorRef from_fields(const pb::TensorProto& proto, DType dtype,
                        const std::vector<std::int64_t>& shape, std::int64_t count) const {
    const auto filled = [&](const auto& field, auto&& bits) {
      if (field.size() != count) bad_size(proto, field.size(), count, "elements");
      TensorRef result = Tensor::make(dtype, shape);
      for (std::int64_t k = 0; k < count; ++k)
        result->set_bits(k, bits(field[static_cast<int>(k)]));
      return result;
    };
    const auto integer = [&](auto value) {
      return lang::bits_from_int(dtype, static_cast<std::int64_t>(value));
    };
    switch (dtype) {
      case DType::Float32:
        return filled(proto.float_data(),
                      [&](float v) { return lang::bits_from_double(dtype, v); });
      case DType::Float64:
        return filled(proto.double_data(),
                      [&](double v) { return lang::bits_from_double(dtype, v); });
      case DType::Int64:
        return filled(proto.int64_data(), integer);
      case DType::UInt32:
      case DType::UInt64:
        return filled(proto.uint64_data(), integer);
      case DType::Float16:
      case DType::BFloat16:
        return filled(proto.int32_data(), [](std::int32_t v) { return std::uint64_t(v & 0xffff); });
      case DType::Bool:
        return filled(proto.int32_data(), [](std::int32_t v) { return std::uint64_t(v != 0); });
      default:
        return filled(proto.int32_data(), integer);
    }
  }

  // Of a file in the model's own folder, or beneath it.
  TensorRef external(const pb::TensorProto& proto, DType dtype,
                     const std::vector<std::int64_t>& shape, std::int64_t bytes) const {
    std::string location;
    std::int64_t offset = 0;
    std::int64_t length = bytes;
    const auto number = [&](const std::string& text, std::int64_t& value) {
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      if (error != std::errc() || end != text.data() + text.size() || value < 0)
        bad(fmt::format("the data of the tensor {} stand at {}", quote(proto.name()), quote(text)));
    };
    for (const auto& each : proto.external_data()) {
      if (each.key() == "location") location = each.value();
      if (each.key() == "offset") number(each.value(), offset);
      if (each.key() == "length") number(each.value(), length);
    }
    if (length != bytes) bad_size(proto, length, bytes, "bytes");
    namespace fs = std::filesystem;
    fs::path folder = fs::path(path_).parent_path();
    if (folder.empty()) folder = ".";
    if (location.empty() || fs::path(location).is_absolute())
      bad(fmt::format(
          "the data of the tensor {} stand in {}, which is not beneath the model's folder",
          quote(proto.name()), quote(location)));
    formats::FileReader reader(
        {.path = (folder / location).string(),
         .access = formats::FileAccess::beneath({folder.string()}, "the model's folder")});
    reader.require_regular("the data of a model");
    if (reader.size() < offset || reader.size() - offset < bytes)
      bad(fmt::format("the tensor {} has its {} bytes at {} of {}, which has {}",
                      quote(proto.name()), bytes, offset, quote(location), reader.size()));
    reader.skip_to(offset);
    TensorRef result = Tensor::make(dtype, shape);
    formats::read_elements(reader, *result, nullptr);
    return checked_bools(std::move(result));
  }

  Port port(const pb::ValueInfoProto& proto) const {
    Port port;
    port.name = proto.name();
    if (!proto.has_type()) return port;
    if (!proto.type().has_tensor_type())
      unsupported(fmt::format("the input or output {}, which is no tensor", quote(proto.name())));
    const auto& type = proto.type().tensor_type();
    port.dtype = dtype_of(type.elem_type());
    if (!port.dtype && type.elem_type() != 0)
      unsupported(
          fmt::format("the input or output {} of strings, complex or unknown numbers (type {})",
                      quote(proto.name()), type.elem_type()));
    if (!type.has_shape()) return port;
    port.shape.emplace();
    if (static_cast<std::size_t>(type.shape().dim_size()) > kMostAxes)
      bad(fmt::format("{} has {} axes", quote(proto.name()), type.shape().dim_size()));
    for (const auto& dim : type.shape().dim()) {
      Extent extent;
      if (dim.has_dim_value() && dim.dim_value() >= 0) extent.number = dim.dim_value();
      if (dim.has_dim_param()) extent.name = dim.dim_param();
      port.shape->push_back(std::move(extent));
    }
    return port;
  }

  std::optional<Attribute> attribute(const pb::AttributeProto& proto) const {
    using Kind = pb::AttributeProto;
    if (!proto.ref_attr_name().empty()) unsupported("attributes of functions of a model's own");
    switch (proto.type()) {
      case Kind::FLOAT:
        return double(proto.f());
      case Kind::INT:
        return std::int64_t(proto.i());
      case Kind::STRING:
        return proto.s();
      case Kind::TENSOR:
        return tensor(proto.t());
      case Kind::GRAPH:
        return std::make_shared<Graph>(graph(proto.g()));
      case Kind::FLOATS:
        return std::vector<double>(proto.floats().begin(), proto.floats().end());
      case Kind::INTS:
        return std::vector<std::int64_t>(proto.ints().begin(), proto.ints().end());
      case Kind::STRINGS:
        return std::vector<std::string>(proto.strings().begin(), proto.strings().end());
      default:
        return std::nullopt;  // whoever needs it misses it
    }
  }

  Node node(const pb::NodeProto& proto) const {
    Node node{.op = proto.op_type(),
              .domain = proto.domain() == "ai.onnx" ? std::string() : proto.domain(),
              .name = proto.name(),
              .inputs = {proto.input().begin(), proto.input().end()},
              .outputs = {proto.output().begin(), proto.output().end()},
              .attributes = {}};
    for (const auto& each : proto.attribute()) {
      if (auto value = attribute(each))
        node.attributes.insert_or_assign(each.name(), *std::move(value));
    }
    return node;
  }

  Graph graph(const pb::GraphProto& proto) const {
    Graph graph;
    graph.name = proto.name();
    if (proto.sparse_initializer_size() > 0) unsupported("weights that are sparse tensors");
    // Whose value would a second one have?
    std::set<std::string> names;
    const auto take = [&](const std::string& name) {
      if (!name.empty() && !names.insert(name).second)
        bad(fmt::format("{} is made twice", quote(name)));
    };
    std::set<std::string> weights;
    for (const auto& each : proto.initializer()) {
      take(each.name());
      weights.insert(each.name());
      graph.weights.push_back({each.name(), tensor(each)});
    }
    for (const auto& each : proto.input()) {
      if (weights.contains(each.name())) continue;  // its weight is what it has without another
      take(each.name());
      graph.inputs.push_back(port(each));
    }
    for (const auto& each : proto.output()) graph.outputs.push_back(port(each));
    for (const auto& each : proto.node()) {
      for (const std::string& output : each.output()) take(output);
      graph.nodes.push_back(node(each));
    }
    return graph;
  }

  std::string path_;
};

}  // namespace

lang::Result<Model> read_model(const std::string& path) {
  // What it says of a damaged file, to standard error, is said by a diagnostic here.
  const google::protobuf::LogSilencer silence;
  return lang::capture([&] { return Reader(path).read(); });
}

}  // namespace relay::models::onnx

#endif
