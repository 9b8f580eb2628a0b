#include "loops/expand.h"

#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lang/any_dim.h"
#include "lang/schedule.h"
#include "lang/static_form.h"
#include "loops/free_vars.h"
#include "loops/outline.h"

namespace relay::loops {

using lang::as;
using lang::DiagnosticKind;
using lang::Dim;
using lang::Expr;
using lang::ExprKind;
using lang::IndexBinder;
using lang::Span;
using lang::TensorType;
using lang::Type;
using lang::Variable;
using lang::VariableRef;

namespace {

struct LocalTensor;

// What an expression means here.
struct Value {
  enum class Kind : std::uint8_t { Scalar, Tensor, Tuple, Local };
  Kind kind = Kind::Scalar;
  std::int32_t id = -1;  // Scalar: node; Tensor: tensor
  std::shared_ptr<const std::vector<Value>> fields;
  std::shared_ptr<const LocalTensor> local;

  static Value scalar(NodeId node) { return {Kind::Scalar, node, nullptr, nullptr}; }
  static Value tensor(TensorId tensor) { return {Kind::Tensor, tensor, nullptr, nullptr}; }
  static Value tuple(std::vector<Value> fields) {
    return {Kind::Tuple, -1, std::make_shared<const std::vector<Value>>(std::move(fields)),
            nullptr};
  }
  static Value of(LocalTensor local);
};

// A tensor inside an index body: `base` with its leading axes fixed. One that is made there is made
// for all points, with the index variables that it depends on as leading axes; whether it is stored
// so, or its elements are computed where they are read, is decided later (loops/inline).
struct LocalTensor {
  TensorId base = -1;
  std::vector<NodeId> prefix;
  bool is_checked = false;  // the indices in `prefix`, where `guard` holds
  NodeId guard = -1;
  Span span;
  DType dtype;
  std::vector<std::int64_t> shape;
};

Value Value::of(LocalTensor local) {
  return {Kind::Local, -1, nullptr, std::make_shared<const LocalTensor>(std::move(local))};
}

class Expander {
 public:
  // `outlines`: may sums be put where they take the least work (loops/outline.h)?
  Expander(Stages& stages, bool outlines)
      : stages_(stages), make_(stages), free_(stages), shared_(stages), outlines_(outlines) {}

  void bind_params(const lang::Function& group, std::span<const Layout> args) {
    std::size_t next = 0;
    for (const auto& param : group.params)
      env_[param.get()] = param_value(param->type, param->span, args, next);
    solve_dims();
    RELAY_CHECK(next == args.size(),
                "a group got another number of arguments than it has parameters");
  }

  void run(const Expr& body) { add_results(evaluate(body)); }

 private:
  // --- Parameters and results ---

  Value param_value(const Type& type, Span span, std::span<const Layout> args, std::size_t& next) {
    if (const auto* tuple = as<lang::TupleType>(type)) {
      std::vector<Value> fields;
      for (const auto& field : tuple->fields)
        fields.push_back(param_value(field, span, args, next));
      return Value::tuple(std::move(fields));
    }
    RELAY_CHECK(next < args.size(), "a group got fewer arguments than it has parameters");
    const Layout& layout = args[next];
    if (const auto* tensor = as<TensorType>(type)) bind_dims(*tensor, layout, span);
    TensorDef def;
    def.kind = TensorKind::Argument;
    def.dtype = layout.dtype;
    def.shape = layout.shape;
    def.strides = layout.strides;
    def.leaf = static_cast<std::int32_t>(next++);
    return tensor_or_scalar(add(std::move(def)));
  }

  // Gives dimension variables their values.
  void bind_dims(const TensorType& type, const Layout& layout, Span span) {
    if (!type.shape.has_rank()) return;
    RELAY_CHECK(type.shape.rank() == layout.shape.size(),
                "an argument's rank is not that of its parameter");
    for (std::size_t i = 0; i < layout.shape.size(); ++i) {
      const Dim& dim = type.shape[i];
      if (const auto variable = dim.as_variable()) {
        dims_.emplace(variable.get(), layout.shape[i]);
      } else if (!dim.is_constant() && !dim.is_any()) {
        compound_.emplace_back(dim, layout.shape[i]);
      }
      // A `?` inside a data type or a function type has agreed with the extent.
      if (!dim.is_constant() || dim.constant() == layout.shape[i]) continue;
      lang::fail(DiagnosticKind::ShapeMismatchAtRunTime,
                 fmt::format("a tensor of shape `({})`, whose type is `{}`",
                             fmt::join(layout.shape, ", "), to_string(type.shape)),
                 span);
    }
  }

