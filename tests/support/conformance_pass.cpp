#include "tests/support/conformance_pass.h"

#include <cmath>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "lang/alpha_equal.h"
#include "lang/function_fact.h"
#include "lang/virtual_device.h"
#include "lang/visit.h"
#include "opt/pass.h"
#include "parser/parse.h"
#include "repl/session.h"
#include "tests/support/conformance_external.h"
#include "tests/support/first_line.h"
#include "tests/support/passed_program.h"

namespace relay::tests {
namespace {

using lang::Expr;
using lang::Type;
using lang::Value;

bool marks_by_list(const std::string& name) {
  return name == "AllowedListAnnotator" || name == "MyAnnotator";
}

// The records have Relay's names for passes that have others here.
const opt::Pass* our_pass(const std::string& name) {
  if (name == "gradient") return opt::find_pass("Gradient");
  if (name == "InlineGlobals") return opt::find_pass("Inline");
  if (name == " FoldExplicitPadding") return opt::find_pass("FoldExplicitPadding");
  // Passes of Relay's tests, which mark what a list allows.
  if (marks_by_list(name)) return opt::find_pass("AnnotateTarget");
  if (name == "CombineParallelConv2d") return opt::find_pass("CombineParallelConv2D");
  return opt::find_pass(name);
}

// Their options are compilers that were registered beside the record.
bool is_for_compilers(const std::string& pass) {
  return pass == "AnnotateTarget" || pass == "MergeComposite";
}

// An argument of the type, always the same; null where it is not made of tensors of known shape.
Expr argument_of(const Type& type, std::uint64_t& seed) {
  if (const auto* tuple = lang::as<lang::TupleType>(type)) {
    std::vector<Expr> fields;
    for (const Type& field : tuple->fields) {
      fields.push_back(argument_of(field, seed));
      if (!fields.back()) return nullptr;
    }
    return lang::make_tuple(std::move(fields));
  }
  const auto* tensor = lang::as<lang::TensorType>(type);
  if (!tensor || !tensor->shape.has_rank() || !tensor->dtype.is_known()) return nullptr;
  std::vector<std::int64_t> shape;
  for (const lang::Dim& dim : tensor->shape.dims()) {
    if (!dim.is_constant()) return nullptr;
    shape.push_back(dim.constant());
  }
  const lang::TensorRef value = lang::Tensor::make(tensor->dtype.known(), shape);
  for (std::int64_t i = 0; i < value->element_count(); ++i) {
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    const double unit = static_cast<double>(seed >> 11U) / 9007199254740992.0;
    const double number =
        lang::is_float(tensor->dtype.known()) ? 0.2 + 0.7 * unit : std::floor(2.0 * unit);
    value->set_bits(i, lang::bits_from_double(tensor->dtype.known(), number));
  }
  return lang::make_constant(value);
}

std::string compare(const Value& ours, const Value& theirs) {
  if (ours.kind() == lang::ValueKind::Tuple && theirs.kind() == lang::ValueKind::Tuple) {
    const auto a = ours.as_tuple().fields();
    const auto b = theirs.as_tuple().fields();
    if (a.size() != b.size()) return fmt::format("{} fields, Relay has {}", a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      const std::string difference = compare(a[i], b[i]);
      if (!difference.empty()) return fmt::format("field {}: {}", i, difference);
    }
    return {};
  }
  const auto is_tensor = [](const Value& value) { return value.is_scalar() || value.is_tensor(); };
  if (!is_tensor(ours) || !is_tensor(theirs)) return {};
  const lang::TensorRef a = ours.to_tensor();
  const lang::TensorRef b = theirs.to_tensor();
  if (!lang::equal(lang::type_of_tensor(*a), lang::type_of_tensor(*b))) {
    return fmt::format("`{}`, Relay has `{}`", lang::to_string(lang::type_of_tensor(*a)),
                       lang::to_string(lang::type_of_tensor(*b)));
  }
  double largest = 0;
  for (std::int64_t i = 0; i < b->element_count(); ++i)
    largest = std::max(largest, std::abs(b->number_at(i)));
  for (std::int64_t i = 0; i < a->element_count(); ++i) {
    const double x = a->number_at(i);
    const double y = b->number_at(i);
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    if (std::abs(x - y) <= 1e-4 * std::abs(y) + 1e-5 * largest) continue;
    return fmt::format("element {} is {}, Relay has {}", i, x, y);
  }
  return {};
}

// A text in a session of its own: a module with `@main`, or an expression that is a function.
class Ran {
 public:
  explicit Ran(const std::string& text) : session_(quiet_options()), source_("record", text) {
    const auto parsed = parser::parse(source_, session_.module(), parser::Notation::Strict);
    if (parsed && parsed->items.size() == 1 &&
        parsed->items[0].kind == parser::ItemKind::Expression) {
      function_ = parsed->items[0].expr;
      return;
    }
    const auto errors = session_.run(
        "record", text, [](const repl::ItemResult&) {}, parser::Notation::Strict);
    if (!errors.empty()) trouble_ = first_line(errors.front());
    function_ = lang::make_global_var("main");
  }

