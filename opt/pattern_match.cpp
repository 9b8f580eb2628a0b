// Matching by trying: each part goes on with what is left to match, so that an alternative that
// does not lead to a match of the whole is given up for the next.

#include <algorithm>
#include <functional>
#include <utility>

#include "lang/alpha_equal.h"
#include "lang/dtype_class.h"
#include "lang/op_traits.h"
#include "lang/visit.h"
#include "opt/pattern.h"

namespace relay::opt {

using lang::as;
using lang::Expr;
using lang::TypeSubstitution;
using lang::VarKind;

namespace {

// --- Types: what the variables of `pattern` stand for, if `actual` is an instance of it. ---

bool match_dim(const lang::Dim& pattern, const lang::Dim& actual, TypeSubstitution& types) {
  const lang::Dim known = lang::substitute(pattern, types);
  if (known == actual) return true;
  const lang::TypeVarRef variable = known.as_variable();
  if (!variable || types.dims.contains(variable.get()) || actual.is_any()) return false;
  return types.dims.emplace(variable.get(), actual).second;
}

bool match_tensor(const lang::TensorType& pattern, const lang::TensorType& actual,
                  TypeSubstitution& types) {
  if (pattern.dtype.is_known()) {
    if (!(pattern.dtype == actual.dtype)) return false;
  } else {
    const auto [known, is_new] = types.dtypes.emplace(pattern.dtype.var().get(), actual.dtype);
    if (!is_new && !(known->second == actual.dtype)) return false;
  }
  if (!pattern.shape.has_rank()) {
    const auto [known, is_new] = types.shapes.emplace(pattern.shape.var().get(), actual.shape);
    return is_new || known->second == actual.shape;
  }
  if (!actual.shape.has_rank() || pattern.shape.rank() != actual.shape.rank()) return false;
  for (std::size_t i = 0; i < pattern.shape.rank(); ++i) {
    if (!match_dim(pattern.shape[i], actual.shape[i], types)) return false;
  }
  return true;
}

bool match_type(const lang::Type& pattern, const lang::Type& actual, TypeSubstitution& types) {
  if (!pattern || pattern->kind == lang::TypeKind::Incomplete) return true;
  if (const auto* var = as<lang::VarType>(pattern)) {
    const auto [known, is_new] = types.types.emplace(var->var.get(), actual);
    return is_new || lang::equal(known->second, actual);
  }
  const auto* tensor = as<lang::TensorType>(pattern);
  const auto* actual_tensor = as<lang::TensorType>(actual);
  if (tensor) return actual_tensor && match_tensor(*tensor, *actual_tensor, types);
  const auto* tuple = as<lang::TupleType>(pattern);
  const auto* actual_tuple = as<lang::TupleType>(actual);
  if (!tuple) return lang::equal(pattern, actual);
  if (!actual_tuple || tuple->fields.size() != actual_tuple->fields.size()) return false;
  for (std::size_t i = 0; i < tuple->fields.size(); ++i) {
    if (!match_type(tuple->fields[i], actual_tuple->fields[i], types)) return false;
  }
  return true;
}

// --- Numbers and attributes ---

constexpr std::int64_t kMostLooked = 4096;  // of a constant that is looked through

// The bits that all elements have; nothing if they differ, or nobody knows them.
std::optional<std::uint64_t> common_bits(const Expr& atom, const Definitions& definitions) {
  if (const auto* constant = as<lang::Constant>(definitions.of(atom))) {
    const lang::Tensor& tensor = *constant->value;
    if (tensor.element_count() == 0 || tensor.element_count() > kMostLooked) return std::nullopt;
    for (std::int64_t i = 1; i < tensor.element_count(); ++i) {
      if (tensor.bits_at(i) != tensor.bits_at(0)) return std::nullopt;
    }
    return tensor.bits_at(0);
  }
  const Expr element = definitions.element(atom);
  if (!element) return std::nullopt;
  return lang::cast<lang::Constant>(element).value->bits_at(0);
}

bool is_number(const Expr& atom, const Expr& number, const Definitions& definitions) {
  const auto* type = as<lang::TensorType>(atom->type);
  if (!type || !type->dtype.is_known()) return false;
  const auto bits = common_bits(atom, definitions);
  if (!bits) return false;
  const lang::DType dtype = type->dtype.known();
  if (const auto* constant = as<lang::Constant>(number))
    return constant->value->dtype() == dtype && constant->value->bits_at(0) == *bits;
  const auto& literal = lang::cast<lang::Literal>(number);
  if (literal.is_float && !lang::is_float(dtype)) return false;
  const double wanted = literal.is_float ? literal.real : static_cast<double>(literal.integer);
  return lang::bits_from_double(dtype, wanted) == *bits;
}

// A list of one is its element where a record allows both.
bool equal_values(const lang::AttrValue& a, const lang::AttrValue& b) {
  const auto only = [](const lang::AttrValue& value) -> const lang::AttrValue& {
    const auto* list = value.as_list();
    return list && list->size() == 1 ? list->front() : value;
  };
  return a == b || only(a) == only(b);
}

// --- The matcher ---

class Matcher {
 public:
  using Next = std::function<bool()>;

