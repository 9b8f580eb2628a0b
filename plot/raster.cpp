#include "plot/raster.h"

#include <algorithm>
#include <cmath>

#include "lang/stop.h"
#include "lang/utf8.h"
#include "plot/letters.h"

namespace relay::plot {

namespace {

constexpr double kMostPoints = 8192;
constexpr Colour kInk = {34, 34, 34};

// Marks are put on it with soft edges: what covers a part of a point counts for that part.
class Sheet {
 public:
  Sheet(const Drawing& drawing, double scale)
      : scale_(std::min(scale, kMostPoints / std::max(drawing.width, drawing.height))),
        width_(std::max<std::int64_t>(1, std::llround(drawing.width * scale_))),
        height_(std::max<std::int64_t>(1, std::llround(drawing.height * scale_))),
        image_(lang::Tensor::make(lang::DType::UInt8, {height_, width_, 3})) {
    std::fill_n(image_->data_as<std::uint8_t>(), width_ * height_ * 3, kWhite.red);
  }
  lang::TensorRef take() { return std::move(image_); }

  void operator()(const Stroke& stroke) {
    for (std::size_t i = 1; i < stroke.places.size(); ++i) {
      const Place& from = stroke.places[i - 1];
      const Place& to = stroke.places[i];
      if (std::isnan(from.x + from.y) || std::isnan(to.x + to.y)) continue;
      const bool is_straight = from.x == to.x || from.y == to.y;
      if (is_straight && stroke.width <= 1) {
        hairline(from, to, stroke.colour);
      } else {
        segment(from, to, stroke.width / 2, stroke.colour);
      }
    }
  }
  void operator()(const Dots& dots) {
    for (const Place& each : dots.centres) segment(each, each, dots.radius, dots.colour);
  }
  void operator()(const Box& box) {
    const double right = box.corner.x + box.width;
    const double bottom = box.corner.y + box.height;
    fill(at(box.corner.x), at(box.corner.y), std::max(at(right), at(box.corner.x) + 1),
         std::max(at(bottom), at(box.corner.y) + 1), box.colour);
  }
  void operator()(const Label& label) {
    const auto size = std::max<std::int64_t>(1, std::llround(scale_ * 1.3));
    const std::int64_t step = (kLetterColumns + 1) * size;
    const auto length = static_cast<std::int64_t>(lang::code_points(label.text));
    std::int64_t left = at(label.base.x);
    if (label.anchor == Label::Anchor::Middle) left -= length * step / 2;
    if (label.anchor == Label::Anchor::End) left -= length * step;
    const std::int64_t top = at(label.base.y) - kLetterRows * size;
    for (std::size_t i = 0; i < label.text.size();) {
      const std::size_t bytes =
          std::max<std::size_t>(lang::code_point_length(label.text.substr(i)), 1);
      letter(bytes == 1 ? label.text[i] : '\x7f', left, top, size);
      left += step;
      i += bytes;
    }
  }
  void operator()(const Picture& picture) {
    const std::int64_t rows = picture.pixels->shape()[0];
    const std::int64_t columns = picture.pixels->shape()[1];
    const auto* byte = picture.pixels->data_as<std::uint8_t>();
    const std::int64_t left = at(picture.corner.x);
    const std::int64_t top = at(picture.corner.y);
    const std::int64_t across =
        std::max<std::int64_t>(at(picture.corner.x + picture.width) - left, 1);
    const std::int64_t down =
        std::max<std::int64_t>(at(picture.corner.y + picture.height) - top, 1);
    for (std::int64_t y = 0; y < down; ++y) {
      lang::poll();
      for (std::int64_t x = 0; x < across; ++x) {
        const auto* from = byte + (y * rows / down * columns + x * columns / across) * 3;
        blend(left + x, top + y, {from[0], from[1], from[2]}, 1);
      }
    }
  }

 private:
  std::int64_t at(double place) const { return std::llround(place * scale_); }

  void blend(std::int64_t x, std::int64_t y, Colour colour, double part) {
    if (x < 0 || y < 0 || x >= width_ || y >= height_ || part <= 0) return;
    std::uint8_t* const point = image_->data_as<std::uint8_t>() + (y * width_ + x) * 3;
    const std::uint8_t wanted[] = {colour.red, colour.green, colour.blue};
    for (int i = 0; i < 3; ++i)
      point[i] = static_cast<std::uint8_t>(std::lround(point[i] + part * (wanted[i] - point[i])));
  }

  void fill(std::int64_t left, std::int64_t top, std::int64_t right, std::int64_t bottom,
            Colour colour) {
    for (std::int64_t y = std::max<std::int64_t>(top, 0); y < std::min(bottom, height_); ++y) {
      for (std::int64_t x = std::max<std::int64_t>(left, 0); x < std::min(right, width_); ++x)
        blend(x, y, colour, 1);
    }
  }

  // A frame or a tick: one point wide, and sharp.
  void hairline(const Place& from, const Place& to, Colour colour) {
    fill(at(std::min(from.x, to.x)), at(std::min(from.y, to.y)), at(std::max(from.x, to.x)) + 1,
         at(std::max(from.y, to.y)) + 1, colour);
  }

  // With round ends, all that is at most `reach` units from the segment.
  void segment(const Place& from, const Place& to, double reach, Colour colour) {
    const double x0 = from.x * scale_;
    const double y0 = from.y * scale_;
    const double across = to.x * scale_ - x0;
    const double down = to.y * scale_ - y0;
    const double length = across * across + down * down;
    const double radius = reach * scale_;
    const auto low = [&](double a, double b) {
      return static_cast<std::int64_t>(std::floor(std::min(a, b) - radius - 1));
    };
    const auto high = [&](double a, double b) {
      return static_cast<std::int64_t>(std::ceil(std::max(a, b) + radius + 1));
    };
    const std::int64_t top = std::max<std::int64_t>(low(y0, y0 + down), 0);
    const std::int64_t bottom = std::min(high(y0, y0 + down), height_ - 1);
    for (std::int64_t y = top; y <= bottom; ++y) {
      const std::int64_t left = std::max<std::int64_t>(low(x0, x0 + across), 0);
      const std::int64_t right = std::min(high(x0, x0 + across), width_ - 1);
      for (std::int64_t x = left; x <= right; ++x) {
        const double px = static_cast<double>(x) + 0.5 - x0;
        const double py = static_cast<double>(y) + 0.5 - y0;
        const double share =
            length > 0 ? std::clamp((px * across + py * down) / length, 0.0, 1.0) : 0;
        const double distance = std::hypot(px - share * across, py - share * down);
        blend(x, y, colour, std::clamp(radius + 0.5 - distance, 0.0, 1.0));
      }
    }
  }

  void letter(char which, std::int64_t left, std::int64_t top, std::int64_t size) {
    for (int row = 0; row < kLetterRows; ++row) {
      for (int column = 0; column < kLetterColumns; ++column) {
        if (!is_letter_point(which, column, row)) continue;
        const std::int64_t x = left + column * size;
        const std::int64_t y = top + row * size;
        fill(x, y, x + size, y + size, kInk);
      }
    }
  }

  const double scale_;
  const std::int64_t width_;
  const std::int64_t height_;
  lang::TensorRef image_;
};

}  // namespace

lang::TensorRef raster_of(const Drawing& drawing, double points_per_unit) {
  Sheet sheet(drawing, points_per_unit);
  for (const Mark& mark : drawing.marks) {
    lang::poll();
    std::visit(sheet, mark);
  }
  return sheet.take();
}

}  // namespace relay::plot
