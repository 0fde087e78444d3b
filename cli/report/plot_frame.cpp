// See plot_frame.hpp.
#include "report/plot_frame.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace kith::cli {
namespace {

constexpr double kLetterWidth = 6.8;  // of a digit in labels, which are larger on a phone

/// Of UTF-8.
std::size_t characters(const std::string& words) {
  return static_cast<std::size_t>(std::ranges::count_if(words, [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

PlotFrame::PlotFrame(const ChartWords& words, Axis x, Axis y) : words_(words), x_(std::move(x)), y_(std::move(y)) {
  std::size_t longest = 1;
  for (const double tick : y_.ticks()) longest = std::max(longest, characters(y_.label(tick)));
  left_ = 12 + kLetterWidth * static_cast<double>(longest);
}

Markup PlotFrame::axes() const {
  Markup lines, labels;
  for (const double tick : y_.ticks()) {
    const std::string y = coordinate(y_of(tick));
    lines += empty_element("line", {{"x1", coordinate(left_)}, {"x2", coordinate(kRight)}, {"y1", y}, {"y2", y}});
    labels += element("text", {{"x", coordinate(left_ - 6)}, {"y", coordinate(y_of(tick) + 4)}, {"text-anchor", "end"}},
                      y_.label(tick));
  }
  for (const double tick : x_.ticks()) {
    const std::string x = coordinate(x_of(tick));
    lines +=
        empty_element("line", {{"x1", x}, {"x2", x}, {"y1", coordinate(kBottom)}, {"y2", coordinate(kBottom + 4)}});
    labels += element("text", {{"x", x}, {"y", coordinate(kBottom + 17)}, {"text-anchor", "middle"}}, x_.label(tick));
  }
  labels +=
      element("text", {{"class", "axis"}, {"x", coordinate(left_)}, {"y", "12"}, {"text-anchor", "start"}}, words_.y);
  labels += element(
      "text", {{"class", "axis"}, {"x", coordinate(kRight)}, {"y", coordinate(kHeight - 8)}, {"text-anchor", "end"}},
      words_.x);
  return element("g", {{"class", "grid"}}, lines) + element("g", {{"class", "ticks"}}, labels);
}

Markup PlotFrame::svg(const Markup& inside) const { return svg_of(words_.title, kHeight, inside); }

Markup svg_of(const std::string& title, double height, const Markup& inside) {
  return element("svg",
                 {{"class", "chart"},
                  {"viewBox", fmt::format("0 0 {} {}", coordinate(PlotFrame::kWidth), coordinate(height))},
                  {"role", "img"},
                  {"aria-label", title}},
                 inside);
}

Markup chart_figure(const ChartWords& words, const Markup& drawing) {
  return element("figure", {{"class", "chart"}},
                 element("figcaption", words.title) + drawing +
                     (words.note.empty() ? Markup() : element("p", {{"class", "note"}}, words.note)));
}

Markup nothing_to_show() { return element("p", {{"class", "nothing"}}, "There is nothing to show."); }

}  // namespace kith::cli
