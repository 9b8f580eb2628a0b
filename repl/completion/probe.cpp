#include "repl/completion/probe.h"

#include <utility>

#include "lang/diagnostic.h"
#include "lang/source.h"
#include "parser/parse.h"

namespace relay::repl::completion {

namespace {

constexpr std::size_t kMostBytes = 20'000;
constexpr int kMostAttempts = 6;

// A program whose value is a tuple of the expressions, inside of functions for the parameters.
class Program {
 public:
  Program(const std::vector<Binder>& binders, const std::vector<std::string>& expressions)
      : binders_(binders),
        expressions_(expressions),
        state_(binders.size() + expressions.size(), Part::Whole) {}

  // Writes it without what has been left out.
  std::string text() {
    ends_.clear();
    text_ = "(";
    std::size_t closers = 0;
    for (std::size_t i = 0; i < binders_.size(); ++i) {
      if (state_[i] != Part::Out) add(binders_[i], state_[i] == Part::Plain, closers);
      ends_.push_back(text_.size());
    }
    text_ += "(";
    for (std::size_t i = 0; i < expressions_.size(); ++i) {
      const bool is_in = state_[binders_.size() + i] != Part::Out;
      text_ += is_in ? expressions_[i] + ", " : "(), ";
      ends_.push_back(text_.size());
    }
    text_ += ")";
    for (std::size_t i = 0; i < closers; ++i) text_ += " }";
    text_ += ")";
    return text_;
  }

  // Leaves out the part with an error there. False if it is not to be left out.
  bool leave_out(std::size_t at) {
    std::size_t part = 0;
    while (part < ends_.size() && ends_[part] <= at) ++part;
    if (part == ends_.size() || state_[part] == Part::Out) return false;
    const bool is_function =
        part < binders_.size() && binders_[part].kind == Binder::Kind::Function;
    if (is_function && state_[part] == Part::Plain) return false;
    state_[part] = is_function ? Part::Plain : Part::Out;
    return true;
  }

  bool has(std::size_t expression) const {
    return state_[binders_.size() + expression] != Part::Out;
  }

 private:
  enum class Part : std::uint8_t { Whole, Plain, Out };  // Plain: parameters without their types

  void add(const Binder& binder, bool is_plain, std::size_t& closers) {
    switch (binder.kind) {
      case Binder::Kind::Function:
        text_ += "fn ";
        if (is_plain) {
          text_ += "(";
          for (const std::string& name : binder.names) text_ += name + ", ";
          text_ += ")";
        } else {
          text_ += binder.text;
        }
        text_ += " { ";
        ++closers;
        return;
      case Binder::Kind::Let:
        text_ += std::string(binder.source) + "; ";
        return;
      case Binder::Kind::Global:
        text_ += binder.text + " ";
        return;
      case Binder::Kind::Index:
        for (const std::string& name : binder.names) text_ += "let " + name + " = 0i64; ";
        return;
      case Binder::Kind::Schedule:
        return;  // nothing of it has a type
      case Binder::Kind::Case:
        text_ +=
            "match? (" + std::string(binder.source) + ") { " + std::string(binder.pattern) + " => ";
        ++closers;
        return;
    }
  }

  const std::vector<Binder>& binders_;
  const std::vector<std::string>& expressions_;
  std::vector<Part> state_;
  std::string text_;
  std::vector<std::size_t> ends_;  // of each part in the text
};

// Functions at attributes that a text gives them are definitions while it is looked at.
class Instances {
 public:
  explicit Instances(const State& state) : state_(state) {}
  Instances(const Instances&) = delete;
  ~Instances() {
    for (const std::string& name : names_) {
      state_.module.remove(name);
      state_.checker.forget(name);
    }
  }
  void define(const parser::Item& item) {
    if (state_.module.find(item.name)) return;
    names_.push_back(item.name);
    state_.module.define(lang::Definition{item.name, item.expr, nullptr, lang::Origin::Own, "",
                                          item.span, item.parameters, item.instance_of,
                                          item.instance_attrs});
  }

