#pragma once

namespace relay::stdlib {

// sparse_fill_empty_rows and what it consists of.
void add_sparse_fill_operators();

}  // namespace relay::stdlib
