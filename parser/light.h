#pragma once

#include "parser/shared.h"

// The light notation's own rules.
namespace relay::parser::grammar {

struct light_variable : p::sor<local_name, name> {};
// A variable, or a pattern that every value fits.
struct light_let_target
    : p::sor<tuple_pattern, p::if_then_else<p::at<name, near, p::one<'(', '{'>>, named_pattern,
                                            expect<"a variable or a pattern", variable>>> {};
struct light_condition : p::seq<expression> {};
struct light_scrutinee : p::seq<expression> {};
// Without it the value is `()`.
struct light_else : p::opt<p::at<gap, word<"else">>, else_branch> {};

struct prefix_symbol : p::sor<p::seq<p::one<'-'>, p::not_at<p::one<'>'>>>,
                              p::seq<p::one<'!'>, p::not_at<p::one<'=', '['>>>> {};
struct light_prefix : p::star<prefix_symbol, gap> {};

// `(`, `[` and the rest continue an expression on the same line only.
struct field_name : any_word {};
struct field : p::seq<p::one<'.'>, field_name> {};
struct missing_part : p::success {};
struct slice_part : p::sor<p::seq<p::at<p::one<':', ',', ']'>>, missing_part>, expression> {};
struct slice_rest : p::seq<gap, p::one<':'>, gap, expect<"an index", slice_part>,
                           p::opt<gap, p::one<':'>, gap, expect<"a step", slice_part>>> {};
struct ellipsis : p::string<'.', '.', '.'> {};
struct index_part
    : p::sor<ellipsis, p::seq<p::sor<p::seq<p::at<p::one<':'>>, missing_part>, expression>,
                              p::opt<slice_rest>>> {};
struct index : bracket<'[', ']', "the index", "`,` or `]`", items<index_part>> {};
// `[i, j] = v` in `a with { .. }`.
struct element_value : p::seq<scatter_indices, gap, expect<"`=`", assign>, gap,
                              expect<"the new value", expression>> {};
struct with_record : p::seq<word<"with">, gap,
                            bracket<'{', '}', "the fields or elements", "`,` or `}`",
                                    items<p::sor<element_value, attribute>>>> {};
struct light_postfix
    : p::seq<atom, p::star<near, p::sor<call, index, projection, field, safe_index, with_record>>> {
};

struct pipe_step : p::seq<p::string<'|', '>'>, gap, expect<"a function after `|>`", postfix>> {};
struct light_pipe : p::star<cont, pipe_step> {};

struct record_field : p::seq<name, gap, annotation> {};
struct record_fields
    : if_light<bracket<'{', '}', "the fields", "`,` or `}`", items<record_field>>> {};

// --- Items ---

// A complete item ends with its line, or with `;`.
struct line_end {
  using rule_t = line_end;
  using subs_t = p::type_list<>;
  template <p::apply_mode, p::rewind_mode, template <class...> class, template <class...> class,
            class Input>
  static bool match(Input& in, Builder& builder) {
    const Gap rest = builder.gap(in.current(), in.end(), Breaks::Stop);
    if (rest.end != in.end() && *rest.end != ';' && *rest.end != '\n' && *rest.end != '\r') {
      builder.fail_expected(rest.end,
                            *rest.end == '='
                                ? "an operator, `;` or a new line (a binding begins with `let`)"
                                : "an operator, `;` or a new line after the expression");
    }
    return true;
  }
};

// A dotted name is one name here.
struct dotted_global : p::seq<bare_name, p::star<p::one<'.'>, any_word>> {};
struct global : p::sor<global_name, dotted_global> {};
struct expression_body : p::seq<assign, gap, expect<"the function's value", expression>, line_end> {
};
struct light_function
    : p::seq<p::opt<type_params, gap>, expect<"`(` and parameters", params>, gap,
             p::opt<result_type, gap>,
             expect<"`=` or `{` and the function's body", p::sor<block, expression_body>>> {};
struct own_gradient
    : p::seq<word<"gradient">, gap, expect<"`fn` and the function of the gradient", fn_expr>> {};
struct own_tangent
    : p::seq<word<"tangent">, gap, expect<"`fn` and the function of the tangent", fn_expr>> {};
struct derivative_clause
    : p::seq<word<"with">, gap,
             expect<"`gradient` or `tangent`, and a function", p::sor<own_gradient, own_tangent>>> {
};
struct light_def : p::seq<word<"def">, gap, expect<"the function's name", global>, gap,
                          light_function, p::opt<near, derivative_clause>> {};
struct top_let
    : p::seq<word<"let">, gap, p::sor<global_name, light_let_target>, gap, p::opt<annotation, gap>,
             binding_sign, gap, expect<"an expression", expression>, line_end> {};
// `import "f.relay" as f`, `import "f.relay" (a, b as c)`
struct import_prefix : p::seq<word<"as">, gap, expect<"a name for the file", name>> {};
struct import_name
    : p::seq<dotted_global,
             p::opt<gap, word<"as">, gap, expect<"the name that it gets", dotted_global>>> {};
struct import_names : bracket<'(', ')', "the names", "`,` or `)`", items<import_name>> {};
struct import_item
    : p::seq<word<"import">, gap, expect<"the file's name as a string", string_token>,
             p::opt<near, p::sor<import_prefix, import_names>>, line_end> {};

// An expression that begins with a graph binding or a free variable, as printed, is one item.
struct first_binding : p::seq<p::sor<bind_statement, free_var>, gap,
                              expect<"`;` after the binding", p::one<';'>>, gap> {};
struct top_sequence
    : p::if_then_else<first_binding, p::seq<bindings, expect<"an expression", expression>>,
                      expression> {};
struct top_expression : p::seq<top_sequence, line_end> {};

// `rule f(x) { pattern } => { replacement }`, `pattern f(x) { pattern }` (rules.h). The words are
// names everywhere else.
struct rule_word : p::sor<word<"approximate">, word<"rule">, word<"pattern">> {};
struct rule_head
    : p::seq<p::sor<p::seq<word<"approximate">, near, word<"rule">>, word<"rule">, word<"pattern">>,
             near, bare_name> {};
struct rule_words
    : p::sor<p::seq<p::at<word<"approximate">>, rule_word, near, rule_word>, rule_word> {};
struct rule_where : p::seq<word<"where">, gap, expect<"a condition", light_condition>> {};
struct rule_signature : p::seq<dotted_global, gap, p::opt<type_params, gap>,
                               expect<"`(` and the names", params>, gap, p::opt<rule_where, gap>> {
};
struct rule_replacement : p::seq<gap, expect<"`=>` and the replacement", p::string<'=', '>'>>, gap,
                                 expect<"`{` and the replacement", block>> {};
struct rule_item
    : p::seq<p::at<rule_head>,
             p::if_then_else<
                 p::at<word<"pattern">>,
                 p::seq<rule_words, near, rule_signature, expect<"`{` and the pattern", block>>,
                 p::seq<rule_words, near, rule_signature, expect<"`{` and the pattern", block>,
                        rule_replacement>>> {};

// `schedule f { tile i j 4 16; vectorize j_i }`, and with parameters a step of one's own. The word
// is a name like any other where no name and bracket follow it.
struct schedule_word : p::sor<dim_number, dotted_global> {};
struct schedule_step : p::seq<dotted_global, p::star<near, schedule_word>> {};
struct schedule_params : bracket<'(', ')', "the parameters", "`,` or `)`", items<name>> {};
struct schedule_break : p::star<gap, p::one<';'>> {};
struct schedule_steps : bracket<'{', '}', "the steps", "a step, `;` or `}`",
                                p::star<schedule_break, gap, schedule_step>, schedule_break> {};
struct schedule_item : p::seq<p::at<word<"schedule">, near, global, near, p::one<'{', '('>>,
                              word<"schedule">, near, global, near, p::opt<schedule_params, gap>,
                              expect<"`{` and the steps", schedule_steps>> {};

struct item_mark : p::one<';'> {};
struct light_item : p::seq<doc_gap,
                           p::sor<light_def, top_let, type_item, import_item, extern_item,
                                  rule_item, schedule_item, top_expression>,
                           p::opt<near, item_mark>> {};
struct light_file : p::seq<all_items<light_item, "an expression or a definition">, gap, p::eof> {};

// --- Names with attributes (attributed_names.h) ---

struct attribute_list
    : bracket<'(', ')', "the options", "`,` or `)`", items<p::sor<attribute, expression>>> {};
struct attributed_name : p::seq<expect<"a name", name>, p::opt<attribute_list>> {};
struct attributed_names
    : p::seq<gap, attributed_name, p::star<gap, p::one<','>, gap, attributed_name>> {};

}  // namespace relay::parser::grammar
