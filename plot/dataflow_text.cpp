// The two texts of a graph of dataflow: Graphviz' language, and lines for people.

#include <algorithm>

#include <fmt/format.h>

#include "lang/utf8.h"
#include "plot/dataflow.h"

namespace relay::plot {

namespace {

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : lang::printable_line(text)) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"";
}

std::string node_label(const FlowNode& node) {
  if (node.name.empty()) return node.label;
  return node.label.empty() ? node.name : fmt::format("{} = {}", node.name, node.label);
}

std::string_view shape_of(FlowNode::Kind kind) {
  switch (kind) {
    case FlowNode::Kind::Input:
      return "ellipse";
    case FlowNode::Kind::Constant:
      return "plaintext";
    case FlowNode::Kind::Step:
      return "box";
    case FlowNode::Kind::Choice:
      return "diamond";
    case FlowNode::Kind::Function:
      return "component";
    case FlowNode::Kind::Result:
      return "doublecircle";
  }
  return "box";
}

std::string left_out_text(const Dataflow& flow) {
  return fmt::format("and {} more step{}", flow.left_out, flow.left_out == 1 ? "" : "s");
}

// A cluster with its nodes, then those within it.
void put_cluster(const Dataflow& flow, std::size_t number, const std::string& indent,
                 std::string& text) {
  text += fmt::format("{}subgraph cluster_{} {{\n{}  label={};\n", indent, number, indent,
                      quoted(flow.clusters[number].label));
  for (std::size_t i = 0; i < flow.nodes.size(); ++i) {
    const FlowNode& node = flow.nodes[i];
    if (node.cluster != number) continue;
    text += fmt::format("{}  n{} [label={}, shape={}];\n", indent, i, quoted(node_label(node)),
                        shape_of(node.kind));
  }
  for (std::size_t i = number + 1; i < flow.clusters.size(); ++i) {
    if (flow.clusters[i].parent == number) put_cluster(flow, i, indent + "  ", text);
  }
  text += indent + "}\n";
}

// The outermost cluster around one.
std::size_t outermost(const Dataflow& flow, std::size_t cluster) {
  while (flow.clusters[cluster].parent != kNoCluster) cluster = flow.clusters[cluster].parent;
  return cluster;
}

// How the listing calls a node: by its name, with a number where others of its function have it.
std::string reference(const Dataflow& flow, std::size_t number) {
  const FlowNode& node = flow.nodes[number];
  const auto is_called_so = [&](const FlowNode& other) {
    return other.name == node.name &&
           outermost(flow, other.cluster) == outermost(flow, node.cluster);
  };
  if (!node.name.empty()) {
    const bool is_alone = std::count_if(flow.nodes.begin(), flow.nodes.end(), is_called_so) == 1;
    return is_alone ? node.name : fmt::format("{}#{}", node.name, number);
  }
  if (node.kind == FlowNode::Kind::Constant) return node.label;
  return fmt::format("#{}", number);
}

}  // namespace

std::string dot_of(const Dataflow& flow) {
  std::string text =
      "digraph dataflow {\n"
      "  node [fontname=\"sans-serif\", fontsize=11];\n"
      "  edge [fontname=\"sans-serif\", fontsize=9];\n"
      "  graph [fontname=\"sans-serif\", fontsize=11, color=gray60];\n";
  if (flow.left_out > 0) text += fmt::format("  label={};\n", quoted(left_out_text(flow)));
  for (std::size_t i = 0; i < flow.clusters.size(); ++i) {
    if (flow.clusters[i].parent == kNoCluster) put_cluster(flow, i, "  ", text);
  }
  for (const FlowEdge& edge : flow.edges) {
    const bool has_both = !edge.role.empty() && !edge.type.empty();
    text += fmt::format("  n{} -> n{} [label={}];\n", edge.from, edge.to,
                        quoted(edge.role + (has_both ? ": " : "") + edge.type));
  }
  return text + "}\n";
}

std::string listing_of(const Dataflow& flow) {
  struct Line {
    std::string name, made_of, type;
  };
  std::vector<Line> lines;
  std::size_t name_width = 0;
  std::size_t text_width = 0;
  std::vector<bool> has_heading(flow.clusters.size(), false);
  for (std::size_t i = 0; i < flow.nodes.size(); ++i) {
    const FlowNode& node = flow.nodes[i];
    std::size_t depth = 0;
    for (std::size_t each = flow.clusters[node.cluster].parent; each != kNoCluster;
         each = flow.clusters[each].parent)
      ++depth;
    const std::string indent(2 * depth, ' ');
    if (!has_heading[node.cluster]) {
      has_heading[node.cluster] = true;
      lines.push_back({indent + flow.clusters[node.cluster].label + ":", "", ""});
    }
    if (node.kind == FlowNode::Kind::Constant && node.name.empty()) continue;
    std::vector<std::string> operands;
    for (const FlowEdge& edge : flow.edges) {
      if (edge.to != i) continue;
      operands.push_back(edge.role + (edge.role.empty() ? "" : " ") + reference(flow, edge.from));
    }
    const std::string name = node.kind == FlowNode::Kind::Result ? "" : reference(flow, i);
    std::string made_of = node.label;
    if (!operands.empty()) made_of += fmt::format(" {}", fmt::join(operands, ", "));
    lines.push_back({fmt::format("{}  {}", indent, name), std::move(made_of), node.type});
  }
  for (const Line& line : lines) {
    constexpr std::size_t kMostName = 24;
    constexpr std::size_t kMostText = 56;
    if (line.made_of.empty() && line.type.empty()) continue;
    name_width = std::max(name_width, std::min(lang::code_points(line.name), kMostName));
    text_width = std::max(text_width, std::min(lang::code_points(line.made_of), kMostText));
  }
  const auto padded = [](const std::string& text, std::size_t width) {
    const std::size_t length = lang::code_points(text);
    return text + std::string(length < width ? width - length : 0, ' ');
  };
  std::string text;
  for (const Line& line : lines) {
    std::string row = fmt::format("{}  {}  {}", padded(line.name, name_width),
                                  padded(line.made_of, text_width), line.type);
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + "\n";
  }
  return flow.left_out > 0 ? text + left_out_text(flow) + "\n" : text;
}

}  // namespace relay::plot
