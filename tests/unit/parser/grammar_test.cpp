#include <catch2/catch.hpp>
#include <tao/pegtl/contrib/analyze.hpp>

#include "parser/actions.h"

namespace tao::pegtl {

namespace grammar = relay::parser::grammar;

template <class Name, class Rule>
struct analyze_traits<Name, grammar::token<Rule>> : analyze_any_traits<> {};
template <class Name, class Rule>
struct analyze_traits<Name, grammar::space<Rule>> : analyze_opt_traits<> {};
template <class Name>
struct analyze_traits<Name, grammar::doc_gap> : analyze_opt_traits<> {};
template <class Name>
struct analyze_traits<Name, grammar::at_letter> : analyze_opt_traits<> {};
template <class Name>
struct analyze_traits<Name, grammar::line_end> : analyze_opt_traits<> {};
template <class Name, grammar::Text What, class... Rules>
struct analyze_traits<Name, grammar::expect<What, Rules...>>
    : analyze_traits<Name, typename seq<Rules...>::rule_t> {};
template <class Name, char Open, char Close, grammar::Text Holds, grammar::Text Closer,
          class... Rules>
struct analyze_traits<Name, grammar::bracket<Open, Close, Holds, Closer, Rules...>>
    : analyze_seq_traits<one<Open>, grammar::gap, Rules..., grammar::gap, one<Close>> {};
template <class Name, grammar::Text Holds, grammar::Text Closer, class Content>
struct analyze_traits<Name, grammar::recovering_block<Holds, Closer, Content>>
    : analyze_seq_traits<one<'{'>, grammar::gap, Content, grammar::gap, one<'}'>> {};
template <class Name, class Item, grammar::Text What>
struct analyze_traits<Name, grammar::all_items<Item, What>>
    : analyze_traits<Name, typename star<Item>::rule_t> {};
template <class Name, class Rule>
struct analyze_traits<Name, grammar::deeper<Rule>> : analyze_seq_traits<Rule> {};
template <class Name, class Strict, class Light>
struct analyze_traits<Name, grammar::by_notation<Strict, Light>>
    : analyze_sor_traits<Strict, Light> {};

}  // namespace tao::pegtl

TEST_CASE("no rule of the grammars loops without progress") {
  CHECK(tao::pegtl::analyze<tao::pegtl::grammar::strict_file>() == 0);
  CHECK(tao::pegtl::analyze<tao::pegtl::grammar::light_file>() == 0);
  CHECK(tao::pegtl::analyze<tao::pegtl::grammar::type_file>() == 0);
}
