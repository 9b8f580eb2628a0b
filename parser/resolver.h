#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "lang/diagnostic.h"
#include "lang/expr.h"
#include "lang/module.h"
#include "lang/op.h"
#include "lang/rewrite_rule.h"
#include "lang/schedule.h"
#include "parser/metadata.h"
#include "parser/numbers.h"
#include "parser/occurrences.h"
#include "parser/parse.h"
#include "parser/symbols.h"
#include "parser/syntax.h"

namespace relay::parser {

class PatternLiterals;  // match_tree.h

// The work behind resolve(): one object per text. Its member functions are spread over
// resolve*.cpp by subject.
class Resolver {
 public:
  // `occurrences`: is told of every name, where it is not null.
  Resolver(const SyntaxTree& tree, const lang::Module& scope, std::string prefix = "",
           Occurrences* occurrences = nullptr);
  ~Resolver();
  Resolver(const Resolver&) = delete;

  Parsed file();                           // resolve.cpp
  lang::Type one_type();                   // resolve_type.cpp; declares the names it does not know
  std::vector<lang::RewriteRule> rules();  // resolve_rule.cpp
  lang::Attr attribute(const Node& node);
  std::vector<lang::Diagnostic>& errors() { return errors_; }
  // All that the text declares, whatever became of it.
  std::vector<lang::TypeDefRef> types() const;

 private:
  // What callers see of a global function.
  struct Signature {
    std::shared_ptr<lang::Parameters> parameters;
    std::string full_name;
    bool is_broken = false;

    const lang::Parameter* find(std::string_view name) const {
      for (const lang::Parameter& each : parameters->list) {
        if (each.name == name) return &each;
      }
      return nullptr;
    }
    bool is_attribute(std::string_view name) const {
      const lang::Parameter* found = find(name);
      return found && found->attribute;
    }
  };
  using Expr = lang::Expr;
  using Type = lang::Type;
  using Span = lang::Span;
  using Kind = lang::DiagnosticKind;
  using VariableRef = lang::VariableRef;

  // --- Items (resolve.cpp) ---
  void declare(const Node& item);
  void declare_global(const Node& name, bool is_let);
  void declare_type(const Node& node, bool is_extern);
  void find_dimension_params();
  bool is_dimension_in(const Node& node, std::string_view param);
  bool is_type_in(const Node& node, std::string_view param);
  bool gives_dimension(const Node& node, const Node& whole, const lang::TypeDef& def,
                       std::size_t param);
  bool gives_dimension(const lang::TypeDef& def, std::size_t param);
  void fill_type(const Node& node);
  void item(const Node& node, Parsed& parsed);
  void define(const Node& def, Item& item, Parsed& parsed);
  std::string_view gradient_name(const Node& def);
  void declare_gradient(const Node& def);
  // The gradient that `with gradient` or `with tangent` gives the function.
  Expr own_gradient(const Node& def, const Signature& signature, const Expr& function);
  void check_version(const Node& file);

  // --- Schedules (resolve_schedule.cpp) ---
  void declare_schedule(const Node& node);
  void schedule(const Node& node, Parsed& parsed);
  void named_schedule(const Node& node, Item& item, Parsed& parsed);
  std::optional<lang::NamedSchedule> schedule_called(std::string_view word);
  lang::ScheduleSteps written_steps(const Node& node);
  lang::ScheduleSteps basic_steps(const lang::ScheduleSteps& steps, int depth, std::size_t& made);
  bool is_refused(const lang::ScheduleSteps& steps, const Expr& function, const Node& name);
  bool has_bad_schedule(const Expr& function, const Node& name);
  std::unordered_map<std::string_view, const Node*> named_schedules_;  // of this text
  std::unordered_set<std::string> scheduled_;                          // functions

  void declare_broken(const Node& item);
  void only_expression(const Node& node, Parsed& parsed);
  void attempt(const std::function<void()>& body);

