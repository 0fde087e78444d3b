// Names and exponents of metrics.
#include <kith/error.hpp>
#include <kith/metric.hpp>

#include "support/thrown_message.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace kith {
namespace {

TEST(Metric, NamesAreReadAndWritten) {
  for (const std::string name : {"l2", "l1", "linf", "cosine", "angular", "ip", "lp:3", "lp:1.5", "canberra"}) {
    EXPECT_EQ(Metric::parse(name).name(), name);
  }
  EXPECT_EQ(Metric::parse("euclidean"), Metric::l2());
  EXPECT_EQ(Metric::parse("manhattan"), Metric::l1());
  EXPECT_EQ(Metric::parse("chebyshev"), Metric::linf());
  EXPECT_EQ(Metric::parse("minkowski:4"), Metric::lp(4));
  EXPECT_EQ(Metric::parse("inner"), Metric::inner_product());
}

TEST(Metric, SpecialExponentsAreTheExactMetrics) {
  EXPECT_EQ(Metric::lp(1), Metric::l1());
  EXPECT_EQ(Metric::lp(2), Metric::l2());
  EXPECT_EQ(Metric::lp(std::numeric_limits<double>::infinity()), Metric::linf());
  EXPECT_EQ(Metric::parse("lp:inf"), Metric::linf());
}

TEST(Metric, RefusesWhatIsNoMetric) {
  EXPECT_THROW(Metric::lp(0.5), UsageError);
  EXPECT_THROW(Metric::lp(std::nan("")), UsageError);
  for (const std::string name : {"", "l3", "lp", "lp:", "lp:x", "lp:3x", "lp:0", "L2"}) {
    EXPECT_THROW(Metric::parse(name), UsageError) << name;
  }
  const auto message_of = [](const char* name) {
    return test::thrown_message<UsageError>([name] { Metric::parse(name); });
  };
  EXPECT_EQ(message_of("minkowski"), "metric minkowski needs its exponent, for example minkowski:3");
  EXPECT_EQ(message_of("canberra:2"), "metric \"canberra:2\": canberra takes no parameter");
}

}  // namespace
}  // namespace kith
