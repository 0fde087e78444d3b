// A page that shows point clouds: one HTML file that every browser opens, without a server and without a network.
#pragma once

#include <kith/apps/pose.hpp>
#include <kith/io/table.hpp>
#include <kith/neighbors.hpp>
#include <kith/point_view.hpp>
#include <kith/progress.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace kith::apps::inline v0 {

/// A cloud on the page. What is borrowed must outlive the call that makes the page.
struct ViewedCloud {
  std::string name = {};  ///< as people call it, such as its file; any bytes
  PointView points = {};  ///< 1 to 3 dims, in host memory. Rows with NaN or infinity are left out, and the page says so
  /// What else is known of the points, a value per row: numbers, labels, texts. red, green and blue become a colour;
  /// nx, ny, nz or normal_x, normal_y, normal_z directions.
  std::span<const io::Column> columns = {};
  /// What the page calls each row, ascending; empty: 0, 1, … For samples of larger clouds.
  std::span<const std::uint32_t> row_numbers = {};
  /// Moves the cloud to where it belongs; the page has a slider from before to after.
  std::optional<Pose> pose = {};
  /// Neighbours of every row, which the page draws when a point is picked; null: none. Their indices are rows of the
  /// cloud `neighbors_of`.
  const Neighbors* neighbors = nullptr;
  std::uint32_t neighbors_of = 0;
};

struct ViewOptions {
  std::string title = {};  ///< empty: the names of the clouds
  /// What colours the points: "cloud", "x", "y", "z", "rgb", "normal" or the name of a column. Empty: what is there, in
  /// this order: colours, columns named intensity, label or class, several clouds apart, height.
  std::string color = {};
  /// Stores every coordinate and value as it is. Otherwise those of more than a million numbers are rounded to 65,536
  /// steps of their range, and the page says so.
  bool exact = false;
  int threads = 0;  ///< 0 means all cores. The page does not depend on it
  ProgressCallback progress = {};
};

/// The page. Rounded coordinates take 8 bytes per point of 3 dims where nothing compresses, others about three times as
/// much. Throws UsageError if there is no cloud, points have more than 3 dims, or columns or neighbours do not fit
/// their points; OutOfMemory, Interrupted.
KITH_EXPORT std::string view_page(std::span<const ViewedCloud> clouds, const ViewOptions& options = {});

/// What a page that shows another one inside (`<iframe srcdoc>`) must allow in its content security policy, because
/// such frames inherit it: 'sha256-…' of the script and of the style.
struct ViewHashes {
  std::string_view script;
  std::string_view style;
};
KITH_EXPORT ViewHashes view_hashes();

}  // namespace kith::apps::inline v0
