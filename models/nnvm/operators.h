#pragma once

#include <span>
#include <string>
#include <string_view>

#include "models/nnvm/operator_call.h"

// What the operators of NNVM and of MXNet are here: a table for each.
namespace relay::models::nnvm {

struct Operator {
  std::string_view name;
  void (*build)(OperatorCall& call);
  std::string_view becomes;    // for people: the operators here, and what is not done
  std::string_view word = {};  // OperatorCall::word
  // Inputs behind the given ones that MXNet before 0.9 did not write: variables `NODE_AUX`.
  std::span<const std::string_view> auxiliary = {};
};

struct Dialect {
  std::string_view name;  // "NNVM"
  std::span<const Operator> operators;

  const Operator* find(std::string_view name) const;
};

const Dialect& nnvm_dialect();
const Dialect& mxnet_dialect();

// The table as Markdown, by name.
std::string operator_page(const Dialect& dialect);

}  // namespace relay::models::nnvm
