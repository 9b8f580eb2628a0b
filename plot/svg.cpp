#include "plot/svg.h"

#include <cmath>
#include <cstdint>
#include <iterator>

#include <fmt/format.h>

#include "lang/stop.h"
#include "lang/utf8.h"

namespace relay::plot {

namespace {

// With at most two decimals and none that say nothing.
std::string number(double value) {
  std::string text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text == "-0" ? "0" : text;
}

// As the content of an element; what XML does not allow is written as an escape of ours.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : lang::printable_line(text)) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string base64(const std::string& bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k)
      group = group << 8U | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k) {
      const bool is_there = i + k <= bytes.size();
      text += is_there ? kDigits[group >> (18U - 6U * k) & 63U] : '=';
    }
  }
  return text;
}

struct Writer {
  std::string& text;
  const EncodePng& encode_png;
  void put(std::string_view piece) const { text += piece; }

  void operator()(const Stroke& stroke) const {
    put(R"(<path d=")");
    std::string_view before = "M";
    for (const Place& each : stroke.places) {
      if (std::isnan(each.x + each.y)) {
        before = "M";
        continue;
      }
      put(before);
      put(number(each.x) + " " + number(each.y));
      before = before == "M" ? "L" : " ";
    }
    put(fmt::format("\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"/>\n", hex_of(stroke.colour),
                    number(stroke.width)));
  }
  void operator()(const Dots& dots) const {
    put(fmt::format("<g fill=\"{}\">\n", hex_of(dots.colour)));
    for (const Place& each : dots.centres) {
      put(fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\"/>\n", number(each.x), number(each.y),
                      number(dots.radius)));
    }
    put("</g>\n");
  }
  void operator()(const Box& box) const {
    put(fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>\n",
                    number(box.corner.x), number(box.corner.y), number(box.width),
                    number(box.height), hex_of(box.colour)));
  }
  void operator()(const Label& label) const {
    constexpr std::string_view kAnchors[] = {"start", "middle", "end"};
    put(fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"{}\">{}</text>\n", number(label.base.x),
                    number(label.base.y), kAnchors[static_cast<std::size_t>(label.anchor)],
                    escaped(label.text)));
  }
  void operator()(const Picture& picture) const {
    put(
        fmt::format("<image x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" "
                    "preserveAspectRatio=\"none\" style=\"image-rendering:pixelated\" "
                    "href=\"data:image/png;base64,{}\"/>\n",
                    number(picture.corner.x), number(picture.corner.y), number(picture.width),
                    number(picture.height), base64(encode_png(*picture.pixels))));
  }
};

}  // namespace

std::string svg_of(const Drawing& drawing, const EncodePng& encode_png) {
  const std::string width = number(drawing.width);
  const std::string height = number(drawing.height);
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
      "viewBox=\"0 0 {0} {1}\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#222222\" "
      "stroke-linejoin=\"round\">\n",
      width, height);
  const Writer writer{text, encode_png};
  for (const Mark& mark : drawing.marks) {
    lang::poll();
    std::visit(writer, mark);
  }
  return text + "</svg>\n";
}

}  // namespace relay::plot
