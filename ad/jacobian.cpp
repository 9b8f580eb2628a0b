#include "ad/jacobian.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "ad/batch_directions.h"
#include "ad/forward.h"
#include "ad/replay.h"
#include "ad/reverse.h"
#include "index/conditions.h"
#include "lang/build.h"
#include "lang/op.h"
#include "lang/tensor.h"
#include "lang/visit.h"

namespace relay::ad {

using index::both;
using lang::as;
using lang::Dim;
using lang::Expr;
using lang::IndexBinder;
using lang::Type;
using lang::VariableRef;
namespace build = lang::build;

namespace {

const lang::TensorType& tensor_of(const Type& type) { return *as<lang::TensorType>(type); }

// As many directions are written out, one after the other, where the code of one has at most so
// many nodes: what they have in common is computed once then, and small tensors stay on the stack.
constexpr std::int64_t kMostWrittenOut = 4;
constexpr std::size_t kMostNodesWrittenOut = 1 << 9;

bool is_short_code(const Expr& code) {
  std::size_t nodes = 0;
  lang::visit_post_order(code, [&](const Expr&) { ++nodes; });
  return nodes <= kMostNodesWrittenOut;
}

// With its first axes, so many of them, behind the others.
Expr with_first_behind(const Expr& tensor, std::size_t count) {
  const std::size_t rank = tensor_of(tensor->type).shape.rank();
  if (count == 0 || count == rank) return tensor;
  std::vector<std::int64_t> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  std::rotate(axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(count), axes.end());
  return build::op("transpose", {tensor}, {{"axes", lang::AttrValue::ints(axes)}});
}

// Where the axes of the directions stand among those of what is computed along them.
enum class Axes : std::uint8_t { First, Last };

// Directions along the elements of a tensor, and what is computed along each.
class Directions {
 public:
  // `like`: an atom of that shape. `code_of_one`: what is going to be computed, or is as long.
  Directions(const Expr& like, const Expr& code_of_one, Emitter& code) : like_(like) {
    few_ = few(like->type);
    if (few_ > 0 && !is_short_code(code_of_one)) few_ = 0;
    const std::size_t rank = tensor_of(like->type).shape.rank();
    for (std::size_t axis = 0; axis < rank; ++axis) {
      extents_.push_back(code.extent_of(like, axis));
      binders_.push_back(binder(axis));
    }
  }

  using Along = std::function<std::vector<Expr>(const Expr& direction, Emitter& code)>;
  bool are_written_out() const { return few_ > 0; }
  // The tensors that `along` gives for the direction, with the axes of `like` as their first or
  // last ones. `is_pure`: `along` gives code without effects.
  std::vector<Expr> each(const Along& along, Axes axes, bool is_pure, Emitter& code) const {
    if (binders_.empty()) return along(number(1), code);
    if (few_ > 0) return moved(written_out(along, code), Axes::First, axes, code);
    Emitter inner(code.tangents());
    const std::vector<Expr> parts = along(inner.emit("direction", direction()), inner);
    if (is_pure) {
      if (const auto all = batched(binders_, inner.bindings(), parts, code))
        return moved(*all, Axes::Last, axes, code);
    }
    std::vector<Type> types;
    for (const Expr& part : parts) types.push_back(stacked(part->type));
    const bool is_one = parts.size() == 1;
    const Expr result = is_one ? parts[0] : build::tuple(parts);
    const Expr all = code.emit(
        "all", lang::make_comprehension(binders_, lang::close_block({inner.take(), result}), {},
                                        is_one ? types[0] : lang::tuple_type(types)));
    if (is_one) return moved({all}, Axes::First, axes, code);
    std::vector<Expr> stacks;
    for (std::uint32_t i = 0; i < parts.size(); ++i)
      stacks.push_back(code.emit("all", build::project(all, i)));
    return moved(std::move(stacks), Axes::First, axes, code);
  }

