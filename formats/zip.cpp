#include "formats/zip.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>

#include <fmt/format.h>

namespace relay::formats {

namespace {

constexpr std::uint32_t kLocal = 0x04034b50;
constexpr std::uint32_t kCentral = 0x02014b50;
constexpr std::uint32_t kEnd = 0x06054b50;
constexpr std::uint32_t kEnd64 = 0x06064b50;
constexpr std::uint32_t kLocator64 = 0x07064b50;
constexpr std::int64_t kLocalSize = 30;
constexpr std::int64_t kCentralSize = 46;
constexpr std::int64_t kEndSize = 22;
constexpr std::int64_t kEnd64Size = 56;
constexpr std::int64_t kLocator64Size = 20;
constexpr std::uint32_t kIn64 = 0xffffffff;  // the number stands in the 64-bit field
constexpr std::uint16_t kIn64Short = 0xffff;
constexpr std::uint16_t kExtra64 = 1;
constexpr std::uint16_t kDate = (1U << 5U) | 1U;  // 1980-01-01, the first that there is
constexpr int kStored = 0;
constexpr int kDeflated = 8;

// Little-endian numbers of a piece of the file, in order; 0 behind its end, which `is_short` tells.
class Fields {
 public:
  explicit Fields(std::string_view text) : text_(text) {}
  std::uint16_t two() { return static_cast<std::uint16_t>(number(2)); }
  std::uint32_t four() { return static_cast<std::uint32_t>(number(4)); }
  std::uint64_t eight() { return number(8); }
  std::string_view text(std::size_t size) {
    is_short_ |= size > text_.size();
    const std::string_view part = text_.substr(0, size);
    text_.remove_prefix(part.size());
    return part;
  }
  bool is_short() const { return is_short_; }
  bool at_end() const { return text_.empty(); }

