#include "models/program.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "formats/bytes.h"
#include "formats/formats.h"
#include "formats/output_file.h"
#include "parser/format.h"

namespace relay::models {

namespace {

// Lines of comment; what would end one is left out.
std::string comment_text(std::string_view text, std::string_view mark) {
  std::string lines(mark);
  for (const char c : text) {
    if (c == '\n') {
      lines += fmt::format("\n{}", mark);
    } else if (static_cast<unsigned char>(c) >= ' ') {
      lines += c;
    }
  }
  return lines + "\n";
}

std::string parameter_list(const std::vector<Parameter>& parameters) {
  std::vector<std::string> texts;
  texts.reserve(parameters.size());
  for (const Parameter& each : parameters)
    texts.push_back(fmt::format("{}: {}", each.name, lang::to_string(each.type)));
  return fmt::format("{}", fmt::join(texts, ", "));
}

// `[n, m]`: the dimension variables of the types, in the order in which they come.
std::string quantifiers(const std::vector<Parameter>& parameters) {
  std::vector<std::string> names;
  for (const Parameter& each : parameters) {
    for (const lang::TypeVarRef& var : lang::variables_of(each.type)) {
      if (std::find(names.begin(), names.end(), var->name) == names.end())
        names.push_back(var->name);
    }
  }
  return names.empty() ? std::string() : fmt::format("[{}]", fmt::join(names, ", "));
}

// The names that a text mentions, without their fields.
void add_names(std::string_view text, std::set<std::string, std::less<>>& names) {
  for (const std::string& word : words_of(text)) names.insert(word.substr(0, word.find('.')));
}

std::size_t hash_of(const lang::Tensor& tensor) {
  const auto bytes = formats::bytes_of(tensor);
  return std::hash<std::string_view>()({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace

std::string string_literal(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c == '\n' ? ' ' : c;
  }
  return result + "\"";
}

void remove_unused(Block& block) {
  std::set<std::string, std::less<>> mentioned;
  add_names(block.result, mentioned);
  std::vector<Line> kept;
  for (auto line = block.lines.rbegin(); line != block.lines.rend(); ++line) {
    if (!mentioned.contains(line->name)) continue;
    add_names(line->expression, mentioned);
    kept.push_back(std::move(*line));
  }
  std::reverse(kept.begin(), kept.end());
  block.lines = std::move(kept);
}

void shorten(Block& block) {
  if (block.lines.empty() || block.lines.back().name != block.result) return;
  block.result = std::move(block.lines.back().expression);
  block.lines.pop_back();
}

std::string block_text(const Block& block) {
  if (block.lines.empty() && block.result.starts_with('{')) return block.result;
  std::string text = "{\n";
  for (const Line& line : block.lines) {
    if (!line.comment.empty()) text += comment_text(line.comment, "// ");
    text += fmt::format("let {} = {};\n", line.name, line.expression);
  }
  return text + block.result + "\n}";
}

Program::Program(std::string title) : title_(std::move(title)) {
  for (const char* own : {"model", "main", "w", "weights", "Weights"}) names_.take(own);
}

std::string Program::weight(const std::string& name, lang::TensorRef tensor) {
  // Graphs inside of others may have weights of their own by the same name, and many of them.
  tensor = lang::contiguous(tensor);
  Namesakes& namesakes = namesakes_[name];
  const std::size_t hash = hash_of(*tensor);
  const auto [begin, end] = namesakes.places.equal_range(hash);
  for (auto each = begin; each != end; ++each) {
    const Kept& kept = weights_[each->second];
    if (kept.tensor == tensor || lang::bit_equal(*kept.tensor, *tensor)) return "w." + kept.field;
  }
  std::string own = name;
  while (!weight_names_.insert(own).second) own = fmt::format("{}_{}", name, namesakes.next++);
  namesakes.places.emplace(hash, weights_.size());
  weights_.push_back({own, fields_.unique(own, "weight"), std::move(tensor)});
  return "w." + weights_.back().field;
}

lang::Type Program::type_of(const lang::Tensor& tensor) {
  std::vector<lang::Dim> dims(tensor.shape().begin(), tensor.shape().end());
  return lang::tensor_type(lang::Shape(std::move(dims)), tensor.dtype());
}

void Program::define(const std::string& name, std::string text) {
  if (defined_.insert(name).second) definitions_.push_back(std::move(text));
}

void Program::set_model(std::string doc, std::vector<Parameter> parameters, Block body) {
  doc_ = std::move(doc);
  parameters_ = std::move(parameters);
  body_ = std::move(body);
}

std::string Program::record() const {
  std::string text = "type Weights {\nWeights {\n";
  for (const Kept& each : weights_)
    text += fmt::format("{}: {},\n", each.field, lang::to_string(type_of(*each.tensor)));
  return text + "},\n}\n";
}

std::string Program::model() const {
  const std::string doc = doc_.empty() ? std::string() : comment_text(doc_, "/// ");
  const std::string dims = quantifiers(parameters_);
  const std::string parameters = parameter_list(parameters_);
  if (!has_weights())
    return fmt::format("{}def main{}({}) {}\n", doc, dims, parameters, block_text(body_));
  std::vector<std::string> arguments = {"weights"};
  for (const Parameter& each : parameters_) arguments.push_back(each.name);
  return fmt::format(
      "{}def model{}(w: Weights{}{}) {}\n\n/// The model with its weights.\ndef main{}({}) {{ "
      "model({}) }}\n",
      doc, dims, parameters.empty() ? "" : ", ", parameters, block_text(body_), dims, parameters,
      fmt::join(arguments, ", "));
}

lang::Result<std::string> Program::text(const std::string& weights_file) const {
  std::string text = comment_text(title_, "// ");
  if (has_weights()) {
    text += "\n" + record() + "\nlet weights = Weights(\n";
    for (const Kept& each : weights_) {
      text += fmt::format("{} = load({}, {}),\n", each.field, string_literal(weights_file),
                          string_literal(each.name));
    }
    text += ")\n";
  }
  for (const std::string& each : definitions_) text += fmt::format("\n{}\n", each);
  text += "\n" + model();
  const lang::Source source("imported program", text);
  return parser::format(source, parser::Notation::Light);
}

std::string Program::weights_path(const std::string& path) {
  return std::filesystem::path(path).replace_extension(".safetensors").string();
}

lang::Result<bool> Program::write(const std::string& path) const {
  const std::string weights = weights_path(path);
  auto program = text(std::filesystem::path(weights).filename().string());
  if (!program.ok()) return program.errors();
  return lang::capture([&] {
    if (has_weights()) {
      std::vector<formats::NamedTensor> tensors;
      tensors.reserve(weights_.size());
      for (const Kept& each : weights_) tensors.push_back({each.name, each.tensor});
      formats::write_tensors({.path = weights}, tensors, nullptr).or_throw();
    }
    formats::write_whole(path, program.value());
    return true;
  });
}

}  // namespace relay::models