  // A variable may stand only in a compound dim, as `n + 1`.
  void solve_dims() {
    for (std::size_t before = dims_.size() + 1; before != dims_.size();) {
      before = dims_.size();
      for (const auto& [dim, extent] : compound_) {
        const Dim known = with_known_dims(dim);
        if (known.terms().size() != 1 || known.terms().front().atoms.size() != 1) continue;
        const Dim::Term& term = known.terms().front();
        const lang::TypeVarRef& var = term.atoms.front()->variable;
        if (var) dims_.emplace(var.get(), (extent - known.constant_part()) / term.coefficient);
      }
    }
  }

  Dim with_known_dims(const Dim& dim) const {
    return dim.substitute([&](const lang::TypeVarRef& var) -> std::optional<Dim> {
      const auto found = dims_.find(var.get());
      if (found == dims_.end()) return std::nullopt;
      return Dim(found->second);
    });
  }

  TensorId add(TensorDef def) {
    if (outlines_) {
      outline(stages_, make_, free_, shared_, def);
      return shared_.add(std::move(def));
    }
    stages_.tensors.push_back(std::move(def));
    return static_cast<TensorId>(stages_.tensors.size() - 1);
  }

  const TensorDef& def(TensorId id) const { return stages_.tensors[static_cast<std::size_t>(id)]; }

  Value tensor_or_scalar(TensorId id) {
    if (!def(id).shape.empty()) return Value::tensor(id);
    return Value::scalar(make_.read(id, {}, false, {}));
  }

  // A scalar as a tensor of rank 0.
  TensorId tensor_of(const Value& value, Span span) {
    if (value.kind == Value::Kind::Tensor) return value.id;
    if (value.kind != Value::Kind::Scalar)
      unsupported("a result that is neither a tensor nor a tuple of tensors", span);
    const Node& node = make_.node(value.id);
    if (node.kind == NodeKind::Read && node.arg_count == 0) return node.ref;
    TensorDef def;
    def.dtype = node.dtype;
    def.body = value.id;
    def.span = span;
    return add(std::move(def));
  }

  void add_results(const Value& value) {
    if (value.kind == Value::Kind::Tuple) {
      for (const Value& field : *value.fields) add_results(field);
      return;
    }
    stages_.results.push_back(tensor_of(value, {}));
  }

  [[noreturn]] static void unsupported(std::string_view what, Span span) {
    lang::fail(DiagnosticKind::Unsupported, fmt::format("not supported: {} inside a kernel", what),
               span);
  }

  // --- Expressions ---

  Value evaluate(const Expr& root) {
    const Expr* expr = &root;
    while ((*expr)->kind == ExprKind::Let) {
      const auto& let = lang::cast<lang::Let>(*expr);
      Value value = evaluate(let.value);
      if (depth_ == 0) value = named(std::move(value), let);
      env_[let.variable.get()] = std::move(value);
      expr = &let.body;
    }
    // A node that is used twice is evaluated once.
    const bool is_shared = !(*expr)->is_unique() && (*expr)->kind != ExprKind::Var &&
                           (*expr)->kind != ExprKind::Constant;
    if (!is_shared) return evaluate_node(*expr);
    const MemoKey key{expr->get(), guard_ >= 0 && may_fail_(*expr) ? guard_ : -1};
    if (const auto found = memo_.find(key); found != memo_.end()) return found->second;
    Value value = evaluate_node(*expr);
    memo_[key] = value;
    return value;
  }

  // What a name outside index bodies stands for is computed once: a scalar becomes a tensor of rank
  // 0.
  Value named(Value value, const lang::Let& let) {
    if (value.kind == Value::Kind::Tensor && !operator_ && as<lang::Comprehension>(let.value))
      stages_.tensors[static_cast<std::size_t>(value.id)].name = let.variable->name;
    if (value.kind != Value::Kind::Scalar) return value;
    const NodeKind kind = make_.node(value.id).kind;
    if (kind == NodeKind::Constant || kind == NodeKind::Read) return value;
    return tensor_or_scalar(tensor_of(value, let.value->span));
  }

