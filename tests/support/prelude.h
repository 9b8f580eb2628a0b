#pragma once

#include "lang/module.h"

namespace relay::tests {

// What a program sees before its first line, without a session; read once. The operators must be
// registered.
const lang::Module& prelude();

}  // namespace relay::tests
