#include "lang/print.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "lang/build.h"
#include "lang/derivative.h"
#include "lang/diagnostic.h"
#include "lang/metadata.h"
#include "lang/op.h"
#include "lang/print_scopes.h"
#include "lang/type_print.h"
#include "lang/visit.h"

namespace relay::lang {
namespace {

constexpr std::string_view kVersion = "#[version = \"0.0.5\"]\n";

std::string join(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    if (!text.empty()) text += '\n';
    text += line;
  }
  return text;
}

bool is_atomic(const Expr& expr) {
  if (const auto* tuple = as<Tuple>(expr)) return tuple->fields.empty();
  return build::is_atom(expr) || expr->kind == ExprKind::Literal;
}

// Words that cannot follow `%`.
void reserve_strict_words(UniqueNames& names) {
  for (const char* word : {"let", "fn", "def", "if", "else", "type", "match", "extern", "free_var",
                           "ref", "ref_read", "ref_write"}) {
    names.reserve(word);
  }
}

// Prints the expressions of one text. Graph numbers run through all of them; variables have names
// of their own within one expression.
class StrictPrinter {
 public:
  explicit StrictPrinter(const PrintOptions& options) : options_(options) {}

  std::string expression(const Expr& expr) {
    start(expr);
    std::string text;
    for (const VariableRef& variable : free_variables(expr)) {
      text += "free_var %" + name(variable) +
              (variable->type ? ": " + types_.print(variable->type) : "") + ";\n";
    }
    return text + block(expr, ScopePlan::kRoot);
  }

  std::string definition(const std::string& global, const Expr& expr) {
    const auto* function = as<Function>(expr);
    RELAY_CHECK(function, "only a function prints as a definition");
    start(expr);
    return "def @" + global + rest_of_function(expr, *function);
  }

  // What goes behind the text; begins with a line break, or is empty.
  std::string metadata() const { return metadata_.is_empty() ? "" : "\n\n" + metadata_.section(); }

 private:
  void start(const Expr& root) {
    plan_ = std::make_unique<ScopePlan>(root);
    lines_.assign(plan_->scope_count(), {});
    graph_names_.clear();
    variable_names_.clear();
    names_ = UniqueNames();
    types_ = options_.header
                 ? TypeNames([this](const Dim& dim) { return metadata_.dimension(dim); })
                 : TypeNames();
    reserve_strict_words(names_);
    uses_of_variable_.clear();
    visit_post_order(root, [this](const Expr& node) {
      if (const auto* var = as<Var>(node)) ++uses_of_variable_[var->variable.get()];
    });
  }

  std::string name(const VariableRef& variable) {
    const auto [entry, is_new] = variable_names_.try_emplace(variable.get());
    if (is_new) entry->second = names_.take(readable_name(variable->name));
    return entry->second;
  }

  // The lines of a scope: graph bindings and lets in order, then the result. `is_operand`: `first`
  // is a let that opened the scope itself.
  std::string block(const Expr& first, int scope, bool is_operand = false) {
    Expr expr = first;
    while (expr->kind == ExprKind::Let && (is_operand || plan_->is_statement(expr))) {
      is_operand = false;
      const auto& let = cast<Let>(expr);
      std::string value = in_place(let.value);
      const bool is_effect = !uses_of_variable_.contains(let.variable.get()) &&
                             (let.variable->name.empty() || let.variable->name == "_");
      std::string line;
      if (!is_effect) {
        line = "let %" + name(let.variable);
        if (let.variable->type && !(let.value->type && equal(let.value->type, let.variable->type)))
          line += ": " + types_.print(let.variable->type);
        line += " = ";
        // Relay's own parser wants parentheses there.
        if (let.value->kind == ExprKind::Match && plan_->uses(let.value) == 1)
          value = "(" + value + ")";
      }
      push(scope, line + value + ";");
      expr = let.body;
    }
    push(scope, in_place(expr));
    std::string text = join(lines_[static_cast<std::size_t>(scope)]);
    lines_[static_cast<std::size_t>(scope)].clear();
    return text;
  }

