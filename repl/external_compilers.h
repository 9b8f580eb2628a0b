#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lang/external_compiler.h"

namespace relay::repl {

// The external compilers of a session: those of librelay_kernels.so, which is opened when one of
// them is asked for, and plug-ins.
class SessionCompilers final : public lang::ExternalCompilers {
 public:
  std::vector<std::string> names() const override;
  lang::ExternalCompiler& get(const std::string& name, lang::Span place) override;

  // One that is at hand takes the place of one of the same name.
  void add(std::unique_ptr<lang::ExternalCompiler> compiler);
  // Opens a plug-in, whose compiler takes the place of one of the same name. Its name. Throws
  // Failure.
  std::string add_plugin(const std::string& path);

 private:
  std::map<std::string, std::unique_ptr<lang::ExternalCompiler>> loaded_;
};

}  // namespace relay::repl
