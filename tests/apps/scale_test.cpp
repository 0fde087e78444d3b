// Scales of small columns by hand, of random ones against sums in long double; threads must not change a byte.
#include <kith/apps/scale.hpp>

#include <kith/error.hpp>

#include "support/random_case.hpp"
#include "support/thrown_message.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace kith::apps {
namespace {

template <typename T>
std::vector<T> values_of(const PointSet& points) {
  return {points.values<T>().begin(), points.values<T>().end()};
}

TEST(Scale, NamesAreThoseOfTheCommand) {
  for (const Scaling scaling : {Scaling::none, Scaling::standard, Scaling::minmax}) {
    EXPECT_EQ(parse_scaling(name_of(scaling)), scaling);
  }
  EXPECT_EQ(name_of(Scaling::minmax), "minmax");
  EXPECT_PRED2(test::holds, test::thrown_message<UsageError>([] { parse_scaling("Standard"); }), "none, standard");
}

TEST(Scale, ByHand) {
  const std::vector<double> values = {1, 10, 7, 3, 10, 9, 5, 10, 5};  // the second column has one value
  const PointView points(values.data(), 3, 3);
  const Scale standard = fit_scale(points, Scaling::standard);
  EXPECT_EQ(standard.shift, (std::vector<double>{3, 10, 7}));
  EXPECT_EQ(standard.divisor, (std::vector<double>{std::sqrt(8.0 / 3), 1, std::sqrt(8.0 / 3)}));
  const Scale minmax = fit_scale(points, Scaling::minmax);
  EXPECT_EQ(minmax.shift, (std::vector<double>{1, 10, 5}));
  EXPECT_EQ(minmax.divisor, (std::vector<double>{4, 1, 4}));
  EXPECT_EQ(values_of<double>(minmax.apply(points)), (std::vector<double>{0, 0, 0.5, 0.5, 0, 1, 1, 0, 0}));
  EXPECT_EQ(values_of<double>(fit_scale(points, Scaling::none).apply(points)), values);
  // Other points by the same scale: nothing is fitted again.
  const std::vector<double> others = {9, 12, -3};
  EXPECT_EQ(values_of<double>(minmax.apply(PointView(others.data(), 1, 3))), (std::vector<double>{2, 2, -2}));
}

TEST(Scale, FloatsAreRoundedOnce) {
  const std::vector<float> values = {0.1f, 0.3f, 0.7f, 77};
  const PointView points(values.data(), DType::f32, 2, 1, 2);  // rows lie apart: 0.1 and 0.7
  const PointSet scaled = fit_scale(points, Scaling::standard).apply(points);
  const double mean = (double{0.1f} + double{0.7f}) / 2;
  const double deviation = double{0.7f} - mean;
  ASSERT_EQ(scaled.dtype(), DType::f32);
  EXPECT_EQ(values_of<float>(scaled), (std::vector<float>{-1, 1}));
  const std::vector<float> other = {0.5f};
  EXPECT_EQ(values_of<float>(fit_scale(points, Scaling::standard).apply(PointView(other.data(), 1, 1))),
            (std::vector<float>{static_cast<float>((double{0.5f} - mean) / deviation)}));
}

TEST(Scale, ColumnsOfOneValueBecomeZero) {
  const std::vector<double> values(3, 0.1);  // whose mean is not 0.1
  for (const Scaling scaling : {Scaling::standard, Scaling::minmax}) {
    const Scale scale = fit_scale(PointView(values.data(), 3, 1), scaling);
    EXPECT_EQ(values_of<double>(scale.apply(PointView(values.data(), 3, 1))), (std::vector<double>{0, 0, 0}));
    EXPECT_EQ(scale.divisor[0], 1.0);
  }
}

TEST(Scale, NoPointsLeaveEverythingAsItIs) {
  for (const Scaling scaling : {Scaling::none, Scaling::standard, Scaling::minmax}) {
    const Scale scale = fit_scale(PointView(static_cast<const float*>(nullptr), 0, 2), scaling);
    EXPECT_EQ(scale.shift, (std::vector<double>{0, 0}));
    EXPECT_EQ(scale.divisor, (std::vector<double>{1, 1}));
    EXPECT_EQ(scale.apply(PointView(static_cast<const float*>(nullptr), 0, 2)).rows(), 0u);
  }
}

/// Of the values that a scale gave: 0 and 1, or 0 and 0 for a column of one value.
void expect_standard(const PointSet& scaled, std::uint32_t d, double tolerance) {
  const PointView view = scaled.view();
  long double sum = 0, squares = 0;
  for (std::uint64_t i = 0; i < view.rows(); ++i) sum += view.at(i, d);
  const long double mean = sum / static_cast<long double>(view.rows());
  for (std::uint64_t i = 0; i < view.rows(); ++i) squares += (view.at(i, d) - mean) * (view.at(i, d) - mean);
  const auto deviation = static_cast<double>(std::sqrt(squares / static_cast<long double>(view.rows())));
  EXPECT_NEAR(static_cast<double>(mean), 0, tolerance);
  EXPECT_NEAR(deviation, deviation < 0.5 ? 0 : 1, tolerance);
}

TEST(Scale, NastyColumnsComeOutStandardAndBetweenZeroAndOne) {
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    std::mt19937_64 random(seed);
    const auto shape =
        static_cast<test::NastyShape>(seed % static_cast<std::uint64_t>(test::NastyShape::count_of_shapes));
    const DType dtype = random() % 2 == 0 ? DType::f32 : DType::f64;
    const bool is_too_wide = shape == test::NastyShape::huge_values && dtype == DType::f64;
    const std::uint64_t rows = 2 + random() % 60;
    const auto dims = static_cast<std::uint32_t>(1 + random() % 5);
    PointSet points = test::nasty_points(shape, dtype, rows, dims, random);
    if (is_too_wide) {
      for (double& value : points.values<double>()) value /= 4;
    }
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", " << points.rows() << " x " << points.dims());
    const Scale scale = fit_scale(points.view(), Scaling::standard);
    const PointSet standard = scale.apply(points.view());
    const PointSet minmax = fit_scale(points.view(), Scaling::minmax).apply(points.view());
    const bool is_denormal = shape == test::NastyShape::denormals && dtype == DType::f64;
    for (std::uint32_t d = 0; d < points.dims(); ++d) {
      // Mean and deviation of denormal numbers are off by half of the least one.
      const double rounded = is_denormal ? 0.51 * std::numeric_limits<double>::denorm_min() / scale.divisor[d] : 0;
      expect_standard(standard, d, rounded + (dtype == DType::f32 ? 1e-5 : 1e-7));
      double least = 1, most = 0;
      for (std::uint64_t i = 0; i < minmax.rows(); ++i) {
        least = std::min(least, minmax.view().at(i, d));
        most = std::max(most, minmax.view().at(i, d));
      }
      EXPECT_EQ(least, 0);
      EXPECT_TRUE(most == 1 || most == 0) << most;
    }
  }
}