  void push(int scope, std::string line) {
    lines_[static_cast<std::size_t>(scope)].push_back(std::move(line));
  }

  // The text of a let's value or of a scope's result: written out when used only here.
  std::string in_place(const Expr& expr) {
    if (is_atomic(expr) || plan_->uses(expr) > 1) {
      bind_operands(expr, true);
      return operand(expr);
    }
    bind_operands(expr, false);
    return text(expr);
  }

  // Gives each compound node below `root` that `root` needs in its scope a graph binding, innermost
  // first; `root` too if `with_root`.
  void bind_operands(const Expr& root, bool with_root) {
    struct Item {
      Expr expr;
      bool is_open;
    };
    std::vector<Item> stack{{root, false}};
    while (!stack.empty()) {
      const Item item = stack.back();
      stack.pop_back();
      if (is_atomic(item.expr) || graph_names_.contains(item.expr.get())) continue;
      if (item.is_open) {
        if (with_root || !(item.expr == root)) bind(item.expr);
        continue;
      }
      stack.push_back({item.expr, true});
      const std::vector<Expr> operands = operands_of(item.expr);
      for (auto child = operands.rbegin(); child != operands.rend(); ++child)
        stack.push_back({*child, false});
    }
  }

  void bind(const Expr& expr) {
    std::string value = text(expr);
    if (expr->kind == ExprKind::Match) value = "(" + value + ")";
    const std::string graph_name = "%" + std::to_string(next_number_++);
    graph_names_[expr.get()] = graph_name;
    push(plan_->scope_of(expr), graph_name + " = " + value + ";");
  }

  // An expression where only an atom may stand.
  std::string operand(const Expr& expr) {
    if (const auto bound = graph_names_.find(expr.get()); bound != graph_names_.end())
      return bound->second;
    if (is_atomic(expr)) return text(expr);
    RELAY_CHECK(is_nesting_, "the printer met an operand without a graph binding");
    return nested(expr);
  }

  // The indices of a scatter stand where no binding can: what they need there is written inside.
  std::string nested(const Expr& expr) {
    if (is_atomic(expr) || graph_names_.contains(expr.get())) return operand(expr);
    if (!is_inside(plan_->scope_of(expr), nesting_scope_)) {
      const bool was_nesting = std::exchange(is_nesting_, false);
      bind_operands(expr, true);
      is_nesting_ = was_nesting;
      return operand(expr);
    }
    return "(" + text(expr) + ")";
  }

  bool is_inside(int scope, int outer) const {
    while (scope > outer) scope = plan_->parent(scope);
    return scope == outer;
  }

  std::string operands(const std::vector<Expr>& exprs) {
    std::string text;
    for (const Expr& expr : exprs) {
      if (!text.empty()) text += ", ";
      text += operand(expr);
    }
    return text;
  }

  static std::string braces(const std::string& body) { return "{\n" + indent(body) + "\n}"; }

  std::string binders(const std::vector<IndexBinder>& list) {
    std::string text;
    for (const IndexBinder& binder : list) {
      text += (text.empty() ? "%" : ", %") + name(binder.variable);
      if (binder.extent) text += " < " + operand(binder.extent);
    }
    return text;
  }

  std::string attrs(const std::vector<const Attr*>& list, bool is_first) {
    std::string text;
    for (const Attr* attr : list) {
      if (!is_first) text += ", ";
      is_first = false;
      text += attr->key + "=" + attr_value(attr->value);
    }
    return text;
  }

  std::string attr_value(const AttrValue& value) {
    if (!options_.header) return value.to_string();
    if (const AttrValue::List* list = value.as_list()) {
      std::string text = "[";
      for (const AttrValue& element : *list)
        text += (text.size() > 1 ? ", " : "") + attr_value(element);
      return text + "]";
    }
    const std::string* string = value.as_string();
    const bool has_quote = string && string->find('"') != std::string::npos;  // has no escape
    return value.as_object() || has_quote ? metadata_.value(value) : value.to_string();
  }

