#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "stdlib/ops/accumulate.h"
#include "stdlib/ops/families.h"
#include "stdlib/ops/tuples.h"
#include "stdlib/ops/types.h"

// Einstein summation: operands are contracted from left to right, and a letter is summed as soon as
// nothing that follows needs it.
namespace relay::stdlib {

namespace build = lang::build;

namespace {

// --- Equations ---

// The labels of an operand's axes, or of the result's: letters, and numbers below the letters for
// the axes of `...`, counted so that the last axis is the same for all.
using Labels = std::string;
constexpr char kEllipsis = '.';
// The label of an axis of the ellipsis that has `behind` axes of it behind it.
char broadcast_label(std::size_t behind) { return static_cast<char>(1 + behind); }
constexpr std::size_t kMaxBroadcast = 30;
bool is_broadcast(char label) { return label < ' '; }

struct Equation {
  std::vector<Labels> operands;  // with `kEllipsis` for `...`
  Labels result;
  bool has_result = false;  // `->` was written
};

[[noreturn]] void fail_equation(const TypeCall& call, const std::string& why) {
  call.fail(DiagnosticKind::BadAttribute,
            "`equation` is \"" + call.attrs->get_string("equation") + "\": " + why);
}

// Throws, through `fail`, for a text that is no equation.
Equation parse(const std::string& text, const std::function<void(const std::string&)>& fail) {
  Equation equation;
  equation.operands.emplace_back();
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    Labels& labels = equation.has_result ? equation.result : equation.operands.back();
    if (c == ' ') continue;
    if (c == ',' && !equation.has_result) {
      equation.operands.emplace_back();
    } else if (c == '-' && i + 1 < text.size() && text[i + 1] == '>' && !equation.has_result) {
      equation.has_result = true;
      ++i;
    } else if (c == '.' && text.compare(i, 3, "...") == 0) {
      if (labels.find(kEllipsis) != Labels::npos) fail("`...` stands twice in one place");
      labels += kEllipsis;
      i += 2;
    } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      labels += c;
    } else {
      fail(std::string("`") + c + "` is no letter");
    }
  }
  return equation;
}

// `...` as the labels of the `count` axes that it stands for.
Labels spelled_out(const Labels& labels, std::size_t count) {
  const std::size_t at = labels.find(kEllipsis);
  if (at == Labels::npos) return labels;
  Labels axes;
  for (std::size_t k = count; k-- > 0;) axes += broadcast_label(k);
  return labels.substr(0, at) + axes + labels.substr(at + 1);
}

// Without `->`: the axes of `...`, then all letters that occur once, in alphabetical order.
Labels implicit_result(const std::vector<Labels>& operands, std::size_t broadcast) {
  std::map<char, int> uses;
  for (const Labels& labels : operands) {
    for (const char label : labels) ++uses[label];
  }
  Labels result;
  for (std::size_t k = broadcast; k-- > 0;) result += broadcast_label(k);
  for (const auto& [label, count] : uses) {
    if (count == 1 && !is_broadcast(label) && label != kEllipsis) result += label;
  }
  return result;
}

// The equation with all labels spelled out, for operands of these ranks.
Equation settled(Equation equation, const std::vector<std::size_t>& ranks) {
  std::size_t broadcast = 0;
  for (std::size_t k = 0; k < ranks.size(); ++k) {
    Labels& labels = equation.operands[k];
    if (labels.find(kEllipsis) == Labels::npos) continue;
    const std::size_t own = ranks[k] - (labels.size() - 1);
    broadcast = std::max(broadcast, own);
    labels = spelled_out(labels, own);
  }
  equation.result = equation.has_result ? spelled_out(equation.result, broadcast)
                                        : implicit_result(equation.operands, broadcast);
  return equation;
}

Equation equation_of(const AttrsRef& attrs, const std::vector<std::size_t>& ranks) {
  return settled(parse(attrs->get_string("equation"), [](const std::string&) {}), ranks);
}

// --- Types ---

void check_operands(const TypeCall& call, const Equation& equation,
                    const std::vector<Type>& fields) {
  if (fields.size() != equation.operands.size()) {
    fail_equation(call, std::to_string(equation.operands.size()) + " operands for " +
                            std::to_string(fields.size()) + " tensors");
  }
  for (std::size_t k = 0; k < fields.size(); ++k) {
    const Shape& shape = as_tensor(fields[k]).shape;
    if (!shape.has_rank()) continue;
    const Labels& labels = equation.operands[k];
    const bool open = labels.find(kEllipsis) != Labels::npos;
    const std::size_t letters = labels.size() - (open ? 1 : 0);
    if (open ? shape.rank() < letters : shape.rank() != letters) {
      fail_equation(call, "operand " + std::to_string(k) + " has " + std::to_string(letters) +
                              " letters, and its tensor the shape `" + to_string(shape) + "`");
    }
    if (open && shape.rank() - letters > kMaxBroadcast) {
      fail_equation(call, "`...` stands for more than " + std::to_string(kMaxBroadcast) + " axes");
    }
  }
}

