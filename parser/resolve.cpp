#include "parser/resolve.h"

#include <algorithm>

#include <fmt/format.h>

#include "lang/boxed.h"
#include "lang/stop.h"
#include "parser/borrowed.h"
#include "parser/comments.h"
#include "parser/resolver.h"
#include "parser/strings.h"

namespace relay::parser {

using lang::Diagnostic;
using lang::DiagnosticKind;

Resolver::Resolver(const SyntaxTree& tree, const lang::Module& scope, std::string prefix,
                   Occurrences* occurrences)
    : tree_(tree),
      scope_(scope),
      strict_(tree.strict),
      prefix_(std::move(prefix)),
      occurrences_(occurrences),
      symbols_(scope) {}

Resolver::~Resolver() { lang::free_elements(signatures_); }

namespace {

// The Def, TypeDef, ... of an Item.
const Node& content(const Node& item) {
  return *item.child(item.child(0)->kind == Syntax::Doc ? 1 : 0);
}

}  // namespace

void Resolver::check_version(const Node& file) {
  const Node* version = file.find(Syntax::Version);
  if (version) {
    const std::string_view text = tree_.text(*version->child(0));
    if (text == "\"0.0.5\"") return;
    Diagnostic diagnostic(DiagnosticKind::BadVersionHeader,
                          fmt::format("version {} of the text format is not known", text),
                          span(*version->child(0)));
    diagnostic.note("help: the only version is `#[version = \"0.0.5\"]`");
    report(std::move(diagnostic));
    return;
  }
  const Node* item = file.find(Syntax::Item);
  if (!item) return;
  Diagnostic diagnostic(DiagnosticKind::BadVersionHeader, "a strict module begins with its version",
                        span(content(*item)));
  diagnostic.note("help: put `#[version = \"0.0.5\"]` before the first item");
  report(std::move(diagnostic));
}

void Resolver::declare_global(const Node& name, bool is_let) {
  Symbol& symbol = symbols_.intern(name_text(name));
  if (symbol.own_global && !(is_let && symbol.own_is_let)) {
    report(Diagnostic(DiagnosticKind::DuplicateDefinition,
                      fmt::format("`{}` is defined twice", symbol.text), span(name))
               .label(*symbol.own_global, "first defined here"));
    return;
  }
  symbol.own_global = &spans_.emplace_back(span(name));
  symbol.own_is_let = is_let;
  note(NameKind::Global, span(name), prefix_ + std::string(symbol.text), span(name), true);
}

// Enters the type's name and its constructors' names; their fields come when all types are known.
void Resolver::declare_type(const Node& node, bool is_extern) {
  const Node& name = *node.child(0);
  Symbol& symbol = symbols_.intern(name_text(name));
  if (symbol.own_type) {
    report(Diagnostic(DiagnosticKind::DuplicateDefinition,
                      fmt::format("type `{}` is defined twice", symbol.text), span(name))
               .label(symbol.own_type->span, "first defined here"));
    return;
  }
  lang::TypeDefRef def(new lang::TypeDef());
  def->name = std::string(symbol.text);
  def->is_extern = is_extern;
  def->span = span(name);
  note_definition(NameKind::Type, name);
  symbol.own_type = def.get();
  own_types_.push_back(def.get());
  for (const Node* child : node.children()) {
    if (child->kind != Syntax::Constructor) continue;
    const Node& constructor_name = *child->child(0);
    Symbol& constructor_symbol = symbols_.intern(name_text(constructor_name));
    if (is_extern) {
      report(Kind::SyntaxError,
             fmt::format("an extern type has no constructors, but `{}` has one", symbol.text),
             span(constructor_name));
    }
    if (constructor_symbol.own_constructor) {
      report(Diagnostic(DiagnosticKind::DuplicateDefinition,
                        fmt::format("constructor `{}` is defined twice", constructor_symbol.text),
                        span(constructor_name))
                 .label(constructor_symbol.own_constructor->span, "first defined here"));
      continue;
    }
    lang::Constructor& constructor = def->constructors.emplace_back();
    constructor.name = std::string(constructor_symbol.text);
    constructor.tag = static_cast<std::uint32_t>(def->constructors.size() - 1);
    constructor.owner = def.get();
    constructor.span = span(constructor_name);
    note_definition(NameKind::Constructor, constructor_name);
    constructor_symbol.own_constructor = &constructor;
  }
  // They stand for types until find_dimension_params says otherwise.
  if (const Node* params = node.find(Syntax::TypeParams)) {
    for (const Node* param : params->children()) {
      def->params.push_back(
          lang::TypeVar::rigid(lang::VarKind::Type, std::string(tree_.text(*param))));
    }
  }
  type_defs_.emplace(&node, std::move(def));
}

namespace {

// Does a dim, or a shape, mention the name?
bool mentions(const SyntaxTree& tree, const Node& node, std::string_view name) {
  if (node.kind == Syntax::Name) return tree.text(node) == name;
  return std::any_of(node.children().begin(), node.children().end(),
                     [&](const Node* child) { return mentions(tree, *child, name); });
}

}  // namespace

bool Resolver::is_dimension_in(const Node& node, std::string_view param) {
  switch (node.kind) {
    case Syntax::TensorType:
      return node.child(0)->kind == Syntax::DimList && mentions(tree_, *node.child(0), param);
    case Syntax::Infix:
    case Syntax::Prefix:
      return mentions(tree_, node, param);
    case Syntax::NamedType: {
      const lang::TypeDef* def = symbols_.intern(tree_.text(*node.child(0))).type();
      for (std::size_t i = 1; i < node.count; ++i) {
        const Node& arg = *node.child(i);
        const bool is_dim =
            def && i - 1 < def->params.size() && def->params[i - 1]->kind == lang::VarKind::Dim;
        if (is_dim ? mentions(tree_, arg, param) : is_dimension_in(arg, param)) return true;
      }
      return false;
    }
    default:
      return std::any_of(node.children().begin(), node.children().end(),
                         [&](const Node* child) { return is_dimension_in(*child, param); });
  }
}

// Is a value of the type that is called `param` held there, or handed to a type of another text?
bool Resolver::is_type_in(const Node& node, std::string_view param) {
  if (node.kind == Syntax::NamedType && node.count == 1) return tree_.text(*node.child(0)) == param;
  const bool is_own =
      node.kind == Syntax::NamedType && symbols_.intern(tree_.text(*node.child(0))).own_type;
  return std::any_of(node.children().begin(), node.children().end(), [&](const Node* child) {
    const bool is_plain = child->kind == Syntax::NamedType && child->count == 1;
    return !(is_own && is_plain) && is_type_in(*child, param);
  });
}

// Does a signature, all of which is `whole`, give a dimension for that parameter of a type?
bool Resolver::gives_dimension(const Node& node, const Node& whole, const lang::TypeDef& def,
                               std::size_t param) {
  if (node.kind == Syntax::NamedType && param + 1 < node.count &&
      symbols_.intern(tree_.text(*node.child(0))).own_type == &def) {
    const Node& arg = *node.child(param + 1);
    const bool is_plain = arg.kind == Syntax::NamedType && arg.count == 1;
    if (is_plain && is_dimension_in(whole, tree_.text(*arg.child(0)))) return true;
  }
  return std::any_of(node.children().begin(), node.children().end(),
                     [&](const Node* child) { return gives_dimension(*child, whole, def, param); });
}

bool Resolver::gives_dimension(const lang::TypeDef& def, std::size_t param) {
  return std::any_of(
      tree_.root->children().begin(), tree_.root->children().end(), [&](const Node* item) {
        const Node* definition = item->kind == Syntax::Item ? item->find(Syntax::Def) : nullptr;
        const Node* function = definition ? definition->find(Syntax::Function) : nullptr;
        const Node* params = function ? function->find(Syntax::Params) : nullptr;
        const Node* result = function ? function->find(Syntax::Annotation) : nullptr;
        return (params && gives_dimension(*params, *params, def, param)) ||
               (params && result && gives_dimension(*result, *params, def, param));
      });
}

// A parameter of a data type is a dimension if it is used as one, be it through the parameter of
// another type of the text; and one of which nothing is held if some function's signature says so,
// as that of a derivative does whose residual has no tensor.
void Resolver::find_dimension_params() {
  const auto is_dimension = [&](const Node& node, const lang::TypeDef& def, std::size_t param) {
    const std::string_view name = def.params[param]->name;
    const auto any_constructor = [&](const auto& holds) {
      return std::any_of(node.children().begin(), node.children().end(), [&](const Node* child) {
        return child->kind == Syntax::Constructor && holds(*child);
      });
    };
    return any_constructor([&](const Node& each) { return is_dimension_in(each, name); }) ||
           (!any_constructor([&](const Node& each) { return is_type_in(each, name); }) &&
            gives_dimension(def, param));
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& [node, def] : type_defs_) {
      for (std::size_t i = 0; i < def->params.size(); ++i) {
        lang::TypeVarRef& param = def->params[i];
        if (param->kind == lang::VarKind::Dim || !is_dimension(*node, *def, i)) continue;
        param = lang::TypeVar::rigid(lang::VarKind::Dim, param->name);
        changed = true;
      }
    }
  }
}