TEST(Scale, ThreadsDoNotChangeAByte) {
  std::mt19937_64 random(7);
  const PointSet points = test::nasty_points(test::NastyShape::wide_spread, DType::f64, 20001, 3, random);
  const Scale one = fit_scale(points.view(), Scaling::standard, 1),
              four = fit_scale(points.view(), Scaling::standard, 4);
  EXPECT_EQ(one.shift, four.shift);
  EXPECT_EQ(one.divisor, four.divisor);
  EXPECT_EQ(values_of<double>(one.apply(points.view(), 1)), values_of<double>(four.apply(points.view(), 4)));
}

TEST(Scale, RefusesWhatCannotBeScaled) {
  const double infinity = std::numeric_limits<double>::infinity(), most = std::numeric_limits<double>::max();
  const std::vector<double> bad = {1, 2, 3, infinity}, wide = {-most, 0, most, 0};
  for (const Scaling scaling : {Scaling::none, Scaling::standard, Scaling::minmax}) {
    EXPECT_PRED2(test::holds, test::thrown_message<BadData>([&] { fit_scale(PointView(bad.data(), 2, 2), scaling); }),
                 "row 1, column 1");
  }
  EXPECT_PRED2(test::holds,
               test::thrown_message<BadData>([&] { fit_scale(PointView(wide.data(), 2, 2), Scaling::minmax); }),
               "column 0");
  const Scale scale = fit_scale(PointView(wide.data(), 1, 2), Scaling::minmax);
  EXPECT_PRED2(test::holds, test::thrown_message<UsageError>([&] { scale.apply(PointView(bad.data(), 1, 4)); }),
               "4 dimensions, but the scale was fitted on 2");
  EXPECT_THROW(fit_scale(PointView(bad.data(), DType::f64, 1, 2, 2, Device::cuda(0)), Scaling::minmax), UsageError);
}

}  // namespace
}  // namespace kith::apps
