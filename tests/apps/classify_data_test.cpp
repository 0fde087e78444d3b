// Real data labelled by its nearest neighbours: known counts, and the same answers one after the other where they must
// be. Skips where the data is absent.
#include <kith/apps/classify.hpp>

#include <kith/io/read_points.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace kith::apps {
namespace {

struct RealData {
  std::string train, test;  ///< `test` empty: the rows of `train` from `train_rows` on
  std::string label;
  std::uint64_t train_rows;
  std::uint64_t right;
};

std::ostream& operator<<(std::ostream& out, const RealData& data) { return out << data.train; }

class ClassifyData : public testing::TestWithParam<RealData> {};

/// Of the labels of each row from `first` on, in the codes of `names`; a name that is not there gets the next code.
std::vector<std::uint32_t> codes_of(const io::Labels& labels, std::uint64_t first,
                                    const std::vector<std::string>& names) {
  std::vector<std::uint32_t> codes;
  for (std::uint64_t row = first; row < labels.codes.size(); ++row) {
    const auto place = std::find(names.begin(), names.end(), labels.names[labels.codes[row]]);
    codes.push_back(static_cast<std::uint32_t>(place - names.begin()));
  }
  return codes;
}

TEST_P(ClassifyData, TheNearestGivesTheKnownCount) {
  const RealData& data = GetParam();
  const std::string folder = std::string(KITH_TEST_DATA) + "/";
  if (!std::filesystem::exists(folder + data.train)) GTEST_SKIP() << data.train << " is not here";
  const io::ReadOptions reading{.label = data.label};
  const io::PointFile first = io::read_points(folder + data.train, reading);
  const io::PointFile second = data.test.empty() ? io::PointFile{} : io::read_points(folder + data.test, reading);
  const bool one_file = data.test.empty();
  const std::vector<std::string>& names = first.labels->names;
  const PointView train = first.view().slice(0, data.train_rows);
  const PointView test =
      one_file ? first.view().slice(data.train_rows, first.points.rows() - data.train_rows) : second.view();
  const std::vector<std::uint32_t> truth =
      one_file ? codes_of(*first.labels, data.train_rows, names) : codes_of(*second.labels, 0, names);
  const LabelView labels{std::span(first.labels->codes).first(data.train_rows),
                         static_cast<std::uint32_t>(names.size())};
  ClassifyOptions options;
  options.k = 1;
  const auto count_right = [&](const Classified& found) {
    std::uint64_t right = 0;
    for (std::uint64_t i = 0; i < truth.size(); ++i) right += found.labels[i] == truth[i] ? 1 : 0;
    return right;
  };
  for (const Weights weights : {Weights::uniform, Weights::distance}) {
    options.weights = weights;
    EXPECT_EQ(count_right(classify(train, labels, test, options)), data.right);
  }
  // In order no label changes that the loop would not change: the one of a query whose nearest is no query.
  const Classified in_order = classify_sequential(train, labels, test, options);
  EXPECT_GT(in_order.depth, 1u);
  EXPECT_LT(in_order.depth, 100u);
  EXPECT_NEAR(static_cast<double>(count_right(in_order)), static_cast<double>(data.right), 0.02 * truth.size());
}

INSTANTIATE_TEST_SUITE_P(
    Known, ClassifyData,
    testing::Values(RealData{"uci/pendigits.train.data", "uci/pendigits.test.data", "last", 7494, 3419},
                    RealData{"uci/optdigits.train.data", "uci/optdigits.test.data", "last", 3823, 1761},
                    RealData{"uci/letter-recognition.data", "", "1", 16000, 3826},
                    RealData{"covtype/covtype.20k.data", "", "last", 15120, 3221}));

}  // namespace
}  // namespace kith::apps