void Resolver::fill_type(const Node& node) {
  const auto found = type_defs_.find(&node);
  if (found == type_defs_.end()) return;
  lang::TypeDef& def = *found->second;
  item_is_broken_ = false;
  undeclared_.clear();
  told_undeclared_.reset();
  const std::size_t mark = type_params_.size();
  declare_type_params(node);
  for (std::size_t i = 0; i < def.params.size() && mark + i < type_params_.size(); ++i) {
    type_params_[mark + i].var = def.params[i];
    type_params_[mark + i].kind = def.params[i]->kind;
    type_params_[mark + i].used = type_params_[mark + i].span;
  }
  inside_type_def_ = true;
  declares_ = &node;
  std::size_t next = 0;
  for (const Node* child : node.children()) {
    if (child->kind != Syntax::Constructor) continue;
    const Node& name = *child->child(0);
    if (next >= def.constructors.size() || def.constructors[next].name != tree_.text(name))
      continue;
    lang::Constructor& constructor = def.constructors[next++];
    for (const Node* field : child->children().subspan(1)) {
      if (field->kind == Syntax::RecordFields) {
        record_fields(*field, constructor);
      } else {
        constructor.fields.push_back(type(*field));
      }
    }
  }
  inside_type_def_ = false;
  declares_ = nullptr;
  close_type_params(mark);
  if (!item_is_broken_) return;
  symbols_.intern(def.name).broken = true;
  for (const lang::Constructor& constructor : def.constructors)
    symbols_.intern(constructor.name).broken = true;
}

