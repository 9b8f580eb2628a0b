#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "lang/build.h"
#include "lang/derivative.h"
#include "lang/diagnostic.h"
#include "lang/let_placement.h"
#include "lang/light_piece.h"
#include "lang/op.h"
#include "lang/print.h"
#include "lang/print_scopes.h"
#include "lang/record.h"
#include "lang/schedule.h"
#include "lang/type_print.h"
#include "lang/virtual_device.h"
#include "lang/visit.h"

namespace relay::lang {
namespace {

std::string head_of(const std::string& dotted) { return dotted.substr(0, dotted.find('.')); }

// Strings have escapes in the light notation, and none in Relay's.
std::string light_text(const AttrValue& value) {
  if (const std::string* string = value.as_string()) {
    std::string text = "\"";
    for (const char c : *string) {
      if (c == '"' || c == '\\') text += '\\';
      text += c == '\n' ? "\\n" : c == '\t' ? "\\t" : std::string(1, c);
    }
    return text + '"';
  }
  if (is_virtual_device(value)) return "\"" + to_string(*virtual_device_of(value)) + "\"";
  const AttrValue::List* list = value.as_list();
  if (!list) return value.to_string();
  std::string text = "[";
  for (const AttrValue& each : *list) text += (text.size() > 1 ? ", " : "") + light_text(each);
  return text + "]";
}

// Prints nested expressions on one line as long as that is readable; what is shared, long or takes
// several lines gets a name. A let whose pure value is used once goes to where it is used.
class LightPrinter {
 public:
  LightPrinter(const Expr& root, const Module* scope)
      : plan_(root), lets_(plan_), lines_(plan_.scope_count()), scope_(scope) {
    reserve_words(names_);
    std::vector<TypeVarRef> dims;
    visit_post_order(root, [&](const Expr& node) {
      note_names(node, dims);
      lets_.note(node);
    });
    for (const TypeVarRef& dim : dims) names_.reserve(types_.name(dim));
  }

  std::string expression(const Expr& root) { return block(root, ScopePlan::kRoot); }

  std::string definition(const std::string& name, const Expr& root) {
    const auto* function = as<Function>(root);
    if (!function) return "let " + name + " = " + expression(root);
    return "def " + name + signature(*function, name.size()) + " {\n" +
           indent(block(function->body, plan_.inner_scope(root))) + "\n}";
  }

 private:
  // --- What is known before ---

  // `dims`: the variables that get names when all that these must not be is known.
  void note_names(const Expr& node, std::vector<TypeVarRef>& dims) {
    if (const auto* op = as<Operator>(node)) {
      if (!is_record_form(*op->op)) names_.reserve(head_of(op->op->name));
    } else if (const auto* global = as<GlobalVar>(node)) {
      names_.reserve(head_of(global->name));
    } else if (const auto* constructor = as<ConstructorRef>(node)) {
      names_.reserve(constructor->constructor->name);
    } else if (const auto* term = as<DimTerm>(node)) {
      term->dim.for_each_variable([&](const TypeVarRef& var) { dims.push_back(var); });
    } else if (const auto* function = as<Function>(node)) {
      dims.insert(dims.end(), function->type_params.begin(), function->type_params.end());
      keep_for_schedule(*function);
    }
  }

  // A schedule is about indices by their names, so no dimension takes one of these.
  void keep_for_schedule(const Function& function) {
    const std::string* text = schedule_of(function);
    if (!text) return;
    for (const ScheduleStep& step : read_schedule(*text)) {
      for (const ScheduleArg& arg : step.args) types_.keep(arg.text);
    }
  }

  // --- Scopes ---

