// The cover tree of any objects against a plain loop, while objects come and go.
#include <kith/cover_tree.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace kith {
namespace {

using Point = std::array<double, 2>;

struct Euclidean {
  double operator()(const Point& a, const Point& b) const {
    const double x = a[0] - b[0], y = a[1] - b[1];
    return std::sqrt(x * x + y * y);
  }
};
struct EuclideanInFloat {
  float operator()(const Point& a, const Point& b) const {
    const auto x = static_cast<float>(a[0] - b[0]), y = static_cast<float>(a[1] - b[1]);
    return std::sqrt(x * x + y * y);
  }
};
struct RoundedBlocks {
  long operator()(const Point& a, const Point& b) const {
    return std::lround(std::abs(std::round(a[0]) - std::round(b[0])) + std::abs(std::round(a[1]) - std::round(b[1])));
  }
};
struct OnLine {
  double operator()(double a, double b) const { return std::abs(a - b); }
};
struct EditDistance {
  std::size_t distance(const std::string& a, const std::string& b) const {
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
      std::size_t corner = row[0]++;
      for (std::size_t j = 1; j <= b.size(); ++j) {
        const std::size_t change = corner + (a[i - 1] == b[j - 1] ? 0 : 1);
        corner = row[j];
        row[j] = std::min({row[j] + 1, row[j - 1] + 1, change});
      }
    }
    return row[b.size()];
  }
};

/// All objects in a plain map, beside the tree.
template <typename Object, typename Metric>
class Checked {
 public:
  explicit Checked(Metric metric = {},
                   MetricRounding rounding = MetricRounding::standard<typename CoverTree<Object, Metric>::Distance>())
      : tree(metric, rounding) {}

  void insert(const Object& object) {
    const std::uint64_t id = tree.insert(object);
    EXPECT_TRUE(objects.empty() || id > objects.rbegin()->first);
    objects.emplace(id, object);
  }
  void remove_at(std::size_t place) {
    const auto at = std::next(objects.begin(), static_cast<std::ptrdiff_t>(place % objects.size()));
    const std::uint64_t id = at->first;
    EXPECT_TRUE(tree.remove(id));
    EXPECT_FALSE(tree.contains(id));
    EXPECT_FALSE(tree.remove(id));
    objects.erase(at);
  }
  std::vector<NearObject> all_from(const Object& query) const {
    std::vector<NearObject> all;
    for (const auto& [id, object] : objects) {
      all.push_back({static_cast<double>(cover_tree::call(tree.metric(), query, object)), id});
    }
    std::sort(all.begin(), all.end());
    return all;
  }
  void expect_same_answers(const Object& query) const {
    const std::vector<NearObject> all = all_from(query);
    for (const std::size_t k : {std::size_t{0}, std::size_t{1}, std::size_t{4}, all.size() + 3}) {
      ASSERT_EQ(tree.knn(query, k),
                std::vector<NearObject>(all.begin(), all.begin() + std::ptrdiff_t(std::min(k, all.size()))))
          << "k " << k;
    }
    for (const std::size_t rank : {all.size() / 50, all.size() / 4}) {
      if (rank >= all.size()) continue;
      const double r = all[rank].distance;
      const auto end =
          std::partition_point(all.begin(), all.end(), [r](const NearObject& o) { return o.distance <= r; });
      ASSERT_EQ(tree.radius(query, r), std::vector<NearObject>(all.begin(), end)) << "radius " << r;
      ASSERT_EQ(tree.count(query, r), static_cast<std::size_t>(end - all.begin())) << "radius " << r;
    }
  }
  /// What defines the tree, without the tree's own check.
  void expect_invariants() const {
    ASSERT_EQ(tree.check(), "");
    ASSERT_EQ(tree.size(), objects.size());
    int roots = 0;
    std::vector<std::pair<std::uint64_t, int>> nodes;
    for (const auto& [id, object] : objects) {
      const auto position = tree.position(id);
      if (!position.is_twin) nodes.emplace_back(id, position.level);
      if (!position.parent) {
        ++roots;
        continue;
      }
      const auto distance = static_cast<double>(cover_tree::call(tree.metric(), object, objects.at(*position.parent)));
      const auto above = tree.position(*position.parent);
      ASSERT_FALSE(above.is_twin);
      if (position.is_twin) {
        ASSERT_EQ(distance, 0);
      } else {
        ASSERT_LE(distance, std::ldexp(1.0, position.level + 1)) << id;
        ASSERT_GT(above.level, position.level) << id;
      }
    }
    ASSERT_EQ(roots, objects.empty() ? 0 : 1);
    for (const auto& [a, level_a] : nodes) {
      for (const auto& [b, level_b] : nodes) {
        if (a >= b) continue;
        ASSERT_GT(static_cast<double>(cover_tree::call(tree.metric(), objects.at(b), objects.at(a))),
                  std::ldexp(1.0, std::min(level_a, level_b)))
            << a << " and " << b;
      }
    }
  }

