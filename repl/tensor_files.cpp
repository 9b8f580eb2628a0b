#include "repl/tensor_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lang/op.h"
#include "lang/stop.h"
#include "lang/visit.h"
#include "repl/files.h"

namespace relay::repl {

using lang::AttrsRef;
using lang::AttrValue;
using lang::DType;
using lang::Expr;
using lang::Value;

namespace {

formats::Location location_of(const AttrsRef& attrs, const FindFile& find_file) {
  formats::Location location{find_file(attrs->get_string("path"))};
  if (attrs->find("key") && !attrs->is_null("key")) location.key = attrs->get_string("key");
  location.delimiter = attrs->get_string("delimiter");
  location.is_csv = !attrs->find("shape");  // `load_csv`
  return location;
}

// No name that a program can write.
constexpr const char* kUnreadFile = "<unread file>";

// The attributes of a `load` whose dtype or shape is the file's; null: it is none.
const lang::Attrs* unsaid_load(const Expr& expr) {
  const auto* call = lang::as<lang::Call>(expr);
  const auto* callee = call ? lang::as<lang::Operator>(call->callee) : nullptr;
  if (!callee || callee->op->name != "load" || !call->attrs) return nullptr;
  const AttrValue* path = call->attrs->find("path");
  if (!path || !path->as_string()) return nullptr;
  const bool is_said = !call->attrs->is_null("dtype") && !call->attrs->is_null("shape");
  return is_said ? nullptr : call->attrs.get();
}

class Headers final : public lang::Rewriter {
 public:
  Headers(const FindFile& find_file, const formats::FileAccess& access,
          std::vector<lang::Diagnostic>& errors)
      : find_file_(find_file), access_(access), errors_(errors) {}

 protected:
  Expr post(const Expr& expr) override {
    const lang::Attrs* stated = unsaid_load(expr);
    if (!stated) return expr;
    const auto* call = lang::as<lang::Call>(expr);
    std::vector<lang::Attr> attrs = stated->list;
    formats::Location location{find_file_(*stated->find("path")->as_string())};
    if (const AttrValue* key = stated->find("key"); key && key->as_string())
      location.key = *key->as_string();
    location.access = access_;
    const auto header =
        formats::read_header(location, [](std::int64_t, std::int64_t) { lang::poll(); });
    if (!header) {
      if (lang::is_stop(header.errors().front().kind)) throw lang::Failure(header.errors());
      return unread(header.errors(), expr->span);
    }
    const auto put = [&](std::string_view key, AttrValue value) {
      std::erase_if(attrs, [&](const lang::Attr& attr) { return attr.key == key; });
      attrs.push_back({std::string(key), std::move(value), {}});
    };
    if (stated->is_null("dtype")) put("dtype", header->dtype);
    if (stated->is_null("shape")) put("shape", AttrValue::ints(header->shape));
    return lang::make_call(call->callee, call->args, lang::make_attrs(std::move(attrs)), expr->span,
                           expr->type);
  }

 private:
  Expr unread(std::vector<lang::Diagnostic> errors, lang::Span span) {
    for (lang::Diagnostic& error : errors) {
      error.span = span;
      error.note("note: the type of `load` is what the file says, unless `dtype` and `shape` do");
      errors_.push_back(std::move(error));
    }
    return lang::make_global_var(kUnreadFile, span);
  }

  const FindFile& find_file_;
  const formats::FileAccess& access_;
  std::vector<lang::Diagnostic>& errors_;
};

// A `load` that gives a value of a known type says so: its dtype, and its shape, -1 for extents
// that the type leaves open. Null: it is none, or not told by the type.
Expr stated_by(const lang::Type& type, const Expr& expr) {
  const auto* tensor = lang::as<lang::TensorType>(type);
  const lang::Attrs* stated = unsaid_load(expr);
  if (!stated || !tensor || !tensor->dtype.is_known() || !tensor->shape.has_rank()) return nullptr;
  std::vector<std::int64_t> shape;
  for (const lang::Dim& dim : tensor->shape.dims())
    shape.push_back(dim.is_constant() ? dim.constant() : -1);
  const auto* call = lang::as<lang::Call>(expr);
  std::vector<lang::Attr> attrs;
  for (const lang::Attr& attr : stated->list) {
    const bool is_open = stated->is_null(attr.key);
    if (!is_open || (attr.key != "dtype" && attr.key != "shape")) attrs.push_back(attr);
  }
  if (stated->is_null("dtype")) attrs.push_back({"dtype", tensor->dtype.known(), {}});
  if (stated->is_null("shape")) attrs.push_back({"shape", AttrValue::ints(shape), {}});
  return lang::make_call(call->callee, call->args, lang::make_attrs(std::move(attrs)), expr->span,
                         expr->type);
}

// States the type of what is a field of a record, or has an annotation.
class Expectations final : public lang::Rewriter {
 protected:
  Expr post(const Expr& expr) override {
    if (const auto* let = lang::as<lang::Let>(expr)) {
      const Expr value = stated_by(let->variable->type, let->value);
      return value ? lang::make_let(let->variable, value, let->body, expr->span, expr->type) : expr;
    }
    const auto* call = lang::as<lang::Call>(expr);
    const auto* callee = call ? lang::as<lang::ConstructorRef>(call->callee) : nullptr;
    if (!callee || call->args.size() != callee->constructor->fields.size()) return expr;
    std::vector<Expr> args = call->args;
    for (std::size_t k = 0; k < args.size(); ++k) {
      if (Expr stated = stated_by(callee->constructor->fields[k], args[k]))
        args[k] = std::move(stated);
    }
    if (args == call->args) return expr;
    return lang::make_call(call->callee, std::move(args), call->attrs, expr->span, expr->type);
  }
};

class NoHeaders final : public lang::Rewriter {
 public:
  explicit NoHeaders(std::vector<lang::Diagnostic>& warnings) : warnings_(warnings) {}

