// A warning for degrees of longitude and latitude that are about to be compared as if the earth were flat.
#pragma once

#include "output_flags.hpp"

#include <kith/metric.hpp>

#include <string>
#include <vector>

namespace kith::cli {

/// A note if the columns are called like a longitude and a latitude and the metric is one of the plane.
void note_on_degrees(const std::vector<std::string>& columns, Metric metric, const OutputFlags& output);

}  // namespace kith::cli
