// Histograms; see chart.hpp.
#include "report/plot_frame.hpp"
#include "report/shown.hpp"
#include "report/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kith::cli {
namespace {

/// The values of a bin: "0.5 to 0.6"; "3" if only one whole number fits.
std::string range_text(const Distribution& values, std::size_t bin, bool is_whole) {
  const double low = values.first + static_cast<double>(bin) * values.width;
  if (!is_whole) return fmt::format("{} to {}", shown(low), shown(low + values.width));
  return values.width == 1 ? shown(low) : fmt::format("{} to {}", shown(low), shown(low + values.width - 1));
}

std::string above_text(const Distribution& values) { return fmt::format("above, up to {}", shown(values.most)); }

Markup bins_table(const ChartWords& words, const Distribution& values, bool is_whole) {
  Table table(words.title, {words.x, words.y});
  for (std::size_t i = 0; i < values.bins.size(); ++i) {
    table.add({cell(range_text(values, i, is_whole)), count_cell(values.bins[i])});
  }
  if (values.above > 0) table.add({cell(above_text(values)), count_cell(values.above)});
  if (values.infinite > 0) table.add({cell("none (inf)"), count_cell(values.infinite)});
  return element("details", element("summary", "Numbers") + table.markup());
}

/// What the drawing leaves out.
std::string omitted_text(const Distribution& values) {
  std::string note;
  if (values.above > 0) {
    note = fmt::format("The last, lighter column holds {} beyond, up to {}.",
                       shown_count(values.above, "value", "values"), shown(values.most));
  }
  if (values.infinite > 0) {
    note += fmt::format("{}{} not there (inf) and not drawn.", note.empty() ? "" : " ",
                        values.infinite == 1 ? "1 value is" : shown_count(values.infinite) + " values are");
  }
  return note;
}

}  // namespace

Markup histogram(const ChartWords& words, const Distribution& values, bool is_whole) {
  ChartWords all = words;
  const std::string omitted = omitted_text(values);
  all.note += (all.note.empty() || omitted.empty() ? "" : " ") + omitted;
  if (values.bins.empty()) {
    const Markup table = values.count > 0 ? bins_table(words, values, is_whole) : Markup();
    return chart_figure(all, nothing_to_show() + table);
  }
  const auto bins = static_cast<double>(values.bins.size());
  const double tail = values.above > 0 ? std::max(1.0, bins / 24) : 0;
  std::uint64_t most = values.above;
  for (const std::uint64_t count : values.bins) most = std::max(most, count);
  Axis x(values.first, values.first + (bins + (tail > 0 ? 2 * tail : 0)) * values.width, Scaling::linear, 6,
         AxisEnds::at_values);
  const PlotFrame frame(all, std::move(x), Axis(0, static_cast<double>(most), Scaling::linear, 5));
  Markup columns;
  const auto add = [&](double low, double high, std::uint64_t count, const std::string& what, bool is_tail) {
    if (count == 0) return;
    const double left = frame.x_of(low), right = frame.x_of(high), top = frame.y_of(static_cast<double>(count));
    const double gap = std::min(0.5, (right - left) / 8);
    columns += element("rect",
                       {{"class", is_tail ? "bar tail" : "bar"},
                        {"x", coordinate(left + gap)},
                        {"y", coordinate(std::min(top, frame.y_of(0) - 0.75))},
                        {"width", coordinate(std::max(0.5, right - left - 2 * gap))},
                        {"height", coordinate(std::max(0.75, frame.y_of(0) - top))}},
                       element("title", fmt::format("{}: {}", what, shown_count(count))));
  };
  for (std::size_t i = 0; i < values.bins.size(); ++i) {
    const double low = values.first + static_cast<double>(i) * values.width;
    add(low, low + values.width, values.bins[i], range_text(values, i, is_whole), false);
  }
  const double end = values.first + bins * values.width;
  if (tail > 0) {
    add(end + tail * values.width, end + 2 * tail * values.width, values.above, above_text(values), true);
  }
  return chart_figure(all, frame.svg(frame.axes() + element("g", {{"class", "series-0"}}, columns)) +
                               bins_table(words, values, is_whole));
}

}  // namespace kith::cli
