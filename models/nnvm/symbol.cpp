#include "models/nnvm/symbol.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "formats/bytes.h"

namespace relay::models::nnvm {

using formats::bad_data;
using formats::in_backticks;
using SymbolJson = nlohmann::json;

namespace {

class SymbolReader {
 public:
  SymbolReader(const std::string& path, const SymbolJson& json) : path_(path), json_(json) {}

  Symbol read() {
    if (!json_.is_object()) fail("the graph is no object");
    Symbol symbol;
    symbol.path = path_;
    read_outputs();
    for (const SymbolJson& node : list(json_, "nodes", "the graph")) {
      nodes_ = symbol.nodes.size();
      symbol.nodes.push_back(read_node(node));
      symbol.has_param |= node.contains("param") && !symbol.nodes.back().op.empty();
    }
    nodes_ = symbol.nodes.size();
    if (!first_outputs_.empty() && first_outputs_.size() != nodes_ + 1) {
      fail(fmt::format("`node_row_ptr` has {} numbers for {} nodes, and one more than nodes is due",
                       first_outputs_.size(), nodes_));
    }
    for (const SymbolJson& head : list(json_, "heads", "the graph"))
      symbol.heads.push_back(read_entry(head, "`heads`"));
    if (symbol.heads.empty()) fail("the graph has no heads: it computes nothing");
    check_arguments(symbol);
    symbol.mxnet_version = read_version();
    return symbol;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { bad_data(path_, what); }

  const SymbolJson& list(const SymbolJson& object, const char* key, const std::string& where) {
    const auto found = object.find(key);
    if (found == object.end()) fail(fmt::format("{} has no `{}`", where, key));
    if (!found->is_array()) fail(fmt::format("`{}` of {} is no list", key, where));
    return *found;
  }

  std::size_t number(const SymbolJson& json, const std::string& where) {
    if (!json.is_number_unsigned())
      fail(fmt::format(
          "in {} stands {}, where a number from 0 on is due", where,
          in_backticks(json.dump(-1, ' ', false, SymbolJson::error_handler_t::replace))));
    return json.get<std::size_t>();
  }

  const std::string& text(const SymbolJson& node, const char* key, const std::string& where) {
    const auto found = node.find(key);
    if (found == node.end() || !found->is_string())
      fail(fmt::format("{} has no `{}` that is a string", where, key));
    return found->get_ref<const std::string&>();
  }

  void read_outputs() {
    const auto found = json_.find("node_row_ptr");
    if (found == json_.end()) return;
    for (const SymbolJson& first : list(json_, "node_row_ptr", "the graph")) {
      first_outputs_.push_back(number(first, "`node_row_ptr`"));
      const std::size_t count = first_outputs_.size();
      if (count > 1 && first_outputs_[count - 1] <= first_outputs_[count - 2])
        fail(fmt::format("`node_row_ptr` does not grow at {}", count - 1));
    }
  }

  SymbolEntry read_entry(const SymbolJson& json, const std::string& where) {
    if (!json.is_array() || json.size() < 2 || json.size() > 3)
      fail(fmt::format("{} has an entry that is not `[node, output]` or `[node, output, version]`",
                       where));
    const SymbolEntry entry{number(json[0], where), number(json[1], where)};
    if (entry.node >= nodes_)
      fail(fmt::format("{} reads node {}, which does not come before", where, entry.node));
    const bool knows_outputs = entry.node + 1 < first_outputs_.size();
    if (knows_outputs &&
        entry.output >= first_outputs_[entry.node + 1] - first_outputs_[entry.node]) {
      fail(fmt::format("{} reads output {} of node {}, which has {}", where, entry.output,
                       entry.node, first_outputs_[entry.node + 1] - first_outputs_[entry.node]));
    }
    return entry;
  }

  SymbolNode read_node(const SymbolJson& json) {
    const std::string number_of_node = fmt::format("node {}", nodes_);
    if (!json.is_object()) fail(fmt::format("{} is no object", number_of_node));
    SymbolNode node;
    node.op = text(json, "op", number_of_node);
    if (node.op == "null") node.op.clear();
    node.name = text(json, "name", number_of_node);
    const std::string where = fmt::format("node {} ({})", nodes_, in_backticks(node.name));
    for (const SymbolJson& input : list(json, "inputs", where))
      node.inputs.push_back(read_entry(input, where));
    if (node.op.empty() && !node.inputs.empty())
      fail(fmt::format("{} is a variable and has inputs", where));
    // Where two of them say something, MXNet takes what stands in the first of these.
    for (const char* key : {"attrs", "attr", "param"}) read_attributes(json, key, where, node);
    return node;
  }

  void read_attributes(const SymbolJson& json, const char* key, const std::string& where,
                       SymbolNode& node) {
    const auto found = json.find(key);
    if (found == json.end()) return;
    if (!found->is_object()) fail(fmt::format("`{}` of {} is no object", key, where));
    for (const auto& [name, value] : found->items()) {
      if (!value.is_string())
        fail(fmt::format("attribute {} of {} is no string", in_backticks(name), where));
      node.attributes.emplace(name, value.get_ref<const std::string&>());
    }
  }

  void check_arguments(const Symbol& symbol) {
    if (!json_.contains("arg_nodes")) return;
    for (const SymbolJson& json : list(json_, "arg_nodes", "the graph")) {
      const std::size_t node = number(json, "`arg_nodes`");
      if (node >= nodes_) fail(fmt::format("`arg_nodes` names node {} of {}", node, nodes_));
      if (!symbol.nodes[node].op.empty())
        fail(fmt::format("`arg_nodes` names node {} ({}), which is no variable", node,
                         in_backticks(symbol.nodes[node].name)));
    }
  }

  // "attrs": {"mxnet_version": ["int", 10600]}
  std::optional<std::int64_t> read_version() const {
    const auto attributes = json_.find("attrs");
    if (attributes == json_.end() || !attributes->is_object()) return std::nullopt;
    const auto version = attributes->find("mxnet_version");
    if (version == attributes->end() || !version->is_array() || version->size() != 2 ||
        !version->back().is_number_integer())
      return std::nullopt;
    return version->back().get<std::int64_t>();
  }

  const std::string& path_;
  const SymbolJson& json_;
  std::size_t nodes_ = 0;                   // that have been read before this one
  std::vector<std::size_t> first_outputs_;  // `node_row_ptr`; empty: there is none
};

}  // namespace

bool is_symbol(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{';
}

Symbol read_symbol(const std::string& path, std::string_view text) {
  SymbolJson json;
  try {
    json = SymbolJson::parse(text);
  } catch (const SymbolJson::exception& problem) {
    // The library's sentence begins with its own name in brackets.
    const std::string_view what = problem.what();
    const std::size_t colon = what.find("] ");
    bad_data(path, fmt::format("no JSON: {}", what.substr(colon == what.npos ? 0 : colon + 2)));
  }
  return SymbolReader(path, json).read();
}

}  // namespace relay::models::nnvm
