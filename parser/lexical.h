#pragma once

#include <cstddef>
#include <string_view>

#include <tao/pegtl.hpp>

#include "parser/builder.h"
#include "parser/scan.h"

// Tokens, and the few building blocks that PEGTL does not have. Rules begin at their first token:
// the white space before it belongs to the rule around them.
//
// One grammar serves both notations; where they differ, a rule asks the builder (`if_light`,
// `by_notation`), or the token does. What only one of them has stands in strict.h and light.h.
namespace relay::parser::grammar {

namespace p = tao::pegtl;

// A text as template argument.
template <std::size_t N>
struct Text {
  char data[N];
  constexpr Text(const char (&text)[N]) {
    for (std::size_t i = 0; i < N; ++i) data[i] = text[i];
  }
  constexpr std::string_view view() const { return {data, N - 1}; }
};

// Base of the rules that are written by hand: `scan(begin, end, builder)` returns the end of the
// match, or null.
template <class Rule>
struct token {
  using rule_t = token;
  using subs_t = p::type_list<>;
  template <p::apply_mode, p::rewind_mode, template <class...> class, template <class...> class,
            class Input>
  static bool match(Input& in, Builder& builder) {
    const char* stop = Rule::scan(in.current(), in.end(), builder);
    if (!stop) return false;
    in.bump(static_cast<std::size_t>(stop - in.current()));
    return true;
  }
};

// --- White space. `gap`: anything. `near`: stays on the line in the light notation; stands before
// what may continue an expression only there. `cont`: before an operator: line breaks only inside
// brackets. ---

template <class Rule>
struct space {
  using rule_t = space;
  using subs_t = p::type_list<>;
  template <p::apply_mode, p::rewind_mode, template <class...> class, template <class...> class,
            class Input>
  static bool match(Input& in, Builder& builder) {
    const char* begin = in.current();
    if (begin == in.end() || static_cast<unsigned char>(*begin) > '/') return true;
    const Gap found = builder.gap(begin, in.end(), Rule::breaks(builder));
    in.bump(static_cast<std::size_t>(found.end - begin));
    return true;
  }
};
struct gap : space<gap> {
  static Breaks breaks(const Builder&) { return Breaks::Skip; }
};
struct near : space<near> {
  static Breaks breaks(const Builder& builder) {
    return builder.strict ? Breaks::Skip : Breaks::Stop;
  }
};
struct cont : space<cont> {
  static Breaks breaks(const Builder& builder) {
    return builder.strict || builder.brackets > 0 ? Breaks::Skip : Breaks::Stop;
  }
};

// --- Building blocks ---

// `Rules`, or a syntax error "expected WHAT, found ...".
template <Text What, class... Rules>
struct expect {
  using rule_t = expect;
  using subs_t = p::type_list<Rules...>;
  template <p::apply_mode A, p::rewind_mode, template <class...> class Action,
            template <class...> class Control, class Input>
  static bool match(Input& in, Builder& builder) {
    const char* at = in.current();
    if (!p::seq<Rules...>::template match<A, p::rewind_mode::dontcare, Action, Control>(in,
                                                                                        builder)) {
      builder.fail_expected(at, What.view());
    }
    return true;
  }
};

// `(` Rules `)`. What it holds is for the message: "the arguments". Closer: what is expected at its
// end.
template <char Open, char Close, Text Holds, Text Closer, class... Rules>
struct bracket {
  using rule_t = bracket;
  using subs_t = p::type_list<p::one<Open>, gap, Rules..., gap>;
  template <p::apply_mode A, p::rewind_mode, template <class...> class Action,
            template <class...> class Control, class Input>
  static bool match(Input& in, Builder& builder) {
    if (in.empty() || *in.current() != Open) return false;
    builder.openers.push_back({builder.offset(in.current()), Holds.view()});
    ++builder.brackets;
    in.bump(1);
    const bool inside =
        p::seq<gap, Rules..., gap>::template match<A, p::rewind_mode::required, Action, Control>(
            in, builder);
    if (!inside || in.empty() || *in.current() != Close)
      builder.fail_closer(in.current(), Closer.view());
    in.bump(1);
    --builder.brackets;
    builder.openers.pop_back();
    return true;
  }
};

// Counts levels of nesting around `Rule`.
template <class Rule>
struct deeper {
  using rule_t = deeper;
  using subs_t = p::type_list<Rule>;
  template <p::apply_mode A, p::rewind_mode M, template <class...> class Action,
            template <class...> class Control, class Input>
  static bool match(Input& in, Builder& builder) {
    if (++builder.depth > kNestingLimit) builder.fail_too_deep(in.current());
    const bool matched = Control<Rule>::template match<A, M, Action, Control>(in, builder);
    --builder.depth;
    return matched;
  }
};

template <class Strict, class Light>
struct by_notation {
  using rule_t = by_notation;
  using subs_t = p::type_list<Strict, Light>;
  template <p::apply_mode A, p::rewind_mode M, template <class...> class Action,
            template <class...> class Control, class Input>
  static bool match(Input& in, Builder& builder) {
    return builder.strict ? Control<Strict>::template match<A, M, Action, Control>(in, builder)
                          : Control<Light>::template match<A, M, Action, Control>(in, builder);
  }
};
template <class Rule>
using if_light = by_notation<p::failure, Rule>;

// Zero or more `Rule`, with commas between and perhaps after; stops before a closing bracket.
struct closer : p::one<')', ']', '}'> {};
template <class Rule>
struct items
    : p::opt<p::not_at<closer>, Rule, p::star<gap, p::one<','>, gap, p::not_at<closer>, Rule>,
             p::opt<gap, p::one<','>>> {};

// --- Words and punctuation ---

template <Text Word>
struct word : token<word<Word>> {
  static const char* scan(const char* begin, const char* end, Builder&) {
    constexpr std::string_view text = Word.view();
    if (static_cast<std::size_t>(end - begin) < text.size()) return nullptr;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (begin[i] != text[i]) return nullptr;
    }
    const char* stop = begin + text.size();
    return scan_word(stop, end) == stop ? stop : nullptr;
  }
};

