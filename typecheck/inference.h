#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "lang/any_dim.h"
#include "lang/module.h"
#include "typecheck/expand_tree.h"
#include "typecheck/infer.h"
#include "typecheck/messages.h"
#include "typecheck/pointer_map.h"
#include "typecheck/relations.h"
#include "typecheck/unify.h"
#include "typecheck/widening.h"

namespace relay::typecheck {

// What a global is to the code that mentions it.
struct GlobalUse {
  lang::Type type;  // a binding, or a member of the component at hand: this very type
  const Scheme* scheme = nullptr;  // everything else: instantiated at each use
  const std::vector<lang::Diagnostic>* errors = nullptr;  // of a definition that is wrong
};
class Globals {
 public:
  virtual ~Globals() = default;
  virtual GlobalUse find(const lang::GlobalVar& use) const = 0;  // throws Failure
  virtual const lang::Definition* definition(const std::string& name) const = 0;
  // What is called so now; null if nothing is.
  virtual const lang::TypeDef* type_called(const std::string& name) const = 0;
};

// `a[.., i, ..]` with a bare index variable.
struct BareUse {
  lang::Expr tensor;
  std::uint32_t axis = 0;
  lang::Dim dim;  // of that axis
  lang::Span span;
};
struct BinderInfo {
  lang::VariableRef variable;
  lang::Dim dim;
  bool is_inferred = false;
  std::uint64_t order = 0;  // when its scope was entered, among all variables
  std::vector<BareUse> uses;
};

// An axis whose run-time extent a binder takes.
struct ExtentSource {
  lang::Expr tensor;
  std::uint32_t axis = 0;
  const BareUse* use = nullptr;
};

// A value of type `type` where `?` has been opened; where inference has found extents for it, they
// are checked when the program runs.
struct Coercion {
  lang::Type type;
  std::string because;  // what needs these extents
};

// A copy of a generic local function, for one use of it or for all at one type.
struct LocalInstance {
  lang::VariableRef variable;
  lang::Expr function;
  lang::Type type = nullptr;  // null: for one use
};

// What a run of inference is for.
enum class Purpose : std::uint8_t {
  kScheme,  // the most general type; the types of most nodes are forgotten at once
  kCode,    // fills tables from which `rebuild` (rebuild.h) makes the typed expression
};

// One run of inference: over a definition, a component of definitions, or an expression.
// Expressions must outlive it.
class Inference {
 public:
  // `written`: what the variables of annotations stand for (those not in it stay rigid).
  // `widening`: of the runs that this is one of (with_widening); it may be null.
  Inference(const Globals& globals, Purpose purpose, lang::TypeSubstitution written = {},
            Widening* widening = nullptr);
  Inference(const Inference&) = delete;

  lang::Type infer(const lang::Expr& expr);
  // The type that the annotations of a function state, unknowns for the rest.
  lang::Type declare(const lang::Function& function);
  void leave_open(const lang::Type& annotation);
  // Infers the body of a function whose type is `declared`; returns it.
  lang::Type infer_function(const lang::Expr& expr, const lang::Type& declared);
  // An annotation with its `_` opened.
  lang::Type open(const lang::Type& annotation, lang::Span span);
  // Unifies; a failure is reported with the words of `mismatch`.
  bool expect(const Mismatch& mismatch);
  // Notes a problem. Inference goes on behind it, as if it were mended; what finishes inference
  // throws all that has been noted.
  void report(lang::Failure&& failure, lang::Span fallback = {});
  // An error says that this function has no scalar result: what the demand for one does inside of
  // it is no error of its own.
  void blame(lang::Span function);

  // Ends inference of generic code: literals that are not tied to what `roots` generalise over get
  // their default dtype; what can never be told is reported.
  void finish_generic(const std::vector<lang::Type>& roots);
  // Ends inference of code that is to run: afterwards all types are ground. `result` is the type of
  // the whole; returned is its type with what stands for nothing that exists left generic.
  lang::Type finish_ground(const lang::Type& result, bool result_may_default);
  // The unknowns reachable from the roots, also through open relations.
  std::unordered_set<const lang::TypeVar*> reachable(const std::vector<lang::Type>& roots);
  // The relations that are open, but for those of generic local functions, which hold anew for each
  // use of these.
  std::vector<const Relation*> open_relations();