  CoverTree<Object, Metric> tree;
  std::map<std::uint64_t, Object> objects;
};

/// Grows, shrinks to nothing and grows again, with checks on the way.
template <typename Object, typename Metric, typename Draw>
void grow_and_shrink(Checked<Object, Metric>& checked, std::mt19937_64& random, int steps, Draw draw) {
  for (int step = 0; step < steps; ++step) {
    const bool grow = random() % 100 < (step / (steps / 4) % 2 == 0 ? 80 : 15);
    if (grow || checked.objects.empty()) {
      checked.insert(draw());
    } else {
      checked.remove_at(random() % 4 == 0 ? 0 : random());  // the first is often the root
    }
    if (step % 16 == 0) {
      ASSERT_NO_FATAL_FAILURE(checked.expect_invariants()) << "step " << step;
      ASSERT_NO_FATAL_FAILURE(checked.expect_same_answers(draw())) << "step " << step;
    }
  }
  while (!checked.objects.empty()) checked.remove_at(0);
  ASSERT_NO_FATAL_FAILURE(checked.expect_invariants());
}

template <typename Metric>
void points_come_and_go(std::uint64_t seeds) {
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const int shape = static_cast<int>(seed % 4);
    const auto draw = [&random, shape]() -> Point {
      const auto uniform = [&random] { return std::uniform_real_distribution<double>(-8, 8)(random); };
      if (shape == 0) return {uniform(), uniform()};
      if (shape == 1) return {std::round(uniform() / 3), std::round(uniform() / 3)};  // many duplicates
      const double first = uniform();
      if (shape == 2) return {std::ldexp(first, static_cast<int>(random() % 60) - 30), 0};
      return {std::round(first) + 1e-9 * uniform(), std::round(uniform())};  // clusters
    };
    Checked<Point, Metric> checked;
    ASSERT_NO_FATAL_FAILURE(grow_and_shrink(checked, random, 320, draw));
  }
}

TEST(DynamicCoverTree, PointsInDoubleComeAndGo) { points_come_and_go<Euclidean>(8); }
TEST(DynamicCoverTree, PointsInFloatComeAndGo) { points_come_and_go<EuclideanInFloat>(8); }
TEST(DynamicCoverTree, PointsInWholeNumbersComeAndGo) { points_come_and_go<RoundedBlocks>(8); }

TEST(DynamicCoverTree, WordsComeAndGo) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    Checked<std::string, EditDistance> checked;
    const auto draw = [&random] {
      std::string word(random() % 7, 'a');
      for (char& letter : word) letter = static_cast<char>('a' + random() % 3);
      return word;
    };
    ASSERT_NO_FATAL_FAILURE(grow_and_shrink(checked, random, 250, draw));
  }
}

