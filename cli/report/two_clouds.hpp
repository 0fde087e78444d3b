// Both clouds of a registration in a viewer, which moves the source from where it was to where it belongs.
#pragma once

#include "report/register_report.hpp"

namespace kith::cli {

/// A page inside `page`, whose policy allows it from then on. Large clouds are thinned.
Markup two_clouds(const DoneRegistration& done, int threads, ReportPage& page);

}  // namespace kith::cli