  Solver& solver() { return solver_; }
  Relations& relations() { return relations_; }
  // What follows needs Purpose::kCode.
  const lang::Type& type_of(const lang::ExprNode* node) const { return nodes_.at(node); }
  const lang::Type& type_of(const lang::Variable* variable) const {
    return variables_.at(variable).type;
  }
  const lang::TypeSubstitution& written() const { return written_; }
  std::vector<lang::Diagnostic>& warnings() { return warnings_; }

  struct CallInfo {
    lang::Type callee;                       // of a global or a constructor; null otherwise
    lang::AttrsRef attrs;                    // complete, for operators
    const lang::Literal* literal = nullptr;  // `-1`: the call is this literal with a minus
    bool is_transposed_function = false;     // `transpose(f)`: no operator
  };
  struct LocalVariable {
    lang::Type type;
    std::uint64_t order = 0;
    lang::Span origin = {};  // of the expression that a `let` binds it to
  };
  const CallInfo& call_info(const lang::Call* call) const { return calls_.at(call); }
  const BinderInfo* binder_info(const lang::Variable* variable) const;
  // The copies of a let-bound function that its uses need; null for an ordinary variable.
  const std::vector<LocalInstance>* instances_of(const lang::Variable* variable) const;
  // What a use of such a function stands for; null for any other expression.
  lang::VariableRef instance_at(const lang::ExprNode* use) const;
  // The functions of a tree form, for each type of leaf.
  const std::vector<LeafFunction>& functions_of(const lang::Call* tree_form) const {
    return trees_.at(tree_form);
  }
  // Of operand `index` of a node; null if it has none.
  const Coercion* coercion(const lang::ExprNode* site, std::size_t index) const;
  // `found` for a place where `expected` is needed, recorded as operand `index` of `site`.
  lang::Type coerce(const lang::ExprNode* site, std::size_t index, const lang::Type& found,
                    const lang::Type& expected, const std::string& because);
  // Before `expr` is inferred: what it will have to be.
  void hint(const lang::Expr& expr, const lang::Type& expected);
  // `found`, which enters what is generic where `expected` is, as this run of with_widening has it.
  lang::Type enter(const lang::Type& found, const lang::Type& expected, lang::Span span,
                   std::size_t operand);
  // Likewise what an annotation says of operand 0 of `site`, which is checked where it is not
  // known.
  lang::Type enter_annotation(const lang::ExprNode* site, const lang::Type& annotation,
                              lang::Span span, const std::string& because);
  // From here on every type that is found goes there, too.
  void observe(std::vector<TypeAt>* observed) { observed_ = observed; }
  // For code in which something that is indexed has more axes than indices.
  void leave_ranks_open() { indexes_fully_ = false; }
  bool has_indexed_fully() const { return has_indexed_fully_; }
  // Shows the usual case of what is generic; false if there is nothing to settle.
  bool settle_usual();
  // The axes that an Index or a ScatterReduce indexes.
  const std::vector<lang::Dim>& axes_of(const lang::ExprNode* node) const {
    return indices_.at(node).axes;
  }
  // The uses from which a binder over axes of unknown extent can take it: those that are known
  // outside its scope.
  std::vector<ExtentSource> extent_sources(const BinderInfo& binder) const;

 private:
  lang::Type infer_node(const lang::Expr& expr);
  void throw_reported();
  void record(const lang::Expr& expr, const lang::Type& type);
  const lang::Type* recorded(const lang::Expr& expr) const;
  void introduce(const lang::VariableRef& variable, const lang::Type& type, lang::Span origin = {});
  // A label that says where the value of a variable comes from; nothing for other expressions.
  std::optional<lang::Label> origin_of(const lang::Expr& expr) const;
  void report_relation(lang::Failure&& failure, const Relation& relation);
  lang::Failure explained(lang::Failure&& failure, const Mismatch& mismatch);

