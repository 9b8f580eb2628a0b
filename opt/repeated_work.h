#pragma once

#include "lang/expr.h"

namespace relay::opt {

// Work that several steps of straight-line code do at the same points of index notation is done
// once, in index notation of its own. What a log-sum-exp takes is what its gradient takes:
//   let total = sum i { log(sum k { exp(f(x, i, k)) }) };
//   for i, k { exp(f(x, i, k)) / s[i] }
// becomes
//   let table = for i, k { exp(f(x, i, k)) };
//   let total = sum i { log(sum k { table[i, k] }) };
//   for i, k { table[i, k] / s[i] }
// That pays where it is more than to write a value and to read it. Extents are constants, nothing
// of it can fail, and it is done whatever branches are taken. Values keep their bits.
//
// Takes a typed expression in A-normal form; the result need not be in it. Cost: linear, where what
// is compared has at most 64 parts.
lang::Expr tabulate_repeated_work(const lang::Expr& expr);

}  // namespace relay::opt
