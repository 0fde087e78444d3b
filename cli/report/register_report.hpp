// The report of kith register: the pose, how good it is, how firmly it holds, and both clouds to look at.
#pragma once

#include "registration_flags.hpp"
#include "report/report_page.hpp"

#include <kith/apps/registration.hpp>
#include <kith/point_view.hpp>

#include <span>
#include <string>
#include <vector>

namespace kith::cli {

/// A registration that is done, with `pairs` in its result.
struct DoneRegistration {
  std::string source;  ///< names of files
  std::string target;
  PointView source_points;
  PointView target_points;
  const apps::Registration& result;
  std::vector<StageTime> times;
};

void write_register_report(const std::string& path, const DoneRegistration& done, const RegistrationFlags& flags);

/// What was asked for, as names and values; the same for many pairs.
Markup registration_options(const RegistrationFlags& flags);

}  // namespace kith::cli