  explicit Matcher(const Definitions& definitions) : definitions_(definitions) {}

  bool run(const ExprPattern& pattern, const Expr& expr, const lang::VariableRef& variable) {
    if (expr->kind != lang::ExprKind::Var) root_ = expr;
    root_variable_ = variable;
    return at(pattern, expr, [] { return true; });
  }
  ExprMatch& found() { return found_; }

 private:
  // Matches what the step stands behind, and goes on.
  using Hole = std::function<bool(const Expr&, const Next&)>;

  // Of `atom`: what it stands for, and what it is bound to.
  struct Place {
    const Expr& value;
    lang::VariableRef variable;
  };
  Place place(const Expr& atom) const {
    if (atom == root_) return {root_, root_variable_};
    const auto* var = as<lang::Var>(atom);
    return {definitions_.of(atom), var ? var->variable : nullptr};
  }

  // Undoes what a try has found out.
  bool attempt(const Next& body) {
    const ExprMatch before = found_;
    if (body()) return true;
    found_ = before;
    return false;
  }

  bool at(const ExprPattern& pattern, const Expr& atom, const Next& next) {
    switch (pattern.kind) {
      case ExprPattern::Kind::Wildcard:
        return attempt([&] { return wildcard(pattern, atom) && next(); });
      case ExprPattern::Kind::Number:
        return is_number(atom, pattern.number, definitions_) && next();
      case ExprPattern::Kind::Call:
        return attempt([&] { return call(pattern, atom, next); });
      case ExprPattern::Kind::Tuple:
        return attempt([&] {
          const Place where = place(atom);
          const auto* tuple = as<lang::Tuple>(where.value);
          if (!tuple || tuple->fields.size() != pattern.parts.size()) return false;
          return bind(pattern, atom) &&
                 operands(pattern.parts, tuple->fields, 0, then(where, next));
        });
      case ExprPattern::Kind::Projection:
        return attempt([&] {
          const Place where = place(atom);
          const auto* projection = as<lang::Projection>(where.value);
          return projection && projection->index == pattern.index && bind(pattern, atom) &&
                 at(*pattern.parts[0], projection->tuple, then(where, next));
        });
      case ExprPattern::Kind::Either:
        return std::any_of(pattern.parts.begin(), pattern.parts.end(),
                           [&](const ExprPatternRef& each) {
                             return attempt([&] { return named(pattern, *each, atom, next); });
                           });
      case ExprPattern::Kind::Maybe:
        return attempt([&] { return bind(pattern, atom) && behind(pattern, atom, 1, next); });
      case ExprPattern::Kind::Chain:
        return attempt(
            [&] { return bind(pattern, atom) && behind(pattern, atom, kMostSteps, next); });
      case ExprPattern::Kind::Hole: {
        const Hole hole = holes_.at(pattern.hole);  // what it runs sets another
        return hole(atom, next);
      }
    }
    return false;
  }

  bool named(const ExprPattern& pattern, const ExprPattern& part, const Expr& atom,
             const Next& next) {
    return bind(pattern, atom) && at(part, atom, next);
  }

