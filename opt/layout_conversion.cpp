#include "opt/layout_conversion.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "lang/build.h"
#include "lang/visit.h"
#include "opt/layout.h"
#include "opt/layout_table.h"
#include "opt/step_rules.h"

namespace relay::opt {

using lang::as;
using lang::Expr;
namespace build = lang::build;

namespace {

const lang::NamedOp kLayoutTransform("layout_transform");

bool transforms(const lang::Call& call, const std::string& from, const std::string& to) {
  return call.attrs->get_string("src_layout") == from && call.attrs->get_string("dst_layout") == to;
}

bool has_blocks(const std::string& layout) { return letters_of(layout).size() > 4; }

// A value in another layout: `value` has layout `to` where what stands in the program has `from`.
struct Laid {
  Expr value;
  std::string from;
  std::string to;
};

class LayoutConverter final : public lang::Rewriter {
 public:
  explicit LayoutConverter(const WantedLayout& wanted) : wanted_(wanted) {}

 protected:
  Expr pre(const Expr& expr) override {
    return expr->kind == lang::ExprKind::Let || operator_of(expr) ? block(expr) : Expr();
  }

 private:
  Expr block(const Expr& expr) {
    lang::Block opened = lang::open_block(expr);
    const lang::VariableRef last = lang::make_variable("result", opened.result->type);
    opened.bindings.push_back({last, opened.result, {}});
    bool changed = false;
    std::vector<lang::Binding> made;
    for (const lang::Binding& binding : opened.bindings) {
      const lang::AlgebraScope scope(lang::algebra_of(binding.value));
      Expr value = operator_of(binding.value) ? binding.value : rewrite(binding.value);
      if (const Laid* known = transformed_already(value)) {
        value = known->value;
      } else if (auto laid = converted(value)) {
        const lang::VariableRef variable =
            lang::make_variable(binding.variable->name, laid->value->type);
        made.push_back({variable, at_place(laid->value, value->span), binding.span});
        laid->value = lang::make_var(variable);
        value = at_place(transformed(laid->value, laid->to, laid->from), value->span);
        laid_[binding.variable.get()] = std::move(*laid);
      }
      changed = changed || !(value == binding.value);
      value = lang::with_type(value, binding.value->type);
      definitions_.add(binding.variable, value);
      made.push_back({binding.variable, std::move(value), binding.span});
    }
    if (!changed) return expr;
    Expr result = made.back().value;
    made.pop_back();
    return lang::close_block({std::move(made), std::move(result)});
  }

  const Laid* find(const Expr& atom) const {
    const lang::Variable* variable = variable_of(atom);
    return variable ? laid_.find(variable) : nullptr;
  }

  // The value in layout `to`; what it was made from, if that had it.
  Expr transformed(const Expr& value, const std::string& from, const std::string& to) const {
    if (from == to) return value;
    const Expr made =
        build::op(kLayoutTransform.name(), {value}, {{"src_layout", from}, {"dst_layout", to}});
    const auto* before = definitions_.call_of(value, kLayoutTransform);
    const bool is_back =
        before && transforms(*before, to, from) && lang::equal(before->args[0]->type, made->type);
    return is_back ? before->args[0] : made;
  }

  // Of a transformation of a value whose other layout is the one that is wanted.
  const Laid* transformed_already(const Expr& step) const {
    const auto* call = call_of(step, kLayoutTransform);
    const Laid* known = call ? find(call->args[0]) : nullptr;
    return known && transforms(*call, known->from, known->to) ? known : nullptr;
  }

  // Operators may not take a layout that has another rank: then they keep theirs.
  std::optional<Laid> converted(const Expr& step) {
    const LayoutRow* row = layout_use_of(step);
    if (!row) return std::nullopt;
    return unless_refused([&] {
      auto laid = in_wanted(step, *row);
      const bool is_same =
          laid && lang::equal(transformed(laid->value, laid->to, laid->from)->type, step->type);
      return is_same ? laid : std::nullopt;
    });
  }

