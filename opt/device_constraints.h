#pragma once

#include <unordered_map>
#include <vector>

#include "lang/op.h"
#include "lang/pointer_map.h"
#include "opt/device_domains.h"
#include "opt/pass_program.h"

// Private to PlanDevices.
namespace relay::opt {

// `on_device(body, …)` and `device_copy(body, …)`.
struct OnDevice {
  lang::Expr body;
  lang::VirtualDevice device;
  bool constrains_result;
  bool constrains_body;

  // Says where the value is computed, and nothing of who uses it.
  bool is_of_body() const { return constrains_body && !constrains_result; }
};
struct DeviceCopy {
  lang::Expr body;
  lang::VirtualDevice from;
  lang::VirtualDevice to;
};
// Nothing for all other expressions.
std::optional<OnDevice> on_device_of(const lang::Expr& expr);
std::optional<DeviceCopy> device_copy_of(const lang::Expr& expr);

// What a parameter or a function says of where it lives; nothing if it does not.
std::optional<lang::VirtualDevice> device_in(const lang::AttrsRef& attrs);

// Where all values of a program live, as far as annotations, and the functions that are called,
// say.
class DeviceConstraints {
 public:
  using Id = DeviceDomains::Id;
  // `usual`: where everything is of which nobody says; `host`: where shapes are.
  DeviceConstraints(PassProgram& program, lang::VirtualDevice usual, lang::VirtualDevice host);

  // Reads a function. Throws Failure where devices disagree.
  void read(const lang::Expr& function);
  // After all have been read: settles what is open, function by function, so that few copies are
  // needed.
  void join_free(const lang::Expr& function);
  void settle(const lang::Expr& function);

  const lang::VirtualDevice& device(const lang::Expr& expr) { return settled(domain_of(expr)); }
  const lang::VirtualDevice& device(const lang::VariableRef& variable) {
    return settled(domain_of(variable));
  }
  // Where a call has its arguments.
  std::vector<lang::VirtualDevice> wanted_of_arguments(const lang::Call& call);

 private:
  void read_node(const lang::Expr& expr);
  void read_function(const lang::Expr& expr);
  void read_call(const lang::Expr& expr);
  void read_match(const lang::Expr& expr);
  Id domain_of(const lang::Expr& expr);
  Id domain_of(const lang::VariableRef& variable);
  Id callee_of(const lang::Call& call);
  Id callee_of_operator(const lang::Call& call, const lang::OpDef& op);
  const lang::VirtualDevice& settled(Id id);

  PassProgram& program_;
  lang::VirtualDevice usual_;
  lang::VirtualDevice host_;
  DeviceDomains domains_;
  lang::PointerMap<lang::ExprNode, Id> expressions_;
  lang::PointerMap<lang::Variable, Id> variables_;
  lang::PointerMap<lang::ExprNode, Id> callees_;  // by call: operators have no device of their own
  std::vector<lang::Expr> keep_alive_;
};

}  // namespace relay::opt
