#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "parser/builder.h"

// How reading goes on after a syntax error, so that a text gets all its errors in one run, at most
// one for each cause. An error costs the statement it stands in: a block goes on behind the next
// `;` of its own, or at its `}`. Where that is not to be found, it costs the item: the text goes on
// where the next one begins. What is left out stays in the tree as Broken nodes with the names it
// defines, so that their uses are no errors.
namespace relay::parser {

struct Resumption {
  const char* at = nullptr;  // null: this place cannot go on, whoever is further out may
  bool more = false;         // statements follow; else the block's `}`
};

// Called in a handler of `stop`, which it then reports. `inside`: the builder's state right after
// the block's `{`. What was read of the block before the error stays on the builder's stack, as far
// as it is whole.
Resumption resume_in_block(Builder& builder, SyntaxStop& stop, const Builder::State& inside,
                           const char* end);

// The same for the items of a text; `begin` is where the item with the error begins, white space
// included. The answer is further on than `begin`, or null when there have been too many errors.
const char* resume_at_item(Builder& builder, SyntaxStop& stop, const Builder::State& outside,
                           const char* begin, const char* end);

// Are brackets open at the end of a text that may have errors, and no string or comment? Where a
// definition surely begins, all before it are taken for closed.
bool has_open_brackets(std::string_view text);

}  // namespace relay::parser
