#include "formats/output_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>

#include "lang/diagnostic.h"
#include "lang/stop.h"

namespace relay::formats {

using lang::DiagnosticKind;

namespace {

// Files that exist under a temporary name. A slot is taken, filled and then shown; whoever moves it
// from Shown owns the file from then on.
enum class SlotState : int { Free, Taken, Shown };

struct UnfinishedFile {
  std::atomic<SlotState> state{SlotState::Free};
  std::atomic<int> folder{-1};
  std::array<char, NAME_MAX + 1> name{};
};

constexpr std::size_t kSlots = 64;
std::array<UnfinishedFile, kSlots> unfinished_files;
static_assert(std::atomic<SlotState>::is_always_lock_free);

// -1: there are too many, and this one is removed by its owner alone.
int show_unfinished(int folder, const std::string& name) {
  for (std::size_t i = 0; i < kSlots; ++i) {
    UnfinishedFile& slot = unfinished_files[i];
    SlotState free = SlotState::Free;
    if (!slot.state.compare_exchange_strong(free, SlotState::Taken)) continue;
    slot.folder = folder;
    name.copy(slot.name.data(), NAME_MAX);
    slot.name[std::min<std::size_t>(name.size(), NAME_MAX)] = '\0';
    slot.state = SlotState::Shown;
    return static_cast<int>(i);
  }
  return -1;
}

// False: the file has been removed meanwhile.
bool hide_unfinished(int index) {
  if (index < 0) return true;
  SlotState shown = SlotState::Shown;
  UnfinishedFile& slot = unfinished_files[static_cast<std::size_t>(index)];
  if (!slot.state.compare_exchange_strong(shown, SlotState::Taken)) return false;
  slot.state = SlotState::Free;
  return true;
}

std::string random_suffix() {
  std::uint64_t bits = 0;
  if (getrandom(&bits, sizeof bits, GRND_NONBLOCK) != sizeof bits) {
    static std::atomic<std::uint64_t> next = 0;
    bits = (static_cast<std::uint64_t>(getpid()) << 32U) + next++;
  }
  return fmt::format(".{:012x}.part", bits & 0xffffffffffffULL);
}

}  // namespace

void remove_unfinished_files() noexcept {
  for (UnfinishedFile& slot : unfinished_files) {
    SlotState shown = SlotState::Shown;
    if (!slot.state.compare_exchange_strong(shown, SlotState::Taken)) continue;
    unlinkat(slot.folder, slot.name.data(), 0);  // the slot stays taken: its owner must not rename
  }
}

void OutputFile::fail_to_write(int error) const {
  lang::fail(DiagnosticKind::FileError,
             fmt::format("cannot write `{}`: {}", path_, std::strerror(error)));
}

OutputFile::OutputFile(const std::string& path, const FileAccess& access)
    : path_(path), place_(access.place(path)) {
  const int folder = place_.folder.get();
  struct stat about {};
  const bool exists = fstatat(folder, place_.name.c_str(), &about, AT_SYMLINK_NOFOLLOW) == 0;
  if (!exists && errno != ENOENT) fail_to_write(errno);
  if (exists && !S_ISREG(about.st_mode)) {
    constexpr int kWriting = O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY;
    file_ = Descriptor(openat(folder, place_.name.c_str(), kWriting));
    if (!file_ && errno == ENXIO) {
      lang::fail(DiagnosticKind::FileError,
                 fmt::format("cannot write `{}`: it is a pipe that nobody reads", path_));
    }
    if (!file_) fail_to_write(errno);
    return;
  }
  // Its own name would take a file that may not be written.
  if (exists && faccessat(folder, place_.name.c_str(), W_OK, AT_EACCESS) != 0) fail_to_write(errno);
  constexpr mode_t kNewMode = 0666;  // less what the umask takes
  open_beside(exists, exists ? about.st_mode & 07777U : kNewMode);
  if (!exists) return;
  struct stat mine {};
  if (fstat(file_.get(), &mine) == 0 &&
      (mine.st_uid != about.st_uid || mine.st_gid != about.st_gid))
    static_cast<void>(!fchown(file_.get(), about.st_uid, about.st_gid));
  fchmod(file_.get(), about.st_mode & 07777U);  // after the owner, whose change clears bits
}

void OutputFile::open_beside(bool replaces, unsigned mode) {
  constexpr int kTries = 100;
  constexpr mode_t kPrivate = 0600;  // until it has the mode of what it replaces
  for (int i = 0; i < kTries; ++i) {
    const std::string suffix = random_suffix();
    const std::string name = place_.name.substr(0, NAME_MAX - suffix.size()) + suffix;
    file_ = Descriptor(openat(place_.folder.get(), name.c_str(),
                              O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, replaces ? kPrivate : mode));
    if (!file_ && errno == EEXIST) continue;
    if (!file_) fail_to_write(errno);
    temporary_ = name;
    slot_ = show_unfinished(place_.folder.get(), temporary_);
    return;
  }
  fail_to_write(EEXIST);
}

OutputFile::~OutputFile() { give_up(); }

void OutputFile::give_up() noexcept {
  if (temporary_.empty()) return;
  if (hide_unfinished(slot_)) unlinkat(place_.folder.get(), temporary_.c_str(), 0);
  temporary_.clear();
}

void OutputFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file_.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) {
      pollfd wait{file_.get(), POLLOUT, 0};
      constexpr int kPatience = 50;  // milliseconds
      poll(&wait, 1, kPatience);
      lang::poll();
      continue;
    }
    if (count <= 0) fail_to_write(count < 0 ? errno : ENOSPC);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

// Brings a large file to the disk piece by piece, as nothing interrupts an fsync. What fsync would
// report is reported here, and only here.
void OutputFile::sync_pieces() const {
  constexpr off_t kPiece = off_t{4} << 20U;
  constexpr unsigned kAll =
      SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
  struct stat about {};
  if (fstat(file_.get(), &about) != 0 || !S_ISREG(about.st_mode)) return;
  constexpr off_t kAhead = 16 * kPiece;  // is on its way to the disk while a piece is waited for
  for (off_t at = 0; at < about.st_size; at += kPiece) {
    lang::poll();
    const bool is_begun = sync_file_range(file_.get(), at, kAhead, SYNC_FILE_RANGE_WRITE) == 0;
    if (is_begun && sync_file_range(file_.get(), at, kPiece, kAll) == 0) continue;
    if (errno == EIO || errno == ENOSPC || errno == EDQUOT) fail_to_write(errno);
    return;  // not every system and file system can
  }
  lang::poll();
}

void OutputFile::finish() {
  sync_pieces();
  const auto flush = [&](int file) {
    // Pipes, devices and some file systems cannot.
    if (fsync(file) != 0 && errno != EINVAL && errno != EROFS && errno != ENOTSUP && errno != EBADF)
      fail_to_write(errno);
  };
  flush(file_.get());
  if (::close(file_.release()) != 0 && errno != EINTR) fail_to_write(errno);
  if (temporary_.empty()) return;
  const int folder = place_.folder.get();
  if (renameat(folder, temporary_.c_str(), folder, place_.name.c_str()) != 0) fail_to_write(errno);
  hide_unfinished(slot_);  // its random name is nobody's now, whoever still removes it
  temporary_.clear();
  // A descriptor that only names the folder cannot be synced.
  const Descriptor whole(openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (whole) flush(whole.get());
}

void write_whole(const std::string& path, std::string_view text, const FileAccess& access) {
  OutputFile file(path, access);
  file.write(text);
  file.finish();
}

}  // namespace relay::formats
