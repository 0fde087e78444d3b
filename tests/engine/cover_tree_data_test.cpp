// What must hold of a cover tree holds on real data, and on a million points that are one.
#include <kith/index.hpp>
#include <kith/io/read_points.hpp>
#include <kith/io/read_sequences.hpp>
#include <kith/sequence_index.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace kith::test {
namespace {

const std::string kFolder = std::string(KITH_TEST_DATA) + "/";

TEST(CoverTreeOfData, HoldsOnPoints) {
  if (!std::filesystem::exists(kFolder)) GTEST_SKIP() << "no test data at " << kFolder;
  const std::vector<std::pair<std::string, std::string>> files = {{"stanford_bunny/bun_zipper_res4.ply", ""},
                                                                  {"open3d/slac_fragment_000.ply", ""},
                                                                  {"pcl/lamppost.pcd", ""},
                                                                  {"pdal_las/autzen_autzen-utm.las", ""},
                                                                  {"uci/optdigits.test.data", "last"},
                                                                  {"uci/pendigits.test.data", "last"},
                                                                  {"uci/iris.data", "last"}};
  for (const auto& [name, label] : files) {
    SCOPED_TRACE(name);
    const io::PointFile file = io::read_points(kFolder + name, {.label = label});
    for (const Builder builder : {Builder::batch, Builder::lists}) {
      const Index index = Index::build(file.view(), {.engine = Engine::cover_tree, .builder = builder});
      EXPECT_EQ(index.first_violation(), "") << name_of(builder);
    }
  }
}

TEST(CoverTreeOfData, HoldsOnSequences) {
  if (!std::filesystem::exists(kFolder)) GTEST_SKIP() << "no test data at " << kFolder;
  for (const std::string name : {"sequences/woodmouse.fasta", "sequences/primates.dna"}) {
    SCOPED_TRACE(name);
    const io::SequenceFile file = io::read_sequences(kFolder + name);
    for (const SequenceMetric metric : {SequenceMetric::hamming, SequenceMetric::edit}) {
      const SequenceIndex index =
          SequenceIndex::build(file.view(), metric, {.engine = Engine::cover_tree, .leaf_size = 1});
      EXPECT_EQ(index.first_violation(), "") << name_of(metric);
    }
  }
  const io::SequenceFile words = io::read_sequences(kFolder + "words/american-english");
  SequenceSet some(SequenceKind::text);
  for (std::uint64_t i = 0; i < words.sequences.size(); i += 40) some.add(words.sequences.sequence(i));
  EXPECT_EQ(SequenceIndex::build(some, SequenceMetric::edit, {.engine = Engine::cover_tree}).first_violation(), "");
}

TEST(CoverTreeOfData, HoldsOnAMillionPointsThatAreOne) {
  std::vector<float> rows(2'000'000, 0.25f);
  rows[1] = 7;
  const PointView points(rows.data(), 1'000'000, 2);
  const Index index = Index::build(points, {.engine = Engine::cover_tree});
  EXPECT_EQ(index.first_violation(), "");
  const Neighbors found = index.knn(points.slice(500'000, 2), 3);
  for (std::uint64_t q = 0; q < 2; ++q) {
    for (std::uint32_t j = 0; j < 3; ++j) EXPECT_EQ(found.index(q, j), j + 1) << q;
  }
}

}  // namespace
}  // namespace kith::test