  // The lines of a scope. `is_operand`: `first` is a let that opened the scope itself.
  std::string block(const Expr& first, int scope, bool is_operand = false) {
    Expr expr = first;
    while (expr->kind == ExprKind::Let && (is_operand || plan_.is_statement(expr))) {
      is_operand = false;
      const auto& let = cast<Let>(expr);
      Piece value = piece_of(let.value);
      const bool is_effect =
          !lets_.is_used(let.variable) && (let.variable->name.empty() || let.variable->name == "_");
      if (is_effect) {
        push(scope, value.text + ";");
      } else if (lets_.goes_to_its_use(let, value, scope)) {
        lets_.move(let);
        inlined_.emplace(let.variable.get(), std::move(value));
      } else {
        const bool is_annotated = let.variable->type && !let.value->type;
        push(scope, "let " + name(let.variable) +
                        (is_annotated ? ": " + types_.print(let.variable->type) : "") + " = " +
                        value.text + ";");
      }
      expr = let.body;
    }
    push(scope, piece_of(expr).text);
    std::string text;
    for (const std::string& line : lines_[static_cast<std::size_t>(scope)])
      text += (text.empty() ? "" : "\n") + line;
    lines_[static_cast<std::size_t>(scope)].clear();
    return text;
  }

  void push(int scope, std::string line) {
    lines_[static_cast<std::size_t>(scope)].push_back(std::move(line));
  }

  // --- Expressions ---

  // The text of `root`; whatever below it (or it itself, when shared) needs a name gets one first.
  Piece piece_of(const Expr& root) {
    struct Item {
      Expr expr;
      bool is_open;
    };
    std::vector<Item> stack{{root, false}};
    while (!stack.empty()) {
      const Item item = stack.back();
      stack.pop_back();
      if (pieces_.contains(item.expr.get())) continue;
      if (item.is_open) {
        Piece piece = compose(item.expr);
        if (wants_name(item.expr, piece, item.expr == root)) piece = bind(item.expr, piece);
        pieces_.emplace(item.expr.get(), std::move(piece));
        continue;
      }
      stack.push_back({item.expr, true});
      const std::vector<Expr> operands = operands_of(item.expr);
      for (auto child = operands.rbegin(); child != operands.rend(); ++child)
        stack.push_back({*child, false});
    }
    return pieces_.at(root.get());
  }

  bool wants_name(const Expr& expr, const Piece& piece, bool is_root) const {
    if (build::is_atom(expr) || expr->kind == ExprKind::Literal) return false;
    if (no_names_inside_ >= 0 && is_inside(plan_.scope_of(expr), no_names_inside_)) return false;
    if (plan_.uses(expr) > 1 && piece.text != "()") return true;
    return !is_root && lets_.is_pure_node(expr) &&
           (!piece.is_one_line() || piece.text.size() > kLongestInside);
  }

  Piece bind(const Expr& expr, const Piece& piece) {
    const std::string name = names_.take("t");
    push(plan_.scope_of(expr), "let " + name + " = " + piece.text + ";");
    return {name, kAtom};
  }

  bool is_inside(int scope, int outer) const {
    while (scope > outer) scope = plan_.parent(scope);
    return scope == outer;
  }

  std::string name(const VariableRef& variable, bool in_pattern = false) {
    const auto [entry, is_new] = variable_names_.try_emplace(variable.get());
    if (is_new) {
      std::string base = readable_name(variable->name);
      if (in_pattern)
        base.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(base.front())));
      entry->second = names_.take(base);
    }
    return entry->second;
  }

  // The operand, in parentheses if it is looser than `least`.
  std::string operand(const Expr& expr, Level least) {
    const Piece& piece = pieces_.at(expr.get());
    return piece.level < least ? "(" + piece.text + ")" : piece.text;
  }

  std::string list(const std::vector<Expr>& exprs) {
    std::string text;
    for (const Expr& expr : exprs) text += (text.empty() ? "" : ", ") + pieces_.at(expr.get()).text;
    return text;
  }

  std::string on_lines(const std::vector<Expr>& exprs) {
    std::string text;
    for (const Expr& expr : exprs)
      text += (text.empty() ? "" : ",\n") + pieces_.at(expr.get()).text;
    return "(\n" + indent(text) + "\n)";
  }