 private:
  const State& state_;
  std::vector<std::string> names_;
};

// The type of a program; or its errors.
lang::Result<lang::Type> type_of(const State& state, const lang::Source& source) {
  return lang::capture([&]() -> lang::Type {
    parser::Parsed parsed = parser::parse(source, state.module, parser::Notation::Light).or_throw();
    Instances instances(state);
    lang::Expr expr;
    for (const parser::Item& item : parsed.items) {
      if (item.kind == parser::ItemKind::Expression) expr = item.expr;
      if (!item.instance_of.empty()) instances.define(item);
    }
    if (!expr) return nullptr;
    return state.checker.type_of(expr).or_throw().type;
  });
}

// Of a program that is a chain of functions.
lang::Type result_of(lang::Type type, const std::vector<Binder>& binders) {
  for (const Binder& binder : binders) {
    if (binder.kind != Binder::Kind::Function) continue;
    const auto* function = lang::as<lang::FunctionType>(type);
    if (!function) return nullptr;
    type = function->result;
  }
  return type;
}

}  // namespace

std::vector<lang::Type> types_at(const State& state, const std::vector<Binder>& binders,
                                 const std::vector<std::string>& expressions) {
  std::vector<lang::Type> types(expressions.size());
  if (expressions.empty()) return types;
  Program program(binders, expressions);
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    const lang::Source source("<completion>", program.text());
    if (source.text().size() > kMostBytes) return types;
    lang::Result<lang::Type> type = type_of(state, source);
    (void)state.checker.take_warnings();
    if (!type) {
      bool has_changed = false;
      for (const lang::Diagnostic& error : type.errors()) {
        if (error.span.source == &source && program.leave_out(error.span.begin)) has_changed = true;
      }
      if (!has_changed) return types;
      continue;
    }
    const lang::Type result = result_of(*type, binders);
    const auto* tuple = lang::as<lang::TupleType>(result);
    if (!tuple || tuple->fields.size() != expressions.size()) return types;
    for (std::size_t i = 0; i < types.size(); ++i) {
      if (program.has(i)) types[i] = tuple->fields[i];
    }
    return types;
  }
  return types;
}

std::string shown(const lang::Type& type) {
  if (!type || type->kind == lang::TypeKind::Var) return {};
  typecheck::Scheme scheme;
  scheme.type = type;
  scheme.variables = lang::variables_of(type);
  return to_string(scheme);
}

namespace {

bool dims_agree(const lang::Dim& a, const lang::Dim& b) {
  return !a.is_constant() || !b.is_constant() || a.constant() == b.constant();
}

bool shapes_agree(const lang::Shape& a, const lang::Shape& b) {
  if (!a.has_rank() || !b.has_rank()) return true;
  if (a.rank() != b.rank()) return false;
  for (std::size_t i = 0; i < a.rank(); ++i) {
    if (!dims_agree(a[i], b[i])) return false;
  }
  return true;
}

bool all_agree(const std::vector<lang::Type>& a, const std::vector<lang::Type>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!may_agree(a[i], b[i])) return false;
  }
  return true;
}

bool is_open(const lang::Type& type) {
  return !type || type->kind == lang::TypeKind::Var || type->kind == lang::TypeKind::Incomplete;
}

}  // namespace

bool may_agree(const lang::Type& a, const lang::Type& b) {
  if (is_open(a) || is_open(b)) return true;
  if (a->kind != b->kind) return false;
  switch (a->kind) {
    case lang::TypeKind::Tensor: {
      const auto& left = *lang::as<lang::TensorType>(a);
      const auto& right = *lang::as<lang::TensorType>(b);
      const bool dtypes_agree = !left.dtype.is_known() || !right.dtype.is_known() ||
                                left.dtype.known() == right.dtype.known();
      return dtypes_agree && shapes_agree(left.shape, right.shape);
    }
    case lang::TypeKind::Tuple:
      return all_agree(lang::as<lang::TupleType>(a)->fields, lang::as<lang::TupleType>(b)->fields);
    case lang::TypeKind::Function: {
      const auto& left = *lang::as<lang::FunctionType>(a);
      const auto& right = *lang::as<lang::FunctionType>(b);
      return all_agree(left.params, right.params) && may_agree(left.result, right.result);
    }
    case lang::TypeKind::Adt: {
      const auto& left = *lang::as<lang::AdtType>(a);
      const auto& right = *lang::as<lang::AdtType>(b);
      return left.def == right.def && all_agree(left.args, right.args);
    }
    case lang::TypeKind::Reference:
      return may_agree(lang::as<lang::ReferenceType>(a)->content,
                       lang::as<lang::ReferenceType>(b)->content);
    case lang::TypeKind::Dimension:
      return dims_agree(lang::as<lang::DimensionType>(a)->dim,
                        lang::as<lang::DimensionType>(b)->dim);
    case lang::TypeKind::Var:
    case lang::TypeKind::Incomplete:
      break;
  }
  return true;
}

}  // namespace relay::repl::completion