  // --- Scopes and names (resolve_name.cpp) ---
  class Scope;          // restores locals at its end
  class FunctionScope;  // also graph bindings
  void bind_local(std::string_view name, lang::VariableRef variable);
  Expr name(const Node& node);
  Expr local(const Node& node);
  Expr global(const Node& node);
  Expr global_fields(const Node& node);
  Expr global_var(const Symbol& symbol, Span span);  // own or outer, which it must be
  Expr graph(const Node& node);
  Expr dotted(const Node& node);
  bool means_more(const Symbol& symbol) const;
  bool is_ahead(const Symbol& symbol) const;
  bool is_own(const Symbol& symbol) const;         // a global of this text or an earlier one
  Expr meaning(Symbol& symbol, const Node& node);  // of a bare name; null if it has none
  std::string_view dotted_text(const Node& node);
  std::string_view name_text(const Node& node) const;  // without its sigil
  Expr unknown_name(Symbol& symbol, const Node& node);
  void suggest(lang::Diagnostic& diagnostic, std::string_view name,
               const std::vector<std::string>& candidates);
  std::vector<std::string> visible_names() const;

  // --- Where names stand (resolve_occurrence.cpp) ---
  void note(NameKind kind, Span where, std::string_view name, Span definition,
            bool is_definition = false);
  void note_definition(NameKind kind, const Node& name);
  void note_global(const Symbol& symbol, Span where);
  void note_constructor(const lang::Constructor& constructor, Span where);
  void note_field(const Node& name, bool is_definition = false);
  void note_imported(const Node& import);
  Span span_of_parameter(std::string_view function, std::string_view name) const;

  // --- Expressions (resolve_expr.cpp) ---
  Expr expr(const Node& node);
  Expr sequence(const Node& node);
  Expr number(const Node& node, bool negative, Span span);
  Expr tuple(const Node& node);
  Expr projection(const Node& node);
  Expr infix(const Node& node);
  void report_chain(const Node& node, std::size_t second, const std::vector<lang::Expr>& values,
                    std::string_view first);
  Expr prefix(const Node& node);
  Expr if_expr(const Node& node);
  Expr nothing(const Node& node);  // stands where an error was
  Expr broken(const Node& node);   // the same, for what is no error of its own
  // `signature`: of the `def` whose body it is; or whose gradient, then the attributes are not
  // among its parameters.
  Expr function(const Node& node, const Signature* signature = nullptr, bool is_gradient = false);
  VariableRef parameter(const Node& node, const Signature* signature);

  // --- Rewrite rules (resolve_rule.cpp) ---
  std::optional<lang::RewriteRule> rule(const Node& node);
  VariableRef rule_parameter(const Node& node, const Node& rule);
  void check_restriction(const Node& name);
  Expr rule_pattern(const Node& node);
  Expr pattern_form(const Node& node);  // `either` and its kin; null where `node` is none of them
  bool is_in_rule_ = false;             // dimensions and dtypes may stand for values of attributes
  bool is_in_pattern_ = false;          // calls are patterns: nothing is added to what is written
  std::unordered_set<const lang::Variable*> named_steps_;  // of the pattern at hand

  // --- Match and patterns (resolve_match.cpp) ---
  Expr match(const Node& node);
  using BoundNames = std::vector<std::pair<std::string_view, lang::VariableRef>>;
  lang::PatternRef pattern(const Node& node, BoundNames& bound);
  lang::PatternRef literal_pattern(const Node& node);
  PatternLiterals* literals_ = nullptr;            // of the match at hand; null in a `let`
  bool is_parenthesised(const Node& tuple) const;  // a pattern `(p)`, where a tuple is `(p,)`
  lang::PatternRef variable_pattern(const Node& name, Type annotation, Span span,
                                    BoundNames& bound);
  lang::PatternRef constructor_pattern(const Node& node, const Node& name, std::size_t first_field,
                                       BoundNames& bound);