  // Where the other operand says the dtype, a number need not.
  std::string infix_operand(const Expr& expr, const Expr& other, Level least) {
    const Constant* number = as_number(expr);
    if (!number || as_number(other) || !expr->type || !other->type) return operand(expr, least);
    const auto* other_type = as<TensorType>(other->type);
    if (!other_type || !(other_type->dtype == DTypeTerm(number->value->dtype())))
      return operand(expr, least);
    const Piece piece = plain_number(*number->value);
    return piece.level < least ? "(" + piece.text + ")" : piece.text;
  }

  Piece infix(const Infix& infix, const Expr& left, const Expr& right) {
    const Level level = level_of(infix);
    const auto tighter = static_cast<Level>(level + 1);
    return {infix_operand(left, right, level) + " " + std::string(infix.symbol) + " " +
                infix_operand(right, left, tighter),
            level};
  }

  Piece prefix(std::string_view symbol, const Expr& arg) {
    std::string text = operand(arg, kBlock);  // a sign of its own gets parentheses
    if (as_number(arg) && text.front() != '(') text = "(" + text + ")";
    return {std::string(symbol) + text, kPrefix};
  }

  // `w = a, b = c`; the values from `first` on.
  std::string fields(const std::vector<std::string>& names, const std::vector<Expr>& values,
                     std::size_t first) {
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i)
      text += (i == 0 ? "" : ", ") + names[i] + " = " + pieces_.at(values[first + i].get()).text;
    return text;
  }

  // Before inference: `p.w`, `p with { w = e }`.
  Piece record_form(const Call& call, const OpDef& form) {
    const std::string record = operand(call.args[0], kAtom);
    const std::vector<std::string> names = record_fields(call.attrs);
    if (&form == &record_get()) return {record + "." + names[0]};
    return {record + " with { " + fields(names, call.args, 1) + " }"};
  }

  // The same after it; nothing if the match is none of them, or a new value takes lines of its own.
  std::optional<Piece> record_match(const Expr& expr, const Match& node) {
    const std::optional<RecordForm> form = as_record_form(node);
    if (!form) return std::nullopt;
    const std::string record = operand(node.scrutinee, kAtom);
    if (!form->is_with) return Piece{record + "." + form->fields[0]};
    const int scope = plan_.inner_scope(expr, 0);
    const auto& body = cast<Call>(node.clauses[0].body);
    std::vector<Expr> values;
    for (const std::size_t place : form->places) {
      piece_of(body.args[place]);
      values.push_back(body.args[place]);
    }
    if (!lines_[static_cast<std::size_t>(scope)].empty()) return std::nullopt;
    return Piece{record + " with { " + fields(form->fields, values, 0) + " }"};
  }

  Piece call(const Call& call) {
    const std::vector<const Attr*> written = written_attrs(call);
    const auto* op = as<Operator>(call.callee);
    if (op && is_record_form(*op->op)) return record_form(call, *op->op);
    if (const auto* constructor = as<ConstructorRef>(call.callee);
        constructor && constructor->constructor->field_names.size() == call.args.size() &&
        !call.args.empty()) {
      return {constructor->constructor->name + "(" +
              fields(constructor->constructor->field_names, call.args, 0) + ")"};
    }
    if (op && written.empty()) {
      const Infix* symbol = printed_infix(op->op->name);
      if (symbol && call.args.size() == 2) return infix(*symbol, call.args[0], call.args[1]);
      if (op->op->name == "negative" && call.args.size() == 1) return prefix("-", call.args[0]);
      if (op->op->name == "logical_not" && call.args.size() == 1) return prefix("!", call.args[0]);
    }
    std::string text = operand(call.callee, kAtom) + "(" + list(call.args);
    for (const Attr* attr : written) {
      if (text.back() != '(') text += ", ";
      text += attr->key + "=" + light_text(attr->value);
    }
    return {text + ")", kAtom};
  }

  Piece primitive(const Expr& expr, const Primitive& node) {
    if (const Infix* symbol = printed_infix(node.prim))
      return infix(*symbol, node.args[0], node.args[1]);
    std::string text = "prim." + std::string(info(node.prim).text) + "(" + list(node.args);
    if (node.prim == Prim::Cast) {
      const auto* type = as<TensorType>(expr->type);
      RELAY_CHECK(type, "a cast without a type");
      text += ", dtype=\"" + to_string(type->dtype) + "\"";
    }
    return {text + ")", kAtom};
  }

  Piece constant(const Constant& node) {
    const Tensor& tensor = *node.value;
    if (tensor.rank() == 0) {
      const bool is_plain = tensor.dtype() == DType::Float32 || tensor.dtype() == DType::Int32;
      if (is_plain && std::isfinite(tensor.number_at(0))) return plain_number(tensor);
      return number_piece(print_scalar(tensor.dtype(), tensor.bits_at(0)));
    }
    return {print_constant(tensor, true), kAtom};
  }

  // `used`: what stands on the line before it.
  static std::string attributes_of(const Variable& param) {
    std::string text;
    if (!param.attrs) return text;
    for (const Attr& attr : param.attrs->list)
      text += (text.empty() ? "" : ", ") + attr.key + "=" + light_text(attr.value);
    return text.empty() ? "" : " {" + text + "}";
  }

  std::string signature(const Function& function, std::size_t used) {
    std::string text;
    for (const TypeVarRef& var : function.type_params)
      text += (text.empty() ? "[" : ", ") + types_.name(var);
    if (!text.empty()) text += "]";
    std::vector<std::string> params;
    for (const VariableRef& param : function.params)
      params.push_back(name(param) + attributes_of(*param) +
                       (param->type ? ": " + types_.print(param->type) : ""));
    if (function.attrs) {
      for (const Attr& attr : function.attrs->list)
        params.push_back(attr.key + "=" + light_text(attr.value));
    }
    const std::string result = function.result ? " -> " + types_.print(function.result) : "";
    std::string list;
    for (const std::string& param : params) list += (list.empty() ? "" : ", ") + param;
    constexpr std::size_t kSignature = 100;
    if (params.size() < 2 || used + text.size() + list.size() + result.size() <= kSignature)
      return text + "(" + list + ")" + result;
    list.clear();
    for (const std::string& param : params) list += (list.empty() ? "" : ",\n") + param;
    return text + "(\n" + indent(list) + "\n)" + result;
  }

  std::string binders(const std::vector<IndexBinder>& list) {
    std::string text;
    for (const IndexBinder& binder : list) {
      text += (text.empty() ? "" : ", ") + name(binder.variable);
      if (!binder.extent) continue;
      const Constant* number = as_number(binder.extent);
      text += " < " + (number ? plain_number(*number->value).text : operand(binder.extent, kSum));
    }
    return text;
  }

  // Loops beside each other have indices of the same names.
  void release(const std::vector<IndexBinder>& list) {
    for (const IndexBinder& binder : list) names_.release(name(binder.variable));
  }

  Piece loop(const Expr& expr, std::string_view word, const std::vector<IndexBinder>& list,
             const Expr& body) {
    const std::string head = std::string(word) + " " + binders(list) + " ";
    Piece piece{head + braces(block(body, plan_.inner_scope(expr)), head.size()), kBlock};
    release(list);
    return piece;
  }

  std::string index_text(const Expr& index) {
    const Constant* number = as_number(index);
    return number ? plain_number(*number->value).text : piece_of(index).text;
  }

  // `a with { [i, j] = v }`
  Piece one_point(const ScatterReduce& node) {
    std::string indices;
    for (const Expr& index : node.indices)
      indices += (indices.empty() ? "" : ", ") + index_text(index);
    const std::string value = pieces_.at(node.value.get()).text;
    if (node.op == ReduceOp::Set)
      return {operand(node.init, kAtom) + " with { [" + indices + "] = " + value + " }"};
    return {fmt::format("scatter {}({}) {{ [{}] => {} }}", name_of(node.op),
                        pieces_.at(node.init.get()).text, indices, value),
            kBlock};
  }

  Piece scatter(const Expr& expr, const ScatterReduce& node) {
    if (is_one_point(expr)) return one_point(node);
    const int scope = plan_.inner_scope(expr);
    const std::string head = "scatter " + std::string(name_of(node.op)) + "(" +
                             pieces_.at(node.init.get()).text + ") " + binders(node.binders) +
                             (node.binders.empty() ? "" : " ");
    // There is no place for a `let` before the indices.
    const int outer = std::exchange(no_names_inside_, scope);
    std::string indices;
    for (const Expr& index : node.indices)
      indices += (indices.empty() ? "" : ", ") + index_text(index);
    no_names_inside_ = outer;
    Piece piece{head + braces("[" + indices + "] => " + block(node.value, scope), head.size()),
                kBlock};
    release(node.binders);
    return piece;
  }

  Piece index(const Index& node) {
    bool is_bare = true;
    std::string indices;
    for (const Expr& index : node.indices) {
      is_bare = is_bare && index->kind == ExprKind::Var;
      indices += (indices.empty() ? "" : ", ") + index_text(index);
    }
    return {operand(node.tensor, kAtom) + (node.in_bounds && !is_bare ? "![" : "[") + indices + "]",
            kAtom};
  }

  std::string pattern(const PatternRef& pattern) {
    if (pattern->kind == PatternKind::Wildcard) return "_";
    if (pattern->kind == PatternKind::Variable) return name(pattern->variable, true);
    std::string fields;
    for (const PatternRef& field : pattern->fields)
      fields += (fields.empty() ? "" : ", ") + this->pattern(field);
    if (pattern->kind == PatternKind::Tuple)
      return "(" + fields + (pattern->fields.size() == 1 ? ",)" : ")");
    return pattern->constructor->name + (fields.empty() ? "" : "(" + fields + ")");
  }

  Piece match(const Expr& expr, const Match& node) {
    if (std::optional<Piece> record = record_match(expr, node)) return *record;
    std::string text =
        (node.is_complete ? "match " : "match? ") + operand(node.scrutinee, kAtom) + " {\n";
    const std::size_t head_size = text.size();
    for (std::size_t i = 0; i < node.clauses.size(); ++i) {
      const std::string head = pattern(node.clauses[i].pattern) + " => ";
      const std::string body = block(node.clauses[i].body, plan_.inner_scope(expr, i));
      const bool is_one_line = body.find('\n') == std::string::npos;
      const bool is_alone = node.clauses[i].body->kind == ExprKind::Match ||
                            node.clauses[i].body->kind == ExprKind::If;
      if (node.clauses.size() == 1 && is_one_line &&
          head_size + head.size() + body.size() <= kLongestInside)
        return {text.substr(0, head_size - 1) + " " + head + body + " }", kBlock};
      text += indent(head + (is_one_line || is_alone ? body : "{\n" + indent(body) + "\n}") + ",") +
              "\n";
    }
    return {text + "}", kBlock};
  }

  Piece if_else(const Expr& expr, const If& node) {
    const std::string head = "if (" + pieces_.at(node.condition.get()).text + ") ";
    const std::string yes = block(node.then_branch, plan_.inner_scope(expr, 0));
    const std::string no = block(node.else_branch, plan_.inner_scope(expr, 1));
    const bool fits = yes.find('\n') == std::string::npos && no.find('\n') == std::string::npos &&
                      head.size() + yes.size() + no.size() <= kLongestLine;
    if (fits) return {head + "{ " + yes + " } else { " + no + " }", kBlock};
    return {head + "{\n" + indent(yes) + "\n} else {\n" + indent(no) + "\n}", kBlock};
  }

  // `expr`, whose operands have their pieces.
  Piece compose(const Expr& expr) {
    switch (expr->kind) {
      case ExprKind::Var: {
        const auto inlined = inlined_.find(cast<Var>(expr).variable.get());
        return inlined != inlined_.end() ? inlined->second : Piece{name(cast<Var>(expr).variable)};
      }
      case ExprKind::GlobalVar:
        return {cast<GlobalVar>(expr).name};
      case ExprKind::Constant:
        return constant(cast<Constant>(expr));
      case ExprKind::Literal:
        return number_piece(print_literal(cast<Literal>(expr), true));
      case ExprKind::Tuple: {
        const auto& tuple = cast<Tuple>(expr);
        const std::string fields = list(tuple.fields);
        if (tuple.fields.size() > 1 && fields.size() > kTuple) return {on_lines(tuple.fields)};
        return {"(" + fields + (tuple.fields.size() == 1 ? ",)" : ")")};
      }
      case ExprKind::Projection:
        return {operand(cast<Projection>(expr).tuple, kAtom) + "." +
                std::to_string(cast<Projection>(expr).index)};
      case ExprKind::Let:
        return {braces(block(expr, plan_.inner_scope(expr), true), kLongestLine), kBlock};
      case ExprKind::If:
        return if_else(expr, cast<If>(expr));
      case ExprKind::Function: {
        const auto& function = cast<Function>(expr);
        const std::string head = "fn " + signature(function, 3) + " ";
        const std::size_t line = head.size() - (head.rfind('\n') + 1);
        return {head + braces(block(function.body, plan_.inner_scope(expr)), line), kBlock};
      }
      case ExprKind::Call:
        return call(cast<Call>(expr));
      case ExprKind::Match:
        return match(expr, cast<Match>(expr));
      case ExprKind::RefCreate:
        return {"ref(" + pieces_.at(cast<RefCreate>(expr).value.get()).text + ")"};
      case ExprKind::RefRead:
        return {"ref_read(" + pieces_.at(cast<RefRead>(expr).ref.get()).text + ")"};
      case ExprKind::RefWrite:
        return {"ref_write(" + list({cast<RefWrite>(expr).ref, cast<RefWrite>(expr).value}) + ")"};
      case ExprKind::Operator:
        return {spelled(*cast<Operator>(expr).op)};
      case ExprKind::ConstructorRef:
        return {cast<ConstructorRef>(expr).constructor->name};
      case ExprKind::Comprehension:
        return loop(expr, "for", cast<Comprehension>(expr).binders, cast<Comprehension>(expr).body);
      case ExprKind::Reduction: {
        const auto& node = cast<Reduction>(expr);
        return loop(expr, name_of(node.op), node.binders, node.body);
      }
      case ExprKind::Index:
        return index(cast<Index>(expr));
      case ExprKind::ScatterReduce:
        return scatter(expr, cast<ScatterReduce>(expr));
      case ExprKind::Primitive:
        return primitive(expr, cast<Primitive>(expr));
      case ExprKind::DimTerm: {
        const Dim& dim = cast<DimTerm>(expr).dim;
        return {types_.print(dim), dim.as_variable() || dim.is_constant() ? kAtom : kSum};
      }
      case ExprKind::Differentiate: {
        const auto& node = cast<Differentiate>(expr);
        return {std::string(name_of(node.mode)) + "(" + pieces_.at(node.fn.get()).text + ")"};
      }
    }
    internal_error(__FILE__, __LINE__, "an expression of an unknown kind");
  }

  std::string spelled(const OpDef& op) const {
    const Definition* hiding = scope_ ? scope_->find(op.name) : nullptr;
    const bool is_hidden = hiding && hiding->origin == Origin::Own;
    return (is_hidden ? std::string(kOperatorPrefix) : "") + op.name;
  }

  static constexpr std::size_t kTuple = 92;

  ScopePlan plan_;
  LetPlacement lets_;
  std::vector<std::vector<std::string>> lines_;  // by scope, of those being printed
  std::unordered_map<const ExprNode*, Piece> pieces_;
  std::unordered_map<const Variable*, Piece> inlined_;
  std::unordered_map<const Variable*, std::string> variable_names_;
  UniqueNames names_;
  TypeNames types_;
  int no_names_inside_ = -1;
  const Module* scope_;
};

}  // namespace

std::string print_light(const Expr& expr, const Module* scope) {
  return LightPrinter(expr, scope).expression(expr);
}

std::string print_light_definition(const std::string& name, const Expr& function,
                                   const Module* scope) {
  return LightPrinter(function, scope).definition(name, function);
}

}  // namespace relay::lang