  Value evaluate_node(const Expr& expr) {
    switch (expr->kind) {
      case ExprKind::Var: {
        const auto found = env_.find(lang::cast<lang::Var>(expr).variable.get());
        RELAY_CHECK(found != env_.end(), "a variable of a kernel group is out of scope");
        return found->second;
      }
      case ExprKind::Constant:
        return constant(lang::cast<lang::Constant>(expr));
      case ExprKind::Tuple: {
        std::vector<Value> fields;
        for (const auto& field : lang::cast<lang::Tuple>(expr).fields)
          fields.push_back(evaluate(field));
        return Value::tuple(std::move(fields));
      }
      case ExprKind::Projection: {
        const auto& projection = lang::cast<lang::Projection>(expr);
        const Value tuple = evaluate(projection.tuple);
        RELAY_CHECK(tuple.kind == Value::Kind::Tuple, "projection from what is no tuple");
        return (*tuple.fields)[projection.index];
      }
      case ExprKind::If:
        return conditional(lang::cast<lang::If>(expr));
      case ExprKind::Call:
        return call(expr);
      case ExprKind::Comprehension:
        return comprehension(lang::cast<lang::Comprehension>(expr));
      case ExprKind::Reduction:
        return reduction(lang::cast<lang::Reduction>(expr));
      case ExprKind::Index:
        return index(lang::cast<lang::Index>(expr));
      case ExprKind::ScatterReduce:
        return scatter(lang::cast<lang::ScatterReduce>(expr));
      case ExprKind::Primitive:
        return primitive(lang::cast<lang::Primitive>(expr));
      case ExprKind::DimTerm:
        return Value::scalar(
            make_.index_constant(dim_value(lang::cast<lang::DimTerm>(expr).dim, expr->span)));
      default:
        unsupported(fmt::format("an expression of kind {}", lang::name_of(expr->kind)), expr->span);
    }
  }

  Value constant(const lang::Constant& constant) {
    const lang::Tensor& tensor = *constant.value;
    if (tensor.rank() == 0) return Value::scalar(make_.constant(tensor.dtype(), tensor.bits_at(0)));
    TensorDef def;
    def.kind = TensorKind::Literal;
    def.dtype = tensor.dtype();
    def.shape = tensor.shape();
    def.strides = tensor.strides();
    def.leaf = static_cast<std::int32_t>(stages_.literals.size());
    stages_.literals.push_back(constant.value);
    return Value::tensor(add(std::move(def)));
  }

  NodeId scalar(const Expr& expr) { return scalar_of(evaluate(expr), expr->span); }
  static NodeId scalar_of(const Value& value, lang::Span span) {
    if (value.kind == Value::Kind::Scalar) return value.id;
    unsupported("a tensor where a scalar is computed", span);
  }
  NodeId index_of(const Expr& expr) { return make_.cast(scalar(expr), DType::Int64); }

  Value primitive(const lang::Primitive& node) {
    std::array<NodeId, 3> args{};
    RELAY_CHECK(node.args.size() <= args.size(), "a primitive has at most three operands");
    for (std::size_t i = 0; i < node.args.size(); ++i) args[i] = scalar(node.args[i]);
    const auto* type = as<TensorType>(node.type);
    RELAY_CHECK(type, "a primitive in a kernel has a type");
    const lang::PrimInfo& facts = lang::info(node.prim);
    const DType operand = make_.node(args[node.args.size() - 1]).dtype;
    if (!lang::accepts(facts.operands, operand)) {
      // What a type rule forgot to require.
      const Span span = node.span ? node.span : operator_span_;
      lang::fail(DiagnosticKind::DTypeMismatch,
                 operator_
                     ? fmt::format("`{}` does not take `{}`: there is no `{}` of it",
                                   operator_->name, lang::name_of(operand), facts.text)
                     : fmt::format("there is no `{}` of `{}`", facts.text, lang::name_of(operand)),
                 span);
    }
    // What fails under a guard must not fail where that is false.
    if (guard_ >= 0 && lang::divides_integers(node.prim, operand)) {
      const NodeId one = make_.constant(operand, lang::bits_from_int(operand, 1));
      const Node& divisor = make_.node(args[1]);
      if (divisor.kind != NodeKind::Constant || divisor.bits == 0)
        args[1] = make_.primitive(Prim::Select, std::array{guard_, args[1], one}, operand);
    }
    return Value::scalar(
        make_.primitive(node.prim, {args.data(), node.args.size()}, type->dtype.known()));
  }

