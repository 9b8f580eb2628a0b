#include "tests/unit/stdlib/reference_eval.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "lang/op.h"

namespace relay::stdlib_test {

using namespace lang;

Array array(DType dtype, std::vector<std::int64_t> shape, std::vector<double> data) {
  return {dtype, std::move(shape), std::move(data), {}, false};
}

Array tuple_of(std::vector<Array> fields) { return {DType::Bool, {}, {}, std::move(fields), true}; }

Type type_of(const Array& value) {
  if (value.is_tuple) {
    std::vector<Type> fields;
    for (const Array& field : value.fields) fields.push_back(type_of(field));
    return tuple_type(std::move(fields));
  }
  return tensor_type(Shape(std::vector<Dim>(value.shape.begin(), value.shape.end())), value.dtype);
}

namespace {

std::int64_t offset_of(const std::vector<std::int64_t>& shape,
                       const std::vector<std::int64_t>& indices) {
  std::int64_t offset = 0;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    RELAY_CHECK(indices[axis] >= 0 && indices[axis] < shape[axis], "an index is out of bounds");
    offset = offset * shape[axis] + indices[axis];
  }
  return offset;
}

double apply_primitive(const Primitive& node, const std::vector<double>& v) {
  const DType dtype = as<TensorType>(node.args[0]->type)->dtype.known();
  const bool integer = !is_float(dtype);
  const double a = v[0];
  const double b = v.size() > 1 ? v[1] : 0;
  const auto bits = [](double x) { return static_cast<std::int64_t>(x); };
  switch (node.prim) {
    case Prim::Add:
      return a + b;
    case Prim::Sub:
      return a - b;
    case Prim::Mul:
      return a * b;
    case Prim::Div:
      return integer ? std::trunc(a / b) : a / b;
    case Prim::FloorDiv:
      return std::floor(a / b);
    case Prim::Mod:
      return std::fmod(a, b);
    case Prim::FloorMod:
      return a - b * std::floor(a / b);
    case Prim::Pow:
      return std::pow(a, b);
    case Prim::Min:
      return a < b || std::isnan(a) ? a : b;
    case Prim::Max:
      return a > b || std::isnan(a) ? a : b;
    case Prim::Neg:
      return -a;
    case Prim::Abs:
      return std::abs(a);
    case Prim::Sign:
      return a > 0 ? 1 : a < 0 ? -1 : a;
    case Prim::Floor:
      return std::floor(a);
    case Prim::Ceil:
      return std::ceil(a);
    case Prim::Trunc:
      return std::trunc(a);
    case Prim::Round:
      return std::nearbyint(a);
    case Prim::Sqrt:
      return std::sqrt(a);
    case Prim::Rsqrt:
      return 1 / std::sqrt(a);
    case Prim::Exp:
      return std::exp(a);
    case Prim::Expm1:
      return std::expm1(a);
    case Prim::Log:
      return std::log(a);
    case Prim::Log1p:
      return std::log1p(a);
    case Prim::Log2:
      return std::log2(a);
    case Prim::Log10:
      return std::log10(a);
    case Prim::Sin:
      return std::sin(a);
    case Prim::Cos:
      return std::cos(a);
    case Prim::Tan:
      return std::tan(a);
    case Prim::Asin:
      return std::asin(a);
    case Prim::Acos:
      return std::acos(a);
    case Prim::Atan:
      return std::atan(a);
    case Prim::Sinh:
      return std::sinh(a);
    case Prim::Cosh:
      return std::cosh(a);
    case Prim::Tanh:
      return std::tanh(a);
    case Prim::Asinh:
      return std::asinh(a);
    case Prim::Acosh:
      return std::acosh(a);
    case Prim::Atanh:
      return std::atanh(a);
    case Prim::Sigmoid:
      return 1 / (1 + std::exp(-a));
    case Prim::Erf:
      return std::erf(a);
    case Prim::Eq:
      return a == b;
    case Prim::Ne:
      return a != b;
    case Prim::Lt:
      return a < b;
    case Prim::Le:
      return a <= b;
    case Prim::Gt:
      return a > b;
    case Prim::Ge:
      return a >= b;
    case Prim::IsNan:
      return std::isnan(a);
    case Prim::IsFinite:
      return std::isfinite(a);
    case Prim::IsInf:
      return std::isinf(a);
    case Prim::And:
      return static_cast<double>(bits(a) & bits(b));
    case Prim::Or:
      return static_cast<double>(bits(a) | bits(b));
    case Prim::Xor:
      return static_cast<double>(bits(a) ^ bits(b));
    case Prim::Not:
      return dtype == DType::Bool ? a == 0 : static_cast<double>(~bits(a));
    case Prim::Shl:
      return static_cast<double>(bits(a) << bits(b));
    case Prim::Shr:
      return static_cast<double>(bits(a) >> bits(b));
    case Prim::Select:
      return a != 0 ? b : v[2];
    case Prim::Cast: {
      const DType to = as<TensorType>(node.type)->dtype.known();
      return to == DType::Bool ? a != 0 : is_float(to) ? a : std::trunc(a);
    }
  }
  return 0;
}

double fold(ReduceOp op, double a, double b) {
  switch (op) {
    case ReduceOp::Sum:
      return a + b;
    case ReduceOp::Prod:
      return a * b;
    case ReduceOp::Max:
    case ReduceOp::ArgMax:
      return a > b ? a : b;
    case ReduceOp::Min:
    case ReduceOp::ArgMin:
      return a < b ? a : b;
    case ReduceOp::All:
      return a != 0 && b != 0;
    case ReduceOp::Any:
      return a != 0 || b != 0;
    case ReduceOp::Dot:  // of no operator
    case ReduceOp::Set:
      return b;
  }
  return 0;
}

}  // namespace