  // infer.cpp
  lang::Type infer_let(const lang::Expr& expr);
  void infer_binding(const lang::Let& let);
  lang::Type declare_local(const lang::Function& function);
  lang::Type infer_var(const lang::Var& var);
  // infer_instance.cpp
  void infer_polymorphic(const lang::Let& let);
  void count_copy(const lang::Expr& copy, const lang::Var& use);
  lang::Type copy_local(const lang::Var& use);
  struct Polymorphic;
  lang::Type instantiate_local(const lang::Var& use, const Polymorphic& function);
  struct LetMark;
  LetMark mark_let();
  void generalise_local(const lang::Let& let, const lang::Type& declared, const LetMark& mark);
  bool is_generic(const lang::Type& type);
  void infer_instances();
  lang::Expr function_for_leaf(const lang::Expr& function);
  lang::Type declare_quantified(const lang::FunctionType& annotation, lang::Span span);
  [[noreturn]] void refuse_higher_rank(const lang::Call& call, const lang::Variable& param,
                                       const lang::Type& found, const lang::Type& expected);
  const lang::Variable* quantified_parameter(const lang::Expr& callee) const;
  // infer_coerce.cpp
  lang::Type open_extents(const lang::Type& found, const lang::Type& expected);
  bool settle_opened();
  void take_hint(const lang::Call& call, const lang::Type& constructor);
  void infer_condition(const lang::If& node);
  lang::Type infer_if(const lang::If& node);
  lang::Type infer_reference(const lang::Expr& expr);
  lang::Type infer_primitive(const lang::Primitive& node);
  lang::Type infer_projection(const lang::Projection& node);
  // infer_call.cpp
  lang::Type infer_call(const lang::Call& call);
  lang::Type infer_operator_call(const lang::Call& call, const lang::OpDef& op);
  lang::Type operator_value(const lang::OpDef& op, lang::Span span);
  lang::Type constructor_type(const lang::Constructor& constructor);
  void inherit(const std::vector<lang::Diagnostic>& errors);
  // A call of a generic global whose relations are not open yet: its arguments, which are inferred
  // first, may tell all that they ask for.
  struct OpenCall {
    const Scheme* scheme = nullptr;
    lang::TypeSubstitution fresh;
  };
  lang::Type infer_callee(const lang::Call& call, OpenCall& open);
  // With `call`, the relations are left to it.
  lang::Type global_type(const lang::GlobalVar& use, OpenCall* call = nullptr);
  lang::Type instantiate(const Scheme& scheme, lang::Span span, const std::string& name,
                         OpenCall* call = nullptr);
  void demand_relations_of(const OpenCall& call, const lang::FunctionType& callee,
                           const lang::GlobalVar& use);
  // False where so many more relations would stay open at once; throws Failure when it is met
  // first.
  bool may_open(std::size_t relations, const std::string& name, lang::Span span);
  Mismatch argument_mismatch(const lang::Call& call, std::size_t i, const lang::Type& found,
                             const lang::Type& expected);
  void help_with_extents(const lang::Call& call, lang::Diagnostic& diagnostic,
                         const lang::Type& found, const lang::Type& expected);
  lang::Type coerce_argument(const lang::Call& call, std::size_t i, const lang::Type& found,
                             const lang::Type& expected);
  void explain_infinite(const lang::Call& call, const std::string& argument,
                        lang::Diagnostic& diagnostic);
  void report_arguments(const lang::Call& call, const lang::FunctionType& function,
                        const std::vector<lang::Type>& found,
                        std::vector<std::optional<lang::Failure>> failures);
  lang::Diagnostic wrong_arity(const lang::Call& call, const lang::FunctionType& function);
  const lang::Function* callee_function(const lang::Expr& callee) const;
  // explain_call.cpp
  struct GenericUse {
    const lang::GlobalVar* node;
    const Scheme* scheme;
    lang::Type type;                   // instantiated
    const lang::Call* call = nullptr;  // of which it is the callee
    bool is_told = false;              // an error about it has been reported
    bool is_looked_into = false;       // whether one inside explains it is known
  };
  GenericUse* generic_use_at(lang::Span span);
  std::optional<lang::Diagnostic> explain_inside(GenericUse& use,
                                                 const std::vector<lang::Type>& found);
  lang::Diagnostic from_inside(const GenericUse& use, const std::vector<lang::Type>& found,
                               Inference& inside);
  bool explain_use(lang::Diagnostic& diagnostic);
  bool report_inside(const lang::Call& call, const std::vector<lang::Type>& found);
  bool report_inside_derivative(const lang::Call& call, const std::vector<lang::Type>& found);
  // infer_derivative.cpp
  lang::Type infer_differentiate(const lang::Differentiate& node);
  const lang::Function* known_literal(const lang::Expr& fn) const;
  std::optional<lang::Diagnostic> explain_scalar(const lang::Call& call,
                                                 const std::vector<lang::Type>& found);
  void blame_result(const lang::Call& call, const std::vector<lang::Type>& found);
  // In place of the errors at its place.
  void report_instead(lang::Diagnostic better);
  void help_with_result(lang::Diagnostic& diagnostic, const Relation& relation);
  void name_parameter(lang::Diagnostic& diagnostic, const lang::Differentiate& node,
                      const lang::FunctionType& type);
  const lang::Var* index_in_arithmetic(const lang::Expr& expr) const;
  std::optional<lang::Diagnostic> explain_index_dtype(const lang::Diagnostic& cause,
                                                      const Relation& relation);
  // records.cpp
  lang::Type infer_record_form(const lang::Call& call, const lang::OpDef& form);
  bool settle_records();
  void check_records(bool may_be_open);
  // trees.cpp
  struct TreeUse {
    const lang::Call* call;
    const lang::OpDef* form;
    lang::Type tree = {};
    lang::Type result = {};
  };
  lang::Type infer_tree_form(const lang::Call& call, const lang::OpDef& form);
  bool settle_tree(TreeUse& use);
  void infer_leaf_function(const lang::Expr& function, const std::vector<lang::Type>& params,
                           const lang::Type& result, const std::string& form,
                           const lang::Type& leaf);
  bool settle_trees();
  void check_trees();
  // infer_match.cpp
  lang::Type infer_match(const lang::Expr& expr);
  void infer_pattern(const lang::PatternRef& pattern, const lang::Type& scrutinee,
                     lang::Span scrutinee_span);
  // infer_literal.cpp
  lang::Type infer_literal(const lang::Literal& literal, bool negated);
  void settle_literals(std::size_t first, std::uint64_t mark);
  bool settle_literals_outside(const std::unordered_set<const lang::TypeVar*>& generic);
  bool settle_numbers_outside(const std::unordered_set<const lang::TypeVar*>& generic);
  void check_literals();
  void settle_literal(const lang::TypeVar& var);
  // infer_index.cpp
  std::vector<lang::Dim> enter_binders(const std::vector<lang::IndexBinder>& binders);
  void leave_binders(const std::vector<lang::IndexBinder>& binders);
  lang::Dim extent_dim(const lang::Expr& extent, const lang::Type& type);
  lang::Dim stated_dim(const lang::Expr& expr, int& steps) const;
  void link_bare_use(BinderInfo& binder, BareUse use);
  lang::Type infer_comprehension(const lang::Comprehension& node);
  lang::Type infer_reduction(const lang::Reduction& node);
  lang::Type infer_dot(const lang::Reduction& node, const lang::Type& body);
  lang::Diagnostic no_pair(const lang::Expr& tail, const lang::Type& body,
                           lang::DiagnosticKind kind);
  lang::Type infer_scatter(const lang::ScatterReduce& node);
  lang::Type infer_element_set(const lang::ScatterReduce& node);
  lang::Type infer_index(const lang::Expr& expr);
  void refuse_index_of_tuple(const lang::Index& node, const lang::Type& tuple);
  lang::Type infer_position(const lang::Expr& index, const lang::Index* element = nullptr);
  void check_literal_indices();
  // finish.cpp
  bool settle_index_relations(bool all);
  void check_ambiguous(const lang::Type& result, bool result_may_default);
  void default_leftovers();
  void settle_dtype(const lang::TypeVar& var);
  // valueless.cpp
  // Gives what no value of `result` or of a caller will ever tell a type that fits, as it makes no
  // difference: nothing runs with it. False if something is left, or nothing fits.
  bool settle_valueless(const lang::Type& result);
  bool settle_valueless_tuples(const std::vector<lang::TypeVarRef>& types);
  std::optional<std::size_t> rank_of_valueless(const lang::TypeVar& shape);
  // Operators by the shapes that they wait for, as far as they can be asked about a rank.
  using Waiting = PointerMap<lang::TypeVar, std::vector<const Relation*>>;
  Waiting waiting_for_rank();
  // Do all that wait for the shape take that rank?
  bool may_have_rank(const Waiting& waiting, const lang::TypeVar& shape, std::size_t rank);
  bool settle_valueless_shape(const std::vector<lang::TypeVarRef>& shapes);
  std::vector<lang::TypeVarRef> valueless(lang::VarKind kind, bool in_relations,
                                          const std::vector<lang::Type>& inhabited);
  void settle_ground(const lang::Type& result);
  void check_extents(const std::vector<lang::Type>& inputs);