 private:
  std::vector<Expr> moved(std::vector<Expr> stacks, Axes from, Axes to, Emitter& code) const {
    if (from == to) return stacks;
    for (Expr& stack : stacks) {
      const std::size_t own = tensor_of(stack->type).shape.rank() - binders_.size();
      stack = code.emit("jacobian",
                        with_first_behind(stack, from == Axes::First ? binders_.size() : own));
    }
    return stacks;
  }
  Expr number(double value) const {
    return build::constant(tensor_of(like_->type).dtype.known(), value);
  }
  IndexBinder binder(std::size_t axis) const {
    static constexpr std::string_view kNames = "ijklmn";
    return {lang::make_variable(std::string(1, kNames[axis % kNames.size()]),
                                lang::scalar_type(lang::DType::Int64)),
            extents_[axis]};
  }
  // 1 at the place of the binders, else 0.
  Expr direction() const {
    std::vector<IndexBinder> places;
    Expr is_here;
    for (std::size_t axis = 0; axis < binders_.size(); ++axis) {
      places.push_back(binder(axis));
      const Expr same = build::prim(lang::Prim::Eq, {lang::make_var(places[axis].variable),
                                                     lang::make_var(binders_[axis].variable)});
      is_here = both(is_here, same);
    }
    return lang::make_comprehension(places, build::select(is_here, number(1), number(0)), {},
                                    like_->type);
  }
  Type stacked(const Type& part) const {
    std::vector<Dim> dims = tensor_of(like_->type).shape.dims();
    const auto& own = tensor_of(part).shape.dims();
    dims.insert(dims.end(), own.begin(), own.end());
    return lang::tensor_type(lang::Shape(std::move(dims)), tensor_of(part).dtype);
  }

  // How many elements a tensor has, if that is known and not many; else 0.
  static std::int64_t few(const Type& type) {
    std::int64_t count = 1;
    for (const Dim& dim : tensor_of(type).shape.dims()) {
      if (!dim.is_constant() || dim.constant() > kMostWrittenOut) return 0;
      count *= dim.constant();
    }
    return count <= kMostWrittenOut ? count : 0;
  }

  std::vector<Expr> written_out(const Along& along, Emitter& code) const {
    std::vector<std::vector<Expr>> parts;  // of the result, in each direction
    for (std::int64_t i = 0; i < few_; ++i) {
      const auto each = along(unit(i), code);
      parts.resize(each.size());
      for (std::size_t part = 0; part < each.size(); ++part) parts[part].push_back(each[part]);
    }
    std::vector<Expr> stacks;
    for (const std::vector<Expr>& along_each : parts)
      stacks.push_back(shaped_as_like(along_each, code));
    return stacks;
  }
  Expr shaped_as_like(std::vector<Expr> parts, Emitter& code) const {
    const auto& dims = tensor_of(like_->type).shape.dims();
    for (std::size_t axis = dims.size(); axis-- > 0;) {
      std::vector<Expr> rows;
      const auto extent = static_cast<std::size_t>(dims[axis].constant());
      for (std::size_t begin = 0; begin < parts.size(); begin += extent) {
        const auto first = parts.begin() + static_cast<std::ptrdiff_t>(begin);
        const std::vector<Expr> row(first, first + static_cast<std::ptrdiff_t>(extent));
        rows.push_back(code.emit("all", build::op("stack", {build::tuple(row)})));
      }
      parts = std::move(rows);
    }
    return parts[0];
  }
  // 1 at the element with that number, else 0.
  Expr unit(std::int64_t number) const {
    std::vector<std::int64_t> extents;
    for (const Dim& dim : tensor_of(like_->type).shape.dims()) extents.push_back(dim.constant());
    const lang::DType dtype = tensor_of(like_->type).dtype.known();
    lang::TensorRef tensor = lang::Tensor::make(dtype, extents);
    for (std::int64_t i = 0; i < few_; ++i)
      tensor->set_bits(i, lang::bits_from_double(dtype, i == number ? 1 : 0));
    return lang::make_constant(std::move(tensor));
  }

