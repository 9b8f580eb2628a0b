#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "built/program.h"
#include "repl/session.h"

namespace relay::tests {

// A function of a session as `relay build` makes it, but for the C around it: by way of bytes.
class BuiltProgram {
 public:
  // Throws Failure where it cannot be built.
  BuiltProgram(repl::Session& session, const std::string& function,
               const std::map<std::string, std::vector<std::int64_t>>& sizes = {});

  const built::Signature& signature() const { return signature_; }
  // The result of a call with values at hand, whose types are those of the parameters for these
  // dims. Throws Failure.
  lang::Value call(const std::vector<lang::Value>& args,
                   const std::vector<std::int64_t>& dims = {});
  std::size_t slow_kernels() const { return program_->kernels_without_code(); }

 private:
  built::Signature signature_;
  std::string bytes_;  // of the program
  std::unique_ptr<built::Program> program_;
};

}  // namespace relay::tests
