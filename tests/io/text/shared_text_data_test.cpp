// Real text files that others made are read with the counts that are known of them. Skipped where they are absent.
#include "io/text/text_input.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace kith {
namespace {

using testing_text::message_of;
using Names = std::vector<std::string>;

class SharedTextData : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(KITH_TEST_DATA)) GTEST_SKIP() << "no test data at " << KITH_TEST_DATA;
  }
  static io::PointFile data(const std::string& name, const io::ReadOptions& options = {}) {
    return io::read_points(std::string(KITH_TEST_DATA) + "/" + name, options);
  }
  static void expect_shape(const io::PointFile& file, std::uint64_t rows, std::uint32_t dims) {
    EXPECT_EQ(file.format, io::Format::text);
    EXPECT_EQ(file.points.rows(), rows);
    EXPECT_EQ(file.points.dims(), dims);
  }
};

TEST_F(SharedTextData, LidarScans) {
  const auto first = data("libpointmatcher/car_cloud400.csv");
  expect_shape(first, 24989, 6);
  EXPECT_EQ(first.columns, (Names{"x", "y", "z", "nx", "ny", "nz"}));
  EXPECT_EQ(first.view().at(0, 0), -3.5376);
  EXPECT_EQ(first.view().at(0, 5), 0.982953);
  expect_shape(data("libpointmatcher/car_cloud400.csv", {.columns = {"x", "y", "z"}}), 24989, 3);
  const auto second = data("libpointmatcher/car_cloud401.csv");
  expect_shape(second, 25193, 3);
  EXPECT_TRUE(second.columns.empty());
  EXPECT_EQ(second.view().at(0, 1), 5.2711742e-02);
  const auto poses = data("libpointmatcher/carCloudList.csv", {.label = "reading"});
  expect_shape(poses, 2, 16);
  EXPECT_EQ(poses.labels->names, (Names{"car_cloud400.csv", "car_cloud401.csv"}));
}

TEST_F(SharedTextData, ForestCover) {
  const auto file = data("covtype/covtype.20k.data", {.label = "last"});
  expect_shape(file, 20000, 54);
  EXPECT_EQ(file.labels->names.size(), 7u);
  EXPECT_EQ(file.labels->names[0], "5");
}

TEST_F(SharedTextData, Digits) {
  expect_shape(data("uci/pendigits.train.data", {.label = "last"}), 7494, 16);
  expect_shape(data("uci/pendigits.test.data", {.label = "17"}), 3498, 16);
  expect_shape(data("uci/optdigits.train.data", {.label = "last"}), 3823, 64);
  const auto file = data("uci/optdigits.test.data", {.label = "last"});
  expect_shape(file, 1797, 64);
  EXPECT_EQ(file.labels->names, (Names{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}));
}

TEST_F(SharedTextData, LettersComeFirst) {
  const auto file = data("uci/letter-recognition.data", {.label = "1"});
  expect_shape(file, 20000, 16);
  EXPECT_EQ(file.labels->names.size(), 26u);
  EXPECT_EQ(file.labels->names[0], "T");
  EXPECT_EQ(file.view().at(0, 0), 2);
}

TEST_F(SharedTextData, Iris) {
  const auto file = data("uci/iris.data", {.label = "last"});
  expect_shape(file, 150, 4);
  EXPECT_EQ(file.labels->names, (Names{"Iris-setosa", "Iris-versicolor", "Iris-virginica"}));
  EXPECT_NE(message_of<BadData>([] { data("uci/iris.data"); }).find("column 5 holds text (\"Iris-setosa\")"),
            std::string::npos);
}

TEST_F(SharedTextData, BanknotesWithCrlfAndNoFinalNewline) {
  const auto file = data("uci/banknote_authentication.csv", {.label = "5"});
  expect_shape(file, 1372, 4);
  EXPECT_EQ(file.labels->names, (Names{"0", "1"}));
  EXPECT_EQ(file.view().at(1371, 1), -0.65804);
  EXPECT_EQ(file.view().at(1371, 3), 1.1952);
}

TEST_F(SharedTextData, SixteenMissingValues) {
  const std::string message = message_of<BadData>([] { data("uci/breast-cancer-wisconsin.data"); });
  EXPECT_NE(message.find("(16 missing values in the file)"), std::string::npos) << message;
  EXPECT_NE(message.find("line 24, column 7"), std::string::npos) << message;
  const auto file = data("uci/breast-cancer-wisconsin.data", {.label = "last", .missing_as_nan = true});
  expect_shape(file, 699, 10);
  const auto values = file.points.values<double>();
  EXPECT_EQ(std::ranges::count_if(values, [](double value) { return std::isnan(value); }), 16);
}

TEST_F(SharedTextData, NastyFiles) {
  const auto wine = data("nasty_csv/bom_crlf_winequality-red.csv");
  expect_shape(wine, 1599, 12);
  EXPECT_EQ(wine.columns.front(), "fixed acidity");
  EXPECT_EQ(wine.columns.back(), "quality");
  const auto crlf = data("nasty_csv/crlf_test.txt");
  expect_shape(crlf, 10, 4);
  EXPECT_EQ(crlf.columns, (Names{"X", "Y", "Z", "Intensity"}));
  EXPECT_EQ(crlf.view().at(0, 1), 4320978.61);
}

TEST_F(SharedTextData, WaterMolecules) {
  const auto water = data("molecules/spc216.gro", {.label = "name"});
  EXPECT_EQ(water.format, io::Format::gro);
  EXPECT_EQ(water.points.rows(), 648u);
  EXPECT_EQ(water.view().at(0, 0), 0.230);
  EXPECT_EQ(water.labels->names, (Names{"OW", "HW1", "HW2"}));
}

TEST_F(SharedTextData, FilesThatAreNoTablesOfNumbers) {
  for (const std::string name : {"words/american-english", "sequences/primates.dna"}) {
    SCOPED_TRACE(name);
    EXPECT_NE(message_of<BadData>([&] { data(name); }).find("line "), std::string::npos);
  }
  EXPECT_NE(message_of<CorruptFile>([&] { data("sequences/woodmouse.fasta"); }).find("is FASTA"), std::string::npos);
}

}  // namespace
}  // namespace kith
