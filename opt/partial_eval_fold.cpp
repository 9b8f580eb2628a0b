#include "opt/partial_eval_fold.h"

#include <algorithm>

#include "lang/build.h"
#include "lang/extents.h"
#include "lang/op.h"
#include "opt/definitions.h"

namespace relay::opt::partial {

using lang::as;
using lang::Expr;

namespace {

// A constant takes room in the program; one of so many elements does no harm.
constexpr std::int64_t kMostElements = 1024;

const lang::TensorRef* tensor_of(const Value* value) {
  if (value->known != Known::Constant) return nullptr;
  return &lang::cast<lang::Constant>(value->atom).value;
}

// Null if it is none.
Expr constant_of(const Value* value, std::int64_t& elements) {
  if (const auto* tensor = tensor_of(value)) {
    elements += (*tensor)->element_count();
    return value->atom;
  }
  if (value->known != Known::Tuple) return nullptr;
  std::vector<Expr> fields;
  for (const Value* field : value->fields) {
    fields.push_back(constant_of(field, elements));
    if (!fields.back()) return nullptr;
  }
  return lang::make_tuple(std::move(fields), {}, value->type);
}

// Nothing where it is not known.
std::optional<std::int64_t> element_count(const lang::Type& type) {
  const auto extents = constant_extents(type);
  return extents ? lang::product_of(*extents) : std::nullopt;
}

bool same_constants(const lang::Tensor& a, const lang::Tensor& b) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape() || a.element_count() > kMostElements)
    return false;
  for (std::int64_t i = 0; i < a.element_count(); ++i) {
    if (a.bits_at(i) != b.bits_at(i)) return false;
  }
  return true;
}

}  // namespace

const Value* Folder::primitive(lang::Prim prim, const std::vector<const Value*>& args,
                               const lang::Type& type) {
  const auto* result = as<lang::TensorType>(type);
  if (!result || !lang::is_scalar(type) || args.empty()) return nullptr;
  std::vector<std::uint64_t> words;
  for (const Value* arg : args) {
    const auto* tensor = tensor_of(arg);
    if (!tensor || (*tensor)->rank() != 0) return nullptr;
    words.push_back((*tensor)->bits_at(0));
  }
  const lang::DType dtype = result->dtype.known();
  const auto bits =
      host_.evaluate_primitive(prim, (*tensor_of(args.back()))->dtype(), dtype, words.data());
  if (!bits) return nullptr;
  return residual_.constant(lang::make_constant(lang::Tensor::scalar(dtype, *bits)));
}

const Value* Folder::evaluated(const Expr& closed) {
  const Expr constant = host_.evaluate(closed);
  if (!constant || !lang::equal(constant->type, closed->type)) return nullptr;
  return residual_.constant(constant);
}

const Value* Folder::element(const lang::Index& index, const Value* tensor,
                             const std::vector<const Value*>& indices) {
  const auto count = element_count(index.type);
  if (!tensor_of(tensor) || !count || *count > kMostElements) return nullptr;
  std::vector<Expr> places;
  for (const Value* each : indices) {
    if (!tensor_of(each)) return nullptr;
    places.push_back(each->atom);
  }
  // In bounds or not is found out.
  return evaluated(
      lang::make_index(tensor->atom, std::move(places), false, index.span, index.type));
}

const Value* Folder::call(const Expr& callee, const std::vector<const Value*>& args,
                          const lang::AttrsRef& attrs, const lang::Type& type, lang::Span span) {
  const lang::OpDef& op = *lang::cast<lang::Operator>(callee).op;
  if (op.effect != lang::Effect::None || args.empty()) return nullptr;
  if (op.elementwise) {
    if (const Value* known = primitive(*op.elementwise, args, type)) return known;
  }
  if (known::dim_of.is(op)) {
    const lang::Dim* dim = dim_read(args[0]->type, *attrs);
    const bool is_known = dim && dim->is_constant();
    if (is_known && lang::equal(type, lang::scalar_type(lang::DType::Int64)))
      return residual_.constant(lang::build::index_constant(dim->constant()));
  }
  const auto count = element_count(type);
  if (!count) return nullptr;
  std::vector<Expr> constants;
  std::int64_t elements = kMostElements;
  for (const Value* arg : args) {
    constants.push_back(constant_of(arg, elements));
    if (!constants.back()) return nullptr;
  }
  if (*count > elements) return nullptr;
  return evaluated(lang::make_call(callee, std::move(constants), attrs, span, type));
}

const Value* Folder::dim(const Expr& term) {
  const auto& node = lang::cast<lang::DimTerm>(term);
  if (node.dim.is_constant())
    return residual_.constant(lang::build::index_constant(node.dim.constant()));
  return residual_.unknown(term);
}

std::optional<bool> Folder::truth(const Value* condition) const {
  const auto* tensor = tensor_of(condition);
  return tensor ? std::optional((*tensor)->bits_at(0) != 0) : std::nullopt;
}

bool Folder::are_same(const Value* a, const Value* b) const {
  if (a == b) return true;
  if (a->known != b->known) return false;
  if (a->known == Known::Constant) return same_constants(**tensor_of(a), **tensor_of(b));
  const bool has_fields = !a->fields.empty() || !b->fields.empty();
  if (a->known == Known::Construction) return !has_fields && a->constructor == b->constructor;
  return a->known == Known::Tuple && !has_fields;
}

}  // namespace relay::opt::partial