  // The longest chain of steps first. What follows a hole is still the step, and what follows the
  // step is not: each goes on with the holes that it is inside of.
  bool behind(const ExprPattern& pattern, const Expr& atom, int most, const Next& next) {
    if (most > 0) {
      Hole& hole = holes_[pattern.hole];
      const Hole outer = hole;
      Expr operand;  // what the step stands behind, wherever it mentions it
      const bool matched = attempt([&] {
        hole = [&](const Expr& before, const Next& rest) {
          if (operand) return is_same(operand, before) && rest();
          operand = before;
          const Hole inner = hole;
          hole = outer;
          const bool goes_on =
              behind(pattern, before, most - 1, [&] { return inside(hole, inner, rest); });
          hole = inner;
          if (!goes_on) operand = nullptr;
          return goes_on;
        };
        return at(*pattern.parts[1], atom, [&] { return inside(hole, outer, next); });
      });
      hole = outer;
      if (matched) return true;
    }
    return at(*pattern.parts[0], atom, next);
  }

  static bool inside(Hole& hole, const Hole& filling, const Next& next) {
    const Hole before = std::exchange(hole, filling);
    const bool matched = next();
    hole = before;
    return matched;
  }

  // The same expression wherever the name occurs.
  bool bind(const lang::VariableRef& variable, const Expr& atom) {
    if (!variable) return true;
    const auto [known, is_new] = found_.values.emplace(variable.get(), atom);
    return is_new || is_same(known->second, atom);
  }
  bool bind(const ExprPattern& pattern, const Expr& atom) { return bind(pattern.variable, atom); }
  bool is_same(const Expr& a, const Expr& b) const {
    return a == b || same_atom(a, b) ||
           (a->kind == b->kind && a->kind != lang::ExprKind::Var && lang::alpha_equal(a, b));
  }

  bool wildcard(const ExprPattern& pattern, const Expr& atom) {
    const lang::Variable& variable = *pattern.variable;
    if (lang::has_role(variable, lang::kConstantRole) && !as<lang::Constant>(definitions_.of(atom)))
      return false;
    return is_of_class(variable, atom->type) &&
           match_type(variable.type, atom->type, found_.types) && bind(pattern, atom);
  }

  static bool is_of_class(const lang::Variable& variable, const lang::Type& type) {
    const lang::AttrValue* wanted =
        variable.attrs ? variable.attrs->find(lang::kDTypeClassRole) : nullptr;
    if (!wanted) return true;
    const auto* tensor = as<lang::TensorType>(type);
    return tensor && tensor->dtype.is_known() &&
           lang::is_in_class(tensor->dtype.known(), *lang::parse_dtype_class(*wanted->as_string()));
  }

  bool call(const ExprPattern& pattern, const Expr& atom, const Next& next) {
    const Place where = place(atom);
    const auto* call = as<lang::Call>(where.value);
    const auto* callee = call ? as<lang::Operator>(call->callee) : nullptr;
    if (!callee || callee->op->effect != lang::Effect::None) return false;
    if (pattern.op ? callee->op != pattern.op : !lang::has_trait(*call, pattern.trait))
      return false;
    if (pattern.op_variable) {
      const auto [known, is_new] = found_.calls.emplace(pattern.op_variable.get(), where.value);
      if (!is_new && !calls_alike(lang::cast<lang::Call>(known->second), *call)) return false;
    }
    if (!attributes(pattern, *call) || !bind(pattern, atom)) return false;
    if (pattern.variable) found_.calls.emplace(pattern.variable.get(), where.value);
    const Next done = then(where, next);
    const bool has_hole = !pattern.op && pattern.parts.size() == 1 &&
                          pattern.parts[0]->kind == ExprPattern::Kind::Hole;
    if (has_hole) {  // any operand is what the step stands behind
      return std::any_of(call->args.begin(), call->args.end(), [&](const Expr& arg) {
        return attempt([&] { return at(*pattern.parts[0], arg, done); });
      });
    }
    if (pattern.parts.size() > call->args.size() ||
        (!pattern.op && pattern.parts.size() != call->args.size()))
      return false;
    if (attempt([&] { return operands(pattern.parts, call->args, 0, done); })) return true;
    return pattern.parts.size() == 2 && lang::is_commutative(*callee->op) && attempt([&] {
             return operands(pattern.parts, {call->args[1], call->args[0]}, 0, done);
           });
  }