void Resolver::declare_broken(const Node& item) {
  for (const Node* name : item.children()) symbols_.intern(tree_.text(*name)).broken = true;
}

void Resolver::declare(const Node& item) {
  const Node& node = content(item);
  switch (node.kind) {
    case Syntax::Broken:
      declare_broken(node);
      break;
    case Syntax::Def:
      declare_global(*node.child(0), false);
      own_defs_.emplace(name_text(*node.child(0)), &node);
      if (node.count > 2) declare_gradient(node);
      break;
    case Syntax::TypeDef:
      declare_type(node, false);
      break;
    case Syntax::ExternType:
      declare_type(node, true);
      break;
    case Syntax::Schedule:
      declare_schedule(node);
      break;
    default:
      break;
  }
}

// The name of the function that a custom gradient becomes.
std::string_view Resolver::gradient_name(const Node& def) {
  return texts_.emplace_back(std::string(name_text(*def.child(0))) + ".gradient");
}

void Resolver::declare_gradient(const Node& def) {
  Symbol& symbol = symbols_.intern(gradient_name(def));
  if (symbol.own_global) {
    report(Diagnostic(DiagnosticKind::DuplicateDefinition,
                      fmt::format("`{}` is defined twice", symbol.text), span(*def.child(2)))
               .label(*symbol.own_global, "first defined here"));
    return;
  }
  symbol.own_global = &spans_.emplace_back(span(*def.child(2)));
}

// fn (x..., dx...) { dy } as fn (x..., dy) { the adjoints of the x }: its transpose as a linear
// function of the dx, which is that of its derivative at any of them.
lang::Expr transposed(const lang::Function& tangent) {
  const std::size_t count = tangent.params.size() / 2;
  const auto directions = tangent.params.begin() + static_cast<std::ptrdiff_t>(count);
  std::vector<lang::VariableRef> params(tangent.params.begin(), directions);
  std::vector<lang::Expr> point;
  for (const lang::VariableRef& param : params)
    point.push_back(lang::make_var(param, tangent.span));
  const lang::Expr along = lang::make_function({directions, tangent.params.end()}, tangent.result,
                                               tangent.body, {}, nullptr, tangent.span);
  const lang::Expr both =
      lang::make_call(lang::make_differentiate(lang::DiffMode::Vjp, along, tangent.span), point,
                      nullptr, tangent.span);
  const lang::VariableRef adjoint = lang::make_variable("dy", nullptr, tangent.span);
  params.push_back(adjoint);
  const lang::Expr body =
      lang::make_call(lang::make_projection(both, 1, tangent.span),
                      {lang::make_var(adjoint, tangent.span)}, nullptr, tangent.span);
  return lang::make_function(std::move(params), nullptr, body, tangent.type_params, nullptr,
                             tangent.span);
}

