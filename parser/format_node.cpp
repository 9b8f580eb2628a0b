// The one switch over all kinds of node.

#include "parser/formatter.h"

namespace relay::parser {

Document Formatter::any(const Node& node) {
  if (!is_surrounded(node)) return content(node);
  if (tokens_.at("{")) return block(node);
  const Document open = take("(");
  const Document inner = any(node);
  return concat({open, inner, take(")")});
}

Document Formatter::content(const Node& node) {
  switch (node.kind) {
    case Syntax::Name:
    case Syntax::Local:
    case Syntax::Global:
    case Syntax::Graph:
    case Syntax::Number:
    case Syntax::String:
    case Syntax::Hole:
    case Syntax::AnyDim:
    case Syntax::Ellipsis:
    case Syntax::Word:
    case Syntax::Symbol:
    case Syntax::Mark:
    case Syntax::Metadata:
    case Syntax::Meta:
      return tokens_.take(node);
    case Syntax::Empty:
    case Syntax::Doc:     // is among the comments
    case Syntax::Broken:  // never there: a text with errors is not laid out
      return text("");
    case Syntax::Version:
      return version(node);
    case Syntax::Dotted:
      return dotted(node);
    case Syntax::Parens:
      return parens(node);
    case Syntax::Tuple:
      return tuple(node);
    case Syntax::Call:
      return call(node);
    case Syntax::Attr:
      return attribute(node, "=");
    case Syntax::Index: {
      const Document tensor = any(*node.child(0));
      return concat({tensor, bracketed({.open = '[', .close = ']'}, node.children().subspan(1))});
    }
    case Syntax::SafeIndex: {
      const Document tensor = any(*node.child(0));
      const Document mark = take("!");
      return concat(
          {tensor, mark, bracketed({.open = '[', .close = ']'}, node.children().subspan(1))});
    }
    case Syntax::Slice:
      return slice(node);
    case Syntax::Projection:
    case Syntax::Field: {
      const Document value = any(*node.child(0));
      const Document dot = take(".");
      return concat({value, dot, any(*node.child(1))});
    }
    case Syntax::With:
      return with(node);
    case Syntax::Infix:
      return infix(node);
    case Syntax::Prefix:
      return prefix(node);
    case Syntax::Pipe:
      return pipe(node);
    case Syntax::If:
      return if_chain(node);
    case Syntax::Function: {
      const Document word = take("fn");
      return concat({word, text(" "), function(node)});
    }
    case Syntax::Match:
      return match(node);
    case Syntax::Arm:
      return arm(node);
    case Syntax::Sequence:
      return sequence(node);
    case Syntax::Let:
    case Syntax::TopLet:
    case Syntax::Bind:
      return binding(node);
    case Syntax::FreeVar: {
      const Document word = take("free_var");
      return concat({word, text(" "), param(node)});
    }
    case Syntax::RefCreate:
      return word_call(node, "ref");
    case Syntax::RefRead:
      return word_call(node, "ref_read");
    case Syntax::RefWrite:
      return word_call(node, "ref_write");
    case Syntax::List:
      return list(node);
    case Syntax::For:
    case Syntax::Reduce:
      return loop(node);
    case Syntax::Scatter:
      return scatter(node);
    case Syntax::Binder:
      return binder(node);
    case Syntax::Indices:
    case Syntax::TypeParams:
      return bracketed({.open = '[', .close = ']', .commas = Commas::Drop, .tight = true},
                       node.children());
    case Syntax::Params:
      return bracketed({.open = '(', .close = ')'}, node.children());
    case Syntax::Param:
    case Syntax::TypedPattern:
      return param(node);
    case Syntax::Default: {
      const Document sign = concat({text(" "), take("="), text(" ")});
      return concat({sign, any(*node.child(0))});
    }
    case Syntax::Attributes:
      return bracketed({.open = '{', .close = '}', .commas = Commas::Drop}, node.children());
    case Syntax::Annotation:
      return annotation(node);
    case Syntax::ConstructorPattern:
      return named(node, '(');
    case Syntax::RecordPattern: {
      const Document name = any(*node.child(0));
      return concat(
          {name, text(" "),
           bracketed({.open = '{', .close = '}', .spaced = true}, node.children().subspan(1))});
    }
    case Syntax::FieldPattern:
      return attribute(node, "=");
    case Syntax::TuplePattern:
      return bracketed({.open = '(', .close = ')', .commas = Commas::Drop, .one_keeps_comma = true},
                       node.children());
    case Syntax::TensorType:
      return tensor_type(node);
    case Syntax::DimList:
    case Syntax::TypeList:
      return bracketed({.open = '(', .close = ')', .commas = Commas::Drop, .tight = true},
                       node.children());
    case Syntax::TupleType:
      return bracketed({.open = '(',
                        .close = ')',
                        .commas = Commas::Drop,
                        .tight = true,
                        .one_keeps_comma = true},
                       node.children());
    case Syntax::FunctionType:
      return function_type(node);
    case Syntax::RefType: {
      const Document word = concat({take("ref"), take("(")});
      const Document content = any(*node.child(0));
      return concat({word, content, take(")")});
    }
    case Syntax::NamedType:
      return named(node, '[');
    case Syntax::Item:
      return item(node);
    case Syntax::Def:
      return def(node);
    case Syntax::Tangent:
      return concat({take("tangent"), text(" "), any(*node.child(0))});
    case Syntax::TypeDef:
    case Syntax::ExternType:
      return type_def(node);
    case Syntax::Constructor:
    case Syntax::RecordFields:  // belong to a constructor
      return constructor(node);
    case Syntax::TopExpr:
      return any(*node.child(0));
    case Syntax::Import: {
      const Document file = concat({take("import"), text(" "), any(*node.child(0))});
      return node.count == 1 ? file : concat({file, text(" "), any(*node.child(1))});
    }
    case Syntax::ImportPrefix: {
      const Document word = take("as");
      return concat({word, text(" "), any(*node.child(0))});
    }
    case Syntax::ImportNames:
      return bracketed({.open = '(', .close = ')'}, node.children());
    case Syntax::ImportName: {
      const Document name = any(*node.child(0));
      if (node.count == 1) return name;
      const Document word = concat({text(" "), take("as"), text(" ")});
      return concat({name, word, any(*node.child(1))});
    }
    case Syntax::Rule:
      return rule(node);
    case Syntax::Where:
      return any(*node.child(0));
    case Syntax::Schedule:
      return schedule(node);
    case Syntax::ScheduleParams:
      return bracketed({.open = '(', .close = ')'}, node.children());
    case Syntax::ScheduleStep: {
      Parts words;
      for (const Node* child : node.children()) {
        if (!words.empty()) words.push_back(text(" "));
        words.push_back(any(*child));
      }
      return make_.concat(std::move(words));
    }
    case Syntax::File: {
      Parts parts;
      file(node, parts);
      return make_.concat(std::move(parts));
    }
  }
  return text("");
}

}  // namespace relay::parser
