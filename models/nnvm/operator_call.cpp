#include "models/nnvm/operator_call.h"

#include <algorithm>

#include <fmt/ranges.h>

#include "formats/bytes.h"
#include "lang/dim.h"
#include "lang/letters.h"
#include "lang/type_print.h"

namespace relay::models::nnvm {

using formats::in_backticks;
using lang::TensorType;
using lang::Type;

namespace {

Type constant_shape(const std::vector<std::int64_t>& shape, lang::DType dtype) {
  std::vector<lang::Dim> dims(shape.begin(), shape.end());
  return lang::tensor_type(lang::Shape(std::move(dims)), dtype);
}

}  // namespace

OperatorCall::OperatorCall(const SymbolNode& node, std::string_view word,
                           std::vector<Entry*> inputs, Program& program, Typer& typer, Block& block)
    : attributes(node.attributes),
      word(word),
      node_(node),
      inputs_(std::move(inputs)),
      program_(program),
      typer_(typer),
      block_(block) {}

Entry& OperatorCall::entry(std::size_t i) const {
  if (i >= inputs_.size())
    bad(fmt::format("it has {} inputs, and input {} is due", inputs_.size(), i));
  return *inputs_[i];
}

const std::string& OperatorCall::text(std::size_t i) {
  Entry& input = entry(i);
  input.is_used = true;
  if (!input.operand.type) throw NotKnown();
  if (find(input.operand.text) == values_.end()) values_.push_back(input.operand);
  return input.operand.text;
}

std::vector<std::string> OperatorCall::texts() {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < inputs_.size(); ++i) all.push_back(text(i));
  return all;
}

bool OperatorCall::is_known(std::size_t i) const {
  return static_cast<bool>(entry(i).operand.type);
}

const TensorType& OperatorCall::tensor(std::size_t i) {
  text(i);
  const auto* tensor = lang::as<TensorType>(entry(i).operand.type);
  if (!tensor || !tensor->shape.has_rank() || !tensor->dtype.is_known())
    bad(fmt::format("input {} is no tensor of known rank", i));
  return *tensor;
}

std::size_t OperatorCall::rank(std::size_t i) { return tensor(i).shape.rank(); }

std::int64_t OperatorCall::extent(std::size_t i, std::size_t axis) {
  const lang::Shape& shape = tensor(i).shape;
  if (axis >= shape.rank())
    bad(fmt::format("input {} has {} axes, and axis {} is due", i, shape.rank(), axis));
  if (!shape[axis].is_constant()) {
    unsupported(fmt::format("axis {} of input {} has to be a number here, and is `{}`", axis, i,
                            shape[axis].to_string()));
  }
  return shape[axis].constant();
}

lang::DType OperatorCall::dtype(std::size_t i) { return tensor(i).dtype.known(); }

std::int64_t OperatorCall::axis(std::int64_t given, std::size_t rank) const {
  const auto axes = static_cast<std::int64_t>(rank);
  if (given < -axes || given >= axes)
    bad(fmt::format("axis {} of a tensor of rank {}", given, rank));
  return given < 0 ? given + axes : given;
}

void OperatorCall::expect(std::size_t i, const std::vector<std::int64_t>& shape,
                          lang::DType dtype) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  for (const std::int64_t extent : shape) {
    if (extent < 0 || extent > kMost)
      bad(fmt::format("input {} would have an extent of {}", i, extent));
  }
  Entry& input = entry(i);
  if (!input.operand.type && input.is_variable) input.operand.type = constant_shape(shape, dtype);
  const lang::Shape& found = tensor(i).shape;
  const lang::Shape wanted(std::vector<lang::Dim>(shape.begin(), shape.end()));
  bool agrees = found.rank() == wanted.rank();
  for (std::size_t axis = 0; agrees && axis < shape.size(); ++axis)
    agrees = !found[axis].is_constant() || found[axis].constant() == shape[axis];
  if (!agrees) {
    bad(fmt::format("input {} ({}) has the shape `{}`, and `{}` is due", i,
                    in_backticks(input.operand.text), lang::to_string(found),
                    lang::to_string(wanted)));
  }
}

