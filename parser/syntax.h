#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "lang/diagnostic.h"
#include "lang/source.h"

// The syntax tree: what was written, before names mean anything. The grammars build it (actions.h),
// the resolver turns it into the core (resolve.h), and nothing else sees it.
namespace relay::parser {

// Kinds of node, with their children. `x?` may be missing, `x*` repeats.
enum class Syntax : std::uint8_t {
  // Leaves; their text is their range of the source.
  Name,    // bare
  Local,   // %x
  Global,  // @f
  Graph,   // %0
  Number,
  String,    // with its quotes
  Hole,      // `_` as a type or pattern
  AnyDim,    // `?`
  Word,      // a reduction's name
  Symbol,    // an infix or prefix operator
  Mark,      // says that something was there: the comma of a tuple, the `?` of `match?`, a `;`
  Empty,     // a missing part of a slice
  Ellipsis,  // `...` among indices
  Doc,       // lines of `///`
  Version,   // the string of the header
  Metadata,  // `#[metadata]` and all that follows
  Broken,    // stands where a syntax error was; as a statement: a name it would have defined; as an
             // item: (Name)*, likewise
  // Expressions
  Dotted,      // Name*, at least two
  Meta,        // key (Name), Number: meta[Key][n]
  Parens,      // e
  Tuple,       // (e | Mark)*
  Call,        // callee, (e | Attr)*
  Attr,        // key (Name; in `with` also Indices), value
  Index,       // tensor, (e | Slice | Ellipsis)*
  SafeIndex,   // tensor, e*: `t![i]`
  Slice,       // (e | Empty), (e | Empty), (e | Empty)
  Projection,  // e, Number
  Field,       // e, Name
  With,        // e, Attr*
  Infix,       // e, (Symbol, e)*: precedence is the resolver's affair
  Prefix,      // Symbol*, e
  Pipe,        // e, target
  If,          // (condition, branch)*, else?
  Function,    // TypeParams?, Params, Annotation?, body
  Match,       // Mark?, scrutinee, Arm*
  Arm,         // pattern, e
  Sequence,    // (Let | Bind | FreeVar | e)*, e
  Let,         // variable or pattern, Annotation?, e
  Bind,        // Graph, e
  FreeVar,     // Local, Annotation?
  RefCreate,   // e
  RefRead,     // e
  RefWrite,    // e*, of which there should be two
  List,        // e*
  For,         // Binder*, e
  Reduce,      // Word, Binder*, e
  Scatter,     // Word, init, Binder*, Indices, value
  Binder,      // variable, extent?
  Indices,     // e*
  // Functions
  TypeParams,  // Name*
  Params,      // (Param | Attr)*; `x=1` is an Attr, whatever it means
  Param,       // variable, Attributes?, Annotation?, Default?
  Default,     // e
  Attributes,  // Attr*
  Annotation,  // type
  // Patterns (also Hole, Local, Name; Number, or Prefix with a minus)
  TypedPattern,        // Local or Name, Annotation
  ConstructorPattern,  // Name, (pattern | FieldPattern)*
  RecordPattern,       // Name, (Name | FieldPattern)*
  FieldPattern,        // Name, pattern
  TuplePattern,        // pattern*
  // Types (also Hole, Meta)
  TensorType,    // DimList or Name, dtype (Name)
  DimList,       // dim*; a dim is Number, AnyDim, Name, Meta, Infix or Prefix
  TupleType,     // type*
  FunctionType,  // TypeParams?, TypeList, type
  TypeList,      // type*
  RefType,       // type
  NamedType,     // Name, type*
  // Items
  Item,            // Doc?, one of the following, Mark? (a `;`)
  Def,             // Global or Name, Function, Function? (its gradient) or Tangent?
  Tangent,         // Function
  TypeDef,         // Name, TypeParams?, Constructor*
  ExternType,      // the same
  Constructor,     // Name, type* or RecordFields
  RecordFields,    // (Name, Annotation)*
  TopLet,          // variable or pattern, Annotation?, e
  TopExpr,         // e
  Import,          // String, (ImportPrefix | ImportNames)?
  ImportPrefix,    // Name
  ImportNames,     // ImportName*
  ImportName,      // Name, Name?
  Rule,            // Word (Word?), Name, TypeParams?, Params, Where?, pattern, e? (parser/rules.h)
  Where,           // e
  Schedule,        // Global or Name, ScheduleParams?, ScheduleStep*
  ScheduleParams,  // Name*
  ScheduleStep,    // Name, (Name | Number)*
  File,            // Version?, Item*, Metadata?
};

// The pointers to its children lie right behind a node: a tree is most of the memory that reading
// touches, and fresh memory costs more than what is written to it.
struct alignas(void*) Node {
  Syntax kind;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::uint32_t count = 0;

  std::span<const Node* const> children() const {
    return {reinterpret_cast<const Node* const*>(this + 1), count};
  }
  const Node* child(std::size_t i) const { return children()[i]; }
  const Node* last() const { return children()[count - 1]; }
  // The first child of that kind; null if there is none.
  const Node* find(Syntax wanted) const {
    for (const Node* node : children()) {
      if (node->kind == wanted) return node;
    }
    return nullptr;
  }
};

// Memory of a tree: grows, and goes all at once.
class Arena {
 public:
  // Aligned for pointers.
  void* bytes(std::size_t size) {
    size = (size + 7) & ~std::size_t{7};
    if (size > left_) grow(size);
    std::byte* p = next_;
    next_ += size;
    left_ -= size;
    return p;
  }

 private:
  void grow(std::size_t size) {
    const std::size_t block = size > kBlock ? size : kBlock;
    blocks_.push_back(std::make_unique_for_overwrite<std::byte[]>(block));
    next_ = blocks_.back().get();
    left_ = block;
  }

  static constexpr std::size_t kBlock = std::size_t{64} << 10;
  std::vector<std::unique_ptr<std::byte[]>> blocks_;
  std::byte* next_ = nullptr;
  std::size_t left_ = 0;
};

struct SyntaxTree {
  const lang::Source* source = nullptr;
  bool strict = false;
  Arena arena;
  const Node* root = nullptr;
  std::vector<lang::Diagnostic> errors;  // of what is Broken

  std::string_view text(const Node& node) const {
    return source->text().substr(node.begin, node.end - node.begin);
  }
  lang::Span span(const Node& node) const { return {source, node.begin, node.end}; }
};

}  // namespace relay::parser
