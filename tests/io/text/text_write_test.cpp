// Points written as text read back as the same bits, and the file appears whole or not at all.
#include "io/text/text_input.hpp"
#include "support/file_content.hpp"
#include "support/temporary_path.hpp"

#include <kith/io/write_points.hpp>

#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>

namespace kith {
namespace {

using test::file_content;
using testing_text::message_of;

std::string text_path(const std::string& name) { return test::temporary_path("text_write_" + name); }

template <typename T>
PointSet points_of(const std::vector<T>& values, std::uint32_t dims) {
  return PointSet::copy_of(PointView(values.data(), values.size() / dims, dims));
}

std::string written(const std::string& name, PointView points, const io::WriteOptions& options = {}) {
  const std::string path = text_path(name);
  io::write_points(path, points, options);
  const std::string text = file_content(path);
  std::filesystem::remove(path);
  return text;
}

/// Any bits but those of NaN, whose payload text does not carry.
template <typename T>
std::vector<T> random_values(std::uint64_t seed, std::size_t count) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  std::mt19937_64 random(seed);
  std::vector<T> values = {T(0),
                           -T(0),
                           std::numeric_limits<T>::denorm_min(),
                           std::numeric_limits<T>::min(),
                           std::numeric_limits<T>::max(),
                           std::numeric_limits<T>::lowest(),
                           std::numeric_limits<T>::infinity(),
                           -std::numeric_limits<T>::infinity()};
  while (values.size() < count) {
    const std::uint64_t mask = random() % 4 ? ~0ull : 0x000FFFFFFFFFFFFFull;
    const T value = std::bit_cast<T>(static_cast<Bits>(random() & mask));
    if (!std::isnan(value)) values.push_back(value);
  }
  return values;
}

template <typename T>
void expect_round_trip(const std::string& extension, std::uint32_t dims) {
  SCOPED_TRACE(testing::Message() << extension << " with random_values(" << dims << ", 6000)");
  const std::vector<T> values = random_values<T>(dims, 6000);
  const std::string path = text_path("round" + extension);
  io::write_points(path, points_of(values, dims).view());
  const io::PointFile file = io::read_points(path, {.dtype = dtype_of<T>});
  std::filesystem::remove(path);
  ASSERT_EQ(file.points.dims(), dims);
  ASSERT_EQ(file.points.rows(), values.size() / dims);
  EXPECT_EQ(std::memcmp(file.points.values<T>().data(), values.data(), values.size() * sizeof(T)), 0);
}

TEST(TextWrite, ReadsBackAsTheSameBits) {
  for (const std::string extension : {".csv", ".tsv", ".txt", ".xyz"}) {
    for (const std::uint32_t dims : {1u, 2u, 3u, 5u}) {
      expect_round_trip<float>(extension, dims);
      expect_round_trip<double>(extension, dims);
    }
  }
}

TEST(TextWrite, FormsOfTheFile) {
  const PointSet points = points_of<double>({1, .5, -3, 1e300, 1e-7, 0}, 3);
  EXPECT_EQ(written("a.csv", points.view()), "x,y,z\n1,0.5,-3\n1e+300,1e-07,0\n");
  EXPECT_EQ(written("a.tsv", points.view()), "x\ty\tz\n1\t0.5\t-3\n1e+300\t1e-07\t0\n");
  EXPECT_EQ(written("a.XYZ", points.view()), "1 0.5 -3\n1e+300 1e-07 0\n");
  EXPECT_EQ(written("a.txt", points.view(), {.columns = {"a", "b,c", "#d\""}}),
            "a,\"b,c\",\"#d\"\"\"\n1,0.5,-3\n1e+300,1e-07,0\n");
  EXPECT_EQ(written("a.bin", points.view(), {.format = io::Format::text}), "x,y,z\n1,0.5,-3\n1e+300,1e-07,0\n");
  const PointSet wide = points_of<float>({1, 2, 3, 4}, 4);
  EXPECT_EQ(written("b.csv", wide.view()), "c0,c1,c2,c3\n1,2,3,4\n");
  EXPECT_EQ(written("c.csv", PointSet(DType::f32, 0, 2).view()), "x,y\n");
  const PointSet odd = points_of<double>({std::nan(""), -std::nan(""), -0.0}, 3);
  EXPECT_EQ(written("d.csv", odd.view()), "x,y,z\nnan,nan,-0\n");
}

TEST(TextWrite, RowsMayLieApart) {
  const std::vector<float> values = {1, 2, 9, 3, 4, 9};
  EXPECT_EQ(written("s.csv", PointView(values.data(), DType::f32, 2, 2, 3)), "x,y\n1,2\n3,4\n");
}

TEST(TextWrite, LabelsReadBack) {
  const PointSet points = points_of<float>({1, 2, 3, 4, 5, 6}, 1);
  const io::Labels labels{{0, 1, 2, 3, 4, 5}, {"plain", "with, comma", "say \"hi\"", "", " blank ", "tab\t"}};
  for (const std::string extension : {".csv", ".tsv", ".xyz"}) {
    SCOPED_TRACE(extension);
    const std::string path = text_path("labels" + extension);
    io::write_points(path, points.view(), {.labels = &labels});
    const io::PointFile file = io::read_points(path, {.label = "last"});
    std::filesystem::remove(path);
    ASSERT_TRUE(file.labels);
    EXPECT_EQ(file.labels->names, labels.names);
    EXPECT_EQ(file.labels->codes, labels.codes);
    EXPECT_EQ(testing_text::values_of(file), (std::vector<double>{1, 2, 3, 4, 5, 6}));
  }
  EXPECT_EQ(written("l.csv", points.view().slice(0, 1),
                    {.labels =
                         [] {
                           static const io::Labels one{{0}, {"a"}};
                           return &one;
                         }()}),
            "x,label\n1,a\n");
}

TEST(TextWrite, FurtherColumnsComeLast) {
  const PointSet points = points_of<float>({1, 2, 3, 4}, 2);
  const io::Labels labels{{0, 1}, {"a", "b"}};
  const auto row_number = [](std::uint64_t row, std::string& to) { to = std::to_string(row); };
  const auto odd_text = [](std::uint64_t row, std::string& to) { to = row == 0 ? "c,d" : ""; };
  const io::WriteOptions options{.labels = &labels, .appended = {{"row", row_number}, {"p q", odd_text}}};
  EXPECT_EQ(written("f.csv", points.view(), options), "x,y,label,row,p q\n1,2,a,0,\"c,d\"\n3,4,b,1,\"\"\n");
  EXPECT_EQ(written("f.csv", points.view(), {.appended = {{"row", row_number}}}), "x,y,row\n1,2,0\n3,4,1\n");
}

TEST(TextWrite, RefusesWhatDoesNotFit) {
  const PointSet points = points_of<float>({1, 2, 3, 4}, 2);
  const auto failure = [&](const std::string& name, const io::WriteOptions& options = {}) {
    return message_of<UsageError>([&] { io::write_points(text_path(name), points.view(), options); });
  };
  EXPECT_NE(failure("a.csv", {.columns = {"x"}}).find("1 column names were given for points of 2 dimensions"),
            std::string::npos);
  const io::Labels short_labels{{0}, {"a"}};
  EXPECT_NE(failure("a.csv", {.labels = &short_labels}).find("1 labels were given for 2 points"), std::string::npos);
  const io::Labels unnamed{{0, 1}, {"a"}};
  EXPECT_NE(failure("a.csv", {.labels = &unnamed}).find("label code 1 has no name"), std::string::npos);
  const io::Labels broken{{0, 0}, {"a\nb"}};
  EXPECT_NE(failure("a.csv", {.labels = &broken}).find("line break"), std::string::npos);
  const io::Labels good{{0, 0}, {"a"}};
  EXPECT_NE(failure("a.npy", {.labels = &good}).find("labels are written to text only"), std::string::npos);
  EXPECT_NE(failure("a.npy", {.appended = {{"c", {}}}}).find("further columns are written to text only"),
            std::string::npos);
  EXPECT_NE(failure("a.docx").find(".csv, .tsv, .txt, .xyz, .npy, .npz, .ply, .pcd and .las can be written"),
            std::string::npos);
  EXPECT_NE(failure("noextension").find("can be written"), std::string::npos);
  EXPECT_NE(failure("a.laz").find("LAZ is not written"), std::string::npos);
  EXPECT_NE(failure("a.fvecs").find("fvecs is read but not written"), std::string::npos);
  EXPECT_NE(failure("a.gz").find("can be written"), std::string::npos);
  const std::string mine = std::filesystem::path(text_path("a.")).filename().string();
  for (const auto& entry : std::filesystem::directory_iterator(KITH_TEST_TEMPORARY)) {
    EXPECT_FALSE(entry.path().filename().string().starts_with(mine)) << entry.path();
  }
}

TEST(TextWrite, AnInterruptedWriteLeavesTheOldFile) {
  const std::string path = text_path("old.csv");
  std::ofstream(path) << "old";
  const PointSet points = points_of<float>({1, 2}, 2);
  EXPECT_THROW(io::write_points(path, points.view(), {.progress = [](const Progress&) { return false; }}), Interrupted);
  EXPECT_EQ(file_content(path), "old");
  std::filesystem::remove(path);
}

TEST(TextWrite, ReportsProgress) {
  const PointSet points = points_of<float>(std::vector<float>(20'000, 1.0f), 2);
  Progress last;
  written("p.csv", points.view(), {.progress = [&](const Progress& progress) {
            EXPECT_EQ(progress.stage, "writing");
            EXPECT_GE(progress.done, last.done);
            last.done = progress.done;
            last.total = progress.total;
            return true;
          }});
  EXPECT_EQ(last.done, 10'000u);
  EXPECT_EQ(last.total, 10'000u);
}

}  // namespace
}  // namespace kith