  // --- Patterns of `let` (resolve_let.cpp) ---
  struct Step {
    lang::VariableRef variable;
    Expr value;
    Span span;
  };
  void let_statement(const Node& node, std::vector<Step>& steps);
  void take_apart(const lang::PatternRef& pattern, Expr value, std::vector<Step>& steps);
  // Refuses patterns that some value does not fit.
  lang::PatternRef let_pattern(const Node& node, BoundNames& bound);
  // The type that a value must have to fit the pattern; `annotation` may be null.
  Type type_of_pattern(const lang::PatternRef& pattern, Type annotation);
  void declare_top_let(const Node& target);
  void top_let(const Node& node, Item& item);
  std::unordered_set<std::string_view> let_before_;  // names that a top-level let has bound so far

  // --- Records (resolve_record.cpp) ---
  void record_fields(const Node& node, lang::Constructor& constructor);
  Expr field(const Node& name, Expr record, Span span);
  Expr with(const Node& node);
  std::vector<Expr> records_with(const std::vector<std::string>& fields, Span span);
  Expr record_call(const Expr& callee, std::vector<Expr> before, std::span<const Node* const> nodes,
                   Span span);
  Expr printed_form(const lang::OpDef& form, std::span<const Node* const> nodes, Span span);
  std::optional<std::size_t> place_of_field(const lang::Constructor& constructor, const Node& name);
  lang::PatternRef record_pattern(const Node& node, const lang::Constructor& constructor,
                                  BoundNames& bound);

  // --- Calls and attributes (resolve_call.cpp) ---
  Expr call(const Node& node);
  Expr pipe(const Node& node);
  // Arguments and attributes of children [first, end) after `before`.
  Expr apply(const Node& callee, std::vector<Expr> before, std::span<const Node* const> args,
             Span span);
  std::optional<std::size_t> param_count(const Node& node);
  void help_with_arguments(lang::Diagnostic& diagnostic, std::string_view form,
                           const std::vector<Expr>& before, std::span<const Node* const> nodes);
  std::optional<Expr> special_form(const Node& callee, const std::vector<Expr>& before,
                                   std::span<const Node* const> args, Span span);
  Expr primitive(std::string_view name, std::span<const Node* const> args, Span span);
  bool check_operands(std::string_view name, lang::Prim prim, const std::vector<Expr>& args,
                      Span where);
  Expr operator_call(std::string_view name, std::vector<Expr> args, std::vector<lang::Attr> attrs,
                     Span span);

  // --- Arguments of operators in the light notation (resolve_operator.cpp) ---
  // For each node of a call, the attribute that it gives although it has no name; null for others.
  // `before`: arguments that stand before them.
  std::vector<const lang::AttrSpec*> attributes_by_place(const lang::OpDef& op, std::size_t before,
                                                         std::span<const Node* const> nodes);
  struct ByPlace;
  ByPlace places_after(const lang::OpDef& op, std::size_t before, std::size_t inputs,
                       std::span<const Node* const> nodes);
  bool lacks_attribute(const lang::OpDef& op, std::span<const Node* const> nodes,
                       const ByPlace& places);
  bool fits_attribute(const lang::OpDef& op, const lang::AttrSpec& spec, const Node& value);
  // The argument for that input.
  Expr argument(const lang::OpDef& op, std::size_t input, const Node& node);
  void add_defaults(const lang::OpDef& op, std::vector<Expr>& args, Span where);
  // `as_float` around the arguments of inputs that take integers as floats.
  void add_float_forms(const lang::OpDef& op, std::vector<Expr>& args);
  // `f`, which stands as a value: an operator with such inputs becomes a function that has them.
  Expr with_float_forms(Expr f);
  bool repeats_input(const lang::OpDef& op, const Node& attribute) const;
  std::optional<lang::AttrValue> attribute_value(const Node& node);

