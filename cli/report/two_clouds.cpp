// See two_clouds.hpp.
#include "report/two_clouds.hpp"

#include "report/shown.hpp"

#include <kith/apps/select_rows.hpp>
#include <kith/apps/take_rows.hpp>
#include <kith/apps/view.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace kith::cli {
namespace {

/// Of one cloud: enough to look at, and about 3 MB of page.
constexpr std::uint64_t kMostShown = 200'000;
constexpr std::uint64_t kSeed = 1;

/// A cloud, or rows of it drawn at random: the same ones in each report.
struct ShownRows {
  ShownRows(PointView all, int threads)
      : rows(apps::random_rows(all.rows(), kMostShown, kSeed)), points(apps::take_rows(all, rows, threads)) {}

  std::vector<std::uint32_t> rows;
  PointSet points;
};

std::string thinned_text(const std::string& name, std::uint64_t points) {
  if (points <= kMostShown) return "";
  return fmt::format(" Of the {} of {}, {} are shown, drawn at random.", shown_count(points, "point", "points"), name,
                     shown_count(kMostShown));
}

}  // namespace

Markup two_clouds(const DoneRegistration& done, int threads, ReportPage& page) {
  if (done.source_points.rows() == 0 && done.target_points.rows() == 0) return {};
  const ShownRows source(done.source_points, threads), target(done.target_points, threads);
  const apps::ViewedCloud clouds[] = {
      {.name = "target: " + input_name(done.target), .points = target.points.view(), .row_numbers = target.rows},
      {.name = "source: " + input_name(done.source),
       .points = source.points.view(),
       .row_numbers = source.rows,
       .pose = done.result.transformation}};
  apps::ViewOptions options;
  options.title = fmt::format("{} onto {}", input_name(done.source), input_name(done.target));
  options.color = "cloud";
  options.threads = threads;
  const std::string inner = apps::view_page(clouds, options);
  const apps::ViewHashes hashes = apps::view_hashes();
  page.allow(hashes.script, hashes.style);
  const std::string words = "The slider moves the source from where it was to where the pose puts it." +
                            thinned_text(input_name(done.source), done.source_points.rows()) +
                            thinned_text(input_name(done.target), done.target_points.rows());
  return element("p", words) +
         element("iframe", {{"title", "Both clouds"}, {"allow", "fullscreen"}, {"srcdoc", inner}}, Markup());
}

}  // namespace kith::cli
