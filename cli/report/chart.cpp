// Lines and bars; see chart.hpp.
#include "report/chart.hpp"

#include "report/plot_frame.hpp"
#include "report/shown.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace kith::cli {
namespace {

/// More marks than that hide the line; of many points without a line they are small.
constexpr std::size_t kMostMarks = 120;
constexpr double kBarHeight = 24, kBarTop = 4, kLabelWidth = 118, kValueWidth = 80;
constexpr std::size_t kLongestBarLabel = 22;

struct Range {
  double least = std::numeric_limits<double>::infinity();
  double most = -least;

  void add(double value) {
    least = std::min(least, value);
    most = std::max(most, value);
  }
  Scaling scaling(bool may_bend) const { return may_bend ? scaling_for(least, most) : Scaling::linear; }
};

bool is_drawn(const ChartPoint& point) { return std::isfinite(point.x) && std::isfinite(point.y); }

Markup drawn(const Series& series, const PlotFrame& frame, std::size_t number) {
  const std::string color = fmt::format("series-{}", number % 6);
  std::string path;
  Markup marks;
  for (const ChartPoint& point : series.points) {
    if (!is_drawn(point)) continue;
    const std::string x = coordinate(frame.x_of(point.x)), y = coordinate(frame.y_of(point.y));
    path += fmt::format("{}{} {}", path.empty() ? "M" : "L", x, y);
    const std::string tip = point.tip.empty() ? fmt::format("{}, {}", shown(point.x), shown(point.y)) : point.tip;
    marks += element("circle",
                     {{"class", "mark"}, {"cx", x}, {"cy", y}, {"r", series.points.size() <= kMostMarks ? "3" : "1.6"}},
                     element("title", tip));
  }
  Markup inside;
  if (series.is_joined && !path.empty()) inside += empty_element("path", {{"class", "line"}, {"d", path}});
  if (!series.is_joined || series.points.size() <= kMostMarks) inside += marks;
  return element("g", {{"class", color}}, inside);
}

Markup legend_of(std::span<const std::string> names) {
  Markup items;
  for (std::size_t i = 0; i < names.size(); ++i) {
    items +=
        element("li", element("span", {{"class", fmt::format("swatch series-{}", i % 6)}}, Markup()) + text(names[i]));
  }
  return element("ul", {{"class", "legend"}}, items);
}

}  // namespace

Markup line_chart(const ChartWords& words, std::span<const Series> series, const ChartScales& scales) {
  Range x, y;
  std::vector<std::string> names;
  for (const Series& one : series) {
    names.push_back(one.name);
    for (const ChartPoint& point : one.points) {
      if (!is_drawn(point)) continue;
      x.add(point.x);
      y.add(point.y);
    }
  }
  const bool is_drawable = std::isfinite(x.most - x.least) && std::isfinite(y.most - y.least);  // false without points
  if (!is_drawable) return chart_figure(words, nothing_to_show());
  const Scaling up = y.scaling(scales.may_bend_y);
  if (scales.from_zero && up == Scaling::linear) y.add(0);
  const double most_ticks = scales.has_whole_x ? std::clamp(x.most - x.least, 1.0, 6.0) : 6;
  const PlotFrame frame(words, Axis(x.least, x.most, x.scaling(scales.may_bend_x), static_cast<int>(most_ticks)),
                        Axis(y.least, y.most, up, 5));
  Markup inside = frame.axes();
  for (std::size_t i = 0; i < series.size(); ++i) inside += drawn(series[i], frame, i);
  return chart_figure(words, (series.size() > 1 ? legend_of(names) : Markup()) + frame.svg(inside));
}

Markup bar_chart(const ChartWords& words, std::span<const Bar> bars, double full) {
  double most = full;
  for (const Bar& bar : bars) most = std::max(most, bar.value);
  if (bars.empty()) return chart_figure(words, nothing_to_show());
  const double width = PlotFrame::kWidth - kLabelWidth - kValueWidth;
  Markup inside;
  double top = kBarTop;
  for (const Bar& bar : bars) {
    const double length = most > 0 && std::isfinite(bar.value) ? std::max(0.0, bar.value / most) * width : 0;
    const std::string middle = coordinate(top + kBarHeight / 2 + 4);
    inside += element(
        "g", {{"class", bar.is_second ? "series-1" : "series-0"}},
        element("title", fmt::format("{}: {}", bar.label, bar.shown)) +
            element("text",
                    {{"class", "label"}, {"x", coordinate(kLabelWidth - 8)}, {"y", middle}, {"text-anchor", "end"}},
                    shortened(bar.label, kLongestBarLabel)) +
            empty_element("rect", {{"class", "bar"},
                                   {"x", coordinate(kLabelWidth)},
                                   {"y", coordinate(top + 4)},
                                   {"width", coordinate(std::max(length, 1.0))},
                                   {"height", coordinate(kBarHeight - 8)},
                                   {"rx", "2"}}) +
            element("text", {{"class", "value"}, {"x", coordinate(kLabelWidth + length + 6)}, {"y", middle}},
                    bar.shown));
    top += kBarHeight;
  }
  return chart_figure(words, svg_of(words.title, top + kBarTop, inside));
}

}  // namespace kith::cli