  // --- Attributes that are computed (resolve_computed.cpp) ---
  struct Computed {
    std::string key;
    Expr value;
  };
  // Is the value of this attribute no constant, and may it be an input of another operator?
  bool is_computed(const lang::OpDef& op, std::string_view key, const Node& value);
  bool is_computed(const Node& value);
  // Required attributes that are left out and have a default in the light notation. Are all there?
  bool add_attr_defaults(const lang::OpDef& op, const std::vector<Computed>& computed,
                         std::vector<lang::Attr>& attrs);
  Expr computed_call(const lang::OpDef& op, std::vector<Expr> args, std::vector<lang::Attr> attrs,
                     std::vector<Computed> computed, Span where);

  // --- Parameters with default values (resolve_default.cpp) ---
  bool is_function_attribute(const Node& list, const Node& attr) const;
  void declare_signature(const Node& def);
  // Of a function of this text or another; null if `symbol` is none.
  const Signature* signature(const Symbol& symbol);
  Expr default_value(const Node& node);
  bool is_attribute_default(const Node& value, const std::string& name, const Node& def);
  // A call of a global function with arguments by name, or with some left out; nothing if it is
  // neither.
  std::optional<Expr> named_call(const Node& callee_node, const Expr& callee,
                                 const std::vector<Expr>& before,
                                 std::span<const Node* const> nodes, Span where);
  // The arguments of a call: values, and attributes.
  struct Slots {
    std::vector<Expr> args;
    std::vector<std::optional<lang::AttrValue>> attributes;
    std::vector<Span> given;  // where; empty: not yet

    explicit Slots(std::size_t count) : args(count), attributes(count), given(count) {}
  };
  Expr filled_call(std::string_view name, const Signature& known, const Expr& callee, Slots& slots,
                   std::vector<Expr> surplus, Span where);
  void report_behind(const Node& argument, const Node& by_name);
  bool place_by_name(const Node& attr, std::string_view function, const Signature& signature,
                     std::span<const Node* const> nodes, Slots& slots);

  // --- Derivatives of functions that have such parameters (resolve_derivative.cpp) ---
  // A call of such a derivative; nothing if `callee` is none. `args`, then those of `nodes`.
  std::optional<Expr> derivative_call(const Expr& callee, std::vector<Expr> args,
                                      std::span<const Node* const> nodes, Span where);
  struct Derivative;
  std::optional<Derivative> derivative_with_defaults(const Expr& callee);
  Expr at_defaults(const Derivative& derivative, std::size_t points, std::vector<Expr> args,
                   std::span<const Node* const> by_name, Span where);

  // --- Parameters that are attributes (resolve_attribute.cpp) ---
  // `before`: how many arguments a call gets from the pipe that it stands in.
  bool is_used_as_attribute(const Node& node, std::string_view name, std::size_t before = 0);
  bool takes_attribute(const Node& callee, std::string_view key);
  bool takes_attribute(const Node& callee, std::size_t place);
  const lang::OpDef* operator_called(const Node& callee);
  std::optional<lang::AttrValue> attribute_parameter(const Node& name);
  void bind_attributes(const Signature& signature, Span where);
  // The call of the instance with these values, of which all may be known or some not yet.
  Expr instance_call(const Signature& signature, std::vector<Expr> args, lang::AttrsRef values,
                     Span callee, Span where);
  Expr instantiate(const Expr& general, const lang::AttrsRef& values);
  std::string instance_name(const Signature& signature, const lang::AttrsRef& values);
  lang::AttrsRef default_attributes(const Signature& signature) const;
  void renew_instances(const Signature& signature);
  void make_instances(Parsed& parsed);
  const Signature* signature_of_global(const std::string& full_name);