  // Both branches are computed; what may fail in one counts only where that is taken.
  Value conditional(const lang::If& node) {
    const NodeId condition = scalar(node.condition);
    const Value taken = branch(node.then_branch, condition);
    const bool may_fail = may_fail_(node.else_branch);
    const NodeId otherwise =
        may_fail ? make_.primitive(Prim::Not, std::array{condition}, DType::Bool) : condition;
    return choose(condition, taken, branch(node.else_branch, otherwise), node.span);
  }
  Value branch(const Expr& expr, NodeId condition) {
    if (!may_fail_(expr)) return evaluate(expr);
    return under(condition, [&] { return evaluate(expr); });
  }
  // What this does may fail only where the condition holds too.
  template <class Do>
  Value under(NodeId condition, const Do& evaluated) {
    const NodeId outer = guard_;
    guard_ = outer < 0 ? condition
                       : make_.primitive(Prim::And, std::array{outer, condition}, DType::Bool);
    Value value = evaluated();
    guard_ = outer;
    return value;
  }
  Value choose(NodeId condition, const Value& a, const Value& b, Span span) {
    if (a.kind == Value::Kind::Tuple && b.kind == Value::Kind::Tuple) {
      std::vector<Value> fields;
      for (std::size_t i = 0; i < a.fields->size(); ++i)
        fields.push_back(choose(condition, (*a.fields)[i], (*b.fields)[i], span));
      return Value::tuple(std::move(fields));
    }
    if (std::vector<std::int64_t> shape = shape_of(a, span); !shape.empty()) {
      return local_tensor(shape, span, [&](std::span<const NodeId> indices) {
        return choose(condition, element_of(a, indices, false, span),
                      element_of(b, indices, false, span), span);
      });
    }
    if (a.kind != Value::Kind::Scalar || b.kind != Value::Kind::Scalar)
      unsupported("`if` on tensors", span);
    const std::array<NodeId, 3> args = {condition, a.id, b.id};
    return Value::scalar(make_.primitive(Prim::Select, args, make_.node(a.id).dtype));
  }

  std::int64_t dim_value(const Dim& dim, Span span) {
    const Dim known = with_known_dims(dim);
    if (!known.is_constant())
      unsupported(fmt::format("the dimension `{}`, which no argument determines,", dim.to_string()),
                  span);
    return known.constant();
  }

  // --- Index notation ---

  [[noreturn]] static void refuse_extent(const IndexBinder& binder,
                                         std::optional<lang::ReduceOp> op) {
    const std::string& name = binder.variable->name;
    const std::string_view extent = binder.extent->span ? binder.extent->span.text() : "";
    lang::Diagnostic diagnostic(
        DiagnosticKind::Unsupported,
        fmt::format("not supported: an extent of `{}` that depends on an index", name),
        binder.extent->span ? binder.extent->span : binder.variable->span);
    const bool is_sum = op == lang::ReduceOp::Sum;
    if (!extent.empty() && (is_sum || op == lang::ReduceOp::Prod)) {
      diagnostic.note(fmt::format(
          "help: let `{0}` run to a fixed extent, with the body `if {0} < {1} {{ ... }} "
          "else {{ {2} }}`",
          name, extent, is_sum ? 0 : 1));
    }
    throw lang::Failure(std::move(diagnostic));
  }

  std::int64_t extent_of(const IndexBinder& binder,
                         std::optional<lang::ReduceOp> op = std::nullopt) {
    RELAY_CHECK(binder.extent, "an index binder has an extent after inference");
    const NodeId node = index_of(binder.extent);
    if (make_.node(node).kind != NodeKind::Constant) refuse_extent(binder, op);
    const auto extent = static_cast<std::int64_t>(make_.node(node).bits);
    if (extent < 0) {
      // The loop of a slice bears its text.
      const Span own = binder.variable->span;
      const bool is_slice = own && own.text().find(':') != std::string_view::npos;
      lang::fail(DiagnosticKind::ShapeMismatchAtRunTime,
                 is_slice ? fmt::format("the slice `{}` has {} elements", own.text(), extent)
                          : fmt::format("the extent of `{}` is {}, which is negative",
                                        binder.variable->name, extent),
                 binder.extent->span ? binder.extent->span : own);
    }
    return extent;
  }

  // Fresh index variables for binders, which are bound to them until `depth_` is left.
  std::vector<IndexVarId> open(const std::vector<IndexBinder>& binders,
                               std::optional<lang::ReduceOp> op = std::nullopt) {
    std::vector<IndexVarId> vars;
    vars.reserve(binders.size());
    for (const IndexBinder& binder : binders) {
      vars.push_back(
          make_.new_var(extent_of(binder, op), operator_ ? std::string() : binder.variable->name));
    }
    for (std::size_t i = 0; i < binders.size(); ++i)
      env_[binders[i].variable.get()] = Value::scalar(make_.var(vars[i]));
    return vars;
  }