  std::string constant(const TensorRef& tensor) {
    return options_.header && !has_strict_literal(*tensor) ? metadata_.constant(tensor)
                                                           : print_constant(*tensor);
  }

  static std::vector<const Attr*> pointers(const AttrsRef& attrs) {
    std::vector<const Attr*> list;
    if (attrs) {
      for (const Attr& attr : attrs->list) list.push_back(&attr);
    }
    return list;
  }

  std::string rest_of_function(const Expr& expr, const Function& function) {
    std::string text;
    for (const TypeVarRef& var : function.type_params)
      text += (text.empty() ? "[" : ", ") + types_.declare(var);
    if (!text.empty()) text += "]";
    text += "(";
    for (const VariableRef& param : function.params) {
      if (text.back() != '(') text += ", ";
      text += "%" + name(param);
      if (param->attrs) text += " {" + attrs(pointers(param->attrs), true) + "}";
      if (param->type) text += ": " + types_.print(param->type);
    }
    text += attrs(pointers(function.attrs), function.params.empty()) + ")";
    if (function.result) text += " -> " + types_.print(function.result);
    return text + " " + braces(block(function.body, plan_->inner_scope(expr)));
  }

  std::string pattern(const PatternRef& pattern, bool with_type) {
    switch (pattern->kind) {
      case PatternKind::Wildcard:
        return "_";
      case PatternKind::Variable: {
        const VariableRef& variable = pattern->variable;
        return "%" + name(variable) +
               (with_type && variable->type ? ": " + types_.print(variable->type) : "");
      }
      case PatternKind::Constructor:
      case PatternKind::Tuple:
        break;
    }
    std::string fields;
    for (const PatternRef& field : pattern->fields) {
      fields += (fields.empty() ? "" : ", ") + this->pattern(field, with_type);
    }
    if (pattern->kind == PatternKind::Tuple)
      return "(" + fields + (pattern->fields.size() == 1 ? ",)" : ")");
    return pattern->constructor->name + (fields.empty() ? "" : "(" + fields + ")");
  }

  std::string match(const Expr& expr, const Match& match) {
    std::string text =
        (match.is_complete ? "match (" : "match? (") + operand(match.scrutinee) + ") {\n";
    for (std::size_t i = 0; i < match.clauses.size(); ++i) {
      const Clause& clause = match.clauses[i];
      const std::string head = pattern(clause.pattern, !clause.body->type);
      text +=
          indent(head + " => " + braces(block(clause.body, plan_->inner_scope(expr, i))) + ",") +
          "\n";
    }
    return text + "}";
  }

  std::string scatter(const Expr& expr, const ScatterReduce& scatter) {
    std::string text =
        "scatter " + std::string(name_of(scatter.op)) + "(" + operand(scatter.init) + ") ";
    if (is_one_point(expr))
      return text + "{ [" + operands(scatter.indices) + "] => " + operand(scatter.value) + " }";
    text += binders(scatter.binders) + " {\n";
    const int scope = plan_->inner_scope(expr);
    const bool was_nesting = std::exchange(is_nesting_, true);
    const int old_scope = std::exchange(nesting_scope_, scope);
    std::string indices;
    for (const Expr& index : scatter.indices)
      indices += (indices.empty() ? "" : ", ") + nested(index);
    is_nesting_ = was_nesting;
    nesting_scope_ = old_scope;
    return text + indent("[" + indices + "] => " + block(scatter.value, scope)) + "\n}";
  }

  std::string call(const Call& call) {
    const std::vector<const Attr*> written = written_attrs(call);
    return operand(call.callee) + "(" + operands(call.args) + attrs(written, call.args.empty()) +
           ")";
  }