  // --- References to the metadata section (resolve_meta.cpp) ---
  void read_metadata(const Node& file);  // resolve.cpp
  bool has_meta(const Node& node);
  std::optional<lang::AttrValue> meta_value(const Node& node);
  Expr meta_expr(const Node& node);
  bool is_meta_attrs(const Node& node) const;  // an attribute struct, as argument of a call
  lang::Dim meta_dim(const Node& node);
  Type meta_type(const Node& node);
  class MetaObjects;  // what objects there stand for (meta_objects.h)

  // --- Index notation, indexing, tensor literals (resolve_index.cpp) ---
  std::vector<lang::IndexBinder> binders(const Node& node);  // binds them in the current scope
  Expr comprehension(const Node& node);
  Expr reduction(const Node& node);
  Expr scatter(const Node& node);
  Expr with_elements(const Node& node);
  Expr index(const Node& node, bool in_bounds);
  Expr index_into(const Node& node, Expr tensor, std::vector<Expr> indices, bool in_bounds);
  Expr list(const Node& node);
  std::optional<NumberValue> literal_element(const Node& leaf);
  std::optional<std::uint64_t> element_bits(const NumberValue& value, lang::DType dtype,
                                            const Node& leaf);
  Expr stack_list(const Node& node);

  // --- Slices (resolve_slice.cpp) ---
  // `x[parts]`, of axes from the first on.
  Expr indexed(const Node& node, std::span<const Node* const> parts, Expr tensor);
  Expr around_ellipsis(const Node& node, std::span<const Node* const> parts, Expr tensor);
  // `first`: the axis of the first part, counted from the end if it is negative.
  Expr literal_slices(const Node& node, std::span<const Node* const> parts, std::int64_t first,
                      Expr tensor);
  Expr between_slices(const Node& node, std::span<const Node* const> parts, Expr tensor);
  std::optional<std::int64_t> literal_integer(const Node& node);
  bool is_literal_slice(const Node& part);
  struct Bound;  // of a slice: a dimension, or an int64 value
  bool is_dimension(const Node& node);
  Bound slice_bound(const Node& node, const Bound& extent);
  Expr bound_value(const Bound& bound, Span span);
  struct SliceLoops;
  Expr slice_loop(const Node& part, const Expr& tensor, std::size_t axis, SliceLoops& loops);

  // --- Types (resolve_type.cpp) ---
  Type type(const Node& node);
  Type annotation_of(const Node& node);  // the Annotation child; null if there is none
  Type named_type(const Node& node);
  Type type_argument(const Node& node, const lang::TypeVar& param);
  lang::Shape shape(const Node& node);
  lang::DTypeTerm dtype(const Node& node);
  lang::Dim dim(const Node& node);
  lang::Dim dim_infix(const Node& node);
  lang::Dim dim_name(const Node& node);
  struct TypeParam {
    std::string_view name;
    Span span;
    lang::VarKind kind = lang::VarKind::Type;
    lang::TypeVarRef var;  // null until its first use says its kind
    Span used;
    int shadowed = -1;
  };
  int declare_type_param(std::string_view name, Span span);
  void declare_type_params(const Node& node);  // its TypeParams child, if any
  lang::TypeVarRef use_type_param(int param, lang::VarKind kind, Span span);
  std::vector<lang::TypeVarRef> close_type_params(std::size_t mark);
  // The parameter of that name; declares one where that is allowed. -1: none.
  int find_type_param(std::string_view name, Span span);
  // `whole`: the type that begins with the name `node`, if it has arguments.
  void unknown_type(const Node& node, std::string_view what, const Node* whole = nullptr);
  std::optional<std::string> as_tensor_type(const Node& type) const;
  bool was_unknown(std::string_view name);
  std::unordered_set<std::string_view> undeclared_;  // names in types of the item at hand
  // Those that one function, or data type, does not declare, which one error tells.
  struct Undeclared {
    const Node* declares;
    std::size_t error;  // in errors_
    std::vector<std::string_view> names;
  };
  std::optional<Undeclared> told_undeclared_;
  const Node* def_ = nullptr;       // the definition at hand
  const Node* declares_ = nullptr;  // the innermost thing at hand that could declare them
  void report_undeclared(lang::Diagnostic diagnostic, std::string_view name);