  repl::Session& session() { return session_; }
  const std::string& trouble() const { return trouble_; }
  // Where there was no trouble.
  Expr main() {
    if (!lang::as<lang::GlobalVar>(function_)) return function_;
    return session_.module().find("main")->function;
  }

  std::optional<Value> call(const std::vector<Expr>& arguments) {
    if (!trouble_.empty()) return std::nullopt;
    auto value = session_.evaluate(lang::make_call(function_, arguments));
    if (value) return *value;
    trouble_ = first_line(value.errors().front());
    return std::nullopt;
  }

 private:
  repl::Session session_;
  lang::Source source_;
  Expr function_;
  std::string trouble_;
};

// With devices as texts, without what Relay compiles for them.
class DevicesAsTexts final : public lang::Rewriter {
 protected:
  lang::VariableRef rewrite_variable(const lang::VariableRef& variable) override {
    return lang::make_variable(variable->name, variable->type, variable->span,
                               written(variable->attrs));
  }
  Expr post(const Expr& expr) override {
    if (const auto* fn = lang::as<lang::Function>(expr))
      return lang::with_attrs(*fn, written(fn->attrs));
    const auto* call = lang::as<lang::Call>(expr);
    if (!call) return expr;
    return lang::make_call(call->callee, call->args, written(call->attrs), expr->span, expr->type);
  }

 private:
  static lang::AttrsRef written(const lang::AttrsRef& attrs) {
    if (!attrs) return attrs;
    std::vector<lang::Attr> list = attrs->list;
    for (lang::Attr& attr : list) {
      if (lang::is_virtual_device(attr.value))
        attr.value = lang::to_string(*lang::virtual_device_of(attr.value));
    }
    return lang::make_attrs(std::move(list));
  }
};

// Devices change no value: where they are is compared.
PassOutcome compare_devices(Ran& given, const Record& record) {
  Ran theirs(record.result);
  if (!theirs.trouble().empty()) return {"", false};
  // The one that the records were made with.
  const auto text = given.session().optimised(
      {.passes = "PlanDevices(default=\"cuda\", host=\"cpu\")", .is_strict = true});
  if (!text) return {"the pass: " + first_line(text.errors().front())};
  Ran ours(text->text);
  if (!ours.trouble().empty()) return {"what we made: " + ours.trouble()};
  for (const lang::Definition* expected : theirs.session().module().definitions()) {
    if (expected->origin != lang::Origin::Own || !expected->function) continue;
    const lang::Definition* found = ours.session().module().find(expected->name);
    if (!found || !lang::alpha_equal(DevicesAsTexts().rewrite(found->function),
                                     DevicesAsTexts().rewrite(expected->function)))
      return {fmt::format("`@{}` has its values elsewhere", expected->name)};
  }
  return {""};
}

}  // namespace

bool has_pass(const Record& record) { return our_pass(record.pass) != nullptr; }

PassOutcome run_pass(const Record& record) {
  Ran given(record.source);
  if (!given.trouble().empty()) return {given.trouble()};
  const lang::Definition* main = given.session().module().find("main");
  const auto* function = main ? lang::as<lang::Function>(main->function) : nullptr;
  if (!function) return {"", false};
  if (our_pass(record.pass)->name == "PlanDevices") return compare_devices(given, record);
  std::vector<Expr> arguments;
  std::uint64_t seed = 17;
  for (const auto& param : function->params) {
    arguments.push_back(param->type ? argument_of(param->type, seed) : Expr());
    if (!arguments.back()) return {"", false};
  }
  Ran theirs(record.result);
  const auto expected = theirs.call(arguments);
  if (!expected) return {"", false};
  std::string pass = our_pass(record.pass)->name;
  const bool hands_over = is_for_compilers(pass);
  if (hands_over) {
    RecordedCompilers recorded = recorded_compilers(pass, theirs.main());
    for (auto& each : recorded.compilers) given.session().add_compiler(std::move(each));
    pass = recorded.pass;
  }
  const auto text = given.session().optimised({.passes = pass, .is_strict = true});
  if (!text) return {"the pass: " + first_line(text.errors().front())};
  Ran ours(text->text);
  if (!ours.trouble().empty()) return {"what we made: " + ours.trouble()};
  if (hands_over) {
    const std::string difference =
        compare_marks(ours.main(), theirs.main(), !marks_by_list(record.pass));
    if (!difference.empty()) return {difference};
  }
  const auto found = ours.call(arguments);
  if (!found) return {"what we made: " + ours.trouble()};
  return {compare(*found, *expected)};
}

}  // namespace relay::tests
