// No index file, however damaged or forged, is believed further than it can be proven: an error, or a right index.
#include "engine/forged_index.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <string>

namespace kith::test {
namespace {

using namespace forged;

struct Sample {
  Engine engine;
  DType dtype;
  friend std::ostream& operator<<(std::ostream& out, const Sample& s) {
    return out << name_of(s.engine) << "_" << name_of(s.dtype);
  }
};

class ForgedIndex : public testing::TestWithParam<Sample> {
 protected:
  ForgedIndex() : bytes_(sample(GetParam().engine, GetParam().dtype)), front_(front_of(bytes_)) {}

  const SectionRecord& section(SectionId id) const { return section_of(front_, id); }

  Bytes bytes_;
  FrontMatter front_;
  bool has_period_ = has_period(GetParam().engine, GetParam().dtype);
};

TEST_P(ForgedIndex, IsAcceptedUnchanged) {
  EXPECT_TRUE(refused_or_genuine(bytes_));
  Bytes again = bytes_;
  sign_index(again);
  EXPECT_TRUE(again == bytes_) << "signing a genuine file changes it";
}

TEST_P(ForgedIndex, EveryOtherLengthIsRefused) {
  for (std::size_t length = 0; length < bytes_.size(); ++length) {
    EXPECT_THROW(Index::from_bytes(std::span(bytes_).first(length), kOneThread), CorruptFile) << length;
  }
  for (const std::size_t more : {1, 4096}) {
    Bytes longer = bytes_;
    longer.resize(bytes_.size() + more);
    EXPECT_THROW(Index::from_bytes(longer, kOneThread), CorruptFile);
  }
}

/// Every bit of what means something, and of the padding a bit of every byte (of every seventh, in the larger files).
TEST_P(ForgedIndex, EveryFlippedBitIsNoticed) {
  std::vector<bool> has_meaning(bytes_.size(), false);
  std::fill_n(has_meaning.begin(), front_.header.front_bytes, true);
  for (const SectionRecord& s : front_.sections) {
    std::fill(has_meaning.begin() + static_cast<std::ptrdiff_t>(s.offset),
              has_meaning.begin() + static_cast<std::ptrdiff_t>(s.end()), true);
  }
  const auto expect_noticed = [&](std::size_t place, unsigned bit) {
    bytes_[place] ^= std::byte(1u << bit);
    EXPECT_THROW(Index::from_bytes(bytes_, kOneThread), CorruptFile) << "byte " << place << ", bit " << bit;
    bytes_[place] ^= std::byte(1u << bit);
  };
  for (std::size_t place = 0; place < bytes_.size(); ++place) {
    if (!has_meaning[place]) {
      if (GetParam().engine == Engine::brute_force || place % 7 == 0) expect_noticed(place, place % 8);
      continue;
    }
    for (unsigned bit = 0; bit < 8; ++bit) expect_noticed(place, bit);
  }
}

TEST_P(ForgedIndex, EveryChangedWordOfTheFrontIsRefusedOrGenuine) {
  const std::uint64_t end = sizeof(HeaderRecord) + front_.sections.size() * sizeof(SectionRecord);
  std::uint64_t accepted = 0;
  for (std::uint64_t place = 0; place < end; place += 4) {
    std::uint32_t value = 0;
    std::memcpy(&value, bytes_.data() + place, 4);
    for (const std::uint32_t other : {0u, 1u, 2u, 3u, 4u, 5u, value + 1, value - 1, 2 * value, value ^ 0x1000u,
                                      0x7fffffffu, 0x80000000u, 0xfffffffeu, 0xffffffffu}) {
      SCOPED_TRACE(testing::Message() << "word at byte " << place << ": " << value << " becomes " << other);
      if (other != value) accepted += refused_or_genuine(with_value(bytes_, place, other)) ? 1 : 0;
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(accepted, 10u) << "compatible flags and other metrics are fine";
}

TEST_P(ForgedIndex, EveryChangedByteOfASectionIsRefusedOrGenuine) {
  std::uint64_t accepted = 0, refused = 0;
  for (const SectionRecord& s : front_.sections) {
    for (std::uint64_t place = s.offset; place < s.end(); ++place) {
      for (const unsigned change : {0x01u, 0x80u, 0xffu, 0x04u}) {
        SCOPED_TRACE(testing::Message() << "section " << name_of(static_cast<SectionId>(s.id)) << ", byte "
                                        << place - s.offset << ", change " << change);
        (refused_or_genuine(with_value(bytes_, place, bytes_[place] ^ std::byte(change))) ? accepted : refused) += 1;
        if (HasFailure()) return;
      }
    }
  }
  EXPECT_GT(accepted, 0u) << "some coordinates may change without a trace";
  EXPECT_GT(refused, 0u);
}

TEST_P(ForgedIndex, TheContainerIsChecked) {
  const auto header = [&](std::size_t field, auto value) { return with_value(bytes_, field, value); };
  expect_refused({}, "is empty");
  expect_refused(header(0, std::uint64_t{0}), "is not an index file of kith");
  expect_refused(header(offsetof(HeaderRecord, byte_order), 0x04030201u), "other byte order");
  expect_refused(header(offsetof(HeaderRecord, byte_order), 0x01020305u), "byte order mark");
  expect_refused(header(offsetof(HeaderRecord, version), 2u), "is an index file of version 2");
  expect_refused(header(offsetof(HeaderRecord, version), 0u), "is an index file of version 0");
  expect_refused(header(offsetof(HeaderRecord, incompatible_features), std::uint64_t{4}), "flags 0x4");
  expect_refused(header(offsetof(HeaderRecord, file_bytes), std::uint64_t{bytes_.size() + 1}), "should have");
  expect_refused(header(offsetof(HeaderRecord, front_bytes), ~std::uint64_t{0}), "do not fit");
  expect_refused(header(offsetof(HeaderRecord, section_count), ~0u), "do not fit");
  expect_refused(header(offsetof(HeaderRecord, reserved), 1u), "reserved");
  expect_refused(header(offsetof(HeaderRecord, engine), 0u), "no engine with the number 0");
  if (GetParam().engine != Engine::cover_tree) {
    const bool has_rows = GetParam().engine == Engine::brute_force && !has_period_;
    expect_refused(header(offsetof(HeaderRecord, engine), 3u),
                   has_rows ? "a leaf size of 0" : "does not belong to engine covertree");
  }
  expect_refused(header(offsetof(HeaderRecord, engine), 4u), "no engine with the number 4");
  expect_refused(header(offsetof(HeaderRecord, dtype), 2u), "bits");
  expect_refused(header(offsetof(HeaderRecord, dtype), 4u), "no type of");
  expect_refused(header(offsetof(HeaderRecord, metric), 7u), "no metric with the number 7");
  expect_refused(header(offsetof(HeaderRecord, metric), 5u), "no metric with the number 5");  // ip with p = 2
  expect_refused(header(offsetof(HeaderRecord, metric), 3u), "no metric with the number 3");  // lp with p = 2
  expect_refused(header(offsetof(HeaderRecord, metric_p), 2.5), "no metric with the number 0");
  expect_refused(header(offsetof(HeaderRecord, dims), 4097u), "4097 dimensions");
  expect_refused(header(offsetof(HeaderRecord, dims), 0u), "0 dimensions");
  expect_refused(header(offsetof(HeaderRecord, points), std::uint64_t{71}), "71 points");
  expect_refused(header(offsetof(HeaderRecord, parameters) + 28, 1u), "engine parameter 7");
  EXPECT_EQ(Index::from_bytes(header(offsetof(HeaderRecord, compatible_features), ~std::uint64_t{0})).size(), 70u);
}

TEST_P(ForgedIndex, TheTableIsChecked) {
  const auto last = static_cast<std::uint32_t>(front_.sections.size()) - 1;
  const auto table = [&](std::uint32_t which, std::size_t field, auto value) {
    return with_value(bytes_, table_place(which, field), value);
  };
  const bool original_is_last = front_.sections[last].id == static_cast<std::uint32_t>(SectionId::original);
  const SectionRecord& first = front_.sections[0];
  const SectionRecord& second = front_.sections[1];
  expect_refused(table(last, offsetof(SectionRecord, offset), second.offset + 1), "not a multiple of 4096");
  expect_refused(table(0, offsetof(SectionRecord, offset), std::uint64_t{0}), "inside what comes before it");
  expect_refused(table(1, offsetof(SectionRecord, offset), first.offset), "inside what comes before it");
  expect_refused(table(last, offsetof(SectionRecord, offset), ~std::uint64_t{4095}), "goes beyond");
  expect_refused(table(last, offsetof(SectionRecord, count), ~std::uint64_t{0}), "goes beyond");
  expect_refused(table(last, offsetof(SectionRecord, count), ~std::uint64_t{0} / 4 + 2), "goes beyond");
  expect_refused(table(last, offsetof(SectionRecord, count), front_.sections[last].count + 256), "goes beyond");
  expect_refused(table(last, offsetof(SectionRecord, element_bytes), 0u), "elements of 0 bytes");
  expect_refused(table(last, offsetof(SectionRecord, count), front_.sections[last].count - 1), "is not zero");
  expect_refused(table(0, offsetof(SectionRecord, element_bytes), first.element_bytes - 1), "is not zero");
  expect_refused(table(1, offsetof(SectionRecord, id), first.id), "comes after");
  expect_refused(table(0, offsetof(SectionRecord, id), first.id - 1), "does not belong to engine");
  expect_refused(table(last, offsetof(SectionRecord, id), 1000u), original_is_last ? "is missing" : "does not belong");
  if (original_is_last) {
    expect_refused(table(last, offsetof(SectionRecord, id), 0x80000001u), "section original is missing");
  }
}

TEST_P(ForgedIndex, TheOriginalNumbersAreChecked) {
  const SectionRecord& original = section(SectionId::original);
  expect_refused(with_value(bytes_, original.end() - 4, 70u), "section original: entry 68");
  expect_refused(with_value(bytes_, original.offset + 4, 0u), "section original: entry 1");
  Bytes all = with_value(bytes_, offsetof(HeaderRecord, rows), std::uint64_t{69});
  expect_refused(all, "no row was left out");
}

TEST_P(ForgedIndex, ThePeriodIsChecked) {
  if (!has_period_) return;
  const std::uint64_t period = section(SectionId::period).offset;
  for (const double bad : {-1.0, -0.0, 0.1, std::numeric_limits<double>::infinity(), 1e300}) {
    expect_refused(with_value(bytes_, period, bad), "section period: ");  // 0.1 is no float
  }
  expect_refused(with_value(bytes_, period, std::numeric_limits<double>::quiet_NaN()), "section period: ");
  expect_refused(with_value(bytes_, period, 0.5), "lies outside [0, 0.5) of periodic axis 0");
  expect_refused(with_value(with_value(bytes_, period, 0.0), period + 16, 0.0), "no axis is periodic");
  const auto with_metric = [&](std::uint32_t number, double p) {
    return with_value(with_value(bytes_, offsetof(HeaderRecord, metric), number), offsetof(HeaderRecord, metric_p), p);
  };
  expect_refused(with_metric(4, 2), "metric cosine knows no periodic axes");
  expect_refused(with_metric(6, 2), "metric angular knows no periodic axes");
  expect_refused(with_metric(7, 0), "metric canberra knows no periodic axes");
  if (GetParam().engine == Engine::brute_force) expect_refused(with_metric(5, 0), "metric ip knows no periodic axes");
  EXPECT_TRUE(refused_or_genuine(with_metric(3, 3)));  // lp:3 wraps
  EXPECT_EQ(Index::from_bytes(with_metric(3, 3), kOneThread).metric(), Metric::lp(3));
  expect_refused(with_value(with_metric(3, 3), period, -1.0), "section period: ");
  EXPECT_TRUE(refused_or_genuine(with_value(bytes_, period, 4.0)));
}

/// A file for another metric may become one for the inner product, but not that of a tree.
TEST_P(ForgedIndex, InnerProductsAreForBruteForce) {
  if (has_period_) return;
  const Bytes forged =
      with_value(with_value(bytes_, offsetof(HeaderRecord, metric), 5u), offsetof(HeaderRecord, metric_p), 0.0);
  if (GetParam().engine == Engine::brute_force) {
    EXPECT_TRUE(refused_or_genuine(forged));
    EXPECT_EQ(Index::from_bytes(forged, kOneThread).metric(), Metric::inner_product());
  } else {
    expect_refused(forged, "engine " + std::string(name_of(GetParam().engine)) + " knows no metric ip");
  }
}

/// The file is small; what it declares must not be allocated.
TEST_P(ForgedIndex, DeclaredPointsTakeNoMemory) {
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  for (const std::uint64_t many : {std::uint64_t{1000000000000}, std::uint64_t{0xfffffffe}, ~std::uint64_t{0}}) {
    Bytes lying = with_value(bytes_, offsetof(HeaderRecord, rows), many);
    EXPECT_THROW(Index::from_bytes(with_value(lying, offsetof(HeaderRecord, points), many), kOneThread), CorruptFile);
    for (std::uint32_t i = 0; i < front_.sections.size(); ++i) {
      lying = with_value(lying, table_place(i, offsetof(SectionRecord, count)), many);
    }
    EXPECT_THROW(Index::from_bytes(with_value(lying, offsetof(HeaderRecord, points), many), kOneThread), CorruptFile);
  }
  getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 65536) << "kilobytes";
}

INSTANTIATE_TEST_SUITE_P(Samples, ForgedIndex,
                         testing::Values(Sample{Engine::brute_force, DType::f32},
                                         Sample{Engine::brute_force, DType::f64}, Sample{Engine::kd_tree, DType::f32},
                                         Sample{Engine::kd_tree, DType::f64}, Sample{Engine::cover_tree, DType::f32},
                                         Sample{Engine::cover_tree, DType::f64}),
                         [](const auto& one) { return testing::PrintToString(one.param); });

}  // namespace
}  // namespace kith::test
