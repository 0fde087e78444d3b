// Makes a balanced tree of a scan for another program: removes equal points, writes the table of nodes, checks it, and
// searches it without building anything again.
#include <kith/kith.hpp>

#include <cstdio>
#include <filesystem>
#include <variant>

int main() {
  const kith::apps::Generated scan = kith::apps::generate({.shape = kith::apps::Shape::lidar, .points = 20000});
  const kith::apps::NodeTable table = kith::apps::export_node_table(scan.points.view(), {.unique = true});
  const std::string path = (std::filesystem::temp_directory_path() / "kith_hand_over_tree.npz").string();
  kith::io::write_tree(path, table);

  // The other program would read it so, or with numpy.load; it need not believe what the file says.
  const auto file = kith::io::read_tree(path);
  std::filesystem::remove(path);
  const auto& nodes = std::get<kith::apps::NodeTable>(file);
  const kith::apps::TreeVerdict verdict = kith::apps::verify_tree(nodes, scan.points.view());
  std::printf("%llu nodes on %llu levels, the root is point %u; %s\n", static_cast<unsigned long long>(verdict.nodes),
              static_cast<unsigned long long>(verdict.levels), nodes.point[nodes.root],
              verdict.first_violation.empty() ? "all is right" : verdict.first_violation.c_str());

  const kith::Index index = kith::Index::from_tree(nodes, scan.points.view());
  const kith::Neighbors near = index.knn(scan.points.view(), 4);
  std::printf("the point next to the first one is %u, at %.3f m\n", near.index(0, 1), near.distance(0, 1));
  return verdict.first_violation.empty() && near.index(0, 0) == 0 ? 0 : 1;
}
