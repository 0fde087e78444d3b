// No index file, however damaged or forged, is believed further than it can be proven: an error, or a right index.
#include "engine/cover_tree/cover_tree.hpp"
#include "engine/index_file/index_file_writer.hpp"
#include "support/random_case.hpp"
#include "support/sign_index.hpp"

#include <kith/error.hpp>
#include <kith/index.hpp>
#include <kith/index_file.hpp>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <string>

namespace kith::test {
namespace {

using engine::FrontMatter;
using engine::HeaderRecord;
using engine::SectionId;
using engine::SectionRecord;
using Bytes = std::vector<std::byte>;

const LoadOptions kOneThread{.threads = 1};

bool has_period(Engine engine, DType dtype) { return dtype == DType::f32 && engine != Engine::cover_tree; }

/// A small index as a file. f64 has padding in its leaf blocks, f32 has none; f32 has periodic axes where there are
/// any.
Bytes sample(Engine engine, DType dtype) {
  std::mt19937_64 random(17);
  PointSet points = nasty_points(NastyShape::uniform, dtype, 70, dtype == DType::f32 ? 3 : 2, random);
  if (dtype == DType::f32) {
    points.values<float>()[30] = std::numeric_limits<float>::infinity();
  } else {
    points.values<double>()[30] = std::numeric_limits<double>::quiet_NaN();
  }
  BuildOptions options{.engine = engine, .leaf_size = 16, .skip_nonfinite = true, .threads = 1};
  if (engine == Engine::cover_tree) {  // small leaves of two far clusters and duplicates: several levels
    options.leaf_size = 3;
    const auto spread = [](auto values) {
      for (std::size_t i = 0; i < values.size(); ++i) values[i] += i % 5 == 0 ? 8 : 0;
      std::copy_n(values.begin(), 12, values.begin() + 36);
    };
    dtype == DType::f32 ? spread(points.values<float>()) : spread(points.values<double>());
  }
  if (has_period(engine, dtype)) options.period = {1, 0, 2.5};
  return Index::build(points.view(), options).to_bytes();
}

FrontMatter front_of(const Bytes& bytes) {
  HeaderRecord header;
  std::memcpy(&header, bytes.data(), sizeof header);
  return engine::decode_front(std::span(bytes).first(header.front_bytes), bytes.size(), "sample");
}

const SectionRecord& section_of(const FrontMatter& front, SectionId id) {
  for (const SectionRecord& section : front.sections) {
    if (section.id == static_cast<std::uint32_t>(id)) return section;
  }
  throw std::runtime_error("no such section");
}

/// Places of a changed value: in the header, or in the table.
template <typename U>
Bytes with(Bytes bytes, std::uint64_t offset, U value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
  sign_index(bytes);
  return bytes;
}

std::uint64_t table_place(std::uint32_t section, std::size_t field) {
  return sizeof(HeaderRecord) + section * sizeof(SectionRecord) + field;
}

/// The loader refuses the bytes as a damaged file; the message says `part`.
void expect_refused(const Bytes& bytes, const std::string& part) {
  try {
    Index::from_bytes(bytes, kOneThread);
    ADD_FAILURE() << "accepted, but should be refused: " << part;
  } catch (const CorruptFile& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
  }
}

/// Whether an index answers as one built from the very points that it holds.
bool answers_as_built(const Index& loaded, const Index& built) {
  const auto k = static_cast<std::uint32_t>(loaded.size());
  for (const std::uint32_t few : {1u, k}) {
    const Neighbors found = loaded.knn_self(few, {.threads = 1}), expected = built.knn_self(few, {.threads = 1});
    if (!std::ranges::equal(found.indices(), expected.indices())) return false;
    for (std::uint64_t i = 0; i < found.queries() * few; ++i) {
      if (found.distance(i / few, static_cast<std::uint32_t>(i % few)) !=
          expected.distance(i / few, static_cast<std::uint32_t>(i % few))) {
        return false;
      }
    }
  }
  return loaded.count_self(0.25, {.threads = 1}) == built.count_self(0.25, {.threads = 1});
}

/// Forged bytes are either refused, or they are what building from the very points that they hold gives (for a cover
/// tree: they answer as that does). Returns whether they were accepted.
bool refused_or_genuine(const Bytes& bytes) {
  std::optional<Index> loaded;
  try {
    loaded = Index::from_bytes(bytes, kOneThread);
  } catch (const CorruptFile&) {
    return false;
  }
  if (loaded->size() > 1000 || loaded->metric().is_of_directions()) return true;  // nothing to build from
  const PointSet points = loaded->points(1);
  const Bytes saved = loaded->to_bytes({.threads = 1});
  const FrontMatter front = front_of(saved);
  BuildOptions options{.engine = loaded->engine(),
                       .metric = loaded->metric(),
                       .split = front.facts.parameters[1] == 1 ? SplitRule::cycle : SplitRule::widest,
                       .leaf_size = front.facts.parameters[0],
                       .skip_nonfinite = true,
                       .threads = 1};
  for (const SectionRecord& section : front.sections) {
    if (section.id != static_cast<std::uint32_t>(SectionId::period)) continue;
    options.period.resize(section.count);
    std::memcpy(options.period.data(), saved.data() + section.offset, section.bytes());
  }
  const Index again = Index::build(points.view(), options);
  if (loaded->engine() == Engine::cover_tree) {
    EXPECT_TRUE(answers_as_built(*loaded, again)) << "accepted, but the answers are wrong";
    return true;
  }
  const Bytes built = again.to_bytes({.threads = 1});
  EXPECT_TRUE(built == saved) << "accepted, but not the index of its points";
  return true;
}

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
      if (other != value) accepted += refused_or_genuine(with(bytes_, place, other)) ? 1 : 0;
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
        (refused_or_genuine(with(bytes_, place, bytes_[place] ^ std::byte(change))) ? accepted : refused) += 1;
        if (HasFailure()) return;
      }
    }
  }
  EXPECT_GT(accepted, 0u) << "some coordinates may change without a trace";
  EXPECT_GT(refused, 0u);
}

