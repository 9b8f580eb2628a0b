#pragma once

#include <string>
#include <utility>
#include <vector>

// Which files a program may open. Every file that a program names is opened here.
namespace relay::formats {

// An open file, closed at the end.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor();
  explicit operator bool() const { return number_ >= 0; }
  int get() const { return number_; }
  int release() { return std::exchange(number_, -1); }

 private:
  int number_ = -1;
};

class FileAccess {
 public:
  FileAccess() = default;  // to every file
  // To none: `--no-files`.
  static FileAccess none();
  // To those beneath the folders, where links lead out of none of them. Folders that are not there
  // hold no files. `why` ends the message about a file elsewhere: "outside of WHY".
  static FileAccess beneath(const std::vector<std::string>& folders, std::string why);

  bool is_limited() const { return is_limited_; }
  bool is_none() const { return is_limited_ && folders_.empty() && why_.empty(); }

  // The files that both allow, or, of `also`, all.
  FileAccess within(const FileAccess& other) const;
  FileAccess with(const FileAccess& also) const;

  // A file to read, which may be a pipe or a device: reading never blocks. What is allowed is asked
  // of the file that is opened, not of its name, so that nobody can exchange it between. Throws
  // FileRefused before a file elsewhere is touched, or FileError.
  Descriptor open(const std::string& path) const;

  // Where a file of this name is written: links at its end have been followed. The folder stays the
  // same whatever is renamed meanwhile. Throws as `open`.
  struct Place {
    Descriptor folder;
    std::string name;
  };
  Place place(const std::string& path) const;

 private:
  [[noreturn]] void refuse(const std::string& path, const char* verb) const;
  bool allows(const std::string& real_path) const;
  // The same for a file that cannot be opened: nobody learns what is there outside.
  void refuse_missing(const std::string& path, const char* verb) const;

  bool is_limited_ = false;
  std::vector<std::string> folders_;  // real paths
  std::string why_;
};

}  // namespace relay::formats
