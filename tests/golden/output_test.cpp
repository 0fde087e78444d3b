// The bytes of files of points, results, maps and trees.
#include "golden/golden_search.hpp"
#include "support/file_content.hpp"
#include "support/temporary_path.hpp"

#include <kith/apps/dedupe.hpp>
#include <kith/apps/generate.hpp>
#include <kith/apps/tree_export.hpp>
#include <kith/io/class_file.hpp>
#include <kith/io/neighbors_file.hpp>
#include <kith/io/row_map_file.hpp>
#include <kith/io/tree_file.hpp>
#include <kith/io/write_points.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>

namespace kith::test {
namespace {

class GoldenOutputs : public testing::Test {
 protected:
  /// The digest of what `write` writes to a file of this name.
  static std::string written(const std::string& name, const std::function<void(const std::string&)>& write) {
    const std::string path = temporary_path(name);
    write(path);
    const std::string content = file_content(path);
    EXPECT_FALSE(content.empty()) << name;
    std::filesystem::remove(path);
    return digest_of(content);
  }
};

TEST_F(GoldenOutputs, Files) {
  GoldenSection golden("outputs");
  for (const DType dtype : {DType::f32, DType::f64}) {
    const std::string type(kith::name_of(dtype));
    for (const GoldenShape shape : {GoldenShape::uniform, GoldenShape::spread}) {
      const PointSet points = golden_points(shape, dtype, 50, 3, 1);
      for (const char* extension : {"csv", "tsv", "xyz", "npy", "npz", "ply", "pcd"}) {
        for (const bool ascii : {false, true}) {
          const std::string name =
              fmt::format("points_{}_50x3_{}{}.{}", name_of(shape), type, ascii ? "_ascii" : "", extension);
          if (ascii && std::string_view(extension) != "ply" && std::string_view(extension) != "pcd") continue;
          golden.check(name, written(name, [&](const std::string& path) {
                         io::write_points(path, points.view(), {.ascii = ascii});
                       }));
        }
      }
    }
    const PointSet points = golden_points(GoldenShape::repeats, dtype, 60, 3, 1);
    const Index index = Index::build(points.view());
    const double radius = 0.25;
    for (const char* extension : {"csv", "npz"}) {
      const auto check = [&](const char* what, const std::function<void(const std::string&)>& write) {
        const std::string name = fmt::format("{}_{}.{}", what, type, extension);
        golden.check(name, written(name, write));
      };
      check("knn", [&](const std::string& path) { io::write_neighbors(path, index.knn_self(3)); });
      check("radius", [&](const std::string& path) { io::write_neighbors(path, index.radius_self(radius)); });
      check("counts", [&](const std::string& path) { io::write_counts(path, index.count_self(radius)); });
      check("boxes", [&](const std::string& path) {
        io::write_point_lists(path, index.box(points.view().slice(0, 9), points.view().slice(9, 9)));
      });
      const apps::Deduped kept = apps::dedupe(points.view());
      check("row_map", [&](const std::string& path) { io::write_row_map(path, kept.map, kept.kept); });
    }
    const auto check = [&](const std::string& name, const std::function<void(const std::string&)>& write) {
      golden.check(name, written(name, write));
    };
    check(fmt::format("node_table_{}.npz", type),
          [&](const std::string& path) { io::write_tree(path, apps::export_node_table(points.view())); });
    check(fmt::format("in_order_{}.npz", type),
          [&](const std::string& path) { io::write_tree(path, apps::export_in_order(points.view())); });
    const apps::Generated made =
        apps::generate({.shape = apps::Shape::classes, .points = 60, .dims = 2, .dtype = dtype, .classes = 4});
    check(fmt::format("classes_{}.csv", type),
          [&](const std::string& path) { io::write_class_file(path, made.points.view(), made.labels, 40, 4); });
  }
}

}  // namespace
}  // namespace kith::test
