#include "models/exporter/graph_writer.h"

#include <algorithm>
#include <functional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lang/diagnostic.h"
#include "lang/match_dims.h"

namespace relay::models::exporter {

namespace {

constexpr std::int64_t kShort =
    16;                          // elements of a constant that is part of the code, and no weight
constexpr char kNumbered = '%';  // no name in a program begins so

lang::TensorRef integers_tensor(const std::vector<std::int64_t>& numbers) {
  const auto tensor =
      lang::Tensor::make(lang::DType::Int64, {static_cast<std::int64_t>(numbers.size())});
  std::copy(numbers.begin(), numbers.end(), tensor->data_as<std::int64_t>());
  return tensor;
}

lang::TensorRef scalar_tensor(std::int64_t number) {
  return lang::Tensor::scalar(lang::DType::Int64, static_cast<std::uint64_t>(number));
}

// What the nodes of a graph, and those inside of them, take from outside or from each other.
void add_needed(const Node& node, std::set<std::string>& needed) {
  for (const std::string& each : node.inputs) needed.insert(each);
  for (const auto& [key, value] : node.attributes) {
    const auto* inner = std::get_if<std::shared_ptr<Graph>>(&value);
    if (!inner) continue;
    for (const Node& each : (*inner)->nodes) add_needed(each, needed);
    for (const Port& each : (*inner)->outputs) needed.insert(each.name);
  }
}

// Leaves out the nodes that nothing needs.
void prune(Graph& graph) {
  std::set<std::string> needed;
  for (const Port& each : graph.outputs) needed.insert(each.name);
  std::vector<Node> kept;
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    const bool is_needed = std::any_of(node->outputs.begin(), node->outputs.end(),
                                       [&](const auto& name) { return needed.contains(name); });
    if (!is_needed) continue;
    add_needed(*node, needed);
    kept.push_back(std::move(*node));
  }
  std::reverse(kept.begin(), kept.end());
  graph.nodes = std::move(kept);
  std::erase_if(graph.weights, [&](const Weight& each) { return !needed.contains(each.name); });
}

// Calls what has a number by its name, or by its operator, in a graph and those inside of it.
void give_names(Graph& graph, const std::function<void(std::string&, const std::string&)>& give) {
  for (Node& node : graph.nodes) {
    for (std::string& each : node.inputs) give(each, "");
    for (std::string& each : node.outputs) give(each, node.op);
    node.name = node.outputs.front();
    for (auto& [key, value] : node.attributes) {
      if (const auto* inner = std::get_if<std::shared_ptr<Graph>>(&value))
        give_names(**inner, give);
    }
  }
  for (Port& each : graph.outputs) give(each.name, "");
}

}  // namespace

Port port_of(const std::string& name, const lang::Type& type) {
  const auto* tensor = lang::as<lang::TensorType>(type);
  RELAY_CHECK(tensor, "a port is a tensor");
  Port port{.name = name, .dtype = tensor->dtype.known(), .shape = std::vector<Extent>()};
  for (const lang::Dim& dim : tensor->shape.dims()) {
    if (dim.is_constant()) {
      port.shape->push_back({dim.constant(), {}});
    } else {
      port.shape->push_back({std::nullopt, dim.is_any() ? std::string() : dim.to_string()});
    }
  }
  return port;
}

std::string GraphWriter::fresh(std::string_view wanted) {
  std::string name(wanted);
  int& next = next_.try_emplace(name, 2).first->second;
  while (!taken_.insert(name).second) name = fmt::format("{}_{}", wanted, next++);
  return name;
}

std::string GraphWriter::numbered() { return fmt::format("{}{}", kNumbered, numbers_++); }

std::string GraphWriter::input(const std::string& wanted, const lang::Type& type) {
  const std::string name = fresh(wanted);
  levels_.front().graph.inputs.push_back(port_of(name, type));
  const auto& dims = lang::as<lang::TensorType>(type)->shape.dims();
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    if (!dims[axis].is_constant())
      sources_.push_back({name, static_cast<std::int64_t>(axis), dims[axis]});
  }
  return name;
}