  std::string primitive(const Expr& expr, const Primitive& node) {
    std::string text = "prim." + std::string(info(node.prim).text) + "(" + operands(node.args);
    if (node.prim == Prim::Cast) {
      const auto* type = as<TensorType>(expr->type);
      RELAY_CHECK(type, "a cast without a type");
      text += ", dtype=\"" + to_string(type->dtype) + "\"";
    }
    return text + ")";
  }

  // `expr` with its operands as atoms.
  std::string text(const Expr& expr) {
    std::string result = plain_text(expr);
    if (options_.types && expr->type && !is_atomic(expr) && expr->kind != ExprKind::Let) {
      result += " /* ty=" + types_.print(expr->type) + " */";
    }
    return result;
  }

  std::string plain_text(const Expr& expr) {
    switch (expr->kind) {
      case ExprKind::Var:
        return "%" + name(cast<Var>(expr).variable);
      case ExprKind::GlobalVar:
        return "@" + cast<GlobalVar>(expr).name;
      case ExprKind::Constant:
        return constant(cast<Constant>(expr).value);
      case ExprKind::Literal:
        return print_literal(cast<Literal>(expr));
      case ExprKind::Tuple: {
        const auto& tuple = cast<Tuple>(expr);
        return "(" + operands(tuple.fields) + (tuple.fields.size() == 1 ? ",)" : ")");
      }
      case ExprKind::Projection:
        return operand(cast<Projection>(expr).tuple) + "." +
               std::to_string(cast<Projection>(expr).index);
      case ExprKind::Let:
        return "(\n" + indent(block(expr, plan_->inner_scope(expr), true)) + "\n)";
      case ExprKind::If: {
        const auto& node = cast<If>(expr);
        const std::string condition = operand(node.condition);
        const std::string then_branch =
            braces(block(node.then_branch, plan_->inner_scope(expr, 0)));
        return "if (" + condition + ") " + then_branch + " else " +
               braces(block(node.else_branch, plan_->inner_scope(expr, 1)));
      }
      case ExprKind::Function:
        return "fn " + rest_of_function(expr, cast<Function>(expr));
      case ExprKind::Call:
        return call(cast<Call>(expr));
      case ExprKind::Match:
        return match(expr, cast<Match>(expr));
      case ExprKind::RefCreate:
        return "ref(" + operand(cast<RefCreate>(expr).value) + ")";
      case ExprKind::RefRead:
        return "ref_read(" + operand(cast<RefRead>(expr).ref) + ")";
      case ExprKind::RefWrite:
        return "ref_write(" + operand(cast<RefWrite>(expr).ref) + ", " +
               operand(cast<RefWrite>(expr).value) + ")";
      case ExprKind::Operator:
        return cast<Operator>(expr).op->name;
      case ExprKind::ConstructorRef:
        return cast<ConstructorRef>(expr).constructor->name;
      case ExprKind::Comprehension: {
        const auto& node = cast<Comprehension>(expr);
        const std::string head = "for " + binders(node.binders) + " ";
        return head + braces(block(node.body, plan_->inner_scope(expr)));
      }
      case ExprKind::Reduction: {
        const auto& node = cast<Reduction>(expr);
        const std::string head = std::string(name_of(node.op)) + " " + binders(node.binders) + " ";
        return head + braces(block(node.body, plan_->inner_scope(expr)));
      }
      case ExprKind::Index: {
        const auto& node = cast<Index>(expr);
        return operand(node.tensor) + (node.in_bounds ? "![" : "[") + operands(node.indices) + "]";
      }
      case ExprKind::ScatterReduce:
        return scatter(expr, cast<ScatterReduce>(expr));
      case ExprKind::Primitive:
        return primitive(expr, cast<Primitive>(expr));
      case ExprKind::DimTerm:
        return "dim(" + types_.print(cast<DimTerm>(expr).dim) + ")";
      case ExprKind::Differentiate:
        return std::string(name_of(cast<Differentiate>(expr).mode)) + "(" +
               operand(cast<Differentiate>(expr).fn) + ")";
    }
    internal_error(__FILE__, __LINE__, "an expression of an unknown kind");
  }