  // What stands inside of `vars`, evaluated by `evaluate_body`.
  template <class F>
  auto inside(const std::vector<IndexVarId>& vars, const F& evaluate_body) {
    enclosing_.insert(enclosing_.end(), vars.begin(), vars.end());
    ++depth_;
    auto result = evaluate_body();
    --depth_;
    enclosing_.resize(enclosing_.size() - vars.size());
    return result;
  }

  Value comprehension(const lang::Comprehension& node) {
    const std::vector<IndexVarId> vars = open(node.binders);
    if (depth_ == 0)
      return stage(vars, inside(vars, [&] { return evaluate(node.body); }), node.span);
    return inside(vars, [&] { return local_tensors(vars, evaluate(node.body), node.span); });
  }

  // A tensor inside an index body, `element` over `vars`, or a tuple of them.
  Value local_tensors(const std::vector<IndexVarId>& vars, const Value& element, Span span) {
    if (element.kind == Value::Kind::Tuple) {
      std::vector<Value> fields;
      for (const Value& field : *element.fields) fields.push_back(local_tensors(vars, field, span));
      return Value::tuple(std::move(fields));
    }
    std::vector<std::int64_t> shape;
    for (const IndexVarId var : vars) shape.push_back(extent_of(var));
    const std::vector<std::int64_t> rest = shape_of(element, span);
    if (rest.empty()) return made_local(vars, element, span);
    const std::vector<IndexVarId> inner = open_shape(rest);
    std::vector<IndexVarId> all = vars;
    all.insert(all.end(), inner.begin(), inner.end());
    return made_local(all, element_of(element, nodes_of(inner), false, span), span);
  }

  // The same of a shape, whose element at given indices is what `element` gives.
  template <class F>
  Value local_tensor(const std::vector<std::int64_t>& shape, Span span, const F& element) {
    const std::vector<IndexVarId> vars = open_shape(shape);
    return inside(vars, [&] { return made_local(vars, element(nodes_of(vars)), span); });
  }

  Value made_local(const std::vector<IndexVarId>& vars, const Value& element, Span span) {
    RELAY_CHECK(element.kind == Value::Kind::Scalar, "an element is a scalar");
    LocalTensor local;
    TensorDef def;
    for (const IndexVarId var : free_.among(enclosing_, element.id)) {
      if (std::find(vars.begin(), vars.end(), var) != vars.end()) continue;
      def.vars.push_back(var);
      local.prefix.push_back(make_.var(var));
    }
    def.point_axes = def.vars.size();
    def.vars.insert(def.vars.end(), vars.begin(), vars.end());
    for (const IndexVarId var : def.vars) def.shape.push_back(extent_of(var));
    for (const IndexVarId var : vars) local.shape.push_back(extent_of(var));
    def.body = element.id;
    def.dtype = make_.node(element.id).dtype;
    def.span = span;
    local.dtype = def.dtype;
    local.span = span;
    local.base = add(std::move(def));
    return Value::of(std::move(local));
  }

  std::int64_t extent_of(IndexVarId var) const {
    return stages_.var_extents[static_cast<std::size_t>(var)];
  }
  std::vector<IndexVarId> open_shape(const std::vector<std::int64_t>& shape) {
    std::vector<IndexVarId> vars;
    for (const std::int64_t extent : shape) vars.push_back(make_.new_var(extent));
    return vars;
  }
  std::vector<NodeId> nodes_of(const std::vector<IndexVarId>& vars) {
    std::vector<NodeId> nodes;
    for (const IndexVarId var : vars) nodes.push_back(make_.var(var));
    return nodes;
  }

  std::vector<std::int64_t> shape_of(const Value& value, Span span) const {
    switch (value.kind) {
      case Value::Kind::Scalar:
        return {};
      case Value::Kind::Tensor:
        return def(value.id).shape;
      case Value::Kind::Local:
        return value.local->shape;
      case Value::Kind::Tuple:
        break;
    }
    unsupported("a tuple where a tensor is expected", span);
  }

