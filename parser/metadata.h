#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lang/attrs.h"
#include "lang/op.h"
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
  // The tensor of that number in the section, by which an object names it: always the same. Throws
  // Failure without a place.
  lang::TensorRef tensor(std::int64_t number);
  // Entry `index` of any key: always the same object. Throws Failure without a place.
  const lang::AttrValue& value(std::string_view key, std::size_t index);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The fields of an attribute structure as attributes of an operator. An empty dtype, and nothing
// where `None` is not allowed, are Relay's ways to leave one open.
std::vector<lang::Attr> attributes_of(const lang::OpDef& op, const lang::AttrObject& object,
                                      lang::Span where);

}  // namespace relay::parser