void check_result(const TypeCall& call, const Equation& equation) {
  std::set<char> known;
  for (const Labels& labels : equation.operands) known.insert(labels.begin(), labels.end());
  std::set<char> seen;
  for (const char label : equation.result) {
    const std::string name =
        is_broadcast(label) ? "an axis of `...`" : std::string("`") + label + "`";
    if (!known.count(label)) fail_equation(call, name + " of the result is in no operand");
    if (!seen.insert(label).second) fail_equation(call, name + " stands twice in the result");
  }
  for (const char label : known) {
    if (is_broadcast(label) && !seen.count(label))
      fail_equation(call, "the result leaves out the axes of `...`");
  }
}

// The extent of each label; false while unknown extents may still be anything.
bool find_extents(TypeCall& call, const Equation& equation, const std::vector<Type>& fields,
                  std::map<char, Dim>& extents) {
  bool decided = true;
  for (std::size_t k = 0; k < fields.size(); ++k) {
    const Shape& shape = as_tensor(fields[k]).shape;
    for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
      const char label = equation.operands[k][axis];
      const Dim& dim = shape[axis];
      const auto [found, is_new] = extents.emplace(label, dim);
      Dim& extent = found->second;
      if (is_new || extent == dim) continue;
      if (extent.is_any() || dim.is_any()) {
        if (dim.is_constant() && !(is_broadcast(label) && dim.is_constant(1))) extent = dim;
        continue;
      }
      if (is_broadcast(label) && dim.is_constant(1)) continue;
      if (is_broadcast(label) && extent.is_constant(1)) {
        extent = dim;
        continue;
      }
      const bool flexible =
          state_of(dim) == DimState::Flexible || state_of(extent) == DimState::Flexible;
      if (is_broadcast(label) && flexible) {
        decided = false;
        continue;
      }
      if (extent.is_constant() && dim.is_constant()) {
        fail_equation(call, (is_broadcast(label) ? std::string("an axis of `...`")
                                                 : std::string("`") + label + "`") +
                                " is " + extent.to_string() + " and, in operand " +
                                std::to_string(k) + ", " + dim.to_string());
      }
      call.solver.unify(extent, dim);
    }
  }
  return decided;
}

RuleOutcome einsum_rule(TypeCall& call) {
  const Equation given = parse(call.attrs->get_string("equation"),
                               [&](const std::string& why) { fail_equation(call, why); });
  const auto fields = tuple_of_tensors(call);
  if (!fields) return RuleOutcome::Stuck;
  const DTypeTerm dtype = as_tensor(fields->front()).dtype;
  call.solver.require(dtype, PrimOperands::kNumeric);
  const Shape known = result_shape(call, dtype);
  check_operands(call, given, *fields);
  std::vector<std::size_t> ranks;
  for (const Type& field : *fields) {
    if (!as_tensor(field).shape.has_rank()) return RuleOutcome::Stuck;
    ranks.push_back(as_tensor(field).shape.rank());
  }
  const Equation equation = settled(given, ranks);
  check_result(call, equation);
  std::map<char, Dim> extents;
  const bool decided = find_extents(call, equation, *fields, extents);
  const Shape result = with_rank(call, known, equation.result.size());
  if (!decided) return RuleOutcome::Stuck;
  for (std::size_t axis = 0; axis < equation.result.size(); ++axis)
    call.solver.unify(result[axis], extents.at(equation.result[axis]));
  return RuleOutcome::Solved;
}

// --- Definition ---

// A tensor and what its axes are.
struct Operand {
  Expr tensor;
  Labels labels;
};

// The element of an operand where each label has its index. An axis of `...` of extent 1 is
// stretched.
Expr element_of(const Operand& operand, const std::map<char, Expr>& index) {
  Indices at;
  for (std::size_t axis = 0; axis < operand.labels.size(); ++axis) {
    const char label = operand.labels[axis];
    const bool stretched = is_broadcast(label) && dims_of(operand.tensor)[axis].is_constant(1);
    at.push_back(stretched ? build::index_constant(0) : index.at(label));
  }
  return build::at(operand.tensor, at);
}

