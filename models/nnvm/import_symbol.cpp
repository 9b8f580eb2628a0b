#include "models/nnvm/import_symbol.h"

#include <algorithm>
#include <deque>
#include <filesystem>
#include <set>

#include <fmt/ranges.h>

#include "formats/bytes.h"
#include "models/nnvm/operators.h"
#include "models/nnvm/params.h"
#include "models/nnvm/symbol.h"
#include "models/repeats.h"

namespace relay::models::nnvm {

using formats::in_backticks;
using lang::Diagnostic;
using lang::DiagnosticKind;

namespace {

std::string whole_text(const std::string& path) {
  formats::FileReader reader({.path = path});
  reader.require_regular("a model");
  std::string text(static_cast<std::size_t>(std::max<std::int64_t>(reader.remaining(), 0)), '\0');
  reader.read(std::as_writable_bytes(std::span(text)));
  return text;
}

const Dialect& dialect_of(const Symbol& symbol) {
  if (symbol.mxnet_version || symbol.has_param) return mxnet_dialect();
  for (const SymbolNode& node : symbol.nodes) {
    if (!node.op.empty() && !nnvm_dialect().find(node.op) && mxnet_dialect().find(node.op))
      return mxnet_dialect();
  }
  return nnvm_dialect();
}

class SymbolImporter {
 public:
  explicit SymbolImporter(const Request& request)
      : request_(request),
        symbol_(read_symbol(request.path, whole_text(request.path))),
        dialect_(dialect_of(symbol_)),
        program_(fmt::format("{}, imported from {}.",
                             std::filesystem::path(request.path).filename().string(),
                             dialect_.name)) {}

  Program import() {
    find_needed();
    check_operators();
    if (!request_.params.empty()) read_weights();
    make_variables();
    Block block;
    for (std::size_t i = 0; i < symbol_.nodes.size(); ++i) {
      if (is_needed_[i] && !symbol_.nodes[i].op.empty()) add_node(i, block);
    }
    std::vector<std::string> results;
    for (const SymbolEntry& head : symbol_.heads) results.push_back(head_text(head));
    if (!errors_.empty()) throw lang::Failure(std::move(errors_));
    block.result =
        results.size() == 1 ? results.front() : fmt::format("({})", fmt::join(results, ", "));
    name_repeats(block, {.type_of = [&](const std::string& name) { return type_of(name); },
                         .define = [&](const std::string& name,
                                       const std::string& text) { return define(name, text); },
                         .names = program_.names()});
    shorten(block);
    program_.set_model({}, parameters(), std::move(block));
    return std::move(program_);
  }

 private:
  static std::string node_text(const SymbolNode& node) {
    return fmt::format("node {} ({})", in_backticks(node.name), in_backticks(node.op));
  }

  lang::Type type_of(const std::string& name) const {
    const auto found = types_.find(name);
    return found == types_.end() ? nullptr : found->second;
  }

  bool define(const std::string& name, const std::string& text) {
    return lang::capture([&] {
             typer_.define(text);
             program_.define(name, text);
             return true;
           })
        .ok();
  }

  // Only what the heads need is imported.
  void find_needed() {
    is_needed_.assign(symbol_.nodes.size(), false);
    for (const SymbolEntry& head : symbol_.heads) is_needed_[head.node] = true;
    for (std::size_t i = symbol_.nodes.size(); i-- > 0;) {
      if (!is_needed_[i]) continue;
      for (const SymbolEntry& input : symbol_.nodes[i].inputs) is_needed_[input.node] = true;
    }
  }

  void check_operators() {
    std::map<std::string, std::vector<std::string>> unknown;
    for (std::size_t i = 0; i < symbol_.nodes.size(); ++i) {
      const SymbolNode& node = symbol_.nodes[i];
      if (is_needed_[i] && !node.op.empty() && !dialect_.find(node.op))
        unknown[node.op].push_back(node.name);
    }
    for (const auto& [op, nodes] : unknown) {
      errors_.push_back(Diagnostic(
          DiagnosticKind::Unsupported,
          fmt::format("not supported: the operator {} of {} (node{} {})", in_backticks(op),
                      dialect_.name, nodes.size() == 1 ? "" : "s", formats::list_of(nodes))));
    }
    if (!errors_.empty()) throw lang::Failure(std::move(errors_));
  }