TEST(DynamicCoverTree, NobodyAndOne) {
  Checked<Point, Euclidean> checked;
  checked.expect_invariants();
  checked.expect_same_answers({1, 2});
  EXPECT_TRUE(checked.tree.empty());
  EXPECT_FALSE(checked.tree.remove(0));
  EXPECT_EQ(checked.tree.count({0, 0}, 1), 0u);
  EXPECT_THROW(checked.tree.object(0), UsageError);
  checked.insert({3, 4});
  checked.expect_invariants();
  EXPECT_EQ(checked.tree.knn({0, 0}, 2), (std::vector<NearObject>{{5, 0}}));
  EXPECT_EQ(checked.tree.radius({0, 0}, 5).size(), 1u);
  EXPECT_EQ(checked.tree.object(0), (Point{3, 4}));
  checked.remove_at(0);
  checked.expect_invariants();
  checked.insert({1, 1});
  EXPECT_EQ(checked.tree.ids(), std::vector<std::uint64_t>{1});  // numbers are not used again
}

TEST(DynamicCoverTree, DistancesOfAllSizes) {
  Checked<double, OnLine> checked;
  for (int i = -60; i <= 60; ++i) checked.insert(std::ldexp(i % 2 == 0 ? 1.0 : -1.0, i));
  for (const int i : {-1074, -1022, -600, 600, 1022, 1023}) checked.insert(std::ldexp(1.0, i));
  checked.expect_invariants();
  for (const double query : {0.0, 1.0, -3e-300, 1e300, std::ldexp(1.0, -1074), std::ldexp(1.0, 60)}) {
    checked.expect_same_answers(query);
  }
  while (checked.objects.size() > 3) {
    checked.remove_at(checked.objects.size() / 2);
    if (checked.objects.size() % 16 == 0) checked.expect_invariants();
  }
  checked.expect_invariants();
}

TEST(DynamicCoverTree, InfinityIsADistance) {
  // The last three overflow in between, although they are near each other.
  Checked<double, OnLine> checked;
  constexpr double kMost = std::numeric_limits<double>::max();
  for (const double x : {-kMost, -0.9 * kMost, 0.0, 1.0, 0.2 * kMost, 0.9 * kMost, kMost, 0.95 * kMost})
    checked.insert(x);
  checked.expect_invariants();
  for (const auto& [id, object] : checked.objects) checked.expect_same_answers(object);
  while (!checked.objects.empty()) {
    checked.remove_at(0);
    checked.expect_invariants();
    checked.expect_same_answers(0.5 * kMost);
  }
}

TEST(DynamicCoverTree, ManyDuplicatesShareANode) {
  CoverTree<Point, Euclidean> tree;
  for (int i = 0; i < 100000; ++i) tree.insert({1, 1});
  tree.insert({4, 5});
  const std::uint64_t before = tree.evaluations();
  EXPECT_EQ(tree.knn({1, 1}, 3), (std::vector<NearObject>{{0, 0}, {0, 1}, {0, 2}}));
  EXPECT_EQ(tree.count({1, 1}, 1), 100000u);
  EXPECT_EQ(tree.count({1, 1}, 5), 100001u);
  EXPECT_LE(tree.evaluations() - before, 6u);
  for (std::uint64_t id = 0; id < 99999; ++id) ASSERT_TRUE(tree.remove(id * 7 % 99999));
  EXPECT_EQ(tree.knn({1, 1}, 3), (std::vector<NearObject>{{0, 99999}, {5, 100000}}));
  EXPECT_EQ(tree.check(), "");
}

// On a circle by the arc cosine: nearly equal angles have distance 0, and errors are absolute.
struct ByArcCosine {
  double operator()(double a, double b) const {
    return std::acos(std::min(1.0, std::cos(a) * std::cos(b) + std::sin(a) * std::sin(b)));
  }
};

TEST(DynamicCoverTree, DifferentObjectsAtDistanceZeroKeepTheirOwnDistances) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    Checked<double, ByArcCosine> checked({}, {0x1p-40, 1e-7});
    const auto draw = [&random] {
      const auto whole = static_cast<double>(random() % 12);
      return whole + 3e-9 * static_cast<double>(random() % 8);
    };
    ASSERT_NO_FATAL_FAILURE(grow_and_shrink(checked, random, 320, draw));
  }
}

