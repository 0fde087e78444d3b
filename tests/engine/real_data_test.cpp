// 1-NN classification of real data: known counts, with ties broken by the lowest index. Skips where the data is absent.
#include "support/engines.hpp"

#include <kith/index.hpp>
#include <kith/io/read_points.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace kith::test {
namespace {

struct RealData {
  std::string train, test;  ///< `test` empty: the rows of `train` from `train_rows` on
  std::string label;
  std::uint64_t train_rows;
  std::uint64_t test_rows;
  std::uint64_t right;
};

std::ostream& operator<<(std::ostream& out, const RealData& data) { return out << data.train; }

class RealDataTest : public testing::TestWithParam<RealData> {};

TEST_P(RealDataTest, OneNearestNeighborGetsTheKnownCount) {
  const std::string folder = std::string(KITH_TEST_DATA) + "/";
  const RealData& data = GetParam();
  if (!std::filesystem::exists(folder + data.train)) GTEST_SKIP() << data.train << " is not here";
  for (const DType dtype : {DType::f32, DType::f64}) {  // whole numbers: both types are exact
    const io::ReadOptions options{.dtype = dtype, .label = data.label};
    const io::PointFile first = io::read_points(folder + data.train, options);
    const io::PointFile second = data.test.empty() ? io::PointFile{} : io::read_points(folder + data.test, options);
    const bool one_file = data.test.empty();
    ASSERT_EQ(first.points.rows(), one_file ? data.train_rows + data.test_rows : data.train_rows);
    const PointView train = first.view().slice(0, data.train_rows);
    const PointView test = one_file ? first.view().slice(data.train_rows, data.test_rows) : second.view();
    ASSERT_EQ(test.rows(), data.test_rows);
    const auto label_of_test = [&](std::uint64_t row) {
      const io::Labels& labels = one_file ? *first.labels : *second.labels;
      return labels.names[labels.codes[one_file ? data.train_rows + row : row]];
    };
    for (const EngineOnDevice& where : available_engines()) {
      SCOPED_TRACE(testing::Message() << where << ", " << name_of(dtype));
      const Neighbors near = Index::build(train, {.engine = where.engine, .device = where.device}).knn(test, 1);
      std::uint64_t right = 0;
      for (std::uint64_t row = 0; row < test.rows(); ++row) {
        const std::string& found = first.labels->names[first.labels->codes[near.index(row, 0)]];
        right += found == label_of_test(row) ? 1 : 0;
      }
      EXPECT_EQ(right, data.right);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Known, RealDataTest,
    testing::Values(RealData{"uci/pendigits.train.data", "uci/pendigits.test.data", "last", 7494, 3498, 3419},
                    RealData{"uci/optdigits.train.data", "uci/optdigits.test.data", "last", 3823, 1797, 1761},
                    RealData{"uci/letter-recognition.data", "", "1", 16000, 4000, 3826},
                    RealData{"covtype/covtype.20k.data", "", "last", 15120, 4880, 3221}));

}  // namespace
}  // namespace kith::test
