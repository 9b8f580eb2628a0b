// Where values live: `on_device`, which tells PlanDevices, and `device_copy`, which that pass puts
// in. All is computed on this machine, so that its devices are parts of its memory.

#include <string>

#include "lang/virtual_device.h"
#include "stdlib/ops/memory.h"
#include "stdlib/ops/tuples.h"
#include "stdlib/ops/types.h"

namespace relay::stdlib {

namespace build = lang::build;

namespace {

constexpr const char* kCopied = "device_copy.tensor";

AttrSpec device_attr(const char* name, const char* doc) {
  return nullable_attr(name, AttrKind::Any, doc);
}

// A rule for the identity, which reads each attribute that names a device.
void check_devices(TypeCall& call) {
  for (const lang::Attr& attr : call.attrs->list) {
    if (!attr.key.ends_with("virtual_device") || lang::virtual_device_of(attr.value)) continue;
    lang::Diagnostic diagnostic(DiagnosticKind::BadAttribute,
                                "`" + attr.key + "` is no device: " + attr.value.to_string(),
                                attr.span ? attr.span : call.span);
    diagnostic.note("note: a device is written as `\"cpu\"`, `\"cpu:1\"` or `\"cuda:0/global\"`");
    throw lang::Failure(std::move(diagnostic));
  }
}

lang::TypeRule with_devices_checked(lang::TypeRule rule) {
  return [rule = std::move(rule)](TypeCall& call) {
    check_devices(call);
    return rule(call);
  };
}

void add_on_device() {
  OpDef def = identity_operator(
      "on_device", kAnnotationLevel, "Ties a value to a device.",
      "on_device([1.0, 2.0], virtual_device=\"cpu:1\")\n// expect: [1.0, 2.0]",
      {device_attr("virtual_device", "the device, as `\"cpu:1\"`"),
       optional_attr("constrain_result", AttrKind::Bool, false, "who uses it has it there, too"),
       optional_attr("constrain_body", AttrKind::Bool, true, "the value is computed there")});
  def.doc =
      "The value itself, of any type, which lives on a device.\n"
      "The pass PlanDevices reads it, and puts in copies to where it is used on another device. "
      "Where that pass has not run it has no effect.";
  def.type_rule = with_devices_checked(def.type_rule);
  lang::OpRegistry::instance().add(std::move(def));
}

// Scalars and what is made of others lie in no memory of a device.
Expr copied(const Expr& value) {
  if (const auto* tuple = lang::as<lang::TupleType>(value->type)) {
    if (tuple->fields.empty()) return value;
    return with_fields(value, [](const std::vector<Expr>& fields) {
      std::vector<Expr> copies;
      for (const Expr& field : fields) copies.push_back(copied(field));
      return build::tuple(std::move(copies));
    });
  }
  const auto* tensor = lang::as<lang::TensorType>(value->type);
  return tensor && !lang::is_scalar(value->type) ? build::op(kCopied, {value}) : value;
}

void add_device_copy() {
  OpDef def = identity_operator("device_copy", kAnnotationLevel, "",
                                "device_copy([1.0, 2.0], src_virtual_device=\"cpu\", "
                                "dst_virtual_device=\"cpu:1\")\n// expect: [1.0, 2.0]",
                                {device_attr("src_virtual_device", "where the value is"),
                                 device_attr("dst_virtual_device", "where the copy is to be")});
  def.doc =
      "A copy of a value from one device to another.\n"
      "Tensors get memory of their own, also those in tuples; what else there is stays as it is. "
      "`:stats` counts the copies. The adjoint is copied back.";
  def.type_rule = with_devices_checked(def.type_rule);
  def.expansion = [](const DefinitionCall& call) { return copied(call.args[0]); };
  lang::OpRegistry::instance().add(std::move(def));
}

void add_copied_tensor() {
  OpDef def;
  def.name = kCopied;
  def.level = 0;
  def.is_step = true;
  def.doc = "The same elements in memory of their own: what `device_copy` does to a tensor.";
  def.example = std::string(kCopied) + "([1.0, 2.0])\n// expect: [1.0, 2.0]";
  def.inputs = {{"data", "the tensor"}};
  def.type_rule = [](TypeCall& call) {
    call.returns(call.tensor(0));
    return RuleOutcome::Solved;
  };
  def.primitive = lang::TensorPrimitive::Copy;
  def.gradient = [](const GradientCall& call) -> std::vector<Expr> {
    return {build::op(kCopied, {call.dout})};
  };
  def.tangent = [](const lang::TangentCall& call) {
    return call.tangents[0] ? build::op(kCopied, {call.tangents[0]}) : Expr();
  };
  lang::OpRegistry::instance().add(std::move(def));
}

}  // namespace

void add_device_operators() {
  add_on_device();
  add_copied_tensor();
  add_device_copy();
}

}  // namespace relay::stdlib