  // A tensor over `vars` whose elements are `body`; the body's own axes follow.
  Value stage(std::vector<IndexVarId> vars, const Value& body, Span span) {
    if (body.kind == Value::Kind::Tuple) {
      std::vector<Value> fields;
      for (const Value& field : *body.fields) fields.push_back(stage(vars, field, span));
      return Value::tuple(std::move(fields));
    }
    Value element = body;
    if (body.kind != Value::Kind::Scalar) {
      const std::vector<IndexVarId> inner = open_shape(shape_of(body, span));
      vars.insert(vars.end(), inner.begin(), inner.end());
      element = element_of(body, nodes_of(inner), false, span);
      RELAY_CHECK(element.kind == Value::Kind::Scalar, "all axes of a tensor are indexed");
    }
    return Value::tensor(add(tensor_over(stages_, vars, element.id, span)));
  }

  Value reduction(const lang::Reduction& node) {
    const std::vector<IndexVarId> vars = open(node.binders, node.op);
    if (node.op == lang::ReduceOp::Dot) return dot(node, vars);
    const NodeId body = inside(vars, [&] { return scalar(node.body); });
    return Value::scalar(make_.reduce(node.op, vars, body));
  }

  // What is narrower than float32 is multiplied and added in it.
  Value dot(const lang::Reduction& node, const std::vector<IndexVarId>& vars) {
    const Value pair = inside(vars, [&] { return evaluate(node.body); });
    RELAY_CHECK(pair.kind == Value::Kind::Tuple && pair.fields->size() == 2, "a dot takes pairs");
    std::array<NodeId, 2> factors{};
    for (std::size_t i = 0; i < 2; ++i) factors[i] = scalar_of((*pair.fields)[i], node.body->span);
    const DType dtype = make_.node(factors[0]).dtype;
    const DType sum = lang::size_of(dtype) < 4 ? DType::Float32 : dtype;
    for (NodeId& factor : factors) factor = make_.cast(factor, sum);
    return Value::scalar(make_.cast(make_.reduce(node.op, vars, factors), dtype));
  }

  Value scatter(const lang::ScatterReduce& node) {
    if (depth_ > 0) unsupported("a scatter inside index notation", node.span);
    TensorDef def;
    def.kind = TensorKind::Scatter;
    def.init = tensor_of(evaluate(node.init), node.span);
    def.shape = this->def(def.init).shape;
    def.dtype = this->def(def.init).dtype;
    def.op = node.op;
    def.span = node.span;
    def.vars = open(node.binders);
    def.body = inside(def.vars, [&] {
      for (const auto& index : node.indices) def.indices.push_back(index_of(index));
      const NodeId value = scalar(node.value);
      if (!make_.node(value).has_reduce) return value;
      // A tensor of its own: it may be stored, and then before what the scatter starts from.
      const Value local = made_local({}, Value::scalar(value), node.span);
      return make_.read(local.local->base, local.local->prefix, false, node.span);
    });
    RELAY_CHECK(def.indices.size() == def.shape.size(), "a scatter indexes every axis");
    RELAY_CHECK(make_.node(def.body).dtype == def.dtype,
                "a scatter's values have the dtype of its target");
    return tensor_or_scalar(add(std::move(def)));
  }

  Value index(const lang::Index& node) {
    const Value tensor = evaluate(node.tensor);
    std::vector<NodeId> indices;
    indices.reserve(node.indices.size());
    for (const auto& index : node.indices) indices.push_back(index_of(index));
    return element_of(tensor, indices, !node.in_bounds, node.span);
  }

  Value element_of(const Value& value, std::span<const NodeId> indices, bool is_checked,
                   Span span) {
    if (indices.empty()) return value;
    if (value.kind == Value::Kind::Tensor)
      return element_of_tensor(value.id, indices, is_checked, span);
    if (value.kind != Value::Kind::Local) unsupported("indexing of what is no tensor", span);
    const LocalTensor& local = *value.local;
    if (is_checked && local.prefix.size() > def(local.base).point_axes) {
      // Checks at two places, which may count under two conditions: two reads.
      const Value whole = local_tensor(local.shape, local.span, [&](std::span<const NodeId> at) {
        return element_of(value, at, false, local.span);
      });
      return element_of(whole, indices, is_checked, span);
    }
    std::vector<NodeId> all = local.prefix;
    all.insert(all.end(), indices.begin(), indices.end());
    const NodeId outer = guard_;
    if (local.is_checked) guard_ = local.guard;
    Value element = element_of_tensor(local.base, all, is_checked || local.is_checked,
                                      span && !local.is_checked ? span : local.span);
    guard_ = outer;
    return element;
  }

