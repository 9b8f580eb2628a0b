#include "opt/plan_devices.h"

#include <fmt/format.h>

#include "lang/diagnostic.h"
#include "opt/pass_program.h"

namespace relay::opt {

namespace {

lang::VirtualDevice device_option(const lang::Attrs& options, const char* name) {
  const std::string& text = options.get_string(name);
  const auto device = lang::virtual_device_of(text);
  if (device && device->type >= 0) return *device;
  lang::fail(
      lang::DiagnosticKind::BadAttribute,
      fmt::format("`{}` of `PlanDevices` must be a device such as `cpu:1`, not `{}`", name, text),
      {});
}

}  // namespace

Pass plan_devices_pass() {
  Pass pass;
  pass.name = "PlanDevices";
  pass.doc = "settles on which device each value lives, and copies values from one to another";
  pass.options = {
      {"default", lang::AttrKind::String, lang::AttrValue("cpu"),
       "where values are computed of "
       "which nothing says it"},
      {"host", lang::AttrKind::String, lang::AttrValue("cpu"), "where shapes and sizes are"}};
  pass.in_anf = false;
  pass.example = R"(def f(x: Tensor[(4), float32], y: Tensor[(4), float32]) {
  on_device(exp(x) * 2.0, virtual_device="cpu:1") + y
})";
  pass.level = 0;
  pass.run = [](PassProgram& program, const lang::Attrs& options) {
    plan_devices(program, {device_option(options, "default"), device_option(options, "host")});
  };
  return pass;
}

}  // namespace relay::opt