lang::Expr Resolver::own_gradient(const Node& def, const Signature& signature,
                                  const lang::Expr& function) {
  const Node& clause = *def.child(2);
  if (clause.kind != Syntax::Tangent) return this->function(clause, &signature, true);
  lang::Expr tangent = this->function(*clause.child(0), &signature, true);
  const auto& own = lang::cast<lang::Function>(tangent);
  const std::size_t count = lang::cast<lang::Function>(function).params.size();
  if (signature.parameters->has_attributes()) {
    report(Kind::Unsupported,
           "not supported: the tangent of a function with attributes; give it a gradient",
           span(clause));
    return tangent;
  }
  if (own.params.size() != 2 * count) {
    report(Kind::WrongArity,
           fmt::format("the tangent of `{}` takes its parameters, {} of them, and then as many "
                       "directions, found {}",
                       name_text(*def.child(0)), count, own.params.size()),
           span(clause));
    return tangent;
  }
  return transposed(own);
}

// A function and, where it has one, its gradient. One with attributes is defined at their default
// values.
void Resolver::define(const Node& def, Item& item, Parsed& parsed) {
  const Signature& own = signatures_.at(name_text(*def.child(0)));
  lang::Parameters& parameters = *own.parameters;
  item_is_broken_ |= own.is_broken;
  item.kind = ItemKind::Def;
  item.expr = function(*def.child(1), &own);
  Item gradient{};
  if (def.count > 2) {
    gradient.kind = ItemKind::Def;
    gradient.name = prefix_ + std::string(gradient_name(def));
    gradient.expr = own_gradient(def, own, item.expr);
    gradient.span = span(*def.child(2));
    gradient.doc = fmt::format("the gradient of `{}`", name_text(*def.child(0)));
  }
  if (item_is_broken_) return;
  if (has_bad_schedule(item.expr, *def.child(0))) return;
  if (parameters.has_attributes()) {
    parameters.general = item.expr;
    parameters.general_gradient = gradient.expr;
    item.instance_attrs = default_attributes(own);
    item.expr = instantiate(item.expr, item.instance_attrs);
    if (gradient.expr) gradient.expr = instantiate(gradient.expr, item.instance_attrs);
    if (item_is_broken_) return;
    renew_instances(own);
  }
  const bool has_defaults =
      std::any_of(parameters.list.begin(), parameters.list.end(),
                  [](const lang::Parameter& each) { return each.default_value || each.attribute; });
  if (has_defaults) item.parameters = own.parameters;
  if (gradient.expr) item.expr = lang::with_gradient(item.expr, gradient.name);
  parsed.items.push_back(std::move(item));
  if (gradient.expr) parsed.items.push_back(std::move(gradient));
}

void Resolver::warn_of_division(const Node& value) {
  if (strict_) return;
  if (std::optional<Diagnostic> warning = commented_division(span(value)))
    warnings_.push_back(std::move(*warning));
}

// Leaves items with errors out.
void Resolver::item(const Node& node, Parsed& parsed) {
  const Node& what = content(node);
  if (what.kind == Syntax::Broken) return;
  Item item{};
  item_is_broken_ = false;
  undeclared_.clear();
  declares_ = nullptr;
  def_ = what.kind == Syntax::Def ? &what : nullptr;
  told_undeclared_.reset();
  item.span = span(what);
  item.hide_value = node.last()->kind == Syntax::Mark;
  if (node.child(0)->kind == Syntax::Doc) item.doc = doc_text(tree_.text(*node.child(0)));
  const FunctionScope scope(*this);
  switch (what.kind) {
    case Syntax::Def:
      item.name = prefix_ + std::string(name_text(*what.child(0)));
      define(what, item, parsed);
      return;
    case Syntax::TypeDef:
    case Syntax::ExternType: {
      const auto found = type_defs_.find(&what);
      if (found == type_defs_.end() || symbols_.intern(found->second->name).broken) return;
      item.kind = ItemKind::Type;
      item.name = found->second->name;
      item.type_def = found->second;
      item.type_def->doc = item.doc;
      break;
    }
    case Syntax::TopLet:
      top_let(what, item);
      break;
    case Syntax::Schedule:
      if (what.find(Syntax::ScheduleParams)) named_schedule(what, item, parsed);
      return;
    case Syntax::Import: {
      item.kind = ItemKind::Import;
      item.name = read_string(tree_.text(*what.child(0)), strict_);
      note_imported(what);
      break;
    }
    case Syntax::Rule: {
      Diagnostic diagnostic(DiagnosticKind::Unsupported,
                            "not supported: rules and patterns among definitions", item.span);
      diagnostic.note("help: they have a file of their own, which `relay opt --rewrite` reads");
      report(std::move(diagnostic));
      return;
    }
    default:
      item.kind = ItemKind::Expression;
      item.expr = expr(*what.child(0));
      if (what.child(0)->kind == Syntax::Number) warn_of_division(*what.child(0));
      break;
  }
  if (!item_is_broken_) parsed.items.push_back(std::move(item));
}

