// A scan to look at: a page with the scan, coloured by how much its surface bends, and with the neighbours of each
// point.
#include <kith/kith.hpp>

#include <cstdio>
#include <string>
#include <vector>

int main(int argc, char** argv) {
  const kith::PointSet scan = kith::apps::generate({.shape = kith::apps::Shape::lidar, .points = 20000}).points;
  const kith::Neighbors near = kith::Index::build(scan.view()).knn_self(8, {.exclude_self = true});
  const kith::apps::Normals surface = kith::apps::normals(scan.view());
  const std::vector<kith::io::Column> columns = {{"curvature", surface.curvature.values<float>()}};

  const std::vector<kith::apps::ViewedCloud> clouds = {
      {.name = "a street", .points = scan.view(), .columns = columns, .neighbors = &near}};
  const std::string page = kith::apps::view_page(clouds, {.title = "A made-up street", .color = "curvature"});
  const std::string path = argc > 1 ? argv[1] : "view_scan.html";
  kith::io::write_text(path, page);
  std::printf("%s: %zu bytes; open it in a browser\n", path.c_str(), page.size());
  return page.size() > 20000 * 8 ? 0 : 1;
}