  Value element_of_tensor(TensorId tensor, std::span<const NodeId> indices, bool is_checked,
                          Span span) {
    const std::vector<std::int64_t>& shape = def(tensor).shape;
    RELAY_CHECK(indices.size() <= shape.size(), "more indices than axes");
    if (indices.size() < shape.size()) {
      LocalTensor local;
      local.base = tensor;
      local.prefix.assign(indices.begin(), indices.end());
      local.is_checked = is_checked;
      local.guard = guard_;
      local.span = span;
      local.dtype = def(tensor).dtype;
      local.shape.assign(shape.begin() + static_cast<std::ptrdiff_t>(indices.size()), shape.end());
      return Value::of(std::move(local));
    }
    if (!is_checked) check_extents(indices, shape, span);
    if (is_checked) {
      if (auto chosen = chosen_element(tensor, indices, span)) return *chosen;
    }
    return Value::scalar(make_.read(tensor, indices, is_checked, span ? span : operator_span_,
                                    operator_, is_checked ? guard_ : -1));
  }

  // A condition that chooses between an index and a constant, as what stands in a branch has it in
  // a derivative, chooses between two elements: indices without it are arithmetic, and what is read
  // at them is read by whole vectors.
  std::optional<Value> chosen_element(TensorId tensor, std::span<const NodeId> indices, Span span) {
    NodeId condition = -1;
    for (const NodeId index : indices) {
      if (condition < 0 && chooses_constant(index)) condition = arg_of(index, 0);
    }
    if (condition < 0) return std::nullopt;
    const auto side = [&](std::size_t arm) {
      std::vector<NodeId> taken(indices.begin(), indices.end());
      for (NodeId& index : taken) {
        if (is_select(index) && arg_of(index, 0) == condition) index = arg_of(index, arm);
      }
      const NodeId holds =
          arm == 1 ? condition : make_.primitive(Prim::Not, std::array{condition}, DType::Bool);
      return under(holds, [&] { return element_of_tensor(tensor, taken, true, span); });
    };
    const Value taken = side(1);
    return choose(condition, taken, side(2), span);
  }
  bool is_select(NodeId id) const {
    const Node& node = make_.node(id);
    return node.kind == NodeKind::Primitive && node.prim == Prim::Select;
  }
  NodeId arg_of(NodeId id, std::size_t number) const {
    return stages_.args(make_.node(id))[number];
  }
  bool chooses_constant(NodeId index) const {
    return is_select(index) && (make_.node(arg_of(index, 1)).kind == NodeKind::Constant ||
                                make_.node(arg_of(index, 2)).kind == NodeKind::Constant);
  }

  // Bare uses `a[i]` of one index must agree; with dims that only now are numbers, they may not.
  void check_extents(std::span<const NodeId> indices, const std::vector<std::int64_t>& shape,
                     Span span) const {
    const auto extent_on = [&](std::size_t axis) -> std::int64_t {
      const Node& node = make_.node(indices[axis]);
      if (node.kind != NodeKind::IndexVar) return 1;
      return stages_.var_extents[static_cast<std::size_t>(node.ref)];
    };
    // What is never read cannot be out of range: what has a 0 among its extents may not know the
    // others.
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      if (extent_on(axis) == 0) return;
    }
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      const std::int64_t extent = extent_on(axis);
      if (make_.node(indices[axis]).kind != NodeKind::IndexVar || extent <= shape[axis]) continue;
      lang::fail(DiagnosticKind::ShapeMismatchAtRunTime,
                 fmt::format("an index that runs to {} is used on axis {}, whose extent is {}",
                             extent, axis, shape[axis]),
                 span);
    }
  }

  // --- Calls ---

  Type type_of(const Value& value) const {
    switch (value.kind) {
      case Value::Kind::Scalar:
        return lang::scalar_type(make_.node(value.id).dtype);
      case Value::Kind::Tensor:
        return tensor_type(def(value.id).shape, def(value.id).dtype);
      case Value::Kind::Local:
        return tensor_type(value.local->shape, value.local->dtype);
      case Value::Kind::Tuple:
        break;
    }
    std::vector<Type> fields;
    for (const Value& field : *value.fields) fields.push_back(type_of(field));
    return lang::tuple_type(std::move(fields));
  }

  static Type tensor_type(const std::vector<std::int64_t>& shape, DType dtype) {
    return lang::tensor_type(lang::Shape(std::vector<Dim>(shape.begin(), shape.end())), dtype);
  }

