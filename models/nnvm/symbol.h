#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The graphs of NNVM and of MXNet in their JSON, as they stand there: nothing is known here of what
// an operator means.
namespace relay::models::nnvm {

// One output of a node.
struct SymbolEntry {
  std::size_t node = 0;
  std::size_t output = 0;
};

struct SymbolNode {
  std::string op;  // empty: a variable
  std::string name;
  std::vector<SymbolEntry> inputs;  // of earlier nodes
  std::map<std::string, std::string> attributes;
};

struct Symbol {
  std::string path;
  std::vector<SymbolNode> nodes;  // none is empty
  std::vector<SymbolEntry> heads;
  // What the graph says of the MXNet that wrote it, as 10600; nothing: it does not say.
  std::optional<std::int64_t> mxnet_version;
  // Only MXNet before 0.9 wrote operators' attributes as `param`, and no auxiliary variables.
  bool has_param = false;
};

// Does the text begin as JSON does that has nodes? Reads no further than the first key.
bool is_symbol(std::string_view text);

// Any of the three dialects: `param` with `[node, output]`; `attr`; `attrs` with `node_row_ptr` and
// `[node, output, version]`. Throws Failure(BadData), whatever the text is.
Symbol read_symbol(const std::string& path, std::string_view text);

}  // namespace relay::models::nnvm