  void read_weights() {
    for (formats::NamedTensor& each : read_params({.path = request_.params}))
      weights_.emplace(std::move(each.name), std::move(each.tensor));
  }

  void make_variables() {
    entries_.resize(symbol_.nodes.size());
    std::set<std::string> names;
    for (std::size_t i = 0; i < symbol_.nodes.size(); ++i) {
      const SymbolNode& node = symbol_.nodes[i];
      if (!node.op.empty() || !is_needed_[i]) continue;
      names.insert(node.name);
      entries_[i].push_back(variable(node.name, node.attributes));
    }
    for (const auto& [name, shape] : request_.shapes) {
      if (names.contains(name)) continue;
      lang::fail(
          DiagnosticKind::BadData,
          fmt::format("{}: there is no variable {} to have a shape; it has {}", request_.path,
                      in_backticks(name), formats::list_of({names.begin(), names.end()})));
    }
  }

  Entry* variable(const std::string& name, const std::map<std::string, std::string>& attributes) {
    Entry& entry = all_.emplace_back();
    entry.is_variable = true;
    entry.name = name;
    const auto given = request_.shapes.find(name);
    if (const auto found = weights_.find(name); found != weights_.end()) {
      if (given != request_.shapes.end()) {
        lang::fail(DiagnosticKind::BadData,
                   fmt::format("{}: {} is a weight of `{}` and takes no `--shape`", request_.path,
                               in_backticks(name), request_.params));
      }
      entry.operand = {program_.weight(name, found->second), Program::type_of(*found->second)};
      return &entry;
    }
    entry.operand.text = program_.names().unique(name, "input");
    const Attributes own(attributes);
    const lang::DType dtype =
        own.text("__dtype__", "0") == "0" ? lang::DType::Float32 : variable_dtype(own, name);
    if (given != request_.shapes.end()) {
      entry.operand.type = lang::tensor_type(shape_of(given->second), dtype);
    } else if (own.has("__shape__")) {
      const Attributes::Integers shape = own.integers("__shape__");
      const bool is_known = !shape.empty() && std::ranges::all_of(shape, [](std::int64_t extent) {
        return extent > 0;
      });
      if (is_known) {
        entry.operand.type = lang::tensor_type(
            lang::Shape(std::vector<lang::Dim>(shape.begin(), shape.end())), dtype);
      }
    }
    return &entry;
  }

  // Symbols of MXNet have a type flag there.
  lang::DType variable_dtype(const Attributes& own, const std::string& name) const {
    constexpr lang::DType kFlags[] = {
        lang::DType::Float32, lang::DType::Float64, lang::DType::Float16, lang::DType::UInt8,
        lang::DType::Int32,   lang::DType::Int8,    lang::DType::Int64};
    const std::int64_t flag = own.integer("__dtype__");
    if (flag == -1) return lang::DType::Float32;
    if (flag < 0 || flag >= static_cast<std::int64_t>(std::size(kFlags))) {
      lang::fail(DiagnosticKind::Unsupported,
                 fmt::format("not supported: {}: variable {} has type flag {}", request_.path,
                             in_backticks(name), flag));
    }
    return kFlags[flag];
  }

  lang::Shape shape_of(const std::vector<Extent>& extents) {
    std::vector<lang::Dim> dims;
    for (const Extent& extent : extents) {
      if (extent.number) {
        dims.emplace_back(*extent.number);
        continue;
      }
      auto& variable = dims_[extent.name];
      if (!variable) {
        variable =
            lang::TypeVar::rigid(lang::VarKind::Dim, program_.names().unique(extent.name, "n"));
      }
      dims.push_back(lang::Dim::variable(variable));
    }
    return lang::Shape(std::move(dims));
  }