 private:
  std::uint64_t number(std::size_t size) {
    const std::string_view part = text(size);
    std::uint64_t value = 0;
    for (std::size_t i = part.size(); i-- > 0;)
      value = value << 8U | static_cast<unsigned char>(part[i]);
    return value;
  }
  std::string_view text_;
  bool is_short_ = false;
};

std::string piece(FileReader& file, std::int64_t begin, std::int64_t size) {
  std::string text(static_cast<std::size_t>(size), '\0');
  file.skip_to(begin);
  file.read(std::as_writable_bytes(std::span(text)));
  return text;
}

[[noreturn]] void no_archive(const FileReader& file) {
  bad_data(file.path(), "this is no `.npz` file, or its end is missing");
}

[[noreturn]] void broken(const FileReader& file) {
  bad_data(file.path(), "the archive's directory is damaged");
}

// Where the directory lies, and how many members it names.
struct Position {
  std::uint64_t begin, size, members;
};

// The record at the end of the archive, with a comment of at most 64 KiB behind it.
Position find_directory(FileReader& file) {
  constexpr std::int64_t kLongestComment = 0xffff;
  const std::int64_t whole = file.size();
  if (whole < kEndSize) no_archive(file);
  const std::int64_t from = std::max<std::int64_t>(0, whole - kEndSize - kLongestComment);
  const std::string tail = piece(file, from, whole - from);
  for (std::size_t at = tail.size() - kEndSize + 1; at-- > 0;) {
    Fields fields(std::string_view(tail).substr(at));
    if (fields.four() != kEnd) continue;
    const bool is_whole = fields.four() == 0;  // the numbers of two disks
    fields.two();
    Position found{0, 0, fields.two()};
    found.size = fields.four();
    found.begin = fields.four();
    if (fields.two() != tail.size() - at - kEndSize) continue;  // the comment ends elsewhere
    const std::int64_t end = from + static_cast<std::int64_t>(at);
    if (end >= kLocator64Size) {
      const std::string before = piece(file, end - kLocator64Size, kLocator64Size);
      Fields locator(before);
      if (locator.four() == kLocator64) {
        locator.four();
        const std::uint64_t place = locator.eight();
        if (place > static_cast<std::uint64_t>(end) ||
            static_cast<std::uint64_t>(end) - place < kEnd64Size)
          broken(file);
        const std::string text = piece(file, static_cast<std::int64_t>(place), kEnd64Size);
        Fields big(text);
        if (big.four() != kEnd64) broken(file);
        big.text(28);
        found.members = big.eight();
        found.size = big.eight();
        found.begin = big.eight();
      }
    }
    const auto limit = static_cast<std::uint64_t>(end);
    if (!is_whole || found.size > limit || found.begin > limit - found.size) broken(file);
    return found;
  }
  no_archive(file);
}

std::int64_t checked_size(const FileReader& file, std::uint64_t size) {
  if (size > static_cast<std::uint64_t>(file.size())) broken(file);
  return static_cast<std::int64_t>(size);
}

ZipMember next_member(FileReader& file, Fields& fields) {
  constexpr std::uint16_t kEncrypted = 1;
  constexpr std::uint64_t kMostPacked = 1100;  // deflate packs no byte to less than its 1032nd
  if (fields.four() != kCentral) broken(file);
  ZipMember member;
  fields.four();  // versions
  member.is_encrypted = (fields.two() & kEncrypted) != 0;
  member.method = fields.two();
  fields.four();  // time and date
  member.checksum = fields.four();
  std::uint64_t packed = fields.four();
  std::uint64_t size = fields.four();
  const std::size_t name_size = fields.two();
  const std::size_t extra_size = fields.two();
  const std::size_t comment_size = fields.two();
  fields.text(8);  // disk, attributes
  std::uint64_t begin = fields.four();
  member.name = fields.text(name_size);
  for (Fields extra(fields.text(extra_size)); !extra.at_end();) {
    const std::uint16_t kind = extra.two();
    Fields field(extra.text(extra.two()));
    if (kind != kExtra64) continue;
    for (std::uint64_t* number : {&size, &packed, &begin}) {
      if (*number == kIn64) *number = field.eight();
    }
    if (field.is_short()) broken(file);
  }
  fields.text(comment_size);
  if (fields.is_short()) broken(file);
  member.packed_size = checked_size(file, packed);
  member.header_begin = checked_size(file, begin);
  if (size > (packed + 1) * kMostPacked) broken(file);
  member.size = static_cast<std::int64_t>(size);
  return member;
}

}  // namespace

std::vector<ZipMember> read_zip_directory(FileReader& file) {
  file.require_regular("reading a `.npz` file");
  const Position directory = find_directory(file);
  const std::string text = piece(file, static_cast<std::int64_t>(directory.begin),
                                 static_cast<std::int64_t>(directory.size));
  if (directory.members > directory.size / kCentralSize) broken(file);
  std::vector<ZipMember> members;
  Fields fields(text);
  for (std::uint64_t i = 0; i < directory.members; ++i)
    members.push_back(next_member(file, fields));
  if (!fields.at_end()) broken(file);
  return members;
}

struct ZipMemberReader::Inflater {
  static constexpr std::size_t kInput = std::size_t{64} << 10U;
  Inflater() : input(kInput) {
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() { inflateEnd(&stream); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  z_stream stream{};
  std::vector<std::byte> input;
};

ZipMemberReader::ZipMemberReader(FileReader& file, const ZipMember& member)
    : file_(file), member_(member), packed_left_(member.packed_size) {
  if (member.is_encrypted || (member.method != kStored && member.method != kDeflated)) {
    lang::fail(
        lang::DiagnosticKind::Unsupported,
        fmt::format("not supported: {}: {} is {}", file.path(), in_backticks(member.name),
                    member.is_encrypted ? std::string("encrypted")
                                        : fmt::format("compressed by method {}", member.method)));
  }
  if (member.method == kStored && member.packed_size != member.size) damaged("is damaged");
  if (file.size() - member.header_begin < kLocalSize) damaged("is damaged");
  const std::string text = piece(file, member.header_begin, kLocalSize);
  Fields fields(text);
  if (fields.four() != kLocal) damaged("is damaged");
  fields.text(22);
  const std::int64_t behind = std::int64_t{fields.two()} + fields.two();
  const std::int64_t begin = member.header_begin + kLocalSize + behind;
  if (begin > file.size() || file.size() - begin < member.packed_size)
    damaged("ends behind the end of the file");
  file.skip_to(begin);
  if (member.method == kDeflated) inflater_ = std::make_unique<Inflater>();
  if (member.size == 0 && member.checksum != 0) damaged("is damaged: its checksum is another");
}

ZipMemberReader::~ZipMemberReader() = default;

void ZipMemberReader::damaged(const char* how) const {
  bad_data(file_.path(), fmt::format("{} {}", in_backticks(member_.name), how));
}

void ZipMemberReader::read(std::span<std::byte> bytes) {
  if (bytes.size() > static_cast<std::uint64_t>(remaining())) damaged("ends too early");
  if (bytes.empty()) return;
  if (inflater_) {
    inflate_into(bytes);
  } else {
    file_.read(bytes);
  }
  checksum_ = checksum_with(checksum_, bytes);
  done_ += static_cast<std::int64_t>(bytes.size());
  if (remaining() == 0 && checksum_ != member_.checksum)
    damaged("is damaged: its checksum is another");
}

void ZipMemberReader::inflate_into(std::span<std::byte> bytes) {
  constexpr std::size_t kMost = std::size_t{1} << 30U;  // what the stream can count
  z_stream& stream = inflater_->stream;
  while (!bytes.empty()) {
    if (stream.avail_in == 0 && packed_left_ > 0) {
      const auto part = std::min<std::int64_t>(packed_left_, Inflater::kInput);
      const std::span<std::byte> input(inflater_->input.data(), static_cast<std::size_t>(part));
      file_.read(input);
      packed_left_ -= part;
      stream.next_in = reinterpret_cast<Bytef*>(input.data());
      stream.avail_in = static_cast<uInt>(part);
    }
    const std::size_t wanted = std::min(bytes.size(), kMost);
    stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
    stream.avail_out = static_cast<uInt>(wanted);
    const int status = inflate(&stream, Z_NO_FLUSH);
    const std::size_t got = wanted - stream.avail_out;
    bytes = bytes.subspan(got);
    if (status == Z_MEM_ERROR) throw std::bad_alloc();
    if (status == Z_STREAM_END && !bytes.empty()) damaged("ends too early");
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) damaged("is damaged");
    if (got == 0 && stream.avail_in == 0 && packed_left_ == 0) damaged("ends too early");
  }
}

namespace {

// The numbers of a record, one behind the other.
class Record {
 public:
  Record& two(std::uint64_t value) { return number(value, 2); }
  Record& four(std::uint64_t value) { return number(value, 4); }
  Record& eight(std::uint64_t value) { return number(value, 8); }
  Record& text(std::string_view text) {
    bytes_ += text;
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  Record& number(std::uint64_t value, int size) {
    for (int i = 0; i < size; ++i, value >>= 8U) bytes_ += static_cast<char>(value & 0xffU);
    return *this;
  }
  std::string bytes_;
};

constexpr std::uint64_t kVersion64 = 45;
constexpr std::uint64_t kUtf8Name = 1U << 11U;

}  // namespace

void ZipWriter::put(const std::string& text) {
  file_.write(text);
  position_ += static_cast<std::int64_t>(text.size());
}

void ZipWriter::begin(const std::string& name, std::int64_t size, std::uint32_t checksum) {
  if (name.size() >= kIn64Short) {
    lang::fail(lang::DiagnosticKind::BadData,
               fmt::format("the name {} is too long for a `.npz` file", in_backticks(name)));
  }
  members_.push_back({name, checksum, kStored, false, size, size, position_});
  const auto bytes = static_cast<std::uint64_t>(size);
  Record record;
  record.four(kLocal).two(kVersion64).two(kUtf8Name).two(kStored).two(0).two(kDate);
  record.four(checksum).four(kIn64).four(kIn64).two(name.size()).two(20).text(name);
  record.two(kExtra64).two(16).eight(bytes).eight(bytes);
  put(record.bytes());
  position_ += size;
}

void ZipWriter::finish() {
  const auto begin = static_cast<std::uint64_t>(position_);
  for (const ZipMember& member : members_) {
    const auto bytes = static_cast<std::uint64_t>(member.size);
    Record record;
    record.four(kCentral).two(kVersion64).two(kVersion64).two(kUtf8Name).two(kStored);
    record.two(0).two(kDate).four(member.checksum).four(kIn64).four(kIn64);
    record.two(member.name.size()).two(28).two(0).two(0).two(0).four(0).four(kIn64);
    record.text(member.name).two(kExtra64).two(24).eight(bytes).eight(bytes);
    record.eight(static_cast<std::uint64_t>(member.header_begin));
    put(record.bytes());
  }
  const auto end = static_cast<std::uint64_t>(position_);
  const std::uint64_t count = members_.size();
  Record record;
  record.four(kEnd64).eight(kEnd64Size - 12).two(kVersion64).two(kVersion64).four(0).four(0);
  record.eight(count).eight(count).eight(end - begin).eight(begin);
  record.four(kLocator64).four(0).eight(end).four(1);
  const std::uint64_t shown = std::min<std::uint64_t>(count, kIn64Short);
  record.four(kEnd).two(0).two(0).two(shown).two(shown);
  record.four(std::min<std::uint64_t>(end - begin, kIn64))
      .four(std::min<std::uint64_t>(begin, kIn64));
  record.two(0);
  put(record.bytes());
}

std::uint32_t checksum_with(std::uint32_t checksum, std::span<const std::byte> bytes) {
  return static_cast<std::uint32_t>(
      crc32_z(checksum, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace relay::formats