  Expr like_;
  std::int64_t few_ = 0;  // directions, where they are written out
  std::vector<Expr> extents_;
  std::vector<IndexBinder> binders_;
};

Expr one_or_tuple(const std::vector<Expr>& parts) {
  return parts.size() == 1 ? parts[0] : build::tuple(parts);
}

// The fields of a tuple, or the value alone.
std::vector<Expr> parts_of(const Expr& value, Emitter& code) {
  const auto* tuple = as<lang::TupleType>(value->type);
  if (!tuple) return {value};
  std::vector<Expr> parts;
  for (std::uint32_t i = 0; i < tuple->fields.size(); ++i)
    parts.push_back(code.emit("part", build::project(value, i)));
  return parts;
}

// Does that give its value, or fail, and do nothing else, as far as one sees here?
bool is_pure(const Expr& code, lang::Program& program) {
  bool is = true;
  lang::visit_post_order(code, [&](const Expr& node) {
    const auto* call = as<lang::Call>(node);
    if (call) {
      const auto* op = as<lang::Operator>(call->callee);
      const auto* global = as<lang::GlobalVar>(call->callee);
      is = is && ((op && op->op->effect == lang::Effect::None) ||
                  (global && program.is_pure(global->name)) ||
                  call->callee->kind == lang::ExprKind::ConstructorRef);
    }
    is = is && node->kind != lang::ExprKind::RefCreate && node->kind != lang::ExprKind::RefRead &&
         node->kind != lang::ExprKind::RefWrite && node->kind != lang::ExprKind::Function;
  });
  return is;
}

// What forward mode computes of the values themselves is the same for all directions, also where
// they come together with their tangents: then as they are in `primal`, around the directions.
void hoist_primal(const lang::Block& primal, Emitter& inner, Emitter& around) {
  std::unordered_map<const lang::Variable*, const lang::Binding*> own;
  for (const lang::Binding& binding : primal.bindings) own[binding.variable.get()] = &binding;
  std::unordered_set<const lang::Variable*> inside;
  const std::vector<lang::Binding> code = inner.take();
  for (const lang::Binding& binding : code) inside.insert(binding.variable.get());
  const auto is_outside = [&](const Expr& value) {
    const auto free = lang::free_variables(value);
    return std::none_of(free.begin(), free.end(),
                        [&](const VariableRef& each) { return inside.count(each.get()) != 0; });
  };
  std::vector<lang::Binding> rest;
  for (const lang::Binding& binding : code) {
    const auto found = own.find(binding.variable.get());
    const Expr& value = found == own.end() ? binding.value : found->second->value;
    const bool is_of_values = found != own.end() || build::is_atom(value);
    if (is_of_values && is_outside(value)) {
      around.append({{binding.variable, lang::rename_bound(value), binding.span}});
      inside.erase(binding.variable.get());
    } else {
      rest.push_back(binding);
    }
  }
  inner.append(rest);
}

// For each argument of `fn`, the derivatives of the parts of its result, of shape A ++ R or R ++ A.
std::vector<std::vector<Expr>> columns(const lang::Function& fn,
                                       const std::vector<VariableRef>& params, Axes axes,
                                       lang::Program& program, Pairs& pairs, Emitter& code) {
  std::vector<std::vector<Expr>> all;
  // The function runs once for each direction.
  Expr since;
  if (pairs.reference_use().in(fn.body)) since = code.emit("since", reference_time());
  const bool is_plain = is_pure(fn.body, program);
  for (std::size_t i = 0; i < params.size(); ++i) {
    const Directions directions(lang::make_var(params[i]), fn.body, code);
    all.push_back(directions.each(
        [&](const Expr& direction, Emitter& inner) {
          Linearised linear(fn, program, pairs);
          for (std::size_t k = 0; k < params.size(); ++k)
            inner.append({{linear.params()[k], lang::make_var(params[k])}});
          linear.set_direction(i, direction, inner);
          if (since) inner.emit("replay", begin_replay(since));
          const Expr along = linear.run(inner).second;
          if (since) inner.emit("replay", end_replay());
          const std::vector<Expr> parts = parts_of(along, inner);
          if (is_plain && &inner != &code)
            hoist_primal(lang::open_block(linear.body()), inner, code);
          return parts;
        },
        axes, is_plain, code));
  }
  return all;
}

std::vector<VariableRef> parameters_like(const lang::Function& given) {
  std::vector<VariableRef> params;
  for (const VariableRef& param : given.params)
    params.push_back(lang::make_variable(param->name, param->type, param->span));
  return params;
}

Expr function_of(const std::vector<VariableRef>& params, Emitter& code, const Expr& result,
                 lang::Span span) {
  const Expr body = lang::close_block({code.take(), result});
  return lang::rename_bound(lang::make_function(params, body->type, body, {}, nullptr, span));
}

// The derivatives of each result by each argument.
using Rows = std::vector<std::vector<Expr>>;

Expr as_result(const Rows& rows) {
  std::vector<Expr> all;
  for (const auto& row : rows) all.push_back(one_or_tuple(row));
  return one_or_tuple(all);
}

class Jacobian {
 public:
  Jacobian(const lang::Function& given, lang::Program& program, Pairs& pairs)
      : given_(given), program_(program), pairs_(pairs), params_(parameters_like(given)) {}

  Expr make() {
    Emitter code(pairs_.tangents());
    const std::optional<bool> choice = is_wide();
    Expr result;
    if (choice) {
      result = *choice ? by_results(code) : by_arguments(code);
    } else {
      Emitter along_arguments(pairs_.tangents());
      const Expr a = by_arguments(along_arguments);
      Emitter along_results(pairs_.tangents());
      const Expr b = by_results(along_results);
      const Expr narrow = has_fewer_arguments(code);
      result = code.emit(
          "jacobian",
          lang::make_if(narrow, lang::close_block({along_arguments.take(), a}),
                        lang::close_block({along_results.take(), b}), given_.span, a->type));
    }
    return function_of(params_, code, result, given_.span);
  }