// The product of all operands, with the axes `kept`, summed over all other labels.
Expr contracted(const std::vector<Operand>& operands, const Labels& kept, DType dtype) {
  std::map<char, Dim> extents;
  Labels summed;
  for (const Operand& operand : operands) {
    for (std::size_t axis = 0; axis < operand.labels.size(); ++axis) {
      const char label = operand.labels[axis];
      const Dim& dim = dims_of(operand.tensor)[axis];
      const auto [found, is_new] = extents.emplace(label, dim);
      if (!is_new && found->second.is_constant(1)) found->second = dim;
      if (is_new && kept.find(label) == Labels::npos) summed += label;
    }
  }
  const auto dims_for = [&](const Labels& labels) {
    std::vector<Dim> dims;
    for (const char label : labels) dims.push_back(extents.at(label));
    return dims;
  };
  return build::comprehension(dims_for(kept), [&](const Indices& outer) {
    std::map<char, Expr> index;
    for (std::size_t k = 0; k < kept.size(); ++k) index[kept[k]] = outer[k];
    const auto product = [&](const Indices& inner) {
      for (std::size_t k = 0; k < summed.size(); ++k) index[summed[k]] = inner[k];
      Expr value;
      for (const Operand& operand : operands) {
        const Expr factor = build::cast_to(dtype, element_of(operand, index));
        value = value ? build::mul(value, factor) : factor;
      }
      return value;
    };
    return summed.empty() ? product({})
                          : build::reduction(ReduceOp::Sum, dims_for(summed), product);
  });
}

// The labels of `left` and `right` that something behind them, or the result, needs.
Labels needed(const Labels& left, const Labels& right, const std::vector<Operand>& rest,
              const Labels& result) {
  Labels labels;
  for (const char label : left + right) {
    bool is_needed = result.find(label) != Labels::npos;
    for (const Operand& operand : rest)
      is_needed = is_needed || operand.labels.find(label) != Labels::npos;
    if (is_needed && labels.find(label) == Labels::npos) labels += label;
  }
  return labels;
}

Expr contract_all(std::vector<Operand> operands, const Labels& result, DType wide, DType dtype) {
  if (operands.size() <= 2) {
    const Expr total = contracted(operands, result, wide);
    if (wide == dtype) return total;
    return build::let("total", total, [&](const Expr& sum) { return as_dtype(sum, dtype); });
  }
  const std::vector<Operand> pair(operands.begin(), operands.begin() + 2);
  std::vector<Operand> rest(operands.begin() + 2, operands.end());
  const Labels kept = needed(pair[0].labels, pair[1].labels, rest, result);
  return build::let("partial", contracted(pair, kept, wide), [&](const Expr& partial) {
    rest.insert(rest.begin(), Operand{partial, kept});
    return contract_all(rest, result, wide, dtype);
  });
}

void add_einsum() {
  OpDef def;
  def.name = "einsum";
  def.level = 11;
  def.doc =
      "Products of tensors, summed over axes, as an equation says that names each axis by a "
      "letter.\n"
      "\"ij,jk->ik\" is the matrix product: a letter that the result lacks is summed. Without "
      "\"->\" the result has, in alphabetical order, the letters that occur once. A letter that "
      "occurs twice in one operand takes its diagonal. \"...\" stands for any axes, which "
      "broadcast. Sums of nothing are 0, integers wrap, float16 and bfloat16 are summed in "
      "float32.";
  def.example = "einsum(([[1, 2], [3, 4]], [5, 6]), equation=\"ij,j->i\")\n// expect: [17, 39]";
  def.inputs = {{"data", "a tuple of tensors of one dtype"}};
  def.attrs = {required_attr("equation", AttrKind::String, "what to multiply and to sum")};
  def.type_rule = einsum_rule;
  def.definition = [](const DefinitionCall& call) {
    const DType dtype = lang::as<TensorType>(call.result)->dtype.known();
    const DType wide = lang::is_float(dtype) ? accumulator_of(dtype) : dtype;
    return with_fields(call.args[0], [&](const std::vector<Expr>& fields) {
      std::vector<std::size_t> ranks;
      for (const Expr& field : fields) ranks.push_back(dims_of(field).size());
      const Equation equation = equation_of(call.attrs, ranks);
      std::vector<Operand> operands;
      for (std::size_t k = 0; k < fields.size(); ++k)
        operands.push_back({fields[k], equation.operands[k]});
      return contract_all(std::move(operands), equation.result, wide, dtype);
    });
  };
  add_tuple_operator(std::move(def));
}

}  // namespace

void add_einsum_operators() { add_einsum(); }

}  // namespace relay::stdlib
