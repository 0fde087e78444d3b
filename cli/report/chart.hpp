// Charts of a report as SVG: lines, bars and histograms, each with axes, and what each mark stands for as a tooltip.
#pragma once

#include "report/axis.hpp"
#include "report/distribution.hpp"
#include "report/markup.hpp"

#include <span>
#include <string>
#include <vector>

namespace kith::cli {

struct ChartWords {
  std::string title;
  std::string x;          ///< what runs to the right, with its unit
  std::string y;          ///< what runs upwards
  std::string note = {};  ///< below the chart
};

struct ChartPoint {
  double x = 0;
  double y = 0;
  std::string tip = {};  ///< empty: both numbers
};

/// Points that a line joins; those that are not finite, or not positive on a logarithmic axis, are left out.
struct Series {
  std::string name;
  std::vector<ChartPoint> points;
  bool is_joined = true;
};

/// Logarithmic axes must be allowed; they are taken where values spread far.
struct ChartScales {
  bool may_bend_x = false;
  bool may_bend_y = false;
  bool from_zero = false;    ///< a linear y axis begins at 0
  bool has_whole_x = false;  ///< x counts something: no tick lies between two numbers
};

Markup line_chart(const ChartWords& words, std::span<const Series> series, const ChartScales& scales = {});

struct Bar {
  std::string label;
  double value = 0;
  std::string shown;       ///< beside the bar
  bool is_second = false;  ///< in the second colour: what is compared with
};

/// Lying bars. One of `full` takes all of the width; 0: the longest one does.
Markup bar_chart(const ChartWords& words, std::span<const Bar> bars, double full = 0);

/// With a folded table of the bins, which add up to all values. `is_whole` as in `distribution_of`.
Markup histogram(const ChartWords& words, const Distribution& values, bool is_whole = false);

}  // namespace kith::cli
