#pragma once

#include <string>

namespace relay::repl {

// A new folder, of $TMPDIR where that is there, else of /tmp, which is gone with this, and what it
// holds. Making it throws Failure(FileError) where that cannot be done.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace relay::repl