std::vector<std::string> GraphWriter::nodes(std::string_view op, std::vector<std::string> inputs,
                                            Attributes attributes, std::size_t outputs) {
  Node node;
  node.op = op;
  while (!inputs.empty() && inputs.back().empty()) inputs.pop_back();
  node.inputs = std::move(inputs);
  node.attributes = std::move(attributes);
  for (std::size_t k = 0; k < outputs; ++k) node.outputs.push_back(numbered());
  levels_.back().graph.nodes.push_back(node);
  return node.outputs;
}

std::string GraphWriter::node(std::string_view op, std::vector<std::string> inputs,
                              Attributes attributes) {
  return nodes(op, std::move(inputs), std::move(attributes), 1).front();
}

std::string GraphWriter::unsqueeze(const std::string& name, const std::vector<std::int64_t>& axes) {
  if (axes.empty()) return name;
  std::string result = node("Unsqueeze", {name, integers(axes)});
  before_.emplace(std::pair(result, axes), name);
  return result;
}

std::string GraphWriter::squeeze(const std::string& name, const std::vector<std::int64_t>& axes) {
  if (axes.empty()) return name;
  const auto before = before_.find({name, axes});
  return before == before_.end() ? node("Squeeze", {name, integers(axes)}) : before->second;
}

std::string GraphWriter::constant(const lang::TensorRef& tensor, std::string_view wanted) {
  const std::string key =
      fmt::format("{} {}", lang::name_of(tensor->dtype()), fmt::join(tensor->shape(), " "));
  auto& alike = constants_[key];
  const bool is_code = tensor->element_count() <= kShort && wanted.empty();
  for (const auto& [known, name] : alike) {
    const bool is_same = known == tensor || lang::bit_equal(*known, *tensor);
    if (is_same && (is_code || name == wanted)) return name;
  }
  if (is_code) {
    Node node;
    node.op = "Constant";
    node.attributes["value"] = tensor;
    node.outputs = {numbered()};
    early_.push_back(node);
    alike.emplace_back(tensor, node.outputs[0]);
    return node.outputs[0];
  }
  const std::string name = fresh(wanted.empty() ? "constant" : wanted);
  levels_.front().graph.weights.push_back({name, tensor});
  alike.emplace_back(tensor, name);
  return name;
}

std::string GraphWriter::integers(const std::vector<std::int64_t>& numbers) {
  return constant(integers_tensor(numbers));
}

std::string GraphWriter::scalar(double number, lang::DType dtype) {
  return constant(lang::Tensor::scalar(dtype, lang::bits_from_double(dtype, number)));
}

std::string GraphWriter::name_of(Value& value) {
  if (value.name.empty()) value.name = constant(value.constant, value.wanted);
  return value.name;
}

void GraphWriter::rename(const Value& value, const std::string& wanted) {
  if (!value.is_tensor() || !value.name.starts_with(kNumbered)) return;
  std::string& name = names_[value.name];
  if (name.empty()) name = fresh(wanted);
}

// --- Extents ---

std::string GraphWriter::early(std::string_view op, std::vector<std::string> inputs,
                               Attributes attributes) {
  std::string key = fmt::format("{} {}", op, fmt::join(inputs, " "));
  for (const auto& [name, value] : attributes) {
    if (const auto* number = std::get_if<std::int64_t>(&value))
      key += fmt::format(" {}={}", name, *number);
  }
  const auto found = early_names_.find(key);
  if (found != early_names_.end()) return found->second;
  Node node;
  node.op = op;
  node.inputs = std::move(inputs);
  node.attributes = std::move(attributes);
  node.outputs = {numbered()};
  early_.push_back(node);
  return early_names_[key] = node.outputs[0];
}