  bool operands(const std::vector<ExprPatternRef>& parts, const std::vector<Expr>& args,
                std::size_t from, const Next& next) {
    if (from == parts.size()) return next();
    return at(*parts[from], args[from],
              [&, from] { return operands(parts, args, from + 1, next); });
  }

  static bool calls_alike(const lang::Call& a, const lang::Call& b) {
    return lang::cast<lang::Operator>(a.callee).op == lang::cast<lang::Operator>(b.callee).op &&
           lang::equal(a.attrs, b.attrs);
  }

  bool attributes(const ExprPattern& pattern, const lang::Call& call) {
    if (!pattern.attrs) return true;
    for (const lang::Attr& wanted : pattern.attrs->list) {
      const lang::AttrValue* actual = call.attrs ? call.attrs->find(wanted.key) : nullptr;
      if (!actual || !attribute(wanted.value, *actual)) return false;
    }
    return true;
  }
  bool attribute(const lang::AttrValue& wanted, const lang::AttrValue& actual) {
    if (const std::string* name = lang::attribute_parameter(wanted)) {
      const auto [known, is_new] = found_.attrs.emplace(*name, actual);
      return is_new || equal_values(known->second, actual);
    }
    const auto* list = wanted.as_list();
    const auto* others = actual.as_list();
    if (!list || !others) return equal_values(wanted, actual);
    return std::equal(list->begin(), list->end(), others->begin(), others->end(),
                      [&](const auto& a, const auto& b) { return attribute(a, b); });
  }

  // What stands there is a step of the match, once its operands have matched.
  Next then(const Place& where, const Next& next) {
    return [this, variable = where.variable, value = where.value, &next] {
      const bool is_known =
          std::any_of(found_.steps.begin(), found_.steps.end(),
                      [&](const ExprMatch::Step& each) { return each.value == value; });
      if (!is_known) found_.steps.push_back({variable, value});
      return next();
    };
  }

  static constexpr int kMostSteps = 64;  // of a chain

  const Definitions& definitions_;
  Expr root_;
  lang::VariableRef root_variable_;
  ExprMatch found_;
  std::map<std::uint32_t, Hole> holes_;
};

}  // namespace

std::optional<ExprMatch> match(const ExprPattern& pattern, const Expr& expr,
                               const Definitions& definitions, const lang::VariableRef& variable) {
  Matcher matcher(definitions);
  if (!matcher.run(pattern, expr, variable)) return std::nullopt;
  return std::move(matcher.found());
}

MentionCounts::MentionCounts(const Expr& code) {
  count(code);
  if (const auto* var = as<lang::Var>(code)) ++counts_[var->variable.get()];
}

void MentionCounts::add(const Expr& made) {
  count(made);
  if (const auto* var = as<lang::Var>(made)) spread_.insert(var->variable.get());
}

void MentionCounts::count(const Expr& code) {
  lang::visit_post_order(code, [&](const Expr& node) {
    lang::for_each_child(node, [&](const Expr& child) {
      if (const auto* var = as<lang::Var>(child)) ++counts_[var->variable.get()];
    });
  });
}

bool MentionCounts::is_closed(const ExprMatch& match) const {
  std::unordered_map<const lang::Variable*, std::size_t> inside;
  for (const ExprMatch::Step& step : match.steps) {
    const auto count = [&](const Expr& node) {
      if (const auto* var = as<lang::Var>(node)) ++inside[var->variable.get()];
    };
    lang::for_each_child(step.value, count);
  }
  return std::all_of(match.steps.begin(), match.steps.end(), [&](const ExprMatch::Step& step) {
    if (!step.variable || &step == &match.steps.back()) return true;
    if (spread_.contains(step.variable.get())) return false;
    const auto all = counts_.find(step.variable.get());
    return all == counts_.end() || all->second == inside[step.variable.get()];
  });
}

}  // namespace relay::opt
