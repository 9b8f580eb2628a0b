#pragma once

#include "parser/shared.h"

// Strict Relay's own rules.
namespace relay::parser::grammar {

struct strict_condition : bracket<'(', ')', "the condition", "`)`", sequence> {};

// A projection follows an atom only: `(f(%x)).0`.
struct strict_index : p::seq<index_list> {};
struct strict_postfix
    : p::seq<atom, p::opt<gap, projection>, p::star<gap, p::sor<call, safe_index, strict_index>>> {
};

struct strict_def : p::seq<word<"def">, gap, expect<"a global name such as `@f`", global_name>, gap,
                           function_rest> {};
struct strict_item : p::seq<doc_gap, p::sor<strict_def, type_item, extern_item>> {};

struct version_text : p::seq<string_token> {};
struct version
    : p::seq<p::one<'#'>, gap, expect<"`[`", p::one<'['>>, gap,
             expect<"`version`", word<"version">>, gap, expect<"`=`", p::one<'='>>, gap,
             expect<"the version as a string", version_text>, gap, expect<"`]`", p::one<']'>>> {};
struct metadata : p::seq<p::one<'#'>, gap, expect<"`[`", p::one<'['>>, gap,
                         expect<"`metadata`", word<"metadata">>, gap, expect<"`]`", p::one<']'>>,
                         p::until<p::eof>> {};

struct at_strict_item : p::at<gap, p::sor<word<"def">, word<"type">, word<"extern">>> {};
struct strict_expression : p::seq<sequence> {};
struct strict_body
    : p::sor<p::seq<at_strict_item, all_items<strict_item, "a definition or a type">>,
             p::seq<gap, p::sor<p::at<p::eof>, p::at<p::one<'#'>>, strict_expression>>> {};
struct strict_file : p::seq<gap, p::opt<version>, strict_body, gap, p::opt<metadata>,
                            expect<"a definition, a type or the end of the text", p::eof>> {};
struct type_file : p::seq<gap, expect<"a type", type>, gap, expect<"the end of the text", p::eof>> {
};

}  // namespace relay::parser::grammar
