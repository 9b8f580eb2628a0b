// To be loaded before a program (LD_PRELOAD): of the calls that it makes about the files in the
// folder RELAY_FAIL_IN, the one with the number RELAY_FAIL_IO fails, reads and writes with EIO and
// ENOSPC; counted from 1. When the program ends, the number of the calls stands in
// RELAY_FAIL_COUNT, a file.

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

constexpr int kMostFiles = 1024;
std::array<std::atomic<bool>, kMostFiles> is_watched{};
std::atomic<long> calls{0};

const char* setting(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

bool is_inside(const char* path) {
  static const std::string folder = setting("RELAY_FAIL_IN");
  if (folder.empty() || !path) return false;
  if (path[0] != '/') return true;  // the program runs in the folder
  return std::string(path).starts_with(folder);
}

// Is it this call's turn to fail?
bool fails() {
  static const long turn = std::atol(setting("RELAY_FAIL_IO"));
  return ++calls == turn;
}

bool watched(int file) { return file >= 0 && file < kMostFiles && is_watched[file]; }

int opened(int file) {
  if (file >= 0 && file < kMostFiles) is_watched[file] = true;
  return file;
}

int failed(int error) {
  errno = error;
  return -1;
}

template <class F>
F* real(const char* name) {
  return reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
}

struct AtEnd {
  ~AtEnd() {
    const char* const path = setting("RELAY_FAIL_COUNT");
    if (*path == '\0') return;
    if (std::FILE* const file = real<std::FILE*(const char*, const char*)>("fopen")(path, "w")) {
      std::fprintf(file, "%ld\n", calls.load());
      std::fclose(file);
    }
  }
} at_end;

int open_as(const char* name, const char* path, int flags, mode_t mode) {
  const bool is_ours = is_inside(path);
  if (is_ours && fails()) return failed(EIO);
  const int file = real<int(const char*, int, ...)>(name)(path, flags, mode);
  return is_ours ? opened(file) : file;
}

int openat_as(const char* name, int folder, const char* path, int flags, mode_t mode) {
  const bool is_ours = is_inside(path);
  if (is_ours && fails()) return failed(EIO);
  const int file = real<int(int, const char*, int, ...)>(name)(folder, path, flags, mode);
  return is_ours ? opened(file) : file;
}

mode_t mode_of(int flags, va_list rest) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? static_cast<mode_t>(va_arg(rest, int)) : 0;
}

std::FILE* fopen_as(const char* name, const char* path, const char* how) {
  const bool is_ours = is_inside(path);
  if (is_ours && fails()) {
    errno = EIO;
    return nullptr;
  }
  std::FILE* const file = real<std::FILE*(const char*, const char*)>(name)(path, how);
  if (is_ours && file) opened(fileno(file));
  return file;
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = mode_of(flags, rest);
  va_end(rest);
  return open_as("open", path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = mode_of(flags, rest);
  va_end(rest);
  return open_as("open64", path, flags, mode);
}
int openat(int folder, const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = mode_of(flags, rest);
  va_end(rest);
  return openat_as("openat", folder, path, flags, mode);
}
int openat64(int folder, const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = mode_of(flags, rest);
  va_end(rest);
  return openat_as("openat64", folder, path, flags, mode);
}
std::FILE* fopen(const char* path, const char* how) { return fopen_as("fopen", path, how); }
std::FILE* fopen64(const char* path, const char* how) { return fopen_as("fopen64", path, how); }

ssize_t read(int file, void* to, size_t count) {
  if (watched(file) && fails()) return failed(EIO);
  return real<ssize_t(int, void*, size_t)>("read")(file, to, count);
}
ssize_t pread(int file, void* to, size_t count, off_t at) {
  if (watched(file) && fails()) return failed(EIO);
  return real<ssize_t(int, void*, size_t, off_t)>("pread")(file, to, count, at);
}
ssize_t write(int file, const void* from, size_t count) {
  if (watched(file) && fails()) return failed(ENOSPC);
  return real<ssize_t(int, const void*, size_t)>("write")(file, from, count);
}
ssize_t pwrite(int file, const void* from, size_t count, off_t at) {
  if (watched(file) && fails()) return failed(ENOSPC);
  return real<ssize_t(int, const void*, size_t, off_t)>("pwrite")(file, from, count, at);
}
ssize_t writev(int file, const iovec* parts, int count) {
  if (watched(file) && fails()) return failed(ENOSPC);
  return real<ssize_t(int, const iovec*, int)>("writev")(file, parts, count);
}
int fsync(int file) {
  if (watched(file) && fails()) return failed(EIO);
  return real<int(int)>("fsync")(file);
}
int fdatasync(int file) {
  if (watched(file) && fails()) return failed(EIO);
  return real<int(int)>("fdatasync")(file);
}
int sync_file_range(int file, off64_t from, off64_t count, unsigned flags) {
  if (watched(file) && fails()) return failed(EIO);
  return real<int(int, off64_t, off64_t, unsigned)>("sync_file_range")(file, from, count, flags);
}
int ftruncate(int file, off_t size) {
  if (watched(file) && fails()) return failed(ENOSPC);
  return real<int(int, off_t)>("ftruncate")(file, size);
}
int rename(const char* from, const char* to) {
  if (is_inside(to) && fails()) return failed(ENOSPC);
  return real<int(const char*, const char*)>("rename")(from, to);
}
int close(int file) {
  if (file >= 0 && file < kMostFiles) is_watched[file] = false;
  return real<int(int)>("close")(file);
}

}  // extern "C"
