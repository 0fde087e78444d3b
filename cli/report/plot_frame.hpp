// What charts with two axes share: the place of values in the drawing, axes with ticks, the figure around.
#pragma once

#include "report/chart.hpp"

namespace kith::cli {

/// The area in which a chart is drawn, and its axes.
class PlotFrame {
 public:
  static constexpr double kWidth = 420, kHeight = 250;  // units of the drawing; pages scale it

  PlotFrame(const ChartWords& words, Axis x, Axis y);

  double x_of(double value) const { return left_ + x_.place(value) * (kRight - left_); }
  double y_of(double value) const { return kBottom - y_.place(value) * (kBottom - kTop); }
  /// Lines and labels of both axes.
  Markup axes() const;
  Markup svg(const Markup& inside) const;

 private:
  static constexpr double kTop = 22, kBottom = 206, kRight = 398;

  const ChartWords& words_;
  Axis x_;
  Axis y_;
  double left_;  // leaves room for the labels of the y axis
};

/// A drawing as wide as a chart.
Markup svg_of(const std::string& title, double height, const Markup& inside);
/// The drawing with its heading and note.
Markup chart_figure(const ChartWords& words, const Markup& drawing);
/// In place of a drawing.
Markup nothing_to_show();

}  // namespace kith::cli