struct at_letter {
  using rule_t = at_letter;
  using subs_t = p::type_list<>;
  template <class Input>
  static bool match(Input& in) {
    return lang::letter_length({in.current(), in.size(2)}) != 0;
  }
};
struct assign : p::seq<p::one<'='>, p::not_at<p::one<'=', '>'>>> {};
struct arrow : p::seq<p::one<'-'>, gap, p::one<'>'>> {};
struct digits : p::plus<p::digit> {};

struct bare_name : token<bare_name> {  // no keyword
  static const char* scan(const char* begin, const char* end, Builder& builder) {
    const std::string_view name = scan_name(begin, end, builder.strict);
    return name.empty() || is_keyword(name, builder.strict) ? nullptr : begin + name.size();
  }
};
struct any_word : token<any_word> {  // also a keyword: parts of dotted names, keys
  static const char* scan(const char* begin, const char* end, Builder&) {
    const std::string_view name = scan_name(begin, end, false);
    return name.empty() ? nullptr : begin + name.size();
  }
};
template <char Sigil>
struct sigil_name : token<sigil_name<Sigil>> {
  static const char* scan(const char* begin, const char* end, Builder& builder) {
    if (begin == end || *begin != Sigil) return nullptr;
    const std::string_view name = scan_name(begin + 1, end, builder.strict);
    return name.empty() || is_keyword(name, true) ? nullptr : begin + 1 + name.size();
  }
};
struct local_name : sigil_name<'%'> {};
struct global_name : p::seq<sigil_name<'@'>, p::star<p::one<'.'>, any_word>> {};
struct graph_name : p::seq<p::one<'%'>, digits> {};

struct hole : word<"_"> {};

// `"` up to the next `"`. In the light notation a backslash escapes the next character.
struct string_token : token<string_token> {
  static const char* scan(const char* begin, const char* end, Builder& builder) {
    if (begin == end || *begin != '"') return nullptr;
    for (const char* q = begin + 1; q != end; ++q) {
      if (*q == '"') return q + 1;
      if (*q == '\\' && !builder.strict && q + 1 != end) ++q;
    }
    builder.fail_never_closed(begin, "this string");
  }
};

struct number : token<number> {
  static const char* scan(const char* begin, const char* end, Builder& builder) {
    return builder.strict ? scan_strict_number(begin, end) : scan_light_number(begin, end);
  }
};

struct infix_symbol : token<infix_symbol> {
  static const char* scan(const char* begin, const char* end, Builder& builder) {
    return scan_infix(begin, end, builder.strict);
  }
};

struct reduction_word : token<reduction_word> {
  static const char* scan(const char* begin, const char* end, Builder&) {
    const std::string_view name = scan_name(begin, end, false);
    return is_reduction(name) ? begin + name.size() : nullptr;
  }
};

// What a scatter folds with.
struct scatter_word : token<scatter_word> {
  static const char* scan(const char* begin, const char* end, Builder&) {
    const std::string_view name = scan_name(begin, end, false);
    return is_reduction(name) || name == "set" ? begin + name.size() : nullptr;
  }
};

}  // namespace relay::parser::grammar
