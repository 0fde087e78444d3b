// Generalized ICP by PCL, which has no Python package: reads two clouds, registers them, prints pose and times as JSON.
//
//   register_with_pcl SOURCE TARGET MAX_DISTANCE NEIGHBORS [POSE]
//
// Clouds are files of f64 coordinates, three per point; PCL keeps them as f32. POSE is a file of 16 f64 numbers, row by
// row, where the registration begins; without it, at the identity. PCL stops by its own defaults.
#include <pcl/point_cloud.h>
#include <pcl/point_types.h>
#include <pcl/registration/gicp.h>
#include <pcl/search/kdtree.h>

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using Point = pcl::PointXYZ;
using Cloud = pcl::PointCloud<Point>;
using Tree = pcl::search::KdTree<Point>;

/// PCL computes covariances while it aligns, if there are none: here they get a time of their own.
class Gicp : public pcl::GeneralizedIterativeClosestPoint<Point, Point> {
 public:
  MatricesVectorPtr covariances(const Cloud::Ptr& cloud, const Tree::Ptr& tree) {
    MatricesVectorPtr found(new MatricesVector);
    computeCovariances<Point>(cloud, tree, *found);
    return found;
  }
  int iterations() const { return nr_iterations_; }
};

std::vector<double> read_values(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const auto bytes = static_cast<std::streamoff>(file.tellg());
  if (!file || bytes < 0) throw std::runtime_error("cannot read " + path);
  std::vector<double> values(static_cast<std::size_t>(bytes) / sizeof(double));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(double)));
  return values;
}

Cloud::Ptr read_cloud(const std::string& path) {
  const std::vector<double> values = read_values(path);
  Cloud::Ptr cloud(new Cloud);
  for (std::size_t i = 0; i + 2 < values.size(); i += 3) {
    cloud->emplace_back(static_cast<float>(values[i]), static_cast<float>(values[i + 1]),
                        static_cast<float>(values[i + 2]));
  }
  return cloud;
}

/// Milliseconds of the processor: PCL registers on one thread.
double now() { return 1e3 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

void run(char** arguments, bool has_pose) {
  const Cloud::Ptr source = read_cloud(arguments[0]), target = read_cloud(arguments[1]);
  Eigen::Matrix4f start = Eigen::Matrix4f::Identity();
  if (has_pose) {
    const std::vector<double> values = read_values(arguments[4]);
    if (values.size() != 16) throw std::runtime_error("a pose has 16 numbers");
    for (int i = 0; i < 16; ++i) start(i / 4, i % 4) = static_cast<float>(values[static_cast<std::size_t>(i)]);
  }

  Gicp gicp;
  gicp.setCorrespondenceRandomness(std::atoi(arguments[3]));
  gicp.setMaxCorrespondenceDistance(std::atof(arguments[2]));
  const double begin = now();
  Tree::Ptr source_tree(new Tree), target_tree(new Tree);
  source_tree->setInputCloud(source);
  target_tree->setInputCloud(target);
  const double have_trees = now();
  gicp.setInputSource(source);
  gicp.setInputTarget(target);
  gicp.setSearchMethodSource(source_tree, true);
  gicp.setSearchMethodTarget(target_tree, true);
  gicp.setSourceCovariances(gicp.covariances(source, source_tree));
  gicp.setTargetCovariances(gicp.covariances(target, target_tree));
  const double have_covariances = now();
  Cloud aligned;
  gicp.align(aligned, start);
  const double end = now();

  std::printf(
      "{\"pcl\": \"%s\", \"tree_ms\": %.3f, \"covariances_ms\": %.3f, \"register_ms\": %.3f, \"iterations\": %d, ",
      PCL_VERSION_PRETTY, have_trees - begin, have_covariances - have_trees, end - have_covariances, gicp.iterations());
  const Eigen::Matrix4f pose = gicp.getFinalTransformation();
  std::printf("\"pose\": [");
  for (int i = 0; i < 16; ++i) {
    const float value = pose(i / 4, i % 4);
    std::printf(i == 0 ? "" : ", ");
    std::isfinite(value) ? std::printf("%.9g", static_cast<double>(value)) : std::printf("NaN");
  }
  std::printf("]}\n");
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 5 && count != 6) {
    std::fprintf(stderr, "usage: %s SOURCE TARGET MAX_DISTANCE NEIGHBORS [POSE]\n", arguments[0]);
    return 2;
  }
  try {
    run(arguments + 1, count == 6);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "register_with_pcl: %s\n", error.what());
    return 1;
  }
  return 0;
}