TEST_P(ForgedIndex, TheContainerIsChecked) {
  const auto header = [&](std::size_t field, auto value) { return with(bytes_, field, value); };
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
    return with(bytes_, table_place(which, field), value);
  };
  const bool original_is_last = front_.sections[last].id == static_cast<std::uint32_t>(SectionId::original);
  const SectionRecord& first = front_.sections[0];
  const SectionRecord& second = front_.sections[1];
  expect_refused(table(last, offsetof(SectionRecord, offset), second.offset + 1), "no multiple of 4096");
  expect_refused(table(0, offsetof(SectionRecord, offset), std::uint64_t{0}), "inside what comes before it");
  expect_refused(table(1, offsetof(SectionRecord, offset), first.offset), "inside what comes before it");
  expect_refused(table(last, offsetof(SectionRecord, offset), ~std::uint64_t{4095}), "goes beyond");
  expect_refused(table(last, offsetof(SectionRecord, count), ~std::uint64_t{0}), "goes beyond");
  expect_refused(table(last, offsetof(SectionRecord, count), ~std::uint64_t{0} / 4 + 2), "goes beyond");
  expect_refused(table(last, offsetof(SectionRecord, count), front_.sections[last].count + 256), "goes beyond");
  expect_refused(table(last, offsetof(SectionRecord, element_bytes), 0u), "elements of 0 bytes");
  expect_refused(table(last, offsetof(SectionRecord, count), front_.sections[last].count - 1), "is not zero");
  expect_refused(table(0, offsetof(SectionRecord, element_bytes), first.element_bytes - 1), "is not zero");
  expect_refused(table(1, offsetof(SectionRecord, id), first.id), "stands after");
  expect_refused(table(0, offsetof(SectionRecord, id), first.id - 1), "does not belong to engine");
  expect_refused(table(last, offsetof(SectionRecord, id), 1000u), original_is_last ? "is missing" : "does not belong");
  if (original_is_last) {
    expect_refused(table(last, offsetof(SectionRecord, id), 0x80000001u), "section original is missing");
  }
}

TEST_P(ForgedIndex, TheOriginalNumbersAreChecked) {
  const SectionRecord& original = section(SectionId::original);
  expect_refused(with(bytes_, original.end() - 4, 70u), "section original: entry 68");
  expect_refused(with(bytes_, original.offset + 4, 0u), "section original: entry 1");
  Bytes all = with(bytes_, offsetof(HeaderRecord, rows), std::uint64_t{69});
  expect_refused(all, "no row was left out");
}

