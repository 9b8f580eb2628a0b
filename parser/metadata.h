#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "lang/attrs.h"
#include "lang/source.h"
#include "lang/tensor.h"

namespace relay::parser {

// The metadata section of a text: what `meta[Key][n]` refers to. Objects are read when they are
// first asked for, so one that is not understood harms only the text that uses it.
class Metadata {
 public:
  // `section` is `#[metadata]` and all that follows. Throws Failure (BadMetadata) for what is no
  // graph of objects.
  explicit Metadata(lang::Span section);
  ~Metadata();

  // How many entries stand under `key`.
  std::size_t size(std::string_view key) const;
  // Entry `index` of "relay.Constant": always the same tensor. Throws Failure without a place.
  lang::TensorRef constant(std::size_t index);
  // Entry `index` of another key: always the same object. Throws Failure without a place.
  const lang::AttrValue& value(std::string_view key, std::size_t index);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace relay::parser