 private:
  std::vector<Type> results() const {
    const Type& result = given_.body->type;
    const auto* tuple = as<lang::TupleType>(result);
    return tuple ? tuple->fields : std::vector<Type>{result};
  }

  static std::optional<Dim> count(const std::vector<Type>& types) {
    Dim sum;
    for (const Type& type : types) {
      Dim product = 1;
      for (const Dim& dim : tensor_of(type).shape.dims()) product = product * dim;
      sum = sum + product;
    }
    return sum.is_any() ? std::nullopt : std::optional(sum);
  }

  // Are there more arguments than results? Nothing where only running tells.
  std::optional<bool> is_wide() const {
    std::vector<Type> types;
    for (const VariableRef& param : params_) types.push_back(param->type);
    const auto arguments = count(types);
    const auto outputs = count(results());
    // One result that is a scalar has the fewest elements there can be.
    if (outputs && outputs->is_constant(1)) return !(arguments && arguments->is_constant(1));
    if (!arguments || !outputs) return std::nullopt;
    const Dim more = *arguments - *outputs;
    return more.is_constant() ? std::optional(more.constant() > 0) : std::nullopt;
  }

  Expr by_arguments(Emitter& code) {
    Rows rows(results().size());
    for (const auto& column : columns(given_, params_, Axes::Last, program_, pairs_, code)) {
      for (std::size_t r = 0; r < rows.size(); ++r) rows[r].push_back(column[r]);
    }
    return as_result(rows);
  }

  // Of a function's body, at the parameters.
  Expr value_of(const lang::Function& fn, Emitter& code) const {
    return code.emit("value", code.body_at(fn, uses_of(params_)));
  }

  Expr by_results(Emitter& code) {
    const Expr derived = derivative(given_, lang::DiffMode::Vjp, program_, pairs_);
    const Expr both = value_of(lang::cast<lang::Function>(derived), code);
    const Expr value = code.emit("value", build::project(both, 0));
    const Expr pullback = code.emit("pullback", build::project(both, 1));
    const Expr literal = code.bound(pullback);
    const auto* backward = as<lang::Function>(literal);
    const std::vector<Expr> outputs = parts_of(value, code);
    Rows rows;
    for (std::size_t r = 0; r < outputs.size(); ++r) {
      const Directions directions(outputs[r], backward ? backward->body : given_.body, code);
      rows.push_back(directions.each(
          [&](const Expr& direction, Emitter& inner) {
            std::vector<Expr> adjoints;
            for (std::size_t k = 0; k < outputs.size(); ++k)
              adjoints.push_back(k == r ? direction
                                        : inner.emit("zero", build::zeros_like(outputs[k])));
            const bool is_tuple = as<lang::TupleType>(value->type) != nullptr;
            const Expr adjoint = is_tuple ? build::tuple(adjoints) : direction;
            const Expr at = inner.emit("adjoint", adjoint);
            const Expr gradients = inner.emit("gradients", backward && directions.are_written_out()
                                                               ? inner.body_at(*backward, {at})
                                                               : build::call(pullback, {at}));
            return params_.size() == 1 ? std::vector{gradients} : parts_of(gradients, inner);
          },
          Axes::First, false, code));
    }
    return as_result(rows);
  }

  Expr has_fewer_arguments(Emitter& code) const {
    const auto total = [&](const std::vector<Expr>& values) {
      Expr sum = build::index_constant(0);
      for (const Expr& value : values) {
        Expr product = build::index_constant(1);
        for (std::size_t axis = 0; axis < tensor_of(value->type).shape.rank(); ++axis)
          product = build::mul(product, code.extent_of(value, axis));
        sum = build::add(sum, product);
      }
      return sum;
    };
    const Expr value = value_of(lang::cast<lang::Function>(Expr(&given_)), code);
    const Expr arguments = total(uses_of(params_));
    const Expr outputs = total(parts_of(value, code));
    return code.emit("is_narrow", build::prim(lang::Prim::Le, {arguments, outputs}));
  }

  const lang::Function& given_;
  lang::Program& program_;
  Pairs& pairs_;
  std::vector<VariableRef> params_;
};

}  // namespace

Expr hessian(const lang::Function& given, lang::Program& program, Pairs& pairs) {
  const Expr gradient = derivative(given, lang::DiffMode::Grad, program, pairs);
  const std::vector<VariableRef> params = parameters_like(given);
  Emitter code(pairs.tangents());
  const Expr result = as_result(
      columns(lang::cast<lang::Function>(gradient), params, Axes::First, program, pairs, code));
  return function_of(params, code, result, given.span);
}

Expr jacobian(const lang::Function& given, lang::Program& program, Pairs& pairs) {
  return Jacobian(given, program, pairs).make();
}

}  // namespace relay::ad