  std::optional<Laid> in_wanted(const Expr& step, const LayoutRow& row) {
    const auto& call = lang::cast<lang::Call>(step);
    if (row.use == LayoutUse::Convolution) return convolution(call);
    if (row.use == LayoutUse::Broadcast) return broadcast(step, call);
    if (row.use == LayoutUse::Parts) return parts(call, row);
    const Laid* data = find(call.args[0]);
    if (!data) return std::nullopt;
    std::vector<Expr> args = call.args;
    args[0] = data->value;
    std::vector<lang::Attr> attrs;
    const std::string key(row.attr);
    switch (row.use) {
      case LayoutUse::Elements:
        break;
      case LayoutUse::Window:
        if (call.attrs->get_string(key) != data->from || has_own_result(call)) return std::nullopt;
        attrs = {{key, data->to}};
        break;
      case LayoutUse::Bias:
      case LayoutUse::Axis: {
        const auto places = places_in(*data, call.attrs->get_int(key));
        if (places.size() == 1) {
          attrs = {{key, static_cast<std::int64_t>(places.front())}};
          break;
        }
        return row.use == LayoutUse::Bias ? bias_in_blocks(call, *data, key) : std::nullopt;
      }
      case LayoutUse::Padding: {
        auto pairs = padding_in(*data, *call.attrs->find(key)->as_list());
        if (!pairs) return std::nullopt;
        attrs = {{key, lang::AttrValue(std::move(*pairs))}};
        break;
      }
      default:
        return std::nullopt;
    }
    return again(call, std::move(args), std::move(attrs), *data);
  }

  static std::optional<Laid> again(const lang::Call& call, std::vector<Expr> args,
                                   std::vector<lang::Attr> attrs, const Laid& like) {
    const lang::OpDef* op = lang::cast<lang::Operator>(call.callee).op;
    return Laid{build::op(op->name, std::move(args), with_attrs(call.attrs, std::move(attrs))),
                like.from, like.to};
  }

  static bool has_own_result(const lang::Call& call) {
    const lang::AttrValue* out = call.attrs->find("out_layout");
    return out && out->as_string() && !out->as_string()->empty();
  }

  static std::size_t place_of(const Laid& data, std::int64_t axis) {
    return static_cast<std::size_t>(place_of_axis(axis, data.from.size()));
  }
  // Where an axis is in the new order: two places if it is in blocks.
  static std::vector<std::size_t> places_in(const Laid& data, std::int64_t axis) {
    return axes_of(data.to, data.from[place_of(data, axis)]);
  }

  std::optional<Laid> bias_in_blocks(const lang::Call& call, const Laid& data,
                                     const std::string& key) {
    const auto extents = constant_extents(call.args[1]->type);
    if (!extents) return std::nullopt;
    std::vector<std::int64_t> shape(data.from.size(), 1);
    shape[place_of(data, call.attrs->get_int(key))] = extents->front();
    const Expr whole =
        build::op("reshape", {call.args[1]}, {{"newshape", lang::AttrValue::ints(shape)}});
    return Laid{build::op("add", {data.value, transformed(whole, data.from, data.to)}), data.from,
                data.to};
  }

  // Blocks cannot be padded inside.
  static std::optional<lang::AttrValue::List> padding_in(const Laid& data,
                                                         const lang::AttrValue::List& pairs) {
    const lang::AttrValue none = lang::AttrValue::ints({0, 0});
    lang::AttrValue::List moved;
    for (const char letter : letters_of(data.to)) {
      const std::size_t place = data.from.find(letter);
      moved.push_back(place == std::string::npos ? none : pairs[place]);
      const bool is_split = axes_of(data.to, letter).size() == 2;
      if (is_split && pairs[place].to_string() != none.to_string()) return std::nullopt;
    }
    return moved;
  }

  std::optional<Laid> convolution(const lang::Call& call) {
    const std::string& from = call.attrs->get_string("data_layout");
    const std::string& kernel = call.attrs->get_string("kernel_layout");
    if (from == wanted_.data || has_own_result(call) || has_blocks(from)) return std::nullopt;
    if (has_blocks(wanted_.data) && call.attrs->get_int("groups") != 1) return std::nullopt;
    const auto data = constant_extents(call.args[0]->type);
    const auto weight = constant_extents(call.args[1]->type);
    const std::int64_t block = block_of(wanted_.data, 'C');
    if (block > 0) {
      if (!data || !weight || (*data)[from.find('C')] % block != 0 ||
          (*weight)[kernel.find('O')] % block != 0)
        return std::nullopt;
    }
    const Laid* known = find(call.args[0]);
    const bool is_known = known && known->from == from && known->to == wanted_.data;
    const std::string wanted_kernel = kernel_layout();
    const Expr made = build::op(
        "nn.conv2d",
        {is_known ? known->value : transformed(call.args[0], from, wanted_.data),
         transformed(call.args[1], kernel, wanted_kernel)},
        with_attrs(call.attrs, {{"data_layout", wanted_.data}, {"kernel_layout", wanted_kernel}}));
    return Laid{made, from, wanted_.data};
  }

