#include "loops/recognise.h"

#include <algorithm>
#include <optional>

#include "loops/operand_view.h"
#include "loops/recognise_window.h"
#include "loops/terms.h"

namespace relay::loops {

namespace {

constexpr int kMostSplits = 6;

// Adjacent axes that all three tensors walk as one become one.
void merge(std::vector<ContractionAxis>& axes) {
  for (std::size_t i = axes.size(); i-- > 1;) {
    const ContractionAxis& inner = axes[i];
    ContractionAxis& outer = axes[i - 1];
    const auto follows = [&](std::int64_t a, std::int64_t b) { return a == b * inner.extent; };
    if (!follows(outer.a, inner.a) || !follows(outer.b, inner.b) || !follows(outer.c, inner.c))
      continue;
    outer = {outer.extent * inner.extent, inner.a, inner.b, inner.c};
    axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

class Recogniser {
 public:
  Recogniser(const Stages& stages, const TensorDef& def, const Node& sum, Term term)
      : stages_(stages), def_(def), term_(std::move(term)) {
    const std::vector<std::int64_t> strides = row_major(def.shape);
    for (std::size_t i = 0; i < def.vars.size(); ++i)
      loops_.push_back({extent_of(def.vars[i]), true, strides[i], def.vars[i], 1});
    for (const IndexVarId var : stages.vars(sum))
      loops_.push_back({extent_of(var), false, 0, var, 1});
  }

  // An index such as `channel / channels of a group` walks a loop as two: the loop is split, and
  // everything is looked at again.
  std::vector<Recognised> run() {
    for (int splits = 0; splits <= kMostSplits; ++splits) {
      std::vector<Recognised> found = look();
      if (!found.empty() || !split()) return found;
    }
    return {};
  }

 private:
  std::int64_t extent_of(IndexVarId var) const {
    return stages_.var_extents[static_cast<std::size_t>(var)];
  }

  std::vector<Recognised> look() {
    space_ = IndexSpace();
    IndexEnv env;
    for (std::size_t i = 0; i < loops_.size(); ++i) {
      env[loops_[i].var] =
          env[loops_[i].var] +
          space_.axis(static_cast<std::int32_t>(i), loops_[i].extent) * loops_[i].factor;
    }
    const auto factors = stages_.args(stages_.nodes[static_cast<std::size_t>(term_.product)]);
    OperandReader reader(stages_, space_);
    const auto views = [&](std::size_t factor, bool is_guarded) {
      return reader.views_of(factors[factor], env,
                             is_guarded ? term_.conditions : std::vector<NodeId>());
    };
    // A condition around the product is one around either factor.
    auto found = found_in(views(0, true), views(1, false));
    return found.empty() && !term_.conditions.empty() ? found_in(views(0, false), views(1, true))
                                                      : found;
  }

  std::vector<Recognised> found_in(const std::vector<OperandView>& left,
                                   const std::vector<OperandView>& right) const {
    std::vector<Recognised> found;
    if (left.empty() || right.empty()) return found;
    const auto contracted = contraction(left, right);
    const bool overlaps = contracted && walks_overlap(std::get<Contraction>(contracted->form));
    auto window = recognise_window({def_.dtype, loops_, space_}, left, right);
    if (contracted && !overlaps) found.push_back(*contracted);
    if (window) found.push_back(std::move(*window));
    if (contracted && overlaps) found.push_back(*contracted);
    return found;
  }

  // A window that slides with a step shorter than itself: as a contraction it is a poor one.
  static bool walks_overlap(const Contraction& form) {
    for (const ContractionAxis& tap : form.contracted) {
      const auto slides = [&](const std::vector<ContractionAxis>& axes, auto stride) {
        return std::any_of(axes.begin(), axes.end(), [&](const ContractionAxis& axis) {
          const std::int64_t step = stride(axis);
          const std::int64_t reach = stride(tap);
          if (step == 0 || reach == 0) return false;
          return step >= reach ? step < reach * tap.extent : reach < step * axis.extent;
        });
      };
      if (slides(form.rows, [](const ContractionAxis& axis) { return axis.a; }) ||
          slides(form.columns, [](const ContractionAxis& axis) { return axis.b; }))
        return true;
    }
    return false;
  }

  std::optional<Recognised> contraction(const std::vector<OperandView>& lefts,
                                        const std::vector<OperandView>& rights) const {
    for (const OperandView& left : lefts) {
      for (const OperandView& right : rights) {
        if (auto found = contraction(left, right)) return found;
      }
    }
    return std::nullopt;
  }

  std::optional<Recognised> contraction(const OperandView& left, const OperandView& right) const {
    const auto a = address_of(left);
    const auto b = address_of(right);
    if (!a || !b || !is_affine(*a, space_) || !is_affine(*b, space_)) return std::nullopt;
    Contraction form{def_.dtype, {}, {}, {}, {}};
    for (std::size_t i = 0; i < loops_.size(); ++i) {
      if (loops_[i].extent == 1) continue;
      const ContractionAxis axis{loops_[i].extent, stride_of(*a, i, space_),
                                 stride_of(*b, i, space_), loops_[i].stride};
      if (axis.a == 0 && axis.b == 0) return std::nullopt;
      if (!loops_[i].is_output) {
        if (axis.a == 0 || axis.b == 0) return std::nullopt;
        form.contracted.push_back(axis);
      } else {
        (axis.b == 0 ? form.rows : axis.a == 0 ? form.columns : form.batch).push_back(axis);
      }
    }
    for (auto* axes : {&form.batch, &form.rows, &form.columns, &form.contracted}) merge(*axes);
    return Recognised{std::move(form), left.terminal, right.terminal, a->constant, b->constant};
  }

  bool split() {
    for (std::size_t i = 0; i < space_.size(); ++i) {
      const IndexSpace::Atom& atom = space_.atom(static_cast<AtomId>(i));
      if (atom.kind != IndexSpace::Atom::Kind::FloorDiv) continue;
      const IndexExpr& from = atom.numerator;
      if (from.constant != 0 || from.terms.size() != 1 || from.terms[0].coefficient != 1) continue;
      const IndexSpace::Atom& walked = space_.atom(from.terms[0].atom);
      if (walked.kind != IndexSpace::Atom::Kind::Axis) continue;
      const auto at = static_cast<std::size_t>(walked.id);
      WindowLoop& outer = loops_[at];
      if (outer.extent % atom.divisor != 0) continue;
      WindowLoop inner = outer;
      inner.extent = atom.divisor;
      outer.extent /= atom.divisor;
      outer.stride *= atom.divisor;
      outer.factor *= atom.divisor;
      loops_.insert(loops_.begin() + static_cast<std::ptrdiff_t>(at) + 1, inner);
      return true;
    }
    return false;
  }

  const Stages& stages_;
  const TensorDef& def_;
  const Term term_;
  std::vector<WindowLoop> loops_;
  IndexSpace space_;
};

// Products that are added to places of a window.
std::vector<Recognised> recognise_scatter(const Stages& stages, TensorId tensor) {
  const TensorDef& def = stages.tensors[static_cast<std::size_t>(tensor)];
  const Node& product = stages.nodes[static_cast<std::size_t>(def.body)];
  if (def.op != ReduceOp::Sum || !is_product(product)) return {};
  if (!is_zeros(stages, def.init)) return {};
  IndexSpace space;
  IndexEnv env;
  std::vector<WindowLoop> loops;
  for (const IndexVarId var : def.vars) {
    const std::int64_t extent = stages.var_extents[static_cast<std::size_t>(var)];
    if (extent == 0) return {};
    env[var] = space.axis(static_cast<std::int32_t>(loops.size()), extent);
    loops.push_back({extent, false, 0, var, 1});
  }
  OperandReader reader(stages, space);
  const auto target = reader.target_of(tensor, def.indices, env);
  const auto outs = reader.views_of(stages.args(product)[0], env);
  const auto kernels = reader.views_of(stages.args(product)[1], env);
  if (!target) return {};
  for (const OperandView& out : outs) {
    const auto address = address_of(out);
    if (!address || !is_affine(*address, space)) continue;
    for (std::size_t i = 0; i < loops.size(); ++i) {
      loops[i].stride = stride_of(*address, i, space);
      loops[i].is_output = loops[i].stride != 0;
    }
    for (const OperandView& kernel : kernels) {
      auto found = recognise_spread({def.dtype, loops, space}, *target, out, kernel);
      if (found) return {std::move(*found)};
    }
  }
  return {};
}

}  // namespace

bool is_zeros(const Stages& stages, TensorId tensor) {
  const TensorDef& def = stages.tensors[static_cast<std::size_t>(tensor)];
  if (def.kind != TensorKind::Map) return false;
  const Node& body = stages.nodes[static_cast<std::size_t>(def.body)];
  if (body.kind == NodeKind::Read) return is_zeros(stages, body.ref);
  return is_zero(body);
}

std::vector<Recognised> recognise(const Stages& stages, TensorId tensor) {
  const TensorDef& def = stages.tensors[static_cast<std::size_t>(tensor)];
  if (count_of(def.shape) == 0 || !lang::is_float(def.dtype)) return {};
  if (def.kind == TensorKind::Scatter) return recognise_scatter(stages, tensor);
  if (def.kind != TensorKind::Map) return {};
  const Node& sum = stages.nodes[static_cast<std::size_t>(def.body)];
  if (sum.kind != NodeKind::Reduce || (sum.op != ReduceOp::Sum && sum.op != ReduceOp::Dot))
    return {};
  for (const IndexVarId var : stages.vars(sum)) {
    if (stages.var_extents[static_cast<std::size_t>(var)] == 0) return {};
  }
  // The factors of a dot are its own operands.
  if (sum.op == ReduceOp::Dot) return Recogniser(stages, def, sum, {def.body, {}}).run();
  std::vector<Term> terms = terms_of(stages, stages.args(sum)[0]);
  if (terms.size() != 1 || terms[0].is_subtracted) return {};
  if (!is_product(stages.nodes[static_cast<std::size_t>(terms[0].product)])) return {};
  return Recogniser(stages, def, sum, std::move(terms[0])).run();
}

}  // namespace relay::loops
