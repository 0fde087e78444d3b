// Pages that show clouds: what they hold is what they were given, to the last bit or to half a step.
#include "support/page_scene.hpp"

#include <kith/apps/view.hpp>
#include <kith/error.hpp>
#include <kith/index.hpp>
#include <kith/point_set.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace kith::test {
namespace {

using apps::ViewedCloud;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

template <typename T>
io::Column column_of(std::string name, const std::vector<T>& values) {
  return io::Column(std::move(name), std::span<const T>(values));
}

io::Column texts_of(std::string name, const std::vector<std::string>& words) {
  io::TextValues texts;
  for (const std::string& word : words) texts.push_back(word);
  return io::Column(std::move(name), std::move(texts));
}

PageScene page_of(std::vector<ViewedCloud> clouds, const apps::ViewOptions& options = {}) {
  return PageScene(apps::view_page(clouds, options));
}

std::vector<double> random_values(std::size_t count, double low, double high, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<double> values(count);
  for (double& value : values) {
    const double share = static_cast<double>(random() >> 11) * 0x1p-53;
    value = low * (1 - share) + high * share;  // high - low may overflow
  }
  return values;
}

TEST(ViewPage, KeepsEveryBitOfSmallClouds) {
  const std::vector<double> wide = random_values(300, -5e6, 5e6, 1);
  std::vector<float> narrow;
  for (const double value : random_values(300, -1, 1, 2)) narrow.push_back(static_cast<float>(value));
  const PageScene page =
      page_of({{.name = "a", .points = PointView(wide, 3)}, {.name = "b", .points = PointView(narrow, 2)}});
  EXPECT_EQ(page.json()["title"], "a, b");
  EXPECT_EQ(page.json()["color"], (nlohmann::json{{"by", "cloud"}}));
  EXPECT_EQ(page.cloud(0)["count"], 100);
  EXPECT_EQ(page.cloud(1)["dims"], 2);
  EXPECT_FALSE(page.cloud(0).contains("rows"));
  EXPECT_FALSE(page.cloud(0).contains("resolution"));
  for (std::size_t d = 0; d < 3; ++d) {
    const std::vector<double> axis = page.values(page.cloud(0)["axes"][d]);
    for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(axis[i], wide[i * 3 + d]);
  }
  EXPECT_EQ(page.cloud(1)["axes"][1]["type"], "f32");
  const std::vector<double> second = page.values(page.cloud(1)["axes"][1]);
  for (std::size_t i = 0; i < 150; ++i) EXPECT_EQ(second[i], static_cast<double>(narrow[i * 2 + 1]));
}

TEST(ViewPage, RoundsLargeCloudsToHalfAStep) {
  const std::size_t n = 400'000;
  std::vector<double> values = random_values(3 * n, 5e6, 5e6 + 1000, 3);
  for (std::size_t i = 0; i < n; ++i) values[3 * i + 2] = static_cast<double>(i % 1000);  // whole numbers stay
  const PageScene page = page_of({{.name = "large", .points = PointView(values, 3)}});
  ASSERT_TRUE(page.cloud(0).contains("resolution"));
  const double step = page.cloud(0)["resolution"][0];
  EXPECT_NEAR(step, 1000.0 / 65534, 1e-4);
  EXPECT_EQ(page.cloud(0)["resolution"][2], 0);
  const std::vector<double> x = page.values(page.cloud(0)["axes"][0]), z = page.values(page.cloud(0)["axes"][2]);
  for (std::size_t i = 0; i < n; ++i) {
    ASSERT_LE(std::abs(x[i] - values[3 * i]), 0.5001 * step) << i;
    ASSERT_EQ(z[i], values[3 * i + 2]);
  }
  EXPECT_LT(page.page().size(), n * 8 + 200'000);
  const PageScene exact = page_of({{.name = "large", .points = PointView(values, 3)}}, {.exact = true});
  EXPECT_FALSE(exact.cloud(0).contains("resolution"));
  EXPECT_EQ(exact.values(exact.cloud(0)["axes"][0])[n - 1], values[3 * (n - 1)]);
}

TEST(ViewPage, IsTheSameForEveryThreadCount) {
  const std::vector<double> values = random_values(3 * 400'000, 0, 1, 4);
  const std::vector<ViewedCloud> clouds = {{.name = "a", .points = PointView(values, 3)}};
  const std::string one = apps::view_page(clouds, {.threads = 1});
  EXPECT_EQ(one, apps::view_page(clouds, {.threads = 2}));
  EXPECT_EQ(one, apps::view_page(clouds, {.threads = 5}));
}

TEST(ViewPage, LeavesOutRowsWithNanAndKeepsNumbers) {
  const double inf = std::numeric_limits<double>::infinity();
  const std::vector<double> points = {0, 0, kNan, 1, 2, 2, 3, inf, 4, 4};
  const std::vector<double> amounts = {5, 6, 7, 8, kNan};
  const std::vector<io::Column> columns = {column_of("amount", amounts)};
  const PageScene page = page_of({{.name = "gaps", .points = PointView(points, 2), .columns = columns}});
  EXPECT_EQ(page.cloud(0)["count"], 3);
  EXPECT_EQ(page.values(page.cloud(0)["rows"]), (std::vector<double>{0, 2, 4}));
  const std::vector<double> kept = page.values(page.column(0, "amount")["values"]);
  EXPECT_EQ(kept[0], 5);
  EXPECT_EQ(kept[1], 7);
  EXPECT_TRUE(std::isnan(kept[2]));
  EXPECT_EQ(page.json()["notes"][0], "2 points of gaps with NaN or infinity are not shown");

  const std::vector<std::uint32_t> numbers = {10, 20, 30, 40, 50};
  const PageScene sample = page_of({{.name = "gaps", .points = PointView(points, 2), .row_numbers = numbers}});
  EXPECT_EQ(sample.values(sample.cloud(0)["rows"]), (std::vector<double>{10, 30, 50}));
}

TEST(ViewPage, ShowsColumnsAsWhatTheyAre) {
  const std::vector<float> points = {0, 0, 0, 1, 1, 1, 2, 2, 2};
  const std::vector<std::uint8_t> red = {255, 0, 128}, green = {0, 255, 7}, blue = {1, 2, 3};
  const std::vector<float> nx = {1, 0, 0}, ny = {0, 1, 0}, nz = {0, 0, -1};
  const std::vector<std::int32_t> classes = {-2, 10, 9};
  const std::vector<std::uint64_t> large = {1, 1ull << 40, 3};
  const std::vector<io::Column> columns = {column_of("Red", red),       column_of("green", green),
                                           column_of("blue", blue),     column_of("nx", nx),
                                           column_of("ny", ny),         column_of("nz", nz),
                                           column_of("class", classes), texts_of("name", {"b", "a", "b"}),
                                           column_of("time", large)};
  const PageScene page = page_of({{.name = "c", .points = PointView(points, 3), .columns = columns}});
  ASSERT_EQ(page.cloud(0)["columns"].size(), 5u);
  EXPECT_EQ(page.column(0, "rgb")["kind"], "color");
  EXPECT_EQ(page.values(page.column(0, "rgb")["parts"][0]), (std::vector<double>{255, 0, 128}));
  EXPECT_EQ(page.column(0, "normal")["kind"], "direction");
  EXPECT_EQ(page.values(page.column(0, "normal")["parts"][2]), (std::vector<double>{0, 0, -1}));
  EXPECT_EQ(page.column(0, "class")["words"], (nlohmann::json{"-2", "9", "10"}));
  EXPECT_EQ(page.values(page.column(0, "class")["values"]), (std::vector<double>{0, 2, 1}));
  EXPECT_EQ(page.column(0, "name")["words"], (nlohmann::json{"a", "b"}));
  EXPECT_EQ(page.values(page.column(0, "time")["values"]), (std::vector<double>{1, 1099511627776.0, 3}));
  EXPECT_EQ(page.json()["color"], (nlohmann::json{{"by", "column"}, {"name", "rgb"}}));
}

TEST(ViewPage, ColoursOfOtherWidthsBecomeBytes) {
  const std::vector<float> points = {0, 1, 2};
  const std::vector<std::uint16_t> wide = {0, 32768, 65535};
  const std::vector<float> share = {0, 0.5f, 1};
  const std::vector<std::uint32_t> packed = {0x00ff8001, 0, 0xffffff};
  for (const std::vector<io::Column>& columns :
       {std::vector<io::Column>{column_of("r", wide), column_of("g", wide), column_of("b", wide)},
        std::vector<io::Column>{column_of("r", share), column_of("g", share), column_of("b", share)}}) {
    const PageScene page = page_of({{.name = "c", .points = PointView(points, 1), .columns = columns}});
    EXPECT_EQ(page.values(page.column(0, "rgb")["parts"][0]), (std::vector<double>{0, 128, 255}));
  }
  const std::vector<io::Column> columns = {column_of("rgb", packed)};
  const PageScene page = page_of({{.name = "c", .points = PointView(points, 1), .columns = columns}});
  EXPECT_EQ(page.values(page.column(0, "rgb")["parts"][0]), (std::vector<double>{255, 0, 255}));
  EXPECT_EQ(page.values(page.column(0, "rgb")["parts"][1]), (std::vector<double>{128, 0, 255}));
  EXPECT_EQ(page.values(page.column(0, "rgb")["parts"][2]), (std::vector<double>{1, 0, 255}));
}

TEST(ViewPage, NeighborsAreThoseOfTheSearchByOriginalRows) {
  std::vector<double> points = random_values(3 * 200, 0, 1, 5);
  points[3 * 7] = kNan;
  BuildOptions build;
  build.skip_nonfinite = true;
  SearchOptions search;
  search.exclude_self = search.skip_nonfinite = true;
  const Neighbors found = Index::build(PointView(points, 3), build).knn_self(250, search);  // more than there are
  std::vector<std::uint32_t> numbers(200);
  for (std::uint32_t i = 0; i < 200; ++i) numbers[i] = 3 * i;
  for (const bool is_sample : {false, true}) {
    ViewedCloud cloud{.name = "p", .points = PointView(points, 3), .neighbors = &found};
    if (is_sample) cloud.row_numbers = numbers;
    const PageScene page = page_of({cloud});
    const nlohmann::json& neighbors = page.cloud(0)["neighbors"];
    EXPECT_EQ(neighbors["k"], 250);
    const std::vector<double> indices = page.values(neighbors["indices"]),
                              distances = page.values(neighbors["distances"]);
    ASSERT_EQ(indices.size(), 199u * 250);
    for (std::uint32_t q = 0; q < 200; ++q) {
      if (q == 7) continue;
      const std::uint32_t place = q < 7 ? q : q - 1;
      for (std::uint32_t j = 0; j < 250; ++j) {
        const std::uint32_t index = found.index(q, j);
        const double expected = index == found.missing() ? 4294967295.0 : is_sample ? 3.0 * index : index;
        ASSERT_EQ(indices[place * 250 + j], expected) << q << " " << j;
        if (index == found.missing()) continue;
        ASSERT_EQ(distances[place * 250 + j], found.distance(q, j));
      }
    }
  }
}

TEST(ViewPage, HoldsNastyShapes) {
  const std::vector<double> none, equal(30, 7.5), extremes = {-1.7e308, 1.7e308, 0, 5e-324, -0.0, 1};
  for (const bool exact : {false, true}) {
    const PageScene page = page_of({{.name = "none", .points = PointView(none.data(), 0, 3)},
                                    {.name = "equal", .points = PointView(equal, 3)},
                                    {.name = "extremes", .points = PointView(extremes, 1)}},
                                   {.exact = exact});
    EXPECT_EQ(page.cloud(0)["count"], 0);
    EXPECT_EQ(page.values(page.cloud(0)["axes"][2]).size(), 0u);
    EXPECT_EQ(page.values(page.cloud(1)["axes"][1]), std::vector<double>(10, 7.5));
    EXPECT_EQ(page.values(page.cloud(2)["axes"][0]), extremes);
  }
  // A range that overflows, and one that has no 65,534 steps, are not rounded.
  for (const double most : {1.7e308, 1e-319}) {
    std::vector<double> values = random_values(1'200'000, -most, most, 6);
    values[0] = -most;
    values[1] = most;
    const PageScene page = page_of({{.name = "wide", .points = PointView(values, 1)}});
    EXPECT_EQ(page.values(page.cloud(0)["axes"][0]), values);
  }
}

TEST(ViewPage, NoNameEndsAScriptOrBeginsAnElement) {
  const std::string hostile = "</script><script>alert(1)</script><!-- \"'&\xff\x01";
  const std::vector<float> points = {0, 1};
  const std::vector<io::Column> columns = {column_of(hostile, points), texts_of("label", {hostile, "b"})};
  const PageScene page =
      page_of({{.name = hostile, .points = PointView(points, 1), .columns = columns}}, {.title = hostile});
  EXPECT_EQ(page.page().find("<script>alert"), std::string::npos);
  EXPECT_EQ(page.page().find("<!-- \""), std::string::npos);
  std::size_t scripts = 0;
  for (std::size_t i = page.page().find("<script"); i != std::string::npos; i = page.page().find("<script", i + 1))
    ++scripts;
  EXPECT_EQ(scripts, page.blocks() + 2);
  EXPECT_PRED2([](const std::string& title, const std::string& begin) { return title.starts_with(begin); },
               page.between("<title>", "</title>"), "&lt;/script&gt;");
  EXPECT_EQ(page.cloud(0)["name"].get<std::string>().substr(0, 17), "</script><script>");
}

TEST(ViewPage, NamesItsScriptAndStyleInThePolicy) {
  const std::vector<float> points = {0, 1};
  const PageScene page = page_of({{.name = "p", .points = PointView(points, 1)}});
  const std::string policy = page.between("Content-Security-Policy\" content=\"", "\"");
  EXPECT_EQ(policy.find("default-src 'none'"), 0u);
  EXPECT_NE(policy.find("'" + std::string(apps::view_hashes().script) + "'"), std::string::npos);
  EXPECT_NE(policy.find("'" + std::string(apps::view_hashes().style) + "'"), std::string::npos);
  EXPECT_EQ(policy.find("unsafe"), std::string::npos);
  for (std::size_t i = page.page().find("http"); i != std::string::npos; i = page.page().find("http", i + 1)) {
    const std::string name = page.page().substr(i, 26);  // the name of SVG, which nothing asks the network for
    EXPECT_TRUE(name == "http://www.w3.org/2000/svg" || name.starts_with("http-equiv")) << name;
  }
  EXPECT_EQ(page.page().find(" src="), std::string::npos);
}

TEST(ViewPage, ColoursByWhatWasAskedFor) {
  const std::vector<float> points = {0, 1, 2, 3};
  const std::vector<io::Column> columns = {column_of("Intensity", std::vector<float>{1, 2}),
                                           texts_of("kind", {"a", "b"})};
  const ViewedCloud cloud{.name = "p", .points = PointView(points, 2), .columns = columns};
  const auto color = [&](const std::string& wanted) { return page_of({cloud}, {.color = wanted}).json()["color"]; };
  EXPECT_EQ(color(""), (nlohmann::json{{"by", "column"}, {"name", "Intensity"}}));
  EXPECT_EQ(color("intensity"), (nlohmann::json{{"by", "column"}, {"name", "Intensity"}}));
  EXPECT_EQ(color("label"), (nlohmann::json{{"by", "column"}, {"name", "kind"}}));
  EXPECT_EQ(color("y"), (nlohmann::json{{"by", "axis"}, {"axis", 1}}));
  EXPECT_EQ(color("cloud"), (nlohmann::json{{"by", "cloud"}}));
  EXPECT_THROW(color("z"), UsageError);
  EXPECT_THROW(color("rgb"), UsageError);
  const PageScene plain = page_of({{.name = "p", .points = PointView(points, 2)}});
  EXPECT_EQ(plain.json()["color"], (nlohmann::json{{"by", "axis"}, {"axis", 1}}));
}

TEST(ViewPage, RefusesWhatDoesNotFit) {
  const std::vector<float> points(8);
  const std::vector<io::Column> columns = {column_of("one", std::vector<float>{1})};
  const Neighbors found = Index::build(PointView(points, 2)).knn_self(1);
  EXPECT_THROW(page_of({}), UsageError);
  EXPECT_THROW(page_of({{.name = "four", .points = PointView(points, 4)}}), UsageError);
  EXPECT_THROW(page_of({{.name = "p", .points = PointView(points, 2), .columns = columns}}), UsageError);
  EXPECT_THROW(page_of({{.name = "p", .points = PointView(points, 1), .neighbors = &found}}), UsageError);
  EXPECT_THROW(page_of({{.name = "p", .points = PointView(points, 2), .neighbors = &found, .neighbors_of = 1}}),
               UsageError);
  EXPECT_THROW(
      page_of({{.name = "p", .points = PointView(points, 2)}}, {.progress = [](const Progress&) { return false; }}),
      Interrupted);
}

}  // namespace
}  // namespace kith::test
