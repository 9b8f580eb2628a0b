#pragma once

#include "parser/recovery_rules.h"

// What both notations have: types, patterns, functions, expressions. Where a rule of one notation
// is reached from here, it is only declared; strict.h and light.h define it.
namespace relay::parser::grammar {

struct expression;  // no binding, no sequence
struct sequence;    // bindings and statements, then an expression
struct element;     // likewise; in the light notation without statements
struct type;
struct pattern;
struct operand;
struct postfix;
struct function_rest;

// Of one notation only.
struct strict_postfix;
struct light_postfix;
struct strict_condition;
struct light_condition;
struct light_scrutinee;
struct light_prefix;
struct light_variable;
struct light_pipe;
struct record_fields;
struct light_let_target;
struct light_else;

// --- Small parts ---

struct name : bare_name {};
struct key : p::seq<any_word, p::star<p::one<'.'>, any_word>> {};
struct dim_number : p::seq<digits, p::opt<p::one<'i'>, p::star<p::digit>>> {};
struct annotation : p::seq<p::one<':'>, gap, expect<"a type after `:`", type>> {};

struct variable : by_notation<local_name, light_variable> {};
struct local_wanted : expect<"a local variable such as `%x`", local_name> {};

struct binding_sign : expect<"`=`", assign> {};

// --- Types ---

struct meta_key : p::seq<any_word, p::star<p::one<'.'>, any_word>> {};
struct meta_index : p::seq<digits> {};
struct meta : p::seq<word<"meta">, gap, p::one<'['>, gap, expect<"the key of a table", meta_key>,
                     gap, expect<"`]`", p::one<']'>>, gap, expect<"`[`", p::one<'['>>, gap,
                     expect<"an index", meta_index>, gap, expect<"`]`", p::one<']'>>> {};

struct any_dim : p::one<'?'> {};
struct dim_symbol : p::one<'+', '-', '*', '/'> {};
struct dim_sign : p::one<'-'> {};
struct dim;
struct dim_parens : bracket<'(', ')', "the parentheses", "`)`", expect<"a dimension", dim>> {};
struct some_dim : p::sor<dim_number, any_dim, meta, name, dim_parens> {};
struct dim_atom : deeper<some_dim> {};
struct dim_operand : p::seq<p::star<dim_sign, gap>, dim_atom> {};
struct dim
    : p::seq<dim_operand, p::star<gap, dim_symbol, gap, expect<"a dimension", dim_operand>>> {};

struct dim_list : bracket<'(', ')', "the shape", "`,` or `)`", items<dim>> {};
struct shape : p::sor<dim_list, name> {};
struct dtype : any_word {};
struct tensor_type
    : p::seq<word<"Tensor">, gap,
             bracket<'[', ']', "the tensor type", "`]`", expect<"a shape such as `(2, 3)`", shape>,
                     gap, expect<"`,` and a dtype", p::one<','>>, gap, expect<"a dtype", dtype>>> {
};

struct type_params : bracket<'[', ']', "the type parameters", "`,` or `]`", items<name>> {};
struct tuple_type : bracket<'(', ')', "the tuple type", "`,` or `)`", items<type>> {};
struct type_list : bracket<'(', ')', "the parameter types", "`,` or `)`", items<type>> {};
struct function_type
    : p::seq<word<"fn">, gap, p::opt<type_params, gap>,
             expect<"`(` and the parameter types", type_list>, gap,
             expect<"`->` and the result's type", arrow>, gap, expect<"a type", type>> {};
struct ref_type
    : p::seq<word<"ref">, gap,
             expect<"`(` and the content's type",
                    bracket<'(', ')', "the reference type", "`)`", expect<"a type", type>>>> {};
// What begins like a type may go on as a dimension: `n + 1`.
struct type_alone : p::seq<type, gap, p::at<p::one<',', ']'>>> {};
struct type_arg : p::sor<type_alone, dim, type> {};
struct type_args : bracket<'[', ']', "the type arguments", "`,` or `]`", items<type_arg>> {};
struct named_type : p::seq<name, p::opt<near, type_args>> {};
struct some_type
    : p::sor<hole, tensor_type, meta, function_type, ref_type, tuple_type, named_type> {};
struct type : deeper<some_type> {};

// --- Patterns ---

struct pattern_type : p::seq<annotation> {};
struct local_pattern : p::seq<local_name, p::opt<gap, pattern_type>> {};
struct field_pattern
    : if_light<p::seq<name, gap, assign, gap, expect<"a pattern for the field", pattern>>> {};
struct constructor_fields
    : bracket<'(', ')', "the pattern", "`,` or `)`", items<p::sor<field_pattern, pattern>>> {};
struct record_pattern
    : bracket<'{', '}', "the pattern", "`,` or `}`", items<p::sor<field_pattern, name>>> {};
struct named_pattern
    : p::seq<name, p::opt<near, p::sor<constructor_fields,
                                       if_light<p::sor<record_pattern, pattern_type>>>>> {};
struct tuple_pattern : bracket<'(', ')', "the pattern", "`,` or `)`", items<pattern>> {};
struct pattern_sign : p::one<'-'> {};
struct literal_pattern : if_light<p::seq<p::opt<pattern_sign, gap>, number>> {};
struct some_pattern : p::sor<hole, local_pattern, tuple_pattern, literal_pattern, named_pattern> {};
struct pattern : deeper<some_pattern> {};

// --- Functions ---

struct attribute : p::seq<key, gap, assign, gap, expect<"a value for the attribute", expression>> {
};
struct param_attributes : bracket<'{', '}', "the attributes", "`,` or `}`", items<attribute>> {};
struct default_value : p::seq<assign, gap, expect<"a default value", expression>> {};
// In the light notation a brace may be that of a body, where the `)` has been forgotten.
struct attributes_ahead : p::at<p::one<'{'>, gap, key, gap, assign> {};
struct light_param_attributes : p::seq<attributes_ahead, param_attributes> {};
struct param : p::seq<variable, p::opt<gap, by_notation<param_attributes, light_param_attributes>>,
                      p::opt<gap, annotation>, p::opt<if_light<p::seq<gap, default_value>>>> {};
struct params : bracket<'(', ')', "the parameters", "`,` or `)`", items<p::sor<attribute, param>>> {
};
struct result_type : p::seq<arrow, gap, expect<"the result's type", type>> {};
struct block : recovering_block<"the block", "`}`", sequence> {};
struct function_rest
    : p::seq<p::opt<type_params, gap>, expect<"`(` and parameters", params>, gap,
             p::opt<result_type, gap>, expect<"`{` and the function's body", block>> {};
struct fn_expr : p::seq<word<"fn">, gap, function_rest> {};

// --- Control ---

struct condition : by_notation<strict_condition, light_condition> {};
struct if_head : p::seq<word<"if">, gap, expect<"a condition", condition>, gap,
                        expect<"`{` and the branch taken", block>> {};
struct else_branch
    : p::seq<gap, expect<"`else`", word<"else">>, gap, expect<"`{` and the other branch", block>> {
};
struct if_expr : p::seq<if_head, p::star<gap, if_light<p::seq<word<"else">, gap, if_head>>>,
                        by_notation<else_branch, light_else>> {};

struct partial_mark : p::one<'?'> {};
struct arm
    : p::seq<pattern, gap, expect<"`=>` after the pattern", p::string<'=', '>'>>, gap, sequence> {};
struct arms : bracket<'{', '}', "the cases", "`,` or `}`", items<arm>> {};
struct scrutinee : by_notation<postfix, light_scrutinee> {};
struct match_expr
    : p::seq<word<"match">, p::opt<partial_mark>, gap, expect<"what to match on", scrutinee>, gap,
             expect<"`{` and the cases", arms>> {};

struct ref_create
    : p::seq<word<"ref">, gap, expect<"`(`", bracket<'(', ')', "`ref`", "`)`", sequence>>> {};
struct ref_read : p::seq<word<"ref_read">, gap,
                         expect<"`(`", bracket<'(', ')', "`ref_read`", "`)`", sequence>>> {};
struct ref_write
    : p::seq<word<"ref_write">, gap,
             expect<"`(`", bracket<'(', ')', "`ref_write`", "`)`", sequence, gap,
                                   expect<"`,` and the new value", p::one<','>>, gap, sequence>>> {
};

// --- Index notation ---

struct additive_symbol : token<additive_symbol> {
  static const char* scan(const char* begin, const char* end, Builder& builder) {
    const char* stop = scan_infix(begin, end, builder.strict);
    const bool additive =
        stop && (*begin == '+' || *begin == '-' || *begin == '*' || *begin == '/' || *begin == '%');
    return additive ? stop : nullptr;
  }
};
struct extent
    : p::seq<operand, p::star<cont, additive_symbol, gap, expect<"an operand", operand>>> {};
struct below : p::seq<p::one<'<'>, p::not_at<p::one<'='>>> {};
struct binder : p::seq<variable, p::opt<cont, below, gap, expect<"the extent", extent>>> {};
struct binders
    : p::seq<binder, p::star<cont, p::one<','>, gap, expect<"an index variable", binder>>> {};
struct for_expr : p::seq<word<"for">, gap, expect<"an index variable", binders>, gap,
                         expect<"`{` and the element", block>> {};
struct reduction
    : p::seq<reduction_word, cont, binders, gap, expect<"`{` and what to reduce", block>> {};

struct index_list : bracket<'[', ']', "the indices", "`,` or `]`", items<expression>> {};
struct scatter_indices : p::seq<index_list> {};
struct scatter_init : bracket<'(', ')', "`scatter`", "`)`", sequence> {};
struct scatter_body
    : bracket<'{', '}', "the body", "`}`", expect<"`[` and the indices", scatter_indices>, gap,
              expect<"`=>`", p::string<'=', '>'>>, gap, sequence> {};
struct scatter : p::seq<word<"scatter">, gap, scatter_word, gap, scatter_init, gap,
                        p::opt<p::not_at<p::one<'{'>>, expect<"an index variable", binders>, gap>,
                        expect<"`{` and the body", scatter_body>> {};

// --- Atoms ---

struct tuple_comma : p::one<','> {};
struct parens
    : bracket<'(', ')', "the parentheses", "`,` or `)`",
              p::opt<p::not_at<closer>, element, p::opt<gap, tuple_comma, gap, items<element>>>> {};
struct list_literal : bracket<'[', ']', "the list", "`,` or `]`", items<element>> {};
struct dotted_gap : by_notation<gap, p::success> {};
struct name_part : any_word {};
struct dotted_name : p::seq<name, p::star<dotted_gap, p::one<'.'>, dotted_gap, name_part>> {};

struct word_atom : p::sor<if_expr, fn_expr, match_expr, for_expr, reduction, scatter, ref_create,
                          ref_read, ref_write, meta, number, dotted_name> {};
struct other_atom : p::sor<local_name, graph_name, number, parens, global_name, block, list_literal,
                           string_token> {};
struct atom : p::if_then_else<at_letter, word_atom, other_atom> {};

// --- What may follow an atom ---

struct call : bracket<'(', ')', "the arguments", "`,` or `)`", items<p::sor<attribute, element>>> {
};
struct safe_index : p::seq<p::one<'!'>, index_list> {};
struct projection_index : digits {};
struct projection : p::seq<p::one<'.'>, projection_index> {};
struct some_postfix : by_notation<strict_postfix, light_postfix> {};
struct postfix : deeper<some_postfix> {};

// --- Infix ---

struct operand : p::seq<by_notation<p::success, light_prefix>, postfix> {};
struct infix : p::seq<operand, p::star<cont, infix_symbol, gap, expect<"an operand", operand>>> {};
struct expression : p::seq<infix, by_notation<p::success, light_pipe>> {};

// --- Bindings ---

struct let_name : by_notation<local_wanted, light_let_target> {};
struct let_statement : p::seq<word<"let">, gap, let_name, gap, p::opt<annotation, gap>,
                              binding_sign, gap, expect<"an expression", expression>> {};
struct bind_statement : p::seq<graph_name, gap, assign, gap, expect<"an expression", expression>> {
};
struct free_var : p::seq<word<"free_var">, gap, local_wanted, p::opt<gap, annotation>> {};
struct binding : p::seq<p::sor<bind_statement, let_statement, free_var>, gap,
                        expect<"`;` after the binding", p::one<';'>>> {};
struct bindings : p::star<binding, gap> {};
struct sequence
    : p::seq<
          bindings, expect<"an expression", expression>,
          p::star<gap, p::one<';'>, gap, bindings, expect<"an expression after `;`", expression>>> {
};

// Between commas. In the light notation a `;` parts no rows of a matrix, nor does it throw away
// what stands before it: a block has braces.
struct light_element : p::seq<bindings, expect<"an expression", expression>> {};
struct element : by_notation<sequence, light_element> {};

// --- Items ---

struct constructor_types : bracket<'(', ')', "the constructor", "`,` or `)`", items<type>> {};
struct constructor : p::seq<name, p::opt<gap, p::sor<constructor_types, record_fields>>> {};
struct constructors : bracket<'{', '}', "the type", "`,` or `}`", items<constructor>> {};
struct type_head : p::seq<gap, expect<"the type's name", name>, p::opt<near, type_params>> {};
struct type_item : p::seq<word<"type">, type_head, p::opt<near, constructors>> {};
struct extern_item : p::seq<word<"extern">, gap, expect<"`type`", word<"type">>, type_head,
                            p::opt<near, constructors>> {};

// Skips to the next item and keeps the `///` lines right before it.
struct doc_gap {
  using rule_t = doc_gap;
  using subs_t = p::type_list<>;
  template <p::apply_mode, p::rewind_mode, template <class...> class, template <class...> class,
            class Input>
  static bool match(Input& in, Builder& builder) {
    const char* begin = in.current();
    const Gap found = builder.gap(begin, in.end(), Breaks::Skip, true);
    if (found.doc_begin && found.end != in.end())
      builder.leaf(Syntax::Doc, found.doc_begin, found.doc_end);
    in.bump(static_cast<std::size_t>(found.end - begin));
    return true;
  }
};

}  // namespace relay::parser::grammar
