#include "lang/call_site.h"

#include <functional>
#include <memory>
#include <unordered_map>

#include "lang/visit.h"

namespace relay::lang {
namespace {

// A text as it is seen through a call. It has no text of its own, and no other source is empty that
// has a span with text.
class MovedSource final : public Source {
 public:
  MovedSource(const Source* text, Span call)
      : Source(text->name(), ""), original(text), call(call) {}
  const Source* original;  // never a MovedSource
  Span call;               // may lie in one
};

struct Key {
  const Source* text;
  Span call;
  friend bool operator==(const Key&, const Key&) = default;
};
struct KeyHash {
  std::size_t operator()(const Key& key) const {
    std::size_t hash = std::hash<const void*>()(key.text);
    for (const std::size_t part : {std::hash<const void*>()(key.call.source),
                                   std::size_t{key.call.begin}, std::size_t{key.call.end}}) {
      hash = hash * 1000003 + part;
    }
    return hash;
  }
};

// Lives as long as the spans in prepared code do, which is to the end of the program.
struct Moved {
  std::unordered_map<Key, std::unique_ptr<MovedSource>, KeyHash> by_call;
  std::unordered_map<const Source*, const MovedSource*> all;
};
Moved& moved() {
  static Moved table;
  return table;
}

const MovedSource* as_moved(const Source* source) {
  if (!source || !source->text().empty()) return nullptr;
  const auto found = moved().all.find(source);
  return found == moved().all.end() ? nullptr : found->second;
}

// Has `place` been moved by `call`, or is it that? A function literal that has been moved is called
// from what has been moved with it: saying so again would double at each level of such literals.
bool comes_by(Span place, Span call) {
  for (;;) {
    if (place == call) return true;
    const MovedSource* source = as_moved(place.source);
    if (!source) return false;
    place = source->call;
  }
}

class Mover final : public Rewriter {
 public:
  explicit Mover(Span call) : call_(call) {}

 protected:
  Expr post(const Expr& expr) override {
    if (is_leaf(expr)) return expr;
    switch (expr->kind) {
      case ExprKind::Function:
      case ExprKind::Let:
      case ExprKind::Tuple:
        return expr;
      case ExprKind::Call:
        // A call that a pass has made stands where its code is put.
        if (!expr->span && cast<Call>(expr).callee->kind != ExprKind::Operator)
          return with_span(expr, call_);
        [[fallthrough]];
      default:
        return expr->span ? with_span(expr, moved_to_call(expr->span, call_)) : expr;
    }
  }

 private:
  Span call_;
};

}  // namespace

Span moved_to_call(Span inner, Span call) {
  if (!inner || !call) return inner;
  const Source* text = inner.source;
  if (const MovedSource* source = as_moved(text)) {
    text = source->original;
    if (!comes_by(call, source->call)) call = moved_to_call(source->call, call);
  }
  std::unique_ptr<MovedSource>& place = moved().by_call[{text, call}];
  if (!place) {
    place = std::make_unique<MovedSource>(text, call);
    moved().all.emplace(place.get(), place.get());
  }
  return {place.get(), inner.begin, inner.end};
}

Expr moved_to_call(const Expr& body, Span call) { return call ? Mover(call).rewrite(body) : body; }

Place place_of(Span span) {
  Place place{span, {}};
  const MovedSource* source = as_moved(span.source);
  if (source) place.span.source = source->original;
  while (source) {
    Span call = source->call;
    source = as_moved(call.source);
    if (source) call.source = source->original;
    place.calls.push_back(call);
  }
  return place;
}

void use_text_places(Diagnostic& diagnostic) {
  diagnostic.span = place_of(diagnostic.span).span;
  for (Label& label : diagnostic.labels) label.span = place_of(label.span).span;
}

}  // namespace relay::lang