std::string GraphWriter::variable(const lang::TypeVarRef& var) {
  for (const Source& source : sources_) {
    const auto is_known = [&](const lang::TypeVarRef& each) { return each != var; };
    const lang::Dim::Term* term = lang::sole_unknown(source.extent, is_known);
    if (!term || source.extent.terms().size() != 1) continue;
    const std::string shape = early("Shape", {source.input});
    std::string value =
        early("Gather", {shape, constant(scalar_tensor(source.axis))}, {{"axis", std::int64_t{0}}});
    if (source.extent.constant_part() != 0)
      value = early("Sub", {value, constant(scalar_tensor(source.extent.constant_part()))});
    if (term->coefficient != 1)
      value = early("Div", {value, constant(scalar_tensor(term->coefficient))});
    return value;
  }
  lang::fail(lang::DiagnosticKind::Unsupported,
             fmt::format("not supported in ONNX: the extent `{}`, which no input has", var->name));
}

std::string GraphWriter::extent_of(const lang::DimAtom& atom) {
  if (atom.variable) return variable(atom.variable);
  return early("Div", {extent(atom.division->first), extent(atom.division->second)});
}

std::string GraphWriter::extent(const lang::Dim& dim) {
  if (dim.is_constant()) return constant(scalar_tensor(dim.constant()));
  if (dim.is_any())
    lang::fail(lang::DiagnosticKind::Unsupported,
               "not supported in ONNX: an extent that is not known (`?`)");
  std::string sum;
  for (const lang::Dim::Term& term : dim.terms()) {
    std::string product;
    for (const auto& atom : term.atoms) {
      const std::string factor = extent_of(*atom);
      product = product.empty() ? factor : early("Mul", {product, factor});
    }
    if (term.coefficient != 1)
      product = early("Mul", {product, constant(scalar_tensor(term.coefficient))});
    sum = sum.empty() ? product : early("Add", {sum, product});
  }
  if (dim.constant_part() != 0)
    sum = early("Add", {sum, constant(scalar_tensor(dim.constant_part()))});
  return sum;
}

std::string GraphWriter::extents(const std::vector<lang::Dim>& dims) {
  const bool are_known =
      std::all_of(dims.begin(), dims.end(), [](const lang::Dim& dim) { return dim.is_constant(); });
  if (are_known) {
    std::vector<std::int64_t> numbers;
    for (const lang::Dim& dim : dims) numbers.push_back(dim.constant());
    return integers(numbers);
  }
  std::vector<std::string> parts;
  for (const lang::Dim& dim : dims)
    parts.push_back(dim.is_constant() ? integers({dim.constant()})
                                      : early("Unsqueeze", {extent(dim), integers({0})}));
  return parts.size() == 1 ? parts[0] : early("Concat", parts, {{"axis", std::int64_t{0}}});
}

// --- Graphs inside of others ---

void GraphWriter::open(const std::string& name) {
  levels_.emplace_back();
  levels_.back().graph.name = fresh(name);
}

std::string GraphWriter::inner_input(const std::string& wanted, const lang::Type& type) {
  const std::string name = fresh(wanted);
  levels_.back().graph.inputs.push_back(port_of(name, type));
  return name;
}

std::string GraphWriter::output(Value& value, const std::string& wanted) {
  Level& level = levels_.back();
  std::string name = name_of(value);
  const bool is_own =
      std::any_of(level.graph.nodes.begin(), level.graph.nodes.end(), [&](const Node& each) {
        return std::find(each.outputs.begin(), each.outputs.end(), name) != each.outputs.end();
      });
  if (!is_own || level.given.contains(name)) {
    name = node("Identity", {name});
    rename(tensor_value(name, value.type), wanted);
  }
  level.given.insert(name);
  level.graph.outputs.push_back(port_of(name, value.type));
  return name;
}

std::shared_ptr<Graph> GraphWriter::close() {
  auto graph = std::make_shared<Graph>(std::move(levels_.back().graph));
  levels_.pop_back();
  prune(*graph);
  return graph;
}

Graph GraphWriter::finish() {
  Graph graph = std::move(levels_.front().graph);
  graph.nodes.insert(graph.nodes.begin(), std::make_move_iterator(early_.begin()),
                     std::make_move_iterator(early_.end()));
  prune(graph);
  give_names(graph, [&](std::string& name, const std::string& op) {
    if (!name.starts_with(kNumbered)) return;
    std::string& given = names_[name];
    if (given.empty()) given = fresh(op);
    name = given;
  });
  return graph;
}

}  // namespace relay::models::exporter
