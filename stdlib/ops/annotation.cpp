// Annotations: identities that tell passes and external compilers something. They are gone before
// anything runs, so they take a value of any type.

#include <string>

#include "lang/attrs_struct.h"
#include "lang/border.h"
#include "lang/checkpoint.h"
#include "stdlib/ops/formula.h"
#include "stdlib/ops/memory.h"
#include "stdlib/ops/quantized.h"

namespace relay::stdlib {

namespace build = lang::build;
using build::op;

OpDef identity_operator(const char* name, int level, const char* doc, const std::string& example,
                        std::vector<AttrSpec> attrs) {
  OpDef def;
  def.name = name;
  def.level = level;
  def.doc = std::string(doc) + "\nThe value itself, of any type: it has no effect here.";
  def.example = example;
  def.inputs = {{"data", "any value"}};
  def.attrs = std::move(attrs);
  def.type_rule = [](TypeCall& call) {
    call.returns(call.args[0]);
    return RuleOutcome::Solved;
  };
  def.expansion = [](const DefinitionCall& call) { return call.args[0]; };
  return def;
}

namespace {

void add_identity(const char* name, const char* doc, const char* attributes = "",
                  std::vector<AttrSpec> attrs = {}) {
  const std::string example =
      std::string(name) + "([1.0, 2.0]" + attributes + ")\n// expect: [1.0, 2.0]";
  lang::OpRegistry::instance().add(
      identity_operator(name, kAnnotationLevel, doc, example, std::move(attrs)));
}

void add_marks() {
  add_identity("annotation.bitpack_start", "Marks where data packed for VTA begins.");
  add_identity("annotation.bitpack_end", "Marks where data packed for VTA ends.");
  add_identity("annotation.cast_hint", "Asks quantization for a cast at this place.",
               ", dtype=\"int8\"",
               {required_attr("dtype", AttrKind::DType, "the dtype that is asked for")});
  const AttrSpec compiler =
      required_attr("compiler", AttrKind::String, "the name of the external compiler");
  add_identity("annotation.compiler_begin",
               "Marks a value that enters a region for an external compiler.",
               ", compiler=\"dnnl\"", {compiler});
  add_identity("annotation.compiler_end",
               "Marks a value that leaves a region for an external compiler.",
               ", compiler=\"dnnl\"", {compiler});
  for (const char* mark : {"annotation.compiler_begin", "annotation.compiler_end"})
    lang::set_attrs_struct(mark, "CompilerAttrs");
  lang::set_attrs_struct("annotation.with_funcid", "WithFuncIdAttrs");
  add_identity("annotation.with_funcid", "Numbers a function inside Relay's partial evaluator.",
               ", fid=3", {optional_attr("fid", AttrKind::Int, -1, "the number of the function")});
}

// An identity that becomes code of another kind.
void add_form(const char* name, const char* doc, const char* example,
              Expr (*form)(const Expr& value)) {
  OpDef def = identity_operator(name, kAnnotationLevel, "", example, {});
  def.doc = doc;
  def.expansion = [form](const DefinitionCall& call) { return form(call.args[0]); };
  lang::OpRegistry::instance().add(std::move(def));
}

void add_forms() {
  add_form("annotation.stop_fusion",
           "The value itself; what is computed of it and what it is computed from get kernels of "
           "their own.\n"
           "`:show fused` shows the border between them. In the body of index notation, and in "
           "derivatives, it has no effect.",
           "exp(annotation.stop_fusion(sin([0.0, 1.0])))\n"
           "// expect: [1.0, 2.319777]",
           lang::make_border);
  add_form(
      "annotation.checkpoint",
      "The value itself; a derivative computes what it is made of again instead of keeping "
      "it.\n"
      "In `annotation.checkpoint(e)` all that is written in `e` runs once more in reverse, from "
      "the "
      "values of the variables it uses; calls in it as a whole, with their loops and recursion. "
      "What a variable outside holds is kept.",
      "grad(fn (x) { annotation.checkpoint(tanh(exp(x) * x)) })(0.5)\n"
      "// expect: 1.3381352",
      lang::make_checkpoint);
}

// --- Spellings ---

// Relay's modules have annotations under longer names than its texts, and its RFC has all of them
// in one namespace.
void add_spellings() {
  lang::OpRegistry& registry = lang::OpRegistry::instance();
  for (const OpDef* op : std::vector(registry.all())) {
    if (op->name.starts_with("annotation.")) registry.alias("relay.op." + op->name, op->name);
  }
  struct Spelling {
    const char* spelling;
    const char* name;
  };
  for (const auto& [spelling, name] : {
           Spelling{"annotation.on_device", "on_device"},
           Spelling{"relay.op.annotation.on_device", "on_device"},
           Spelling{"annotation.device_copy", "device_copy"},
           Spelling{"relay.op.annotation.device_copy", "device_copy"},
           Spelling{"annotation.simulated_quantize", "relay.op.annotation.simulated_quantize"},
       })
    registry.alias(spelling, name);
}

}  // namespace

void add_annotation_operators() {
  add_marks();
  add_forms();
  add_simulated_quantize();
  add_device_operators();
  add_spellings();
}

}  // namespace relay::stdlib