double Evaluator::scalar(const Expr& expr) {
  const Array value = eval(expr);
  RELAY_CHECK(!value.is_tuple && value.shape.empty(), "a scalar is needed");
  return value.data[0];
}

void Evaluator::for_indices(const std::vector<IndexBinder>& binders,
                            const std::function<void(const std::vector<std::int64_t>&)>& body) {
  std::vector<std::int64_t> extents;
  for (const IndexBinder& binder : binders)
    extents.push_back(static_cast<std::int64_t>(scalar(binder.extent)));
  for (const std::int64_t extent : extents) {
    if (extent <= 0) return;
  }
  std::vector<std::int64_t> index(binders.size(), 0);
  for (;;) {
    for (std::size_t k = 0; k < index.size(); ++k) {
      bind(binders[k].variable, array(DType::Int64, {}, {static_cast<double>(index[k])}));
    }
    body(index);
    std::size_t k = index.size();
    while (k > 0 && ++index[k - 1] == extents[k - 1]) index[--k] = 0;
    if (k == 0) return;
  }
}

Array Evaluator::eval_call(const Call& call) {
  const auto* op = as<Operator>(call.callee);
  RELAY_CHECK(op, "only operators are called here");
  std::vector<Array> args;
  for (const Expr& arg : call.args) args.push_back(eval(arg));
  return apply(op->op->name, args, call.attrs ? call.attrs->list : std::vector<Attr>());
}

Array Evaluator::eval(const Expr& expr) {
  Array value = eval_uncached(expr);
  const auto* tensor = as<TensorType>(expr->type);
  RELAY_CHECK(static_cast<bool>(tensor) == !value.is_tuple,
              "a value is no tensor, or no tuple, as its type says");
  if (!tensor) return value;
  RELAY_CHECK(tensor->dtype.known() == value.dtype, "a value has another dtype than its type says");
  RELAY_CHECK(tensor->shape.rank() == value.shape.size(),
              "a value has another rank than its type says");
  for (std::size_t axis = 0; axis < value.shape.size(); ++axis) {
    RELAY_CHECK(tensor->shape[axis].is_constant(value.shape[axis]),
                "a value has another shape than its type says");
  }
  return value;
}