void Resolver::only_expression(const Node& node, Parsed& parsed) {
  const FunctionScope scope(*this);
  is_expression_ = true;
  item_is_broken_ = false;
  Item item{};
  item.kind = ItemKind::Expression;
  item.span = span(node);
  item.expr = expr(*node.child(0));
  if (!item_is_broken_) parsed.items.push_back(std::move(item));
}

// What `body` throws costs the item at hand only.
void Resolver::attempt(const std::function<void()>& body) {
  lang::poll();
  try {
    body();
  } catch (lang::Failure& failure) {
    if (lang::is_stop(failure.diagnostics.front().kind)) throw;
    for (Diagnostic& diagnostic : failure.diagnostics) report(std::move(diagnostic));
    inside_type_def_ = false;
    close_type_params(0);
  }
}

void Resolver::read_metadata(const Node& file) {
  const Node* section = file.find(Syntax::Metadata);
  if (!section) return;
  try {
    metadata_.emplace(span(*section));
  } catch (lang::Failure& failure) {
    metadata_failed_ = true;
    report(std::move(failure.diagnostics.front()));
  }
}

Parsed Resolver::file() {
  const Node& root = *tree_.root;
  Parsed parsed;
  parsed.strict = strict_;
  parsed.items.reserve(root.count);
  if (strict_) check_version(root);
  read_metadata(root);
  for (const Node* node : root.children()) {
    lang::poll();
    if (node->kind == Syntax::Item) declare(*node);
  }
  find_dimension_params();
  for (const Node* node : root.children()) {
    if (node->kind != Syntax::Item) continue;
    attempt([&] {
      fill_type(content(*node));
      if (content(*node).kind == Syntax::TopLet) declare_top_let(*content(*node).child(0));
      if (content(*node).kind == Syntax::Def) declare_signature(content(*node));
    });
  }
  for (const Node* node : root.children()) {
    if (node->kind == Syntax::Item) {
      attempt([&] { item(*node, parsed); });
    } else if (node->kind == Syntax::TopExpr) {  // a strict text that is one expression
      attempt([&] { only_expression(*node, parsed); });
    }
  }
  for (const Node* node : root.children()) {
    if (node->kind != Syntax::Item || content(*node).kind != Syntax::Schedule) continue;
    attempt([&] { schedule(content(*node), parsed); });
  }
  make_instances(parsed);
  parsed.warnings = std::move(warnings_);
  return parsed;
}

std::vector<lang::TypeDefRef> Resolver::types() const {
  std::vector<lang::TypeDefRef> types;
  types.reserve(type_defs_.size());
  for (const auto& [node, def] : type_defs_) types.push_back(def);
  return types;
}

Reading resolve(const SyntaxTree& tree, const lang::Module& scope, const std::string& prefix,
                Occurrences* occurrences) {
  const auto boxed = lang::make_boxed<Resolver>(tree, scope, prefix, occurrences);
  Resolver& resolver = boxed->value;
  Reading reading;
  reading.parsed = resolver.file();
  reading.types = resolver.types();
  reading.errors = tree.errors;
  for (Diagnostic& error : resolver.errors()) reading.errors.push_back(std::move(error));
  std::stable_sort(
      reading.errors.begin(), reading.errors.end(),
      [](const Diagnostic& a, const Diagnostic& b) { return a.span.begin < b.span.begin; });
  return reading;
}

std::string name_in_prelude(std::string_view name) { return "prelude." + std::string(name); }

lang::Result<lang::Type> resolve_type(const SyntaxTree& tree, const lang::Module& scope) {
  Resolver resolver(tree, scope);
  lang::Type type = resolver.one_type();
  if (!resolver.errors().empty()) return std::move(resolver.errors());
  return type;
}

}  // namespace relay::parser