TEST_P(ForgedIndex, ThePeriodIsChecked) {
  if (!has_period_) return;
  const std::uint64_t period = section(SectionId::period).offset;
  for (const double bad : {-1.0, -0.0, 0.1, std::numeric_limits<double>::infinity(), 1e300}) {
    expect_refused(with(bytes_, period, bad), "section period: ");  // 0.1 is no float
  }
  expect_refused(with(bytes_, period, std::numeric_limits<double>::quiet_NaN()), "section period: ");
  expect_refused(with(bytes_, period, 0.5), "lies outside [0, 0.5) of periodic axis 0");
  expect_refused(with(with(bytes_, period, 0.0), period + 16, 0.0), "no axis is periodic");
  expect_refused(with(with(bytes_, offsetof(HeaderRecord, metric), 3u), offsetof(HeaderRecord, metric_p), 3.0),
                 "metric lp:3 knows no periodic axes");
  expect_refused(with(bytes_, offsetof(HeaderRecord, metric), 4u), "metric cosine knows no periodic axes");
  if (GetParam().engine == Engine::brute_force) {
    expect_refused(with(with(bytes_, offsetof(HeaderRecord, metric), 5u), offsetof(HeaderRecord, metric_p), 0.0),
                   "metric ip knows no periodic axes");
  }
  EXPECT_TRUE(refused_or_genuine(with(bytes_, period, 4.0)));
}