  const PrintOptions& options_;
  std::unique_ptr<ScopePlan> plan_;
  std::vector<std::vector<std::string>> lines_;  // by scope, of those being printed
  std::unordered_map<const ExprNode*, std::string> graph_names_;
  std::unordered_map<const Variable*, std::string> variable_names_;
  std::unordered_map<const Variable*, int> uses_of_variable_;
  UniqueNames names_;
  TypeNames types_;
  MetadataWriter metadata_;
  int next_number_ = 0;
  bool is_nesting_ = false;
  int nesting_scope_ = -1;
};

}  // namespace

std::string print(const Expr& expr, const PrintOptions& options) {
  StrictPrinter printer(options);
  const std::string text = printer.expression(expr);
  return std::string(options.header ? kVersion : "") + text + printer.metadata();
}

std::string print_definition(const std::string& name, const Expr& function,
                             const PrintOptions& options) {
  StrictPrinter printer(options);
  const std::string text = printer.definition(name, function);
  return std::string(options.header ? kVersion : "") + text + printer.metadata();
}

namespace {

std::string constructor_text(const Constructor& constructor, TypeNames& types, bool with_names) {
  std::string text;
  const bool is_record = with_names && !constructor.field_names.empty();
  for (std::size_t i = 0; i < constructor.fields.size(); ++i) {
    text += i == 0 ? (is_record ? " { " : "(") : ", ";
    if (is_record) text += constructor.field_names[i] + ": ";
    text += types.print(constructor.fields[i]);
  }
  return constructor.name + text + (text.empty() ? "" : is_record ? " }" : ")");
}

std::string type_def_text(const TypeDef& def, bool with_names) {
  TypeNames types;
  std::string text = (def.is_extern ? "extern type " : "type ") + def.name;
  for (std::size_t i = 0; i < def.params.size(); ++i)
    text += (i == 0 ? "[" : ", ") + types.name(def.params[i]);
  if (!def.params.empty()) text += "]";
  if (def.is_extern) return text;
  if (def.constructors.empty()) return text + " { }";
  text += " {\n";
  for (const Constructor& constructor : def.constructors)
    text += "  " + constructor_text(constructor, types, with_names) + ",\n";
  return text + "}";
}

}  // namespace

std::string print_type_def(const TypeDef& def) { return type_def_text(def, false); }
std::string print_light_type_def(const TypeDef& def) { return type_def_text(def, true); }

std::string print_module(const Module& module, const PrintOptions& options) {
  std::vector<const Definition*> functions;
  std::set<const Source*> prelude;
  for (const Definition* definition : module.definitions()) {
    if (definition->origin == Origin::Prelude) {
      prelude.insert(definition->span.source);
    } else if (definition->function) {
      functions.push_back(definition);
    }
  }
  prelude.erase(nullptr);
  std::vector<const TypeDef*> types = module.types();
  std::erase_if(types, [&](const TypeDef* type) { return prelude.contains(type->span.source); });
  const auto by_name = [](const auto* a, const auto* b) { return a->name < b->name; };
  std::sort(types.begin(), types.end(), by_name);
  std::sort(functions.begin(), functions.end(), by_name);

  std::string text(options.header ? kVersion : "");
  const auto add = [&text](const std::string& item) {
    if (!text.empty() && text != kVersion) text += "\n";
    text += item + "\n";
  };
  for (const TypeDef* type : types) add(print_type_def(*type));
  StrictPrinter printer(options);
  for (const Definition* function : functions)
    add(printer.definition(function->name, function->function));
  const std::string metadata = printer.metadata();
  return metadata.empty() ? text : text + metadata.substr(1) + "\n";
}

}  // namespace relay::lang
