#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lang/module.h"
#include "lang/type.h"

namespace relay::ad {

// The text of a type, with the definitions that it means: a name may have been defined anew.
std::string identity_of(const lang::Type& type);

// Does a leaf of the type (through data types, each once) satisfy `wanted`?
bool has_leaf(const lang::Type& type, const std::function<bool(const lang::Type&)>& wanted);

// Does the type hold itself at ever larger types?
bool is_endless(const lang::Type& type);

// A tuple by another name: one constructor, and no recursion.
bool is_record(const lang::AdtType& adt);

}  // namespace relay::ad