  std::string kernel_layout() const {
    if (wanted_.kernel != "default") return wanted_.kernel;
    const std::int64_t block = block_of(wanted_.data, 'C');
    if (block > 0) return fmt::format("OIHW{}i{}o", block, block);
    return wanted_.data.find('C') < wanted_.data.find('H') ? "OIHW" : "HWIO";
  }

  std::optional<Laid> broadcast(const Expr& step, const lang::Call& call) {
    const Laid* data = find(call.args[0]);
    if (!data || !same_type(call.args[0], step)) data = find(call.args[1]);
    if (!data) return std::nullopt;
    std::vector<Expr> args;
    for (const Expr& arg : call.args) {
      const Laid* known = find(arg);
      if (known && known->from == data->from && known->to == data->to) {
        args.push_back(known->value);
      } else if (Expr other = spread(arg, *data)) {
        args.push_back(std::move(other));
      } else {
        return std::nullopt;
      }
    }
    return again(call, std::move(args), {}, *data);
  }

  // What is broadcast to the data, in their new layout.
  Expr spread(const Expr& other, const Laid& data) const {
    auto extents = constant_extents(other->type);
    if (extents && extents->empty()) return other;
    if (!extents || extents->size() > data.from.size()) return nullptr;
    if (std::all_of(extents->begin(), extents->end(), [](auto extent) { return extent == 1; }))
      return build::op("reshape", {other},
                       {{"newshape", lang::AttrValue(lang::AttrValue::List())}});
    const std::size_t missing = data.from.size() - extents->size();
    extents->insert(extents->begin(), missing, 1);
    const std::int64_t block = block_of(data.to, 'C');
    if (block > 0 && (*extents)[data.from.find('C')] % block != 0) return nullptr;
    const Expr whole = missing == 0 ? other
                                    : build::op("reshape", {other},
                                                {{"newshape", lang::AttrValue::ints(*extents)}});
    return transformed(whole, data.from, data.to);
  }

  std::optional<Laid> parts(const lang::Call& call, const LayoutRow& row) {
    const auto* tuple = as<lang::Tuple>(definitions_.of(call.args[0]));
    const Laid* first = tuple && !tuple->fields.empty() ? find(tuple->fields[0]) : nullptr;
    if (!first) return std::nullopt;
    const auto places = places_in(*first, call.attrs->get_int(std::string(row.attr)));
    std::vector<Expr> fields;
    for (const Expr& field : tuple->fields) {
      const Laid* known = find(field);
      if (places.empty() || !known || known->from != first->from || known->to != first->to)
        return std::nullopt;
      fields.push_back(known->value);
    }
    return again(call, {build::tuple(std::move(fields))},
                 {{std::string(row.attr), static_cast<std::int64_t>(places.front())}}, *first);
  }

  const WantedLayout& wanted_;
  Definitions definitions_;
  lang::PointerMap<lang::Variable, Laid> laid_;
};

}  // namespace

void check_layout(const WantedLayout& wanted) {
  std::string letters = letters_of(wanted.data);
  std::erase(letters, 'c');
  std::sort(letters.begin(), letters.end());
  const bool has_block = letters_of(wanted.data).find('c') != std::string::npos;
  if (letters == "CHNW" && has_block == (block_of(wanted.data, 'C') > 0)) return;
  lang::fail(lang::DiagnosticKind::BadAttribute,
             fmt::format("`{}` is no layout of images: write the letters N, C, H and W, and blocks "
                         "of channels as in `NCHW4c`",
                         wanted.data));
}

Expr with_layout(const Expr& fn, const WantedLayout& wanted) {
  return LayoutConverter(wanted).rewrite(fn);
}

void convert_layout(PassProgram& program, const WantedLayout& wanted) {
  check_layout(wanted);
  program.each([&](const Expr& fn) {
    const Expr made = with_layout(fn, wanted);
    return made == fn ? fn : eliminate_dead_code(to_anf(made, &program), &program);
  });
}

}  // namespace relay::opt