  Span span(const Node& node) const { return tree_.span(node); }
  void report(lang::Diagnostic diagnostic) {
    item_is_broken_ = true;
    errors_.push_back(std::move(diagnostic));
  }
  void report(Kind kind, std::string message, Span span) {
    report(lang::Diagnostic(kind, std::move(message), span));
  }

  struct Graph {
    Expr expr;
    Span span;
  };

  const SyntaxTree& tree_;
  const lang::Module& scope_;
  const bool strict_;
  const std::string prefix_;  // of this text's globals
  Occurrences* const occurrences_;
  SymbolTable symbols_;
  std::vector<const lang::TypeDef*> own_types_;  // in the order of the text
  std::vector<lang::Diagnostic> errors_;
  // `let h = n // 2`
  void warn_of_division(const Node& value);
  std::vector<lang::Diagnostic> warnings_;
  std::vector<std::pair<Symbol*, lang::VariableRef>> shadowed_;  // undo log of locals
  std::vector<TypeParam> type_params_;
  std::unordered_map<std::string_view, Graph> graphs_;
  std::vector<std::string_view> graph_log_;
  std::deque<std::string> texts_;  // names that do not stand in one piece in the source
  std::deque<Span> spans_;
  std::unordered_map<const Node*, lang::TypeDefRef> type_defs_;
  std::unordered_map<std::string_view, const Node*> own_defs_;
  std::unordered_map<std::string_view, Signature> signatures_;  // of global functions, by name
  struct Instance {
    const Signature* signature;
    lang::AttrsRef values;
  };
  std::map<std::string, Instance> instances_;  // that this text needs, by name
  std::vector<std::string> instances_to_make_;
  bool item_is_broken_ = false;  // the item at hand holds an error, or mentions what has one
  std::optional<Metadata> metadata_;
  bool metadata_failed_ = false;  // and that is reported
  std::unordered_map<const lang::AttrObject*, lang::TypeVarRef> meta_dims_;
  bool is_expression_ = false;  // the strict text is one expression
  bool implicit_type_params_ = false;
  bool inside_type_def_ = false;
};

class Resolver::Scope {
 public:
  explicit Scope(Resolver& resolver) : resolver_(resolver), mark_(resolver.shadowed_.size()) {}
  ~Scope() {
    auto& log = resolver_.shadowed_;
    for (; log.size() > mark_; log.pop_back())
      log.back().first->local = std::move(log.back().second);
  }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  Resolver& resolver_;
  std::size_t mark_;
};

// Around a function or an item: locals, and the graph bindings made inside.
class Resolver::FunctionScope {
 public:
  explicit FunctionScope(Resolver& resolver)
      : resolver_(resolver), locals_(resolver), mark_(resolver.graph_log_.size()) {}
  ~FunctionScope() {
    auto& log = resolver_.graph_log_;
    for (; log.size() > mark_; log.pop_back()) resolver_.graphs_.erase(log.back());
  }
  FunctionScope(const FunctionScope&) = delete;
  FunctionScope& operator=(const FunctionScope&) = delete;

 private:
  Resolver& resolver_;
  Scope locals_;
  std::size_t mark_;
};

// Does the value of an attribute hold a parameter that is one and has no value yet?
bool has_placeholder(const lang::AttrValue& value);

// A line for a diagnostic: how the function is called (resolve_default.cpp).
std::string usage_note(std::string_view function, const lang::Parameters& parameters);

// Strips parentheses.
inline const Node& inner(const Node& node) {
  const Node* at = &node;
  while (at->kind == Syntax::Parens) at = at->child(0);
  return *at;
}

}  // namespace relay::parser