Array Evaluator::eval_uncached(const Expr& expr) {
  const auto dtype = [&] { return as<TensorType>(expr->type)->dtype.known(); };
  if (const auto* var = as<Var>(expr)) return values_.at(var->variable.get());
  if (const auto* constant = as<Constant>(expr)) {
    Array value = array(constant->value->dtype(), constant->value->shape(), {});
    for (std::int64_t k = 0; k < constant->value->element_count(); ++k)
      value.data.push_back(constant->value->number_at(k));
    return value;
  }
  if (const auto* term = as<DimTerm>(expr))
    return array(dtype(), {}, {static_cast<double>(term->dim.constant())});
  if (const auto* tuple = as<Tuple>(expr)) {
    std::vector<Array> fields;
    for (const Expr& field : tuple->fields) fields.push_back(eval(field));
    return tuple_of(std::move(fields));
  }
  if (const auto* projection = as<Projection>(expr))
    return eval(projection->tuple).fields[projection->index];
  if (const auto* let = as<Let>(expr)) {
    bind(let->variable, eval(let->value));
    return eval(let->body);
  }
  if (const auto* call = as<Call>(expr)) return eval_call(*call);
  if (const auto* primitive = as<Primitive>(expr)) {
    std::vector<double> args;
    for (const Expr& arg : primitive->args) args.push_back(scalar(arg));
    return array(dtype(), {}, {apply_primitive(*primitive, args)});
  }
  if (const auto* index = as<Index>(expr)) {
    const auto* var = as<Var>(index->tensor);
    const Array temporary = var ? Array() : eval(index->tensor);
    const Array& tensor = var ? values_.at(var->variable.get()) : temporary;
    std::vector<std::int64_t> place;
    for (const Expr& i : index->indices) place.push_back(static_cast<std::int64_t>(scalar(i)));
    return array(tensor.dtype, {},
                 {tensor.data.at(static_cast<std::size_t>(offset_of(tensor.shape, place)))});
  }
  if (const auto* comprehension = as<Comprehension>(expr)) {
    Array value = array(dtype(), {}, {});
    for (const IndexBinder& binder : comprehension->binders) {
      value.shape.push_back(static_cast<std::int64_t>(scalar(binder.extent)));
    }
    for_indices(comprehension->binders,
                [&](const auto&) { value.data.push_back(scalar(comprehension->body)); });
    return value;
  }
  if (const auto* reduction = as<Reduction>(expr)) {
    double result = reduction->op == ReduceOp::Prod || reduction->op == ReduceOp::All ? 1 : 0;
    const bool starts_with_first = reduction->op != ReduceOp::Sum &&
                                   reduction->op != ReduceOp::Prod &&
                                   reduction->op != ReduceOp::All && reduction->op != ReduceOp::Any;
    double position = -1;
    double best = 0;
    for_indices(reduction->binders, [&](const auto&) {
      ++position;
      const double element = scalar(reduction->body);
      const double next =
          position == 0 && starts_with_first ? element : fold(reduction->op, result, element);
      if (position == 0 || next != result) best = position;
      result = next;
    });
    const bool gives_position =
        reduction->op == ReduceOp::ArgMax || reduction->op == ReduceOp::ArgMin;
    return array(dtype(), {}, {gives_position ? best : result});
  }
  const auto& scatter = cast<ScatterReduce>(expr);
  Array value = eval(scatter.init);
  for_indices(scatter.binders, [&](const auto&) {
    std::vector<std::int64_t> place;
    for (const Expr& i : scatter.indices) place.push_back(static_cast<std::int64_t>(scalar(i)));
    double& element = value.data[static_cast<std::size_t>(offset_of(value.shape, place))];
    element = fold(scatter.op, element, scalar(scatter.value));
  });
  return value;
}

namespace {

// The primitive of sorting: positions of each row, stable, NaN last.
Array order_of(const Array& rows) {
  Array result = array(DType::Int64, rows.shape, std::vector<double>(rows.data.size()));
  const auto length = static_cast<std::size_t>(rows.shape.back());
  for (std::size_t start = 0; start < rows.data.size(); start += length) {
    const auto first = result.data.begin() + static_cast<std::ptrdiff_t>(start);
    std::iota(first, first + static_cast<std::ptrdiff_t>(length), 0.0);
    std::stable_sort(first, first + static_cast<std::ptrdiff_t>(length), [&](double a, double b) {
      const double x = rows.data[start + static_cast<std::size_t>(a)];
      const double y = rows.data[start + static_cast<std::size_t>(b)];
      return std::isnan(y) ? !std::isnan(x) : x < y;
    });
  }
  return result;
}

}  // namespace

Array apply(const std::string& name, const std::vector<Array>& args,
            const std::vector<Attr>& attrs) {
  const OpDef& op = OpRegistry::instance().get(name);
  if (op.primitive == TensorPrimitive::Order) return order_of(args[0]);
  const AttrsRef complete = complete_attrs(op, make_attrs(attrs), {});
  Evaluator evaluator;
  DefinitionCall call;
  std::vector<Type> types;
  for (const Array& arg : args) {
    types.push_back(type_of(arg));
    const VariableRef variable = make_variable("x", types.back());
    evaluator.bind(variable, arg);
    call.args.push_back(make_var(variable));
  }
  call.attrs = complete;
  call.result = ground_result_type(op, types, complete);
  const Array result = evaluator.eval(op.definition ? op.definition(call) : op.expansion(call));
  RELAY_CHECK(equal(type_of(result), call.result),
              "`" + name + "` does not give what its type rule says");
  return result;
}

}  // namespace relay::stdlib_test