  const Globals& globals_;
  const Purpose purpose_;
  lang::TypeSubstitution written_;
  Widening* const widening_;
  Solver solver_;
  Relations relations_;
  PointerMap<lang::ExprNode, lang::Type> nodes_;  // of Purpose::kScheme only those with two owners
  PointerMap<lang::Variable, LocalVariable> variables_;
  std::vector<lang::VariableRef> params_;  // of functions without annotation, for messages
  PointerMap<lang::Variable, lang::Expr> let_values_;  // functions, numbers and arithmetic only
  PointerMap<lang::Call, CallInfo> calls_;             // of Purpose::kCode only
  PointerMap<lang::Call, lang::Type> hints_;  // what is wanted of constructors, with a `?` in it
  PointerMap<lang::Variable, BinderInfo> binders_;
  struct IndexUse {
    lang::Expr tensor;
    const std::vector<lang::Expr>* indices = nullptr;
    lang::Type type;  // of the tensor
    std::vector<lang::Dim> axes;
  };
  PointerMap<lang::ExprNode, IndexUse> indices_;  // of Index and ScatterReduce
  struct Polymorphic {
    lang::Expr function;
    std::vector<LocalInstance> instances = {};
    // What inference has left open in it, which each use has anew. Null for one with written type
    // parameters, of which each use has a copy at once.
    lang::Type type = nullptr;
    std::vector<lang::TypeVarRef> unknowns = {};
    std::vector<Relation> relations = {};
  };
  std::unordered_map<const lang::Variable*, Polymorphic> polymorphic_;
  std::unordered_set<const lang::TypeVar*> generic_;  // the unknowns of all these functions
  struct GenericLocalUse {
    const lang::Var* use;
    lang::Type type;
  };
  std::vector<GenericLocalUse> local_uses_;  // of Purpose::kCode only
  std::size_t instantiated_ = 0;             // of these have their instance
  std::size_t copied_nodes_ = 0;             // of instances
  // How far everything was when a `let` began.
  struct LetMark {
    std::uint64_t unknowns;
    std::size_t literals, numbers, records, trees, opened;
    std::uint32_t relations;
  };
  std::unordered_map<const lang::ExprNode*, lang::VariableRef> instance_uses_;
  std::unordered_set<const lang::Variable*> quantified_params_;
  std::unordered_set<const lang::TypeVar*> declared_;  // type parameters of the functions around
  std::map<std::pair<const lang::ExprNode*, std::size_t>, Coercion> coercions_;
  std::vector<lang::Expr> kept_;          // code of ours that the tables mention
  std::vector<lang::TypeVarRef> opened_;  // dims that stand for a `?`
  struct LiteralUse {
    const lang::Literal* node;
    lang::TypeVarRef dtype;
    bool is_negated;
  };
  std::vector<LiteralUse> literals_;       // all
  std::vector<std::size_t> unsettled_;     // indices of those whose dtype may still be open
  std::vector<lang::TypeVarRef> numbers_;  // dtypes of the numbers in definitions that are used
  struct RecordUse {
    lang::Type record;
    std::vector<const lang::Constructor*> candidates;  // of each record that has these fields, one
    const lang::Call* call;
  };
  std::vector<RecordUse> records_;
  std::vector<TreeUse> waiting_trees_;
  PointerMap<lang::Call, std::vector<LeafFunction>> trees_;  // of Purpose::kCode only
  std::vector<TypeAt>* observed_ = nullptr;
  std::vector<lang::Diagnostic> warnings_;
  std::vector<lang::Diagnostic> errors_;
  // While it lives errors are neither explained nor kept: what is tried may fail.
  class Attempt {
   public:
    explicit Attempt(Inference& inference)
        : inference_(inference), before_(std::exchange(inference.errors_, {})) {
      ++inference_.attempts_;
      if (inference_.widening_) inference_.widening_->set_trying(true);
    }
    Attempt(const Attempt&) = delete;
    Attempt& operator=(const Attempt&) = delete;
    ~Attempt() {
      inference_.errors_ = std::move(before_);
      if (--inference_.attempts_ == 0 && inference_.widening_)
        inference_.widening_->set_trying(false);
    }
    bool has_failed() const { return !inference_.errors_.empty(); }

