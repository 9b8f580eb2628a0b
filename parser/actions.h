#pragma once

#include "parser/light.h"
#include "parser/strict.h"

// How the grammars make the syntax tree: each rule that stands here leaves one node.
namespace relay::parser::grammar {

template <class Rule>
struct action : p::nothing<Rule> {};

// The rule's text becomes a leaf.
template <Syntax Kind>
struct leaf {
  template <class Input>
  static void apply(const Input& in, Builder& builder) {
    builder.leaf(Kind, in.begin(), in.end());
  }
};

enum class Wrap {
  Always,
  IfMany,  // a single child stands for itself
  Tuple,   // parentheses: a single child without a comma gives Parens
};

// What was pushed while the rule matched becomes the children of one node, together with `Before`
// nodes that stood there already. A rule that fails leaves nothing.
template <Syntax Kind, std::size_t Before = 0, Wrap How = Wrap::Always>
struct build : p::maybe_nothing {
  template <class Rule, p::apply_mode A, p::rewind_mode M, template <class...> class Action,
            template <class...> class Control, class Input>
  static bool match(Input& in, Builder& builder) {
    const std::size_t mark = builder.mark();
    std::uint32_t begin = builder.offset(in.current());
    if (!p::match<Rule, A, M, Action, Control>(in, builder)) {
      builder.drop_to(mark);
      return false;
    }
    const std::uint32_t end = builder.offset(in.current());
    if constexpr (Before > 0) begin = builder.at(mark - Before)->begin;
    if constexpr (How == Wrap::IfMany) {
      if (builder.pushed_since(mark) == 1) return true;
    }
    if constexpr (How == Wrap::Tuple) {
      const Syntax kind = builder.pushed_since(mark) == 1 ? Syntax::Parens : Kind;
      builder.wrap(kind, mark, begin, end);
    } else {
      builder.wrap(Kind, mark - Before, begin, end);
    }
    return true;
  }
};

// The node that the rule pushes last begins where the rule does.
struct widen : p::maybe_nothing {
  template <class Rule, p::apply_mode A, p::rewind_mode M, template <class...> class Action,
            template <class...> class Control, class Input>
  static bool match(Input& in, Builder& builder) {
    const std::uint32_t begin = builder.offset(in.current());
    if (!p::match<Rule, A, M, Action, Control>(in, builder)) return false;
    builder.top()->begin = begin;
    return true;
  }
};

// Leaves
template <>
struct action<name> : leaf<Syntax::Name> {};
template <>
struct action<name_part> : leaf<Syntax::Name> {};
template <>
struct action<dotted_global> : leaf<Syntax::Name> {};
template <>
struct action<field_name> : leaf<Syntax::Name> {};
template <>
struct action<key> : leaf<Syntax::Name> {};
template <>
struct action<dtype> : leaf<Syntax::Name> {};
template <>
struct action<local_name> : leaf<Syntax::Local> {};
template <>
struct action<global_name> : leaf<Syntax::Global> {};
template <>
struct action<graph_name> : leaf<Syntax::Graph> {};
template <>
struct action<number> : leaf<Syntax::Number> {};
template <>
struct action<dim_number> : leaf<Syntax::Number> {};
template <>
struct action<projection_index> : leaf<Syntax::Number> {};
template <>
struct action<string_token> : leaf<Syntax::String> {};
template <>
struct action<hole> : leaf<Syntax::Hole> {};
template <>
struct action<any_dim> : leaf<Syntax::AnyDim> {};
template <>
struct action<meta_key> : leaf<Syntax::Name> {};
template <>
struct action<meta_index> : leaf<Syntax::Number> {};
template <>
struct action<meta> : build<Syntax::Meta> {};
template <>
struct action<reduction_word> : leaf<Syntax::Word> {};
template <>
struct action<scatter_word> : leaf<Syntax::Word> {};
template <>
struct action<infix_symbol> : leaf<Syntax::Symbol> {};
template <>
struct action<additive_symbol> : leaf<Syntax::Symbol> {};
template <>
struct action<prefix_symbol> : leaf<Syntax::Symbol> {};
template <>
struct action<dim_symbol> : leaf<Syntax::Symbol> {};
template <>
struct action<dim_sign> : leaf<Syntax::Symbol> {};
template <>
struct action<tuple_comma> : leaf<Syntax::Mark> {};
template <>
struct action<partial_mark> : leaf<Syntax::Mark> {};
template <>
struct action<item_mark> : leaf<Syntax::Mark> {};
template <>
struct action<missing_part> : leaf<Syntax::Empty> {};
template <>
struct action<ellipsis> : leaf<Syntax::Ellipsis> {};
template <>
struct action<pattern_sign> : leaf<Syntax::Symbol> {};

// Expressions
template <>
struct action<dotted_name> : build<Syntax::Dotted, 0, Wrap::IfMany> {};
template <>
struct action<parens> : build<Syntax::Tuple, 0, Wrap::Tuple> {};
template <>
struct action<list_literal> : build<Syntax::List> {};
template <>
struct action<call> : build<Syntax::Call, 1> {};
template <>
struct action<attribute> : build<Syntax::Attr> {};
template <>
struct action<element_value> : build<Syntax::Attr> {};
template <>
struct action<index> : build<Syntax::Index, 1> {};
template <>
struct action<strict_index> : build<Syntax::Index, 1> {};
template <>
struct action<safe_index> : build<Syntax::SafeIndex, 1> {};
template <>
struct action<index_part> : build<Syntax::Slice, 0, Wrap::IfMany> {};
template <>
struct action<projection> : build<Syntax::Projection, 1> {};
template <>
struct action<field> : build<Syntax::Field, 1> {};
template <>
struct action<with_record> : build<Syntax::With, 1> {};
template <>
struct action<pipe_step> : build<Syntax::Pipe, 1> {};
template <>
struct action<infix> : build<Syntax::Infix, 0, Wrap::IfMany> {};
template <>
struct action<extent> : build<Syntax::Infix, 0, Wrap::IfMany> {};
template <>
struct action<operand> : build<Syntax::Prefix, 0, Wrap::IfMany> {};
template <>
struct action<if_expr> : build<Syntax::If> {};
template <>
struct action<match_expr> : build<Syntax::Match> {};
template <>
struct action<arm> : build<Syntax::Arm> {};
template <>
struct action<sequence> : build<Syntax::Sequence, 0, Wrap::IfMany> {};
template <>
struct action<light_element> : build<Syntax::Sequence, 0, Wrap::IfMany> {};
template <>
struct action<top_sequence> : build<Syntax::Sequence, 0, Wrap::IfMany> {};
template <>
struct action<let_statement> : build<Syntax::Let> {};
template <>
struct action<bind_statement> : build<Syntax::Bind> {};
template <>
struct action<free_var> : build<Syntax::FreeVar> {};
template <>
struct action<ref_create> : build<Syntax::RefCreate> {};
template <>
struct action<ref_read> : build<Syntax::RefRead> {};
template <>
struct action<ref_write> : build<Syntax::RefWrite> {};
template <>
struct action<for_expr> : build<Syntax::For> {};
template <>
struct action<reduction> : build<Syntax::Reduce> {};
template <>
struct action<scatter> : build<Syntax::Scatter> {};
template <>
struct action<scatter_indices> : build<Syntax::Indices> {};
template <>
struct action<binder> : build<Syntax::Binder> {};

// Functions
template <>
struct action<function_rest> : build<Syntax::Function> {};
template <>
struct action<light_function> : build<Syntax::Function> {};
template <>
struct action<fn_expr> : widen {};
template <>
struct action<type_params> : build<Syntax::TypeParams> {};
template <>
struct action<params> : build<Syntax::Params> {};
template <>
struct action<param> : build<Syntax::Param> {};
template <>
struct action<default_value> : build<Syntax::Default> {};
template <>
struct action<param_attributes> : build<Syntax::Attributes> {};
template <>
struct action<annotation> : build<Syntax::Annotation> {};
template <>
struct action<result_type> : build<Syntax::Annotation> {};

// Patterns
template <>
struct action<pattern_type> : build<Syntax::TypedPattern, 1> {};
template <>
struct action<constructor_fields> : build<Syntax::ConstructorPattern, 1> {};
template <>
struct action<record_pattern> : build<Syntax::RecordPattern, 1> {};
template <>
struct action<field_pattern> : build<Syntax::FieldPattern> {};
template <>
struct action<tuple_pattern> : build<Syntax::TuplePattern> {};
template <>
struct action<literal_pattern> : build<Syntax::Prefix, 0, Wrap::IfMany> {};

// Types
template <>
struct action<tensor_type> : build<Syntax::TensorType> {};
template <>
struct action<dim_list> : build<Syntax::DimList> {};
template <>
struct action<dim_operand> : build<Syntax::Prefix, 0, Wrap::IfMany> {};
template <>
struct action<dim> : build<Syntax::Infix, 0, Wrap::IfMany> {};
template <>
struct action<tuple_type> : build<Syntax::TupleType> {};
template <>
struct action<function_type> : build<Syntax::FunctionType> {};
template <>
struct action<type_list> : build<Syntax::TypeList> {};
template <>
struct action<ref_type> : build<Syntax::RefType> {};
template <>
struct action<type_alone> : build<Syntax::NamedType, 0, Wrap::IfMany> {};
template <>
struct action<named_type> : build<Syntax::NamedType> {};

// Items
template <>
struct action<light_item> : build<Syntax::Item> {};
template <>
struct action<strict_item> : build<Syntax::Item> {};
template <>
struct action<strict_def> : build<Syntax::Def> {};
template <>
struct action<light_def> : build<Syntax::Def> {};
template <>
struct action<own_tangent> : build<Syntax::Tangent> {};
template <>
struct action<type_item> : build<Syntax::TypeDef> {};
template <>
struct action<extern_item> : build<Syntax::ExternType> {};
template <>
struct action<constructor> : build<Syntax::Constructor> {};
template <>
struct action<record_fields> : build<Syntax::RecordFields> {};
template <>
struct action<top_let> : build<Syntax::TopLet> {};
template <>
struct action<top_expression> : build<Syntax::TopExpr> {};
template <>
struct action<strict_expression> : build<Syntax::TopExpr> {};
template <>
struct action<import_item> : build<Syntax::Import> {};
template <>
struct action<import_prefix> : build<Syntax::ImportPrefix> {};
template <>
struct action<import_names> : build<Syntax::ImportNames> {};
template <>
struct action<import_name> : build<Syntax::ImportName> {};
template <>
struct action<rule_word> : leaf<Syntax::Word> {};
template <>
struct action<rule_where> : build<Syntax::Where> {};
template <>
struct action<rule_item> : build<Syntax::Rule> {};
template <>
struct action<schedule_step> : build<Syntax::ScheduleStep> {};
template <>
struct action<schedule_params> : build<Syntax::ScheduleParams> {};
template <>
struct action<schedule_item> : build<Syntax::Schedule> {};
template <>
struct action<version> : build<Syntax::Version> {};
template <>
struct action<metadata> : leaf<Syntax::Metadata> {};
template <>
struct action<strict_file> : build<Syntax::File> {};
template <>
struct action<light_file> : build<Syntax::File> {};
template <>
struct action<type_file> : build<Syntax::File> {};
template <>
struct action<attributed_name> : build<Syntax::Call> {};
template <>
struct action<attributed_names> : build<Syntax::File> {};

}  // namespace relay::parser::grammar
