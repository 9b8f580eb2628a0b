#include "index/static_shapes.h"

#include <algorithm>
#include <array>
#include <unordered_set>
#include <vector>

#include "lang/any_dim.h"
#include "lang/build.h"
#include "lang/op.h"
#include "lang/visit.h"

namespace relay::index {

using lang::as;
using lang::Expr;
namespace build = lang::build;

namespace {

// Operators that take a tensor for its shape, and those that have it as an attribute.
struct LikeOperator {
  std::string_view name;
  std::size_t like;  // which argument
  std::string_view with_attribute;
  std::string_view attribute;
};
constexpr std::array<LikeOperator, 4> kLikeOperators = {{
    {"broadcast_to_like", 1, "broadcast_to", "shape"},
    {"reshape_like", 1, "reshape", "newshape"},
    {"zeros_like", 0, "zeros", "shape"},
    {"ones_like", 0, "ones", "shape"},
}};

// Can its shape be an attribute?
bool can_be_written(const lang::Type& type) {
  const auto* tensor = as<lang::TensorType>(type);
  return tensor && tensor->dtype.is_known() && lang::has_constant_extents(type) &&
         tensor->shape.rank() > 0;
}

// The row of an operator that could have the shape of a variable as an attribute.
const LikeOperator* like_operator(const Expr& node) {
  const auto* call = as<lang::Call>(node);
  const auto* op = call ? as<lang::Operator>(call->callee) : nullptr;
  if (!op) return nullptr;
  const auto found =
      std::find_if(kLikeOperators.begin(), kLikeOperators.end(),
                   [&](const LikeOperator& each) { return each.name == op->op->name; });
  if (found == kLikeOperators.end()) return nullptr;
  const Expr& like = call->args[found->like];
  if (!as<lang::Var>(like) || !can_be_written(like->type)) return nullptr;
  const auto* result = as<lang::TensorType>(node->type);
  const bool is_whole = result && result->shape == as<lang::TensorType>(like->type)->shape;
  return is_whole ? &*found : nullptr;
}

class ShapeWriter final : public lang::Rewriter {
 public:
  explicit ShapeWriter(const Expr& code) {
    for (const auto& variable : lang::free_variables(code)) free_.insert(variable.get());
    lang::visit_post_order(code, [&](const Expr& node) {
      const LikeOperator* const row = like_operator(node);
      if (!row) {
        lang::for_each_child(node, [&](const Expr& child) { note(child); });
        return;
      }
      const auto& args = lang::cast<lang::Call>(node).args;
      for (std::size_t i = 0; i < args.size(); ++i) {
        if (i != row->like) note(args[i]);
      }
    });
  }

 protected:
  Expr post(const Expr& node) override {
    const LikeOperator* const row = like_operator(node);
    if (!row) return node;
    const auto& args = lang::cast<lang::Call>(node).args;
    const auto* variable = lang::cast<lang::Var>(args[row->like]).variable.get();
    if (!free_.contains(variable)) return node;
    const auto& type = *as<lang::TensorType>(args[row->like]->type);
    std::vector<std::int64_t> shape;
    for (const lang::Dim& dim : type.shape.dims()) shape.push_back(dim.constant());
    std::vector<lang::Attr> attrs = {{std::string(row->attribute), lang::AttrValue::ints(shape)}};
    if (row->like == 0) attrs.push_back({"dtype", lang::AttrValue(type.dtype.known())});
    return build::op(row->with_attribute,
                     row->like == 0 ? std::vector<Expr>{} : std::vector<Expr>{args[0]},
                     std::move(attrs));
  }

 private:
  // Not for its shape alone.
  void note(const Expr& use) {
    if (const auto* var = as<lang::Var>(use)) free_.erase(var->variable.get());
  }

  std::unordered_set<const lang::Variable*> free_;  // that only shapes are needed of
};

}  // namespace

Expr with_static_shapes(const Expr& code) { return ShapeWriter(code).rewrite(code); }

}  // namespace relay::index