  Value call(const Expr& expr) {
    const auto& node = lang::cast<lang::Call>(expr);
    const auto* callee = as<lang::Operator>(node.callee);
    if (callee && !callee->op->static_form.empty()) {
      keep_.push_back(lang::static_call(node));
      return call(keep_.back());
    }
    std::vector<Value> values;
    values.reserve(node.args.size());
    for (const auto& arg : node.args) values.push_back(evaluate(arg));
    if (const auto* function = as<lang::Function>(node.callee)) {
      RELAY_CHECK(function->params.size() == values.size(),
                  "a call passes as many arguments as the function takes");
      for (std::size_t i = 0; i < values.size(); ++i)
        env_[function->params[i].get()] = std::move(values[i]);
      return evaluate(function->body);
    }
    if (callee && callee->op->primitive != lang::TensorPrimitive::None) {
      return whole_tensor(callee->op->primitive, values.front(),
                          as<TensorType>(expr->type)->dtype.known(), expr->span);
    }
    if (!callee || !callee->op->definition) unsupported("a call of a function", expr->span);
    std::vector<Expr> args;
    args.reserve(values.size());
    for (Value& value : values) {
      const VariableRef variable = lang::make_variable("x", type_of(value));
      env_[variable.get()] = std::move(value);
      args.push_back(lang::make_var(variable));
    }
    const Span span = expr->span;
    keep_.push_back(expand_operator(node, std::move(args), concrete_type(node.type)));
    // Of operators within operators, the one that the program calls.
    if (operator_ && !span) return evaluate(keep_.back());
    const lang::OpDef* const outer = std::exchange(operator_, callee->op);
    const Span outer_span = std::exchange(operator_span_, span);
    Value value = evaluate(keep_.back());
    operator_ = outer;
    operator_span_ = outer_span;
    return value;
  }

  Value whole_tensor(lang::TensorPrimitive primitive, const Value& input, DType dtype, Span span) {
    if (depth_ > 0) unsupported("an operator of whole tensors inside index notation", span);
    TensorDef made;
    made.kind = TensorKind::Whole;
    made.primitive = primitive;
    made.dtype = dtype;
    made.init = tensor_of(input, span);
    made.shape = def(made.init).shape;
    made.span = span;
    return tensor_or_scalar(add(std::move(made)));
  }

  // The type with dimension variables replaced; null where a dim stays unknown.
  Type concrete_type(const Type& type) {
    if (!type || is_concrete(type)) return type;
    const auto* tensor = as<TensorType>(type);
    if (!tensor || !tensor->shape.has_rank() || lang::has_any_dim(type)) return nullptr;
    std::vector<Dim> dims;
    for (const Dim& dim : tensor->shape.dims()) dims.push_back(with_known_dims(dim));
    return lang::tensor_type(lang::Shape(std::move(dims)), tensor->dtype);
  }

  // What may fail means something else under another guard.
  struct MemoKey {
    const lang::ExprNode* expr;
    NodeId guard;
    friend bool operator==(const MemoKey&, const MemoKey&) = default;
  };
  struct MemoHash {
    std::size_t operator()(const MemoKey& key) const {
      return std::hash<const void*>()(key.expr) ^
             (static_cast<std::size_t>(static_cast<std::uint32_t>(key.guard)) << 32);
    }
  };

  Stages& stages_;
  NodeFactory make_;
  FreeVars free_;
  SharedTensors shared_;
  std::unordered_map<const Variable*, Value> env_;
  std::unordered_map<MemoKey, Value, MemoHash> memo_;
  lang::MayFail may_fail_;
  NodeId guard_ = -1;  // where what is being evaluated counts; -1: everywhere
  std::unordered_map<const lang::TypeVar*, std::int64_t> dims_;
  std::vector<std::pair<Dim, std::int64_t>> compound_;  // dims of parameters, and their extents
  // Definitions, whose nodes and variables are keys above; they stay where they are.
  std::deque<Expr> keep_;
  int depth_ = 0;                          // index bodies around
  std::vector<IndexVarId> enclosing_;      // their index variables
  const lang::OpDef* operator_ = nullptr;  // whose definition is being evaluated
  Span operator_span_;
  const bool outlines_;
};

}  // namespace

Stages expand(const lang::Function& group, std::span<const Layout> args) {
  Stages stages;
  // A nest with a schedule stays whole.
  Expander expander(stages, !lang::schedule_of(group));
  expander.bind_params(group, args);
  expander.run(group.body);
  for (const TensorDef& def : stages.tensors) count_of(def.shape);
  return stages;
}

}  // namespace relay::loops