 protected:
  Expr post(const Expr& expr) override {
    const lang::Attrs* stated = unsaid_load(expr);
    if (!stated) return expr;
    warnings_.push_back(
        lang::Diagnostic(lang::DiagnosticKind::UnreadFile,
                         fmt::format("`{}` is not opened here, so what depends on its type is not "
                                     "checked",
                                     *stated->find("path")->as_string()),
                         expr->span)
            .note("help: say its type, `let w: Tensor[(2), float32] = load(…)`, or a `dtype` and a "
                  "`shape`, -1 for what is not known"));
    return lang::make_global_var(kUnreadFile, expr->span);
  }

 private:
  std::vector<lang::Diagnostic>& warnings_;
};

lang::TensorRef converted(const lang::TensorRef& tensor, DType dtype) {
  if (tensor->dtype() == dtype) return tensor;
  lang::TensorRef result = lang::Tensor::make(dtype, tensor->shape());
  const bool exact = !lang::is_float(dtype) && !lang::is_float(tensor->dtype());
  for (std::int64_t i = 0; i < tensor->element_count(); ++i) {
    const std::uint64_t bits = tensor->bits_at(i);
    result->set_bits(
        i, exact ? lang::bits_from_int(dtype, lang::int_from_bits(tensor->dtype(), bits))
                 : lang::bits_from_double(dtype, lang::double_from_bits(tensor->dtype(), bits)));
  }
  return result;
}

void check_shape(const std::string& path, const lang::Tensor& tensor,
                 const std::vector<std::int64_t>& stated) {
  const auto& shape = tensor.shape();
  bool agrees = shape.size() == stated.size();
  for (std::size_t i = 0; agrees && i < shape.size(); ++i)
    agrees = stated[i] < 0 || stated[i] == shape[i];
  if (agrees) return;
  std::vector<std::string> extents;
  for (const std::int64_t extent : stated)
    extents.push_back(extent < 0 ? "?" : std::to_string(extent));
  lang::fail(lang::DiagnosticKind::BadData,
             fmt::format("{}: a tensor of shape `({})`, where the program has `({})`", path,
                         fmt::join(shape, ", "), fmt::join(extents, ", ")));
}

std::vector<formats::NamedTensor> tensors_of(const Value& value, const AttrsRef& attrs) {
  std::vector<std::string> names;
  if (const AttrValue::List* list = attrs->find("names")->as_list()) {
    for (const AttrValue& name : *list) {
      if (!name.as_string())
        lang::fail(lang::DiagnosticKind::BadAttribute, "`names` is a list of strings");
      names.push_back(*name.as_string());
    }
  }
  std::span<const Value> fields(&value, 1);
  if (value.kind() == lang::ValueKind::Tuple) fields = value.as_tuple().fields();
  if (value.kind() == lang::ValueKind::Adt) {
    fields = value.as_adt().fields();
    if (names.empty()) names = value.as_adt().constructor().field_names;
  }
  if (!names.empty() && names.size() != fields.size()) {
    lang::fail(lang::DiagnosticKind::BadAttribute,
               fmt::format("`names` has {} names for {} tensors", names.size(), fields.size()));
  }
  std::vector<formats::NamedTensor> tensors;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (!fields[i].is_tensor() && !fields[i].is_scalar()) {
      lang::fail(lang::DiagnosticKind::BadData,
                 "what is saved is a tensor, or a tuple or record of tensors");
    }
    // As NumPy calls what has no name.
    const std::string name = names.empty() ? fmt::format("arr_{}", i) : names[i];
    tensors.push_back({name, fields[i].to_tensor()});
  }
  return tensors;
}

}  // namespace

Expr with_headers(const Expr& expr, const FindFile& find_file, const formats::FileAccess& access,
                  std::vector<lang::Diagnostic>& errors) {
  return Headers(find_file, access, errors).rewrite(expr);
}

Expr without_headers(const Expr& expr, const lang::Type& expected,
                     std::vector<lang::Diagnostic>& warnings) {
  std::vector<lang::Diagnostic> open;
  Expr result = NoHeaders(open).rewrite(expr);
  if (open.empty()) return result;  // as nearly always: an editor asks with each key
  const Expr stated = expected ? stated_by(expected, expr) : nullptr;
  return NoHeaders(warnings).rewrite(Expectations().rewrite(stated ? stated : expr));
}

lang::Definition unread_file() {
  return {kUnreadFile, nullptr, lang::incomplete_type(), lang::Origin::Prelude, "", {}};
}

lang::Result<lang::TensorRef> load_tensor(const AttrsRef& attrs, const FindFile& find_file,
                                          const formats::FileAccess& access,
                                          const formats::Progress& progress) {
  return lang::capture([&] {
    formats::Location location = location_of(attrs, find_file);
    location.access = access;
    const DType dtype = attrs->get_dtype("dtype");
    lang::TensorRef tensor = formats::read_tensor(location, dtype, progress).or_throw();
    if (attrs->find("shape")) check_shape(location.path, *tensor, attrs->get_ints("shape"));
    return converted(tensor, dtype);
  });
}

lang::Result<bool> save_value(const Value& value, const AttrsRef& attrs,
                              const formats::FileAccess& access,
                              const formats::Progress& progress) {
  return lang::capture([&] {
    const formats::Location location{attrs->get_string("path"), "", attrs->get_string("delimiter"),
                                     false, access};
    return formats::write_tensors(location, tensors_of(value, attrs), progress).or_throw();
  });
}

}  // namespace relay::repl
