#pragma once

#include "parser/lexical.h"
#include "parser/recovery.h"

// The rules that go on after an error.
namespace relay::parser::grammar {

// `{` Content `}`. Behind a statement with an error, Content is matched anew for the rest.
template <Text Holds, Text Closer, class Content>
struct recovering_block {
  using rule_t = recovering_block;
  using subs_t = p::type_list<p::one<'{'>, gap, Content, gap>;
  template <p::apply_mode A, p::rewind_mode, template <class...> class Action,
            template <class...> class Control, class Input>
  static bool match(Input& in, Builder& builder) {
    if (in.empty() || *in.current() != '{') return false;
    const char* const begin = in.current();
    builder.openers.push_back({builder.offset(begin), Holds.view()});
    ++builder.brackets;
    in.bump(1);
    const Builder::State inside = builder.state();
    bool has_errors = false;
    for (Resumption next{begin, true}; next.at;) {
      try {
        if (next.more) match_content<A, Action, Control>(in, builder);
        if (in.empty() || *in.current() != '}') builder.fail_closer(in.current(), Closer.view());
        next.at = nullptr;
      } catch (SyntaxStop& stop) {
        next = resume_in_block(builder, stop, inside, in.end());
        if (!next.at) throw;
        has_errors = true;
        in.bump(static_cast<std::size_t>(next.at - in.current()));
      }
    }
    in.bump(1);
    --builder.brackets;
    builder.openers.pop_back();
    if (has_errors)
      builder.wrap(Syntax::Sequence, inside.mark, builder.offset(begin),
                   builder.offset(in.current()));
    return true;
  }

 private:
  template <p::apply_mode A, template <class...> class Action, template <class...> class Control,
            class Input>
  static void match_content(Input& in, Builder& builder) {
    (void)p::seq<gap, Content, gap>::template match<A, p::rewind_mode::dontcare, Action, Control>(
        in, builder);
  }
};

// Items up to the end of the text or, in strict text, to a `#`; What is said to be expected of what
// is neither.
template <class Item, Text What>
struct all_items {
  using rule_t = all_items;
  using subs_t = p::type_list<Item>;
  template <p::apply_mode A, p::rewind_mode, template <class...> class Action,
            template <class...> class Control, class Input>
  static bool match(Input& in, Builder& builder) {
    for (;;) {
      const Builder::State outside = builder.state();
      const char* const begin = in.current();
      try {
        if (Control<Item>::template match<A, p::rewind_mode::required, Action, Control>(in,
                                                                                        builder))
          continue;
        const char* const next = builder.gap(begin, in.end(), Breaks::Skip).end;
        if (next == in.end() || (builder.strict && *next == '#')) return true;
        builder.fail_expected(next, What.view());
      } catch (SyntaxStop& stop) {
        const char* const next = resume_at_item(builder, stop, outside, begin, in.end());
        if (!next) throw;
        in.bump(static_cast<std::size_t>(next - in.current()));
      }
    }
  }
};

}  // namespace relay::parser::grammar