/// A file for another metric may become one for the inner product, but not that of a tree.
TEST_P(ForgedIndex, InnerProductsAreForBruteForce) {
  if (has_period_) return;
  const Bytes forged = with(with(bytes_, offsetof(HeaderRecord, metric), 5u), offsetof(HeaderRecord, metric_p), 0.0);
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
    Bytes lying = with(bytes_, offsetof(HeaderRecord, rows), many);
    EXPECT_THROW(Index::from_bytes(with(lying, offsetof(HeaderRecord, points), many), kOneThread), CorruptFile);
    for (std::uint32_t i = 0; i < front_.sections.size(); ++i) {
      lying = with(lying, table_place(i, offsetof(SectionRecord, count)), many);
    }
    EXPECT_THROW(Index::from_bytes(with(lying, offsetof(HeaderRecord, points), many), kOneThread), CorruptFile);
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

/// Changes that keep every checksum right and name what is wrong with the tree.
class ForgedTree : public testing::Test {
 protected:
  std::uint64_t place(SectionId id, std::uint64_t byte) const { return section_of(front_, id).offset + byte; }
  template <typename U>
  U value(std::uint64_t place) const {
    U out;
    std::memcpy(&out, bytes_.data() + place, sizeof out);
    return out;
  }

  Bytes bytes_ = sample(Engine::kd_tree, DType::f64);  // 69 points of 2 dims in 8 leaves of 8 or 9 points
  FrontMatter front_ = front_of(bytes_);
};

TEST_F(ForgedTree, FirstLeaf) {
  const std::uint64_t numbers = place(SectionId::blocks, 8 * 2 * sizeof(double));  // behind 8 points of 2 dims
  expect_refused(with(bytes_, place(SectionId::blocks, 0), std::numeric_limits<double>::quiet_NaN()), "not finite");
  expect_refused(with(bytes_, place(SectionId::blocks, 0), std::numeric_limits<double>::infinity()), "not finite");
  expect_refused(with(bytes_, place(SectionId::blocks, 0), 1e9), "not the tight one");
  expect_refused(with(bytes_, numbers, 69u), "there are only 69");
  expect_refused(with(bytes_, numbers + 4, value<std::uint32_t>(numbers)), "stands after");
  expect_refused(with(bytes_, numbers + 8 * 4, 1u), "the padding is not zero");
}

TEST_F(ForgedTree, Permutation) {
  // Raise the last number of a leaf to one that another leaf has: ascending and in range, but there twice.
  const std::uint64_t last = place(SectionId::blocks, 8 * 2 * sizeof(double) + 7 * 4);
  const auto number = value<std::uint32_t>(last);
  for (std::uint32_t other = number + 1; other < 69; ++other) {
    expect_refused(with(bytes_, last, other), "point " + std::to_string(number) + " lies in no leaf");
  }
}

TEST_F(ForgedTree, Nodes) {
  const std::uint64_t box = 4 * sizeof(double);
  for (std::uint64_t node = 0; node < 15; ++node) {
    const std::string part = node < 7 ? "node " + std::to_string(node) + ":" : "leaf " + std::to_string(node - 7) + ":";
    for (std::uint64_t side = 0; side < 4; ++side) {
      const std::uint64_t at = place(SectionId::boxes, node * box + side * sizeof(double));
      expect_refused(with(bytes_, at, side < 2 ? -1e300 : 1e300), part);  // larger is not tight either
      expect_refused(with(bytes_, at, -value<double>(at)), part);
      expect_refused(with(bytes_, at, std::numeric_limits<double>::quiet_NaN()), part);
    }
    const std::uint64_t smallest = place(SectionId::smallest, node * 4);
    expect_refused(with(bytes_, smallest, value<std::uint32_t>(smallest) + 1), part);
  }
}

TEST_F(ForgedTree, Splits) {
  for (std::uint64_t node = 0; node < 7; ++node) {
    const std::string part = "node " + std::to_string(node) + ":";
    const std::uint64_t dim = place(SectionId::split_dims, node * 2);
    expect_refused(with(bytes_, dim, static_cast<std::uint16_t>(value<std::uint16_t>(dim) ^ 1)),
                   part + " " + std::to_string(value<std::uint16_t>(dim) ^ 1) + " is not the dimension to split");
    expect_refused(with(bytes_, dim, std::uint16_t{0xffff}), part + " 65535 is not the dimension to split");
    const std::uint64_t at = place(SectionId::split_values, node * sizeof(double));
    const double split = value<double>(at);
    for (const double other : {std::nextafter(split, 1e9), std::nextafter(split, -1e9), -split,
                               std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
      expect_refused(with(bytes_, at, other), "node ");
    }
  }
}

TEST_F(ForgedTree, Parameters) {
  const std::uint64_t leaf_size = offsetof(HeaderRecord, parameters);
  expect_refused(with(bytes_, leaf_size, 0u), "a leaf size of 0");
  expect_refused(with(bytes_, leaf_size, 1025u), "a leaf size of 1025");
  expect_refused(with(bytes_, leaf_size, 5u), "are needed");
  expect_refused(with(bytes_, leaf_size + 4, 2u), "no split rule with the number 2");
  expect_refused(with(bytes_, leaf_size + 4, 1u), "is not the dimension to split");
}

/// Among equal points the numbers alone say which side of a split a point belongs to.
TEST(ForgedTreeOfEqualPoints, SwappedNumbers) {
  const std::vector<float> rows(2 * 32, 1.5f);
  const Bytes bytes = Index::build(PointView(rows.data(), 32, 2), {.engine = Engine::kd_tree}).to_bytes();
  const FrontMatter front = front_of(bytes);
  const std::uint64_t first_leaf = section_of(front, SectionId::blocks).offset;
  const std::uint64_t last_of_left = first_leaf + 16 * 2 * 4 + 15 * 4;  // two leaves of 16 points
  const std::uint64_t first_of_right = first_leaf + 16 * 12 + 16 * 2 * 4;
  Bytes forged = with(bytes, last_of_left, 16u);
  expect_refused(forged, "point 15 lies in no leaf");
  forged = with(forged, first_of_right, 15u);
  expect_refused(forged, "leaf 1: 16 is not its smallest point");
  forged = with(forged, section_of(front, SectionId::smallest).offset + 2 * 4, 15u);
  expect_refused(forged, "node 0: a point lies on the wrong side");
}

/// Changes of a cover tree that keep every checksum right.
class ForgedCoverTree : public testing::Test {
 protected:
  using Node = engine::CoverNode;

  std::uint64_t place(SectionId id, std::uint64_t byte) const { return section_of(front_, id).offset + byte; }
  Node node(std::uint64_t i) const {
    Node node;
    std::memcpy(&node, bytes_.data() + place(SectionId::cover_nodes, i * sizeof node), sizeof node);
    return node;
  }
  /// The file with another node i.
  template <typename Change>
  Bytes changed(std::uint64_t i, Change&& change) const {
    Node node = this->node(i);
    change(node);
    return with(bytes_, place(SectionId::cover_nodes, i * sizeof node), node);
  }

  Bytes bytes_ = sample(Engine::cover_tree, DType::f64);
  FrontMatter front_ = front_of(bytes_);
  std::uint64_t nodes_ = section_of(front_, SectionId::cover_nodes).count;
};

TEST_F(ForgedCoverTree, Nodes) {
  ASSERT_GT(nodes_, 5u) << "this tree has nothing to forge";
  for (std::uint64_t i = 0; i < nodes_; ++i) {
    SCOPED_TRACE(testing::Message() << "node " << i << " of " << nodes_);
    const std::string who = "node ";
    expect_refused(changed(i, [](Node& n) { n.reach *= 0.75, n.reach -= 1; }), who);
    expect_refused(changed(i, [](Node& n) { n.reach += 0.5; }), who);
    expect_refused(changed(i, [](Node& n) { n.reach = std::nan(""); }), who);
    expect_refused(changed(i, [](Node& n) { n.to_parent += 0.5; }), who);
    expect_refused(changed(i, [](Node& n) { n.to_parent = std::nan(""); }), who);
    expect_refused(changed(i, [](Node& n) { n.centre = (n.centre + 1) % 69; }), who);
    expect_refused(changed(i, [](Node& n) { n.centre = 69; }), who);
    expect_refused(changed(i, [](Node& n) { n.parent += 1; }), who);
    expect_refused(changed(i, [](Node& n) { n.first += 1; }), who);
    expect_refused(changed(i, [](Node& n) { n.count -= 1; }), who);
    expect_refused(changed(i, [](Node& n) { n.count = 0; }), who);
    expect_refused(changed(i, [](Node& n) { n.lowest += 1; }), who);
    expect_refused(changed(i, [&](Node& n) { n.first_child = static_cast<std::uint32_t>(nodes_); }), who);
    expect_refused(changed(i, [](Node& n) { n.children ^= 1; }), who);
    expect_refused(changed(i, [](Node& n) { n.children = ~0u; }), who);
    if (i > 0) expect_refused(changed(i, [](Node& n) { n.level += 1000; }), who);
  }
}

/// Reaches and distances that are a little off prune what should be found: all of them are measured again.
TEST_F(ForgedCoverTree, Distances) {
  for (std::uint64_t i = 0; i < 69; ++i) {
    double distance = 0;
    const std::uint64_t at = place(SectionId::cover_distances, i * 8);
    std::memcpy(&distance, bytes_.data() + at, 8);
    for (const double other : {std::nextafter(distance, 9.0), -distance - 1, std::nan(""), 1e300}) {
      expect_refused(with(bytes_, at, other), "node ");
    }
  }
  for (std::uint64_t i = 0; i < nodes_; ++i) {
    expect_refused(changed(i, [](Node& n) { n.reach = std::nextafter(n.reach, 1e9); }), "node ");
    expect_refused(changed(i, [](Node& n) { n.to_parent = std::nextafter(n.to_parent, 1e9); }), "node ");
  }
}

TEST_F(ForgedCoverTree, Order) {
  std::uint32_t first = 0;
  std::memcpy(&first, bytes_.data() + place(SectionId::cover_order, 0), 4);
  expect_refused(with(bytes_, place(SectionId::cover_order, 0), 69u), "there are only 69");
  expect_refused(with(bytes_, place(SectionId::cover_order, 4), first), "lies in two leaves");
}

/// What no search relies on is accepted, and told when it is asked for.
TEST_F(ForgedCoverTree, LevelsAreForTheCheck) {
  EXPECT_EQ(Index::from_bytes(bytes_, kOneThread).first_violation(), "");
  EXPECT_TRUE(refused_or_genuine(changed(0, [](Node& n) { n.level += 1; })));
  Bytes shifted = bytes_;
  for (std::uint64_t i = 0; i < nodes_; ++i) {
    Node node = this->node(i);
    node.level -= 3;
    std::memcpy(shifted.data() + place(SectionId::cover_nodes, i * sizeof node), &node, sizeof node);
  }
  sign_index(shifted);
  const std::string violation = Index::from_bytes(shifted, kOneThread).first_violation();
  EXPECT_NE(violation.find("covering"), std::string::npos) << violation;
  EXPECT_NE(violation.find("at distance"), std::string::npos) << violation;
}

TEST_F(ForgedCoverTree, Parameters) {
  const std::uint64_t leaf_size = offsetof(HeaderRecord, parameters);
  expect_refused(with(bytes_, leaf_size, 0u), "a leaf size of 0");
  expect_refused(with(bytes_, leaf_size, 1025u), "a leaf size of 1025");
  expect_refused(with(bytes_, leaf_size + 4, 2u), "no separation with the number 2");
  expect_refused(with(bytes_, leaf_size + 8, 1u), "engine parameter 2");
}

class IndexPath : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = std::string(KITH_TEST_TEMPORARY) + "/index-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return folder_ + "/" + name; }

  std::string folder_;
};

TEST_F(IndexPath, OnlyRegularFilesAreRead) {
  ASSERT_EQ(mkfifo(path("fifo").c_str(), 0600), 0);
  for (const bool map : {false, true}) {
    const LoadOptions options{.map = map};
    EXPECT_THROW(Index::load(folder_, options), IoError);
    EXPECT_THROW(Index::load(path("fifo"), options), IoError);  // does not wait for a writer
    EXPECT_THROW(Index::load("/dev/zero", options), IoError);
    EXPECT_THROW(Index::load(path("missing"), options), IoError);
    std::ofstream(path("empty"));
    EXPECT_THROW(Index::load(path("empty"), options), CorruptFile);
    std::ofstream(path("text")) << "x,y\n1,2\n";
    EXPECT_THROW(Index::load(path("text"), options), CorruptFile);
  }
  EXPECT_THROW(describe_index_file(path("fifo")), IoError);
  EXPECT_THROW(describe_index_file(path("text")), CorruptFile);
}

TEST_F(IndexPath, FilesAreCheckedLikeBytes) {
  const Bytes bytes = sample(Engine::kd_tree, DType::f32);
  const auto put = [&](std::span<const std::byte> content) {
    std::ofstream(path("a"), std::ios::binary)
        .write(reinterpret_cast<const char*>(content.data()), static_cast<std::streamsize>(content.size()));
  };
  for (std::size_t length = 0; length < bytes.size(); length += 997) {
    put(std::span(bytes).first(length));
    EXPECT_THROW(Index::load(path("a")), CorruptFile);
    EXPECT_THROW(Index::load(path("a"), {.map = true}), CorruptFile);
    EXPECT_THROW(describe_index_file(path("a")), CorruptFile);
  }
  Bytes flipped = bytes;
  flipped[bytes.size() - 300] ^= std::byte{1};
  put(flipped);
  EXPECT_THROW(Index::load(path("a")), CorruptFile);
  put(bytes);
  EXPECT_EQ(Index::load(path("a")).size(), 70u);
}

/// Terabytes that are not there: a sparse file whose header asks for all of it.
TEST_F(IndexPath, AHugeSparseFileIsRefused) {
  Bytes bytes = sample(Engine::brute_force, DType::f32);
  bytes.resize(engine::kSectionAlignment);
  const std::uint64_t size = std::uint64_t{1} << 42;
  std::memcpy(bytes.data() + offsetof(HeaderRecord, file_bytes), &size, sizeof size);
  std::memcpy(bytes.data() + offsetof(HeaderRecord, front_bytes), &size, sizeof size);
  std::ofstream(path("a"), std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (truncate(path("a").c_str(), static_cast<off_t>(size)) != 0) GTEST_SKIP() << "no such large files here";
  EXPECT_THROW(Index::load(path("a")), Error);
  EXPECT_THROW(describe_index_file(path("a")), Error);
}

/// A section that a newer kith may add for itself.
TEST(IndexFile, OptionalSectionsAreSkipped) {
  const std::vector<float> rows = {1, 2, 3, 4};
  const std::vector<std::uint32_t> extra = {7, 8, 9};
  engine::IndexFileWriter writer({.engine = Engine::brute_force,
                                  .metric = Metric::l2(),
                                  .dtype = DType::f32,
                                  .dims = 2,
                                  .rows = 2,
                                  .points = 2,
                                  .parameters = {}});
  writer.add(static_cast<SectionId>(0x80000005u), std::span<const std::uint32_t>(extra));
  writer.add(SectionId::rows, std::span<const float>(rows), 2);
  Bytes bytes;
  writer.write({}, [&](std::span<const std::byte> part) { bytes.insert(bytes.end(), part.begin(), part.end()); });
  EXPECT_EQ(Index::from_bytes(bytes).knn_self(1).index(1, 0), 1u);
  EXPECT_EQ(front_of(bytes).sections.size(), 2u);
}

}  // namespace
}  // namespace kith::test
