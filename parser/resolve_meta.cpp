#include <fmt/format.h>

#include "parser/meta_objects.h"

namespace relay::parser {

using lang::AttrValue;
using lang::Diagnostic;
using lang::DiagnosticKind;
using lang::Dim;
using lang::Failure;

// Is there such an entry? Reports if not.
bool Resolver::has_meta(const Node& node) {
  const std::string_view key = tree_.text(*node.child(0));
  const std::int64_t index = read_digits(tree_.text(*node.child(1)), span(*node.child(1)));
  const std::size_t size = metadata_ ? metadata_->size(key) : 0;
  if (static_cast<std::uint64_t>(index) < size) return true;
  if (metadata_failed_) return false;
  if (size == 0) {
    report(Kind::BadMetadata,
           metadata_ ? fmt::format("the metadata has nothing under `{}`", key)
                     : "this refers to metadata, but the text has no `#[metadata]` section",
           span(node));
  } else {
    report(Kind::BadMetadata,
           fmt::format("the metadata has {} under `{}`, there is no number {}",
                       size == 1 ? "one entry" : fmt::format("{} entries", size), key, index),
           span(*node.child(1)));
  }
  return false;
}

// What a reference stands for; nothing, with an error reported, if that cannot be had.
std::optional<AttrValue> Resolver::meta_value(const Node& node) {
  if (!has_meta(node)) return std::nullopt;
  try {
    return metadata_->value(
        tree_.text(*node.child(0)),
        static_cast<std::size_t>(read_digits(tree_.text(*node.child(1)), span(node))));
  } catch (Failure& failure) {
    failure.diagnostics.front().span = span(node);
    report(std::move(failure.diagnostics.front()));
    return std::nullopt;
  }
}

bool Resolver::is_meta_attrs(const Node& node) const {
  return node.kind == Syntax::Meta && tree_.text(*node.child(0)).starts_with("relay.attrs.");
}

Dim Resolver::meta_dim(const Node& node) {
  const std::optional<AttrValue> value = meta_value(node);
  if (!value) return Dim::any();
  if (const std::optional<Dim> dim = MetaObjects(*this, span(node)).dim(*value)) return *dim;
  report(Kind::Unsupported,
         fmt::format("not supported: `{}` as a dimension", tree_.text(*node.child(0))), span(node));
  return Dim::any();
}

}  // namespace relay::parser