void OperatorCall::expect_like(std::size_t i, std::size_t other) {
  Entry& input = entry(i);
  if (!input.operand.type && input.is_variable && is_known(other))
    input.operand.type = entry(other).operand.type;
}

std::vector<Operand>::iterator OperatorCall::find(const std::string& text) {
  return std::find_if(values_.begin(), values_.end(),
                      [&](const Operand& value) { return value.text == text; });
}

Type OperatorCall::type_of(const std::string& expression) {
  Typer::Named named;
  std::vector<bool> is_named(values_.size());
  std::string plain;  // with a name where `w.x` or `pair.0` stands
  for (std::size_t at = 0; at < expression.size();) {
    std::size_t end = at;
    if (expression[at] == '"') {
      end = expression.find('"', at + 1) + 1;
      if (end == 0) end = expression.size();
    } else {
      while (end < expression.size() &&
             (lang::is_word_byte(expression[end]) || expression[end] == '.'))
        ++end;
    }
    end = std::max(end, at + 1);
    const std::string token = expression.substr(at, end - at);
    at = end;
    // The value, or the tuple that it is a field of.
    std::size_t length = token.size();
    auto found = find(token);
    if (found == values_.end() && (length = token.rfind('.')) != std::string::npos)
      found = find(token.substr(0, length));
    if (found == values_.end()) {
      plain += token;
      continue;
    }
    const auto place = static_cast<std::size_t>(found - values_.begin());
    const std::string name =
        found->text.find('.') == std::string::npos ? found->text : fmt::format("value_{}", place);
    if (!is_named[place]) named.emplace_back(name, found->type);
    is_named[place] = true;
    plain += name + token.substr(std::min(length, token.size()));
  }
  return typer_.type_of(plain, named);
}

std::string OperatorCall::let(std::string_view suffix, const std::string& expression) {
  const std::string wanted = suffix.empty() ? node_.name : fmt::format("{}_{}", node_.name, suffix);
  const Type type = type_of(expression);
  std::string name = program_.names().unique(wanted, "value");
  block_.lines.push_back({name, expression});
  values_.push_back({name, type});
  return name;
}

const TensorType& OperatorCall::tensor_of(const std::string& text) {
  const auto found = find(text);
  RELAY_CHECK(found != values_.end(), "a builder asks for what is no value");
  const auto* tensor = lang::as<TensorType>(found->type);
  RELAY_CHECK(tensor, "a builder takes something for a tensor");
  return *tensor;
}

void OperatorCall::result(const std::string& expression) { same(let("", expression)); }

void OperatorCall::same(const std::string& text) {
  const auto found = find(text);
  outputs_.push_back(found == values_.end() ? Operand{text, type_of(text)} : *found);
}

void OperatorCall::define(const std::string& name, const std::string& text) {
  if (program_.is_defined(name)) return;
  typer_.define(text);
  program_.define(name, text);
}

void OperatorCall::unsupported(const std::string& what) const {
  lang::fail(lang::DiagnosticKind::Unsupported, what);
}

void OperatorCall::bad(const std::string& what) const {
  lang::fail(lang::DiagnosticKind::BadData, what);
}

std::string text_of(const Attributes::Integers& numbers) {
  return fmt::format("[{}]", fmt::join(numbers, ", "));
}

std::string text_of(double number) {
  std::string text = fmt::format("{}", number);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return number < 0 ? "(" + text + ")" : text;
}

std::string text_of(bool flag) { return flag ? "True" : "False"; }

std::string option(std::string_view key, std::int64_t value, std::int64_t otherwise) {
  return value == otherwise ? std::string() : fmt::format(", {}={}", key, value);
}

std::string option(std::string_view key, std::string_view value, std::string_view otherwise) {
  return value == otherwise ? std::string() : fmt::format(", {}={}", key, string_literal(value));
}

}  // namespace relay::models::nnvm
