#include "formats/png.h"

#include <png.h>

#include <cstdio>
#include <exception>
#include <limits>
#include <new>
#include <string>

#include <fmt/format.h>

#include "formats/bytes.h"

namespace relay::formats {

using lang::DType;

namespace {

// A file as the C library sees it, which is what libpng reads and writes. An exception waits until
// libpng has returned.
class Stream {
 public:
  Stream(FileReader& reader, const Progress& progress) : reader_(&reader), progress_(progress) {
    open("rb");
  }
  explicit Stream(FileWriter& writer) : writer_(&writer) { open("wb"); }
  ~Stream() {
    if (file_) std::fclose(file_);
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  std::FILE* file() const { return file_; }
  // Writes what is left. Throws what the file threw.
  void finish() {
    if (writer_ && std::fflush(file_) != 0 && !thrown_) file_error("cannot write an image");
    rethrow();
  }
  void rethrow() const {
    if (thrown_) std::rethrow_exception(thrown_);
  }

 private:
  void open(const char* mode) {
    cookie_io_functions_t functions{};
    functions.read = [](void* self, char* bytes, std::size_t size) -> ssize_t {
      return static_cast<Stream*>(self)->read(bytes, size);
    };
    functions.write = [](void* self, const char* bytes, std::size_t size) -> ssize_t {
      return static_cast<Stream*>(self)->write(bytes, size);
    };
    file_ = fopencookie(this, mode, functions);
    if (!file_) throw std::bad_alloc();
  }
  ssize_t read(char* bytes, std::size_t size) {
    try {
      if (progress_) progress_(reader_->size() - reader_->remaining(), reader_->size());
      return static_cast<ssize_t>(
          reader_->read_some(std::as_writable_bytes(std::span(bytes, size))));
    } catch (...) {
      thrown_ = std::current_exception();
      return -1;
    }
  }
  ssize_t write(const char* bytes, std::size_t size) {
    try {
      writer_->write(std::string_view(bytes, size));
      return static_cast<ssize_t>(size);
    } catch (...) {
      thrown_ = std::current_exception();
      return 0;
    }
  }

  FileReader* reader_ = nullptr;
  FileWriter* writer_ = nullptr;
  Progress progress_;
  std::FILE* file_ = nullptr;
  std::exception_ptr thrown_;
};

// An image that is being read or written.
class Image {
 public:
  Image() { image_.version = PNG_IMAGE_VERSION; }
  ~Image() { png_image_free(&image_); }
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;
  png_image& get() { return image_; }
  png_image* operator->() { return &image_; }

 private:
  png_image image_{};
};

void open(Image& image, const Stream& stream, const std::string& path) {
  if (!png_image_begin_read_from_stdio(&image.get(), stream.file())) {
    stream.rethrow();
    bad_data(path, image->message);
  }
  if ((image->format & PNG_FORMAT_FLAG_LINEAR) != 0) {
    lang::fail(lang::DiagnosticKind::Unsupported,
               fmt::format("not supported: {} has 16 bits for each sample", path));
  }
  image->format &= ~static_cast<png_uint_32>(PNG_FORMAT_FLAG_COLORMAP);
}

Header header_of(Image& image) {
  return {DType::UInt8,
          {image->height, image->width,
           static_cast<std::int64_t>(PNG_IMAGE_SAMPLE_CHANNELS(image->format))}};
}

}  // namespace

Header read_png_header(const Location& location, const Progress& progress) {
  FileReader file(location, progress);
  const Stream stream(file, progress);
  Image image;
  open(image, stream, location.path);
  return header_of(image);
}

lang::TensorRef read_png(const Location& location, const Progress& progress) {
  FileReader file(location, progress);
  const Stream stream(file, progress);
  Image image;
  open(image, stream, location.path);
  const Header header = header_of(image);
  check_header(location.path, header);
  // Nothing is packed to less than its 1032nd part: what is not there is not made room for.
  constexpr std::int64_t kMostPacked = 1100 * 8;  // samples of one bit become bytes
  if (file.size() >= 0 && byte_count(header) / kMostPacked / 4 > file.size())
    bad_data(location.path, "the file ends too early");
  lang::TensorRef tensor = make_tensor(location.path, header);
  if (!png_image_finish_read(&image.get(), nullptr, tensor->data(), 0, nullptr)) {
    stream.rethrow();
    bad_data(location.path, image->message);
  }
  return tensor;
}

namespace {

// Says in an Image what is to be written; `path` is for the error.
void describe_image(Image& image, const lang::Tensor& tensor, const std::string& path) {
  constexpr png_uint_32 kFormats[] = {PNG_FORMAT_GRAY, PNG_FORMAT_GA, PNG_FORMAT_RGB,
                                      PNG_FORMAT_RGBA};
  const auto& shape = tensor.shape();
  const std::int64_t channels = shape.size() == 3 ? shape[2] : 1;
  const auto fits = [](std::int64_t extent) {
    return extent > 0 && extent <= std::numeric_limits<std::int32_t>::max();
  };
  if (tensor.dtype() != DType::UInt8 || shape.size() < 2 || shape.size() > 3 || channels < 1 ||
      channels > 4 || !fits(shape[0]) || !fits(shape[1])) {
    bad_data(path,
             "an image is a uint8 tensor of shape (height, width) or (height, width, 1 to 4)");
  }
  image->height = static_cast<png_uint_32>(shape[0]);
  image->width = static_cast<png_uint_32>(shape[1]);
  image->format = kFormats[channels - 1];
}

}  // namespace

void write_png(const Location& location, const lang::Tensor& tensor) {
  Image image;
  describe_image(image, tensor, location.path);
  FileWriter file(location);
  Stream stream(file);
  if (!png_image_write_to_stdio(&image.get(), stream.file(), 0, tensor.data(), 0, nullptr)) {
    stream.rethrow();
    lang::fail(lang::DiagnosticKind::FileError,
               fmt::format("cannot write `{}`: {}", location.path, image->message));
  }
  stream.finish();
  file.finish();
}

std::string png_bytes(const lang::Tensor& tensor) {
  Image image;
  describe_image(image, tensor, "an image");
  const auto fail = [&] {
    lang::fail(lang::DiagnosticKind::BadData,
               fmt::format("cannot write an image: {}", image->message));
  };
  png_alloc_size_t size = 0;
  if (!png_image_write_to_memory(&image.get(), nullptr, &size, 0, tensor.data(), 0, nullptr))
    fail();
  std::string bytes(size, '\0');
  if (!png_image_write_to_memory(&image.get(), bytes.data(), &size, 0, tensor.data(), 0, nullptr))
    fail();
  bytes.resize(size);
  return bytes;
}

lang::TensorRef rgb_of_png(std::string_view bytes) {
  const std::string name = "an image";
  Image image;
  if (!png_image_begin_read_from_memory(&image.get(), bytes.data(), bytes.size()))
    bad_data(name, image->message);
  image->format = PNG_FORMAT_RGB;
  const Header header = header_of(image);
  check_header(name, header);
  lang::TensorRef tensor = make_tensor(name, header);
  constexpr png_color kWhite = {255, 255, 255};
  if (!png_image_finish_read(&image.get(), &kWhite, tensor->data(), 0, nullptr))
    bad_data(name, image->message);
  return tensor;
}

}  // namespace relay::formats