  void add_node(std::size_t i, Block& block) {
    const SymbolNode& node = symbol_.nodes[i];
    const Operator& op = *dialect_.find(node.op);
    std::vector<Entry*> inputs;
    for (const SymbolEntry& input : node.inputs) {
      if (input.output >= entries_[input.node].size()) {
        // One of a node that has failed has no outputs at all.
        if (entries_[input.node].empty()) return;
        errors_.push_back(Diagnostic(
            DiagnosticKind::Unsupported,
            fmt::format("{}: not supported: it reads output {} of {}, of which only the first {} "
                        "come",
                        node_text(node), input.output, in_backticks(symbol_.nodes[input.node].name),
                        entries_[input.node].size())));
        return;
      }
      inputs.push_back(entries_[input.node][input.output]);
    }
    if (symbol_.has_param && inputs.size() + op.auxiliary.size() == op_inputs(op)) {
      for (const std::string_view auxiliary : op.auxiliary)
        inputs.push_back(variable(fmt::format("{}_{}", node.name, auxiliary), {}));
    }
    OperatorCall call(node, op.word, std::move(inputs), program_, typer_, block);
    try {
      op.build(call);
      const std::vector<std::string> unread = call.attributes.unread();
      if (!unread.empty()) {
        explain(node, Diagnostic(DiagnosticKind::Unsupported,
                                 fmt::format("the attribute{} {}", unread.size() == 1 ? "" : "s",
                                             formats::list_of(unread))));
      }
    } catch (const NotKnown&) {
      return;
    } catch (const lang::Failure& failure) {
      for (const Diagnostic& each : failure.diagnostics) explain(node, each);
      return;
    }
    for (const Operand& value : call.values()) types_.emplace(value.text, value.type);
    for (const Operand& output : call.outputs()) {
      all_.push_back({.operand = output});
      entries_[i].push_back(&all_.back());
    }
  }

  // BatchNorm's: data, gamma and beta are written.
  static std::size_t op_inputs(const Operator& op) { return op.auxiliary.size() + 3; }

  void explain(const SymbolNode& node, const Diagnostic& what) {
    const bool is_unsupported = what.kind == DiagnosticKind::Unsupported;
    Diagnostic mine(what.kind, fmt::format("{}: {}{}", node_text(node),
                                           is_unsupported ? "not supported: " : "", what.message));
    mine.notes = what.notes;
    errors_.push_back(std::move(mine));
  }

  // Of a head that failed: its variables that nobody knows the shape of.
  std::string head_text(const SymbolEntry& head) {
    const SymbolNode& node = symbol_.nodes[head.node];
    if (entries_[head.node].empty()) {
      if (errors_.empty()) report_open();
      return {};
    }
    if (head.output >= entries_[head.node].size()) {
      errors_.push_back(Diagnostic(
          DiagnosticKind::Unsupported,
          fmt::format("{}: not supported: the graph gives its output {}, of which only the first "
                      "{} come",
                      node_text(node), head.output, entries_[head.node].size())));
      return {};
    }
    Entry& entry = *entries_[head.node][head.output];
    entry.is_used = true;
    if (!entry.operand.type && errors_.empty()) report_open();
    return entry.operand.text;
  }

  void report_open() {
    std::vector<std::string> open;
    for (const Entry& entry : all_) {
      if (entry.is_variable && entry.is_used && !entry.operand.type) open.push_back(entry.name);
    }
    Diagnostic diagnostic(DiagnosticKind::BadData,
                          fmt::format("{}: the shape of {} does not follow from the graph",
                                      request_.path, formats::list_of(open)));
    if (!open.empty())
      diagnostic.note(fmt::format("help: give it with `--shape {}=…`", open.front()));
    errors_.push_back(std::move(diagnostic));
  }

  std::vector<Parameter> parameters() const {
    std::vector<Parameter> all;
    for (const Entry& entry : all_) {
      if (entry.is_variable && entry.is_used && !weights_.contains(entry.name))
        all.push_back({entry.operand.text, entry.operand.type});
    }
    return all;
  }

  const Request& request_;
  const Symbol symbol_;
  const Dialect& dialect_;
  Program program_;
  Typer typer_;
  std::map<std::string, lang::TensorRef> weights_;
  std::map<std::string, lang::TypeVarRef> dims_;
  std::map<std::string, lang::Type> types_;  // of what lines mention
  std::vector<bool> is_needed_;
  std::deque<Entry> all_;                     // variables and outputs
  std::vector<std::vector<Entry*>> entries_;  // of each node
  std::vector<Diagnostic> errors_;
};

}  // namespace

bool recognises_symbol(std::string_view head) { return is_symbol(head); }

lang::Result<Program> import_symbol(const Request& request) {
  return lang::capture([&] { return SymbolImporter(request).import(); });
}

}  // namespace relay::models::nnvm
