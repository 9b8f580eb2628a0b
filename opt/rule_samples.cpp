#include "opt/rule_samples.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "lang/diagnostic.h"
#include "lang/op.h"

namespace relay::opt {

using lang::as;
using lang::DType;
using lang::Expr;
using Kind = ExprPattern::Kind;

std::uint64_t RuleRandom::next() {  // SplitMix64
  state_ += 0x9e3779b97f4a7c15;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

namespace {

constexpr std::array kDTypes = {DType::Float32, DType::Float32, DType::Float32, DType::Float64,
                                DType::Int32,   DType::Int64,   DType::UInt8,   DType::Int8,
                                DType::Bool,    DType::Float16};

// --- Values ---

double moderate(DType dtype, RuleRandom& random) {
  const auto eighths = static_cast<double>(1 + random.below(64));
  const double sign = lang::is_unsigned_int(dtype) || random.one_in(2) ? 1 : -1;
  return sign * (lang::is_float(dtype) ? eighths / 8 + 0.01 * static_cast<double>(random.below(9))
                                       : std::ceil(eighths / 8));
}

std::uint64_t special_bits(DType dtype, RuleRandom& random) {
  if (!lang::is_float(dtype)) {
    const std::uint64_t lowest = std::uint64_t{1} << (lang::bits_of(dtype) - 1);
    const std::array<std::uint64_t, 6> all = {0, 1, ~std::uint64_t{0}, lowest, lowest - 1, 2};
    const std::uint64_t mask = lang::bits_of(dtype) == 64
                                   ? ~std::uint64_t{0}
                                   : (std::uint64_t{1} << lang::bits_of(dtype)) - 1;
    return all[static_cast<std::size_t>(random.below(6))] & mask;
  }
  using Limits = std::numeric_limits<double>;
  const double large = dtype == DType::Float16 ? 65504 : dtype == DType::Float64 ? 1.7e308 : 3.4e38;
  const double tiny = dtype == DType::Float16 ? 6e-8 : dtype == DType::Float64 ? 5e-324 : 1e-45;
  const std::array<double, 12> all = {
      0.0,  -0.0,  0.0,    -0.0, Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN(), 1.0,
      -1.0, large, -large, tiny};
  return lang::bits_from_double(dtype, all[static_cast<std::size_t>(random.below(12))]);
}

lang::TensorRef random_tensor(const lang::TensorType& type, SampleValues values,
                              RuleRandom& random) {
  std::vector<std::int64_t> shape;
  for (const lang::Dim& dim : type.shape.dims()) shape.push_back(dim.constant());
  const DType dtype = type.dtype.known();
  lang::TensorRef tensor = lang::Tensor::make(dtype, shape);
  for (std::int64_t i = 0; i < tensor->element_count(); ++i) {
    const bool is_special = values == SampleValues::Special && random.one_in(2);
    tensor->set_bits(i, dtype == DType::Bool ? static_cast<std::uint64_t>(random.below(2))
                        : is_special         ? special_bits(dtype, random)
                                     : lang::bits_from_double(dtype, moderate(dtype, random)));
  }
  return tensor;
}

// --- Types and code ---

class Sampler {
 public:
  Sampler(const PatternRule& rule, RuleRandom& random, SampleValues values,
          const DefaultAttrs& defaults, bool is_small)
      : rule_(rule), random_(random), values_(values), defaults_(defaults), is_small_(is_small) {
    dtype_ = any_dtype();
    for (const lang::VariableRef& param : rule.written.params) {
      const auto* tensor = as<lang::TensorType>(param->type);
      if (tensor && tensor->dtype.is_known() && !random_.one_in(4)) dtype_ = tensor->dtype.known();
    }
    few_.fill(1 + random_.below(4));
    if (!random_.one_in(3)) few_[1] = 1 + random_.below(4);
    varies_ = random_.one_in(2);
    const std::int64_t rank = is_small_ ? random_.below(2) : random_.below(5);
    for (std::int64_t i = 0; i < rank; ++i) shape_.push_back(extent());
  }

  // Code that the pattern may match, with variables and constants for its wildcards; null where
  // this try has led to nothing.
  Expr code() { return made(rule_.pattern); }
  const std::vector<RuleSample::Input>& inputs() const { return drawn_.inputs; }
  // All of the sample but for its code.
  RuleSample drawn() { return std::move(drawn_); }

 private:
  // Few different ones, so that they are often equal.
  std::int64_t extent() {
    if (is_small_) return 1 + random_.below(2);
    return random_.one_in(6) ? 1 + random_.below(4) : few_[random_.one_in(2) ? 1 : 0];
  }
  DType any_dtype() {
    return kDTypes[static_cast<std::size_t>(
        random_.below(static_cast<std::int64_t>(kDTypes.size())))];
  }

  lang::Dim dim_for(const lang::TypeVarRef& var) {
    const auto [known, is_new] = types_.dims.emplace(var.get(), lang::Dim());
    if (is_new) known->second = lang::Dim(extent());
    return known->second;
  }

  // Every variable of a type gets a value.
  lang::Type ground(const lang::Type& type) {
    for (const lang::TypeVarRef& var : lang::variables_of(type)) {
      switch (var->kind) {
        case lang::VarKind::Dim:
          dim_for(var);
          break;
        case lang::VarKind::DType:
          types_.dtypes.emplace(var.get(), lang::DTypeTerm(dtype_));
          break;
        case lang::VarKind::Shape:
          types_.shapes.emplace(var.get(), any_shape());
          break;
        case lang::VarKind::Type:
          types_.types.emplace(var.get(), any_type());
          break;
      }
    }
    return lang::substitute(type, types_);
  }

  // The shape at hand, or one that broadcasts with it, or another.
  lang::Shape any_shape() {
    std::vector<lang::Dim> dims;
    const std::int64_t way = random_.below(8);
    if (way == 0) {
      const std::int64_t rank = random_.below(is_small_ ? 2 : 5);
      for (std::int64_t i = 0; i < rank; ++i) dims.emplace_back(extent());
      return lang::Shape(std::move(dims));
    }
    for (const std::int64_t each : shape_)
      dims.emplace_back(way == 1 && random_.one_in(2) ? 1 : way == 2 ? extent() : each);
    if (way == 3 && !dims.empty()) dims.erase(dims.begin());
    if (way == 4) dims.clear();
    return lang::Shape(std::move(dims));
  }
  lang::Type any_type() {
    const DType dtype = random_.one_in(12) ? any_dtype() : dtype_;
    return lang::tensor_type(any_shape(), dtype);
  }

  Expr wildcard(const ExprPattern& pattern) {
    const auto known = known_.find(pattern.variable.get());
    if (known != known_.end()) return known->second;
    const lang::Type type = pattern.variable->type ? ground(pattern.variable->type) : any_type();
    const auto* tensor = as<lang::TensorType>(type);
    if (!tensor || !tensor->shape.has_rank() || !tensor->dtype.is_known()) return nullptr;
    for (const lang::Dim& dim : tensor->shape.dims()) {
      if (!dim.is_constant() || dim.constant() < 0) return nullptr;
    }
    lang::TensorRef value = random_tensor(*tensor, values_, random_);
    Expr made;
    if (lang::has_role(*pattern.variable, lang::kConstantRole)) {
      drawn_.has_choices = true;
      made = lang::make_constant(std::move(value));
    } else {
      drawn_.inputs.push_back(
          {lang::make_variable(pattern.variable->name, type), std::move(value)});
      made = lang::make_var(drawn_.inputs.back().variable);
    }
    return known_[pattern.variable.get()] = made;
  }

  Expr made(const ExprPatternRef& pattern) {
    switch (pattern->kind) {
      case Kind::Wildcard:
        return wildcard(*pattern);
      case Kind::Number:
        return pattern->number;
      case Kind::Hole:
        return holes_.at(pattern->hole);
      case Kind::Projection: {
        Expr tuple = made(pattern->parts[0]);
        return tuple ? lang::make_projection(std::move(tuple), pattern->index) : Expr();
      }
      default:
        break;
    }
    if (pattern->variable) {
      const auto known = known_.find(pattern->variable.get());
      if (known != known_.end()) return known->second;
    }
    Expr result = compound(*pattern);
    if (pattern->variable && result) known_[pattern->variable.get()] = result;
    return result;
  }

  Expr compound(const ExprPattern& pattern) {
    switch (pattern.kind) {
      case Kind::Either:
        return made(pattern.parts[static_cast<std::size_t>(
            random_.below(static_cast<std::int64_t>(pattern.parts.size())))]);
      case Kind::Maybe:
      case Kind::Chain: {
        Expr at = made(pattern.parts[0]);
        const std::int64_t steps = random_.below(pattern.kind == Kind::Maybe ? 2 : 4);
        for (std::int64_t i = 0; i < steps && at; ++i) {
          const Expr outer = std::exchange(holes_[pattern.hole], at);
          at = made(pattern.parts[1]);
          holes_[pattern.hole] = outer;
        }
        return at;
      }
      default:
        break;
    }
    std::vector<Expr> parts;
    for (const ExprPatternRef& part : pattern.parts) {
      parts.push_back(made(part));
      if (!parts.back()) return nullptr;
    }
    if (pattern.kind == Kind::Tuple) return lang::make_tuple(std::move(parts));
    return call(pattern, std::move(parts));
  }

  Expr call(const ExprPattern& pattern, std::vector<Expr> parts) {
    const lang::OpDef* op = pattern.op;
    if (!op) drawn_.has_choices = true;
    if (!op && pattern.op_variable) {
      const lang::OpDef*& known = operators_[pattern.op_variable.get()];
      if (!known) known = any_operator(parts.size(), pattern.trait);
      op = known;
    }
    if (!op) op = any_operator(parts.size(), pattern.trait);
    if (!op) return nullptr;
    while (parts.size() < op->inputs.size()) parts.push_back(lang::make_tuple({}));
    std::vector<lang::Attr> attrs;
    for (const lang::AttrSpec& spec : op->attrs) {
      const lang::AttrValue* written = pattern.attrs ? pattern.attrs->find(spec.name) : nullptr;
      if (written) {
        attrs.push_back({spec.name, value(*written, spec)});
      } else if (!spec.default_value ||
                 (varies_ && random_.one_in(few_attrs(*op) ? 2 : 5) && can_vary(spec))) {
        const lang::AttrValue drawn = any_value(spec);
        const bool is_default = spec.default_value && (drawn == *spec.default_value ||
                                                       defaults_.contains({op->name, spec.name}));
        if (is_default) continue;
        attrs.push_back({spec.name, drawn});
        drawn_.has_choices = true;
        if (pattern.op && spec.default_value)
          drawn_.attributes.push_back({op, spec.name, *spec.default_value});
      }
    }
    return lang::make_call(lang::make_operator(op), std::move(parts),
                           lang::make_attrs(std::move(attrs)));
  }

  // One of the operators with so many inputs that may have the trait.
  const lang::OpDef* any_operator(std::size_t inputs, lang::PatternForm trait) {
    std::vector<const lang::OpDef*> all;
    for (const lang::OpDef* op : lang::OpRegistry::instance().all()) {
      const bool needs_attribute =
          std::any_of(op->attrs.begin(), op->attrs.end(),
                      [](const lang::AttrSpec& spec) { return !spec.default_value; });
      if (op->inputs.size() != inputs || needs_attribute || !op->definition ||
          op->effect != lang::Effect::None)
        continue;
      if (trait == lang::PatternForm::Elementwise ? op->elementwise.has_value() : !op->elementwise)
        all.push_back(op);
    }
    return all.empty() ? nullptr
                       : all[static_cast<std::size_t>(
                             random_.below(static_cast<std::int64_t>(all.size())))];
  }

  // Of many, most must stay what they are for the call to be one that types fit.
  static bool few_attrs(const lang::OpDef& op) { return op.attrs.size() <= 3; }
  static bool can_vary(const lang::AttrSpec& spec) {
    return spec.kind == lang::AttrKind::Bool || spec.kind == lang::AttrKind::Int ||
           spec.kind == lang::AttrKind::IntOrIntList || spec.kind == lang::AttrKind::IntList;
  }

  lang::AttrValue any_value(const lang::AttrSpec& spec) {
    switch (spec.kind) {
      case lang::AttrKind::Bool:
        return lang::AttrValue(random_.one_in(2));
      case lang::AttrKind::Int:
        return lang::AttrValue(random_.below(4) - 1);
      case lang::AttrKind::Float:
        return lang::AttrValue(static_cast<double>(random_.below(17) - 8) / 4);
      case lang::AttrKind::DType:
        return lang::AttrValue(any_dtype());
      case lang::AttrKind::IntOrIntList:
        if (random_.one_in(2)) return lang::AttrValue(random_.below(3));
        [[fallthrough]];
      case lang::AttrKind::IntList:
        return any_list();
      case lang::AttrKind::String:
      case lang::AttrKind::FloatList:
      case lang::AttrKind::Any:
        break;
    }
    return spec.default_value ? *spec.default_value : lang::AttrValue();
  }

  // Axes in some order, or the shape at hand in another form, or any numbers.
  lang::AttrValue any_list() {
    std::vector<std::int64_t> list;
    const std::int64_t way = random_.below(5);
    if (way == 0 || way == 4) {
      for (std::size_t i = 0; i < shape_.size(); ++i) list.push_back(static_cast<std::int64_t>(i));
      for (std::size_t i = list.size(); i > 1; --i)
        std::swap(list[i - 1],
                  list[static_cast<std::size_t>(random_.below(static_cast<std::int64_t>(i)))]);
    } else if (way == 1) {
      list = shape_;
      std::reverse(list.begin(), list.end());
    } else if (way == 2) {
      list = {-1};
    } else {
      const std::int64_t size = 1 + random_.below(4);
      for (std::int64_t i = 0; i < size; ++i) list.push_back(random_.below(4));
    }
    return lang::AttrValue::ints(list);
  }

  // A written value, where its parameters have values.
  lang::AttrValue value(const lang::AttrValue& written, const lang::AttrSpec& spec) {
    const lang::AttrSpec element{spec.name, lang::AttrKind::Int, std::nullopt, ""};
    return lang::with_parameters(written, [&](const std::string& name) {
      return parameter(name, written.as_list() ? element : spec);
    });
  }

  lang::AttrValue parameter(const std::string& name, const lang::AttrSpec& spec) {
    for (const lang::TypeVarRef& var : rule_.written.type_params) {
      if (var->name != name) continue;
      if (var->kind == lang::VarKind::Dim) return lang::AttrValue(dim_for(var).constant());
      const auto [known, is_new] = types_.dtypes.emplace(var.get(), lang::DTypeTerm(dtype_));
      return lang::AttrValue(known->second.known());
    }
    const auto [known, is_new] = attrs_.emplace(name, lang::AttrValue());
    if (is_new) known->second = any_value(spec);
    drawn_.has_choices = true;
    return known->second;
  }

  const PatternRule& rule_;
  RuleRandom& random_;
  const SampleValues values_;
  const DefaultAttrs& defaults_;
  const bool is_small_;
  DType dtype_;
  std::array<std::int64_t, 2> few_ = {};
  bool varies_ = false;  // attributes that are free
  std::vector<std::int64_t> shape_;
  lang::TypeSubstitution types_;
  std::unordered_map<const lang::Variable*, Expr> known_;
  std::unordered_map<const lang::Variable*, const lang::OpDef*> operators_;
  std::map<std::string, lang::AttrValue> attrs_;
  RuleSample drawn_;
  std::map<std::uint32_t, Expr> holes_;
};

}  // namespace

std::optional<RuleSample> sample_of(const PatternRule& rule, RuleRandom& random,
                                    SampleValues values, const DefaultAttrs& defaults,
                                    bool is_small, const RuleHost& host,
                                    std::vector<lang::Diagnostic>& why) {
  Sampler sampler(rule, random, values, defaults, is_small);
  const Expr code = sampler.code();
  if (!code) return std::nullopt;
  std::vector<lang::VariableRef> params;
  for (const RuleSample::Input& input : sampler.inputs()) params.push_back(input.variable);
  const auto typed =
      lang::capture([&] { return host.infer(lang::make_function(params, nullptr, code)); });
  if (!typed) return std::nullopt;  // these types do not fit
  const auto& fn = lang::cast<lang::Function>(*typed);
  const Definitions definitions;
  const auto found = match_rule(rule, fn.body, definitions, host);
  if (!found) return std::nullopt;
  RuleSample sample = sampler.drawn();
  for (std::size_t i = 0; i < fn.params.size(); ++i) sample.inputs[i].variable = fn.params[i];
  sample.before = fn.body;
  sample.after = replacement_for(rule, *found, fn.body->type, host, &why);
  if (!sample.after) return std::nullopt;
  return sample;
}

}  // namespace relay::opt