   private:
    Inference& inference_;
    std::vector<lang::Diagnostic> before_;
  };
  int attempts_ = 0;
  // Errors of the globals that are used: said where those are checked, and here only if nothing
  // else is wrong.
  std::optional<std::vector<lang::Diagnostic>> inherited_;
  std::uint64_t next_order_ = 0;
  std::vector<GenericUse> generic_uses_;
  int levels_ = 0;             // of explanations that this run is inside of
  std::size_t explained_ = 0;  // operators and parts of types that explanations have looked at
  // To the cause of the first error, where that lies inside a function.
  struct Way {
    std::string start;                        // empty: there is none
    std::vector<std::string> steps = {};      // the calls, from the innermost one
    std::vector<std::string> functions = {};  // where it starts, and each step is taken
    lang::Span told_at = {};                  // where the error stands that it leads to
    std::string text() const;
  };
  std::vector<Way> ways_;
  bool has_indexed_fully_ = false;
  bool has_too_many_open_ = false;  // it has been said
  bool indexes_fully_ = true;       // an element of a tensor of unknown rank is taken for a number
  bool blames_index_ = false;       // an error says that an index is no float
  lang::Span blamed_;               // the function that an error says has no scalar result
};

// Of two types that agree, the one with fewer `?`; or, for `widen`, with more.
lang::Type merge_dims(const lang::Type& a, const lang::Type& b, bool widen);
// The two with a `?` where their extents differ; null where something else does.
lang::Type joined_extents(const lang::Type& a, const lang::Type& b);
// Does a tensor, or a tuple or data with one, have a `?` extent?
bool mentions_any_dim(const lang::Type& type);
// The last expression of a let chain: what a body's type comes from.
const lang::ExprNode* tail_of(const lang::Expr& expr);
// The literal of `2` or of `-2`; sets `negated` for the latter. Null for anything else.
const lang::Literal* as_literal(const lang::Expr& expr, bool& negated);

}  // namespace relay::typecheck