TEST(DynamicCoverTree, EpsKeepsItsPromise) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> uniform(0, 1);
  Checked<Point, Euclidean> checked;
  for (int i = 0; i < 3000; ++i) checked.insert({uniform(random), uniform(random)});
  std::uint64_t exact = 0, rough = 0;
  for (int i = 0; i < 50; ++i) {
    const Point query = {uniform(random), uniform(random)};
    const auto all = checked.all_from(query);
    const std::uint64_t start = checked.tree.evaluations();
    checked.tree.knn(query, 10);
    const std::uint64_t middle = checked.tree.evaluations();
    const auto found = checked.tree.knn(query, 10, 0.5);
    exact += middle - start;
    rough += checked.tree.evaluations() - middle;
    ASSERT_EQ(found.size(), 10u);
    for (std::size_t j = 0; j < 10; ++j) ASSERT_LE(found[j].distance, 1.5 * all[j].distance);
  }
  EXPECT_LT(rough, exact);
  EXPECT_LT(exact, 50 * 300u);
}

TEST(DynamicCoverTree, CopiesAreValues) {
  const double scale = 2;  // a metric that cannot be assigned
  const auto scaled = [&scale](const Point& a, const Point& b) { return scale * Euclidean()(a, b); };
  const std::vector<Point> points = {{0, 0}, {3, 4}, {6, 8}};
  CoverTree tree(points, scaled);
  CoverTree copy = tree;
  copy.insert({1, 0});
  EXPECT_EQ(tree.size(), 3u);
  EXPECT_EQ(copy.knn({0, 0}, 2), (std::vector<NearObject>{{0, 0}, {2, 3}}));
  tree = copy;
  EXPECT_EQ(tree.size(), 4u);
  CoverTree moved = std::move(copy);
  EXPECT_EQ(moved.size(), 4u);
  EXPECT_TRUE(copy.empty());  // NOLINT(bugprone-use-after-move): promised
  copy = std::move(moved);
  EXPECT_EQ(copy.check(), "");
  EXPECT_EQ(copy.insert({9, 9}), 4u);
}

struct Star {
  double right_ascension;
  double distance(const Star& other) const { return std::abs(right_ascension - other.right_ascension); }
};
namespace zoo {
struct Cage {
  int number;
};
int distance(const Cage& a, const Cage& b) { return std::abs(a.number - b.number); }
}  // namespace zoo

TEST(DynamicCoverTree, ObjectsMayKnowTheirDistance) {
  CoverTree<Star> stars(std::vector<Star>{{1.5}, {4}});
  EXPECT_EQ(stars.knn({0}, 1), (std::vector<NearObject>{{1.5, 0}}));
  CoverTree cages(std::vector<zoo::Cage>{{10}, {4}});
  EXPECT_EQ(cages.knn({5}, 1), (std::vector<NearObject>{{1, 1}}));
  EXPECT_TRUE(cages.rounding().is_exact());
  const auto values = [](const std::unique_ptr<int>& a, const std::unique_ptr<int>& b) { return std::abs(*a - *b); };
  CoverTree<std::unique_ptr<int>, decltype(values)> owners(values);
  for (int i = 0; i < 20; ++i) owners.insert(std::make_unique<int>(i * i));
  EXPECT_TRUE(owners.remove(3));
  EXPECT_EQ(owners.knn(std::make_unique<int>(9), 1), (std::vector<NearObject>{{5, 2}}));
  EXPECT_EQ(owners.check(), "");
}

TEST(DynamicCoverTree, SearchesRunOnThreads) {
  std::vector<Point> points;
  for (int i = 0; i < 2000; ++i) points.push_back({std::sin(i), std::cos(1.7 * i)});
  const CoverTree<Point, Euclidean> tree(points);
  const std::uint64_t before = tree.evaluations();
  const auto expected = tree.knn({0, 0}, 7);
  const std::uint64_t each = tree.evaluations() - before;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 25; ++i) EXPECT_EQ(tree.knn({0, 0}, 7), expected);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(tree.evaluations() - before, 101 * each);
}

}  // namespace
}  // namespace kith
