#include "repl/debugger.h"

namespace relay::repl {

using lang::Result;

void Session::set_at_stop(AtStop at_stop) { impl_->debugger->at_stop = std::move(at_stop); }
bool Session::has_at_stop() const { return static_cast<bool>(impl_->debugger->at_stop); }
bool Session::is_stopped() const { return impl_->debugger->is_stopped(); }
bool Session::is_given_up() const { return impl_->debugger->is_given_up(); }

Result<std::string> Session::set_breakpoint(const std::string& what) {
  return impl_->entry_guarded([&] { return impl_->debugger->breakpoints.set(what); });
}

Result<std::string> Session::clear_breakpoints(const std::string& what) {
  return impl_->entry_guarded([&] {
    impl_->debugger->breakpoints.clear(what);
    return breakpoints();
  });
}

std::string Session::breakpoints() const { return impl_->debugger->breakpoints.describe(); }

void Session::set_nanbreak(bool is_on) { impl_->debugger->finds_not_finite = is_on; }
bool Session::has_nanbreak() const { return impl_->debugger->finds_not_finite; }

Result<std::string> Session::nanbreak(const std::string& text) {
  const lang::Source* source = impl_->sources.add("<nanbreak>", text);
  return impl_->entry_guarded([&] {
    return impl_->debugger->nanbreak(impl_->checked(impl_->command_expression(*source)));
  });
}

Result<std::string> Session::frame(const std::string& argument) {
  return impl_->entry_guarded([&] { return impl_->debugger->frame(argument); });
}

}  // namespace relay::repl
