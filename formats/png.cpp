#include "formats/png.h"

#include <png.h>

#include <limits>

#include <fmt/format.h>

#include "formats/bytes.h"

namespace relay::formats {

using lang::DType;

namespace {

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

void open(Image& image, const Location& location) {
  FileReader exists(location.path);
  if (!png_image_begin_read_from_file(&image.get(), location.path.c_str()))
    bad_data(location.path, image->message);
  if ((image->format & PNG_FORMAT_FLAG_LINEAR) != 0) {
    lang::fail(lang::DiagnosticKind::Unsupported,
               fmt::format("not supported: {} has 16 bits for each sample", location.path));
  }
  image->format &= ~static_cast<png_uint_32>(PNG_FORMAT_FLAG_COLORMAP);
}

Header header_of(Image& image) {
  return {DType::UInt8,
          {image->height, image->width,
           static_cast<std::int64_t>(PNG_IMAGE_SAMPLE_CHANNELS(image->format))}};
}

}  // namespace

Header read_png_header(const Location& location) {
  Image image;
  open(image, location);
  return header_of(image);
}

lang::TensorRef read_png(const Location& location) {
  Image image;
  open(image, location);
  lang::TensorRef tensor = lang::Tensor::make(DType::UInt8, header_of(image).shape);
  if (!png_image_finish_read(&image.get(), nullptr, tensor->data(), 0, nullptr))
    bad_data(location.path, image->message);
  return tensor;
}

void write_png(const Location& location, const lang::Tensor& tensor) {
  constexpr png_uint_32 kFormats[] = {PNG_FORMAT_GRAY, PNG_FORMAT_GA, PNG_FORMAT_RGB,
                                      PNG_FORMAT_RGBA};
  const auto& shape = tensor.shape();
  const std::int64_t channels = shape.size() == 3 ? shape[2] : 1;
  const auto fits = [](std::int64_t extent) {
    return extent > 0 && extent <= std::numeric_limits<std::int32_t>::max();
  };
  if (tensor.dtype() != DType::UInt8 || shape.size() < 2 || shape.size() > 3 || channels < 1 ||
      channels > 4 || !fits(shape[0]) || !fits(shape[1])) {
    bad_data(location.path,
             "an image is a uint8 tensor of shape (height, width) or (height, width, 1 to 4)");
  }
  Image image;
  image->height = static_cast<png_uint_32>(shape[0]);
  image->width = static_cast<png_uint_32>(shape[1]);
  image->format = kFormats[channels - 1];
  FileWriter file(location.path);
  if (!png_image_write_to_file(&image.get(), file.temporary_path().c_str(), 0, tensor.data(), 0,
                               nullptr)) {
    lang::fail(lang::DiagnosticKind::FileError,
               fmt::format("cannot write `{}`: {}", location.path, image->message));
  }
  file.finish();
}

}  // namespace relay::formats
