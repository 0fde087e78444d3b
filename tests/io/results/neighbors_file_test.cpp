// Result files: round trips, text, archives that NumPy users make, arrays that do not fit together, damage.
#include "io/numpy/archive_input.hpp"
#include "io/binary_input.hpp"
#include "io/results/neighbors_read.hpp"
#include "support/expect_same.hpp"

#include <kith/io/neighbors_file.hpp>

#include <cmath>
#include <limits>

namespace kith::io::test {
namespace {

template <typename T>
Neighbors small_neighbors() {
  const T inf = std::numeric_limits<T>::infinity();
  return Neighbors(2, 3, 5, {0, 4, 1, 2, 5, 5}, Distances(std::vector<T>{0, T{0.1}, T{0.25}, T{3}, inf, inf}));
}

template <typename T>
NeighborLists small_lists() {
  return NeighborLists(5, {0, 2, 2, 3}, {0, 4, 1}, Distances(std::vector<T>{0, T{0.1}, T{1e-7}}));
}

std::string u4(std::initializer_list<std::uint32_t> values) {
  Bytes bytes;
  for (const std::uint32_t v : values) bytes.le(v);
  return bytes.str();
}

std::string f8(std::initializer_list<double> values) {
  Bytes bytes;
  for (const double v : values) bytes.le(v);
  return bytes.str();
}

std::string i8(std::initializer_list<std::int64_t> values) {
  Bytes bytes;
  for (const std::int64_t v : values) bytes.le(v);
  return bytes.str();
}

std::variant<Neighbors, NeighborLists> read_archive(const std::vector<Member>& members) {
  const std::string bytes = zip(members);
  return read_neighbors(runtime::InputFile("memory", std::vector<char>(bytes.begin(), bytes.end())));
}

void expect_refused(const std::vector<Member>& members, std::string_view part) {
  try {
    read_archive(members);
    ADD_FAILURE() << "nothing was thrown; expected: " << part;
  } catch (const CorruptFile& error) {
    EXPECT_NE(std::string_view(error.what()).find(part), std::string_view::npos) << error.what();
  }
}

template <typename T>
void check_neighbors_round_trip() {
  const std::string path = temporary_path("n.npz");
  write_neighbors(path, small_neighbors<T>());
  kith::test::expect_same(small_neighbors<T>(), std::get<Neighbors>(read_neighbors(path)));
  write_neighbors(path, small_lists<T>());
  kith::test::expect_same(small_lists<T>(), std::get<NeighborLists>(read_neighbors(path)));

  const Neighbors flagged(3, 1, 9, {0, 4, 1}, Distances(std::vector<T>{0, 1, 2}), {1, 0, 1});
  write_neighbors(path, flagged);
  const Neighbors read_back = std::get<Neighbors>(read_neighbors(path));
  EXPECT_TRUE(flagged == read_back);
  EXPECT_FALSE(read_back.is_exact(1));

  const Neighbors none(0, 4, 7, {}, Distances(std::vector<T>{}));
  write_neighbors(path, none);
  kith::test::expect_same(none, std::get<Neighbors>(read_neighbors(path)));
  const Neighbors no_k(9, 0, 7, {}, Distances(std::vector<T>{}));
  write_neighbors(path, no_k);
  kith::test::expect_same(no_k, std::get<Neighbors>(read_neighbors(path)));
  const NeighborLists empty(0, {0}, {}, Distances(std::vector<T>{}));
  write_neighbors(path, empty);
  kith::test::expect_same(empty, std::get<NeighborLists>(read_neighbors(path)));
  std::remove(path.c_str());
}

TEST(NeighborsFile, WhatIsWrittenReadsBackBitForBit) {
  check_neighbors_round_trip<float>();
  check_neighbors_round_trip<double>();
}

TEST(NeighborsFile, ManyNeighbors) {
  const std::uint64_t queries = 300000;
  std::vector<std::uint32_t> indices(queries * 5);
  std::vector<float> distances(indices.size());
  for (std::size_t i = 0; i < indices.size(); ++i) {
    indices[i] = static_cast<std::uint32_t>(i * 2654435761u) % 300000;
    distances[i] = static_cast<float>(i % 1000) * 0.001f;
  }
  const Neighbors many(queries, 5, 300000, indices, Distances(distances));
  const std::string path = temporary_path("n.npz");
  std::uint64_t last = 0;
  write_neighbors(path, many, [&](const Progress& progress) {
    EXPECT_GE(progress.done, last);
    EXPECT_LE(progress.done, progress.total);
    last = progress.done;
    return true;
  });
  EXPECT_GT(last, 0u);
  EXPECT_EQ(std::get<Neighbors>(read_neighbors(path)), many);
  std::remove(path.c_str());
}

TEST(NeighborsFile, TextForPeople) {
  const std::string csv = temporary_path("n.csv");
  write_neighbors(csv, small_neighbors<float>());
  EXPECT_EQ(content_of(csv),
            "query,rank,index,distance\n0,0,0,0\n0,1,4,0.1\n0,2,1,0.25\n1,0,2,3\n1,1,5,inf\n1,2,5,inf\n");
  const std::string tsv = temporary_path("n.TSV");
  write_neighbors(tsv, small_lists<double>());
  EXPECT_EQ(content_of(tsv), "query\trank\tindex\tdistance\n0\t0\t0\t0\n0\t1\t4\t0.1\n2\t0\t1\t1e-07\n");
  write_neighbors(csv, Neighbors(2, 1, 9, {0, 4}, Distances(std::vector<float>{0, 1}), {1, 0}));
  EXPECT_EQ(content_of(csv), "query,rank,index,distance,exact\n0,0,0,0,1\n1,0,4,1,0\n");
  write_point_lists(csv, PointLists(9, {0, 2, 2, 3}, {1, 8, 4}));
  EXPECT_EQ(content_of(csv), "query,index\n0,1\n0,8\n2,4\n");
  write_counts(csv, {3, 0, 4000000000u});
  EXPECT_EQ(content_of(csv), "query,count\n0,3\n1,0\n2,4000000000\n");
  try {
    read_neighbors(csv);
    ADD_FAILURE();
  } catch (const CorruptFile& error) {
    EXPECT_NE(std::string_view(error.what()).find("only results written as .npz"), std::string_view::npos);
  }
  std::remove(csv.c_str());
  std::remove(tsv.c_str());
}

TEST(NeighborsFile, CountsAsArray) {
  const std::string path = temporary_path("c.npz");
  write_counts(path, {3, 0, 16777215});
  const PointFile file = read_points(path);
  EXPECT_EQ(values_of(file), (std::vector<double>{3, 0, 16777215}));
  EXPECT_THROW(read_neighbors(path), CorruptFile);
  std::remove(path.c_str());
}

/// More points than 32 bits can number.
TEST(NeighborsFile, WideNumbersAsTheyAre) {
  const std::uint64_t points = std::uint64_t{1} << 40;
  const std::string path = temporary_path("w.npz"), csv = temporary_path("w.csv");
  const WideNeighbors found(2, 2, points, {5, points - 1, 7, points}, Distances(std::vector<float>{0, 1, 2, 3}));
  write_neighbors(path, found);
  EXPECT_EQ(values_of(read_points(path, {.array = "indices"})),
            (std::vector<double>{5, static_cast<double>(points - 1), 7, static_cast<double>(points)}));
  write_neighbors(csv, found);
  EXPECT_EQ(content_of(csv), "query,rank,index,distance\n0,0,5,0\n0,1,1099511627775,1\n1,0,7,2\n1,1,1099511627776,3\n");
  write_neighbors(path, WideNeighborLists(points, {0, 1}, {points - 1}, Distances(std::vector<double>{0.5})));
  EXPECT_EQ(values_of(read_points(path, {.array = "indices"})), (std::vector<double>{static_cast<double>(points - 1)}));
  const std::vector<std::uint64_t> counts{0, points};
  write_wide_counts(csv, counts);
  EXPECT_EQ(content_of(csv), "query,count\n0,0\n1,1099511627776\n");
  std::remove(path.c_str());
  std::remove(csv.c_str());
}

/// Those that fit are the same numbers, twice as wide.
TEST(NeighborsFile, WideAndNarrowTextAreTheSame) {
  const std::string narrow = temporary_path("narrow.csv"), wide = temporary_path("wide.csv");
  const NeighborLists lists = small_lists<float>();
  write_neighbors(narrow, lists);
  write_neighbors(wide, WideNeighborLists(5, {0, 2, 2, 3}, {0, 4, 1}, lists.distances()));
  EXPECT_EQ(content_of(narrow), content_of(wide));
  std::remove(narrow.c_str());
  std::remove(wide.c_str());
}

TEST(NeighborsFile, PointListsAsArrays) {
  const std::string path = temporary_path("b.npz");
  write_point_lists(path, PointLists(9, {0, 2, 2, 3}, {1, 8, 4}));
  EXPECT_EQ(values_of(read_points(path, {.array = "offsets"})), (std::vector<double>{0, 2, 2, 3}));
  EXPECT_EQ(values_of(read_points(path, {.array = "indices"})), (std::vector<double>{1, 8, 4}));
  EXPECT_THROW(read_neighbors(path), CorruptFile);
  std::remove(path.c_str());
}

TEST(NeighborsFile, OtherExtensionsAndLostDirectories) {
  for (const std::string_view name : {"n.txt", "n", "n.npy", "npz", ".npz.bak"}) {
    EXPECT_THROW(write_neighbors(temporary_path(name), small_neighbors<float>()), UsageError) << name;
    EXPECT_THROW(write_counts(temporary_path(name), {}), UsageError) << name;
  }
  EXPECT_THROW(write_neighbors("/no/such/directory/n.npz", small_lists<float>()), IoError);
  EXPECT_THROW(read_neighbors("/no/such/file.npz"), IoError);
}

TEST(NeighborsFile, StoppingLeavesTheOldFile) {
  const std::string path = temporary_path("n.npz");
  write_neighbors(path, small_neighbors<float>());
  const std::string before = content_of(path);
  const auto stop = [](const Progress&) { return false; };
  EXPECT_THROW(write_neighbors(path, small_lists<float>(), stop), Interrupted);
  EXPECT_EQ(content_of(path), before);
  std::remove(path.c_str());
}

TEST(NeighborsFile, ArchivesThatNumpyUsersMake) {
  const Member distances{"distances.npy", npy("<f8", "(2, 2)", f8({0, 1, 0, 2}))};
  const Neighbors expected(2, 2, 4, {0, 3, 1, 2}, Distances(std::vector<double>{0, 1, 0, 2}));
  const auto check = [&](const std::string& indices) {
    kith::test::expect_same(expected, std::get<Neighbors>(read_archive({{"indices.npy", indices}, distances})));
  };
  check(npy("<u4", "(2, 2)", u4({0, 3, 1, 2})));
  check(npy("<i8", "(2, 2)", i8({0, 3, 1, 2})));
  check(npy("|u1", "(2, 2)", std::string("\0\3\1\2", 4)));
  check(npy(">i2", "(2, 2)", std::string("\0\0\0\3\0\1\0\2", 8)));

  const double inf = INFINITY;  // the mark of missing neighbours tells the number of points
  const auto marked = std::get<Neighbors>(read_archive({{"indices.npy", npy("<i8", "(1, 3)", i8({1, 7, 7}))},
                                                        {"distances.npy", npy("<f8", "(1, 3)", f8({1, inf, inf}))}}));
  EXPECT_EQ(marked.missing(), 7u);
  const auto far = std::get<Neighbors>(read_archive({{"indices.npy", npy("<i8", "(1, 3)", i8({1, 6, 7}))},
                                                     {"distances.npy", npy("<f8", "(1, 3)", f8({1, inf, inf}))}}));
  EXPECT_EQ(far.missing(), 8u);

  const auto squeezed = std::get<Neighbors>(read_archive(
      {{"indices.npy", npy("<i8", "(3,)", i8({2, 1, 0}))}, {"distances.npy", npy("<f8", "(3,)", f8({1, 2, 3}))}}));
  EXPECT_EQ(squeezed.queries(), 3u);
  EXPECT_EQ(squeezed.k(), 1u);

  const auto lists = std::get<NeighborLists>(read_archive({{"offsets.npy", npy("<i8", "(3,)", i8({0, 1, 3}))},
                                                           {"indices.npy", npy("<i8", "(3,)", i8({2, 1, 0})), 8},
                                                           {"distances.npy", npy("<f8", "(3,)", f8({1, 2, 3})), 8},
                                                           {"points.npy", npy("<i8", "(1,)", i8({9}))}}));
  EXPECT_EQ(lists.points(), 9u);
  EXPECT_EQ(lists.count(1), 2u);
}

TEST(NeighborsFile, ArraysThatDoNotFitTogether) {
  const auto points = [](std::int64_t n) { return Member{"points.npy", npy("<i8", "()", i8({n}))}; };
  const Member indices{"indices.npy", npy("<i8", "(1, 2)", i8({0, 3}))};
  const Member distances{"distances.npy", npy("<f8", "(1, 2)", f8({0, 3}))};
  EXPECT_EQ(std::get<Neighbors>(read_archive({indices, distances, points(3)})).missing(), 3u);
  expect_refused({indices, distances, points(2)}, "index 3 in row 0 is out of range");
  expect_refused({indices, distances, points(-1)}, "number of points");
  expect_refused({indices, distances, points(0xffffffff)}, "number of points");
  expect_refused({indices, distances, {"points.npy", npy("<i8", "(2,)", i8({5, 5}))}}, "one number");
  expect_refused({indices}, "no array \"distances\"");
  expect_refused({distances}, "no array \"indices\"");
  expect_refused({{"counts.npy", npy("<u4", "(1,)", u4({5}))}}, "holds counts");
  expect_refused({indices, {"distances.npy", npy("<f8", "(2, 1)", f8({0, 3}))}}, "1 x 2");
  expect_refused({indices, {"distances.npy", npy("<f8", "(1, 2)", f8({0, NAN}))}}, "distance nan");
  const Neighbors products =  // by inner product they may be negative
      std::get<Neighbors>(read_archive({indices, {"distances.npy", npy("<f8", "(1, 2)", f8({-1, -INFINITY}))}}));
  EXPECT_EQ(products.distance(0, 0), -1);
  EXPECT_EQ(products.missing(), 4u) << "minus infinity marks a missing neighbour";
  expect_refused({indices, {"distances.npy", npy("<i8", "(1, 2)", i8({0, 1}))}}, "not f32 or f64");
  expect_refused({{"indices.npy", npy("<f8", "(1, 2)", f8({0, 1}))}, distances}, "not integers");
  expect_refused({{"indices.npy", npy("<i8", "(1, 2)", i8({0, -1}))}, distances}, "out of range");
  expect_refused({{"indices.npy", npy("<i8", "(1, 2)", i8({0, 0xffffffff}))}, distances}, "out of range");
  expect_refused({{"indices.npy", npy("<i8", "(1, 2, 1)", i8({0, 1}))}, distances}, "3 dimensions");

  const auto exact = [](std::initializer_list<std::int64_t> values) {
    return Member{"exact.npy", npy("<i8", "(" + std::to_string(values.size()) + ",)", i8(values))};
  };
  EXPECT_FALSE(std::get<Neighbors>(read_archive({indices, distances, exact({0})})).is_exact(0));
  expect_refused({indices, distances, exact({0, 1})}, "\"exact\" is 2 x 1, but there are 1 queries");
  expect_refused({indices, distances, exact({2})}, "\"exact\" holds 2");

  const Member list_indices{"indices.npy", npy("<i8", "(2,)", i8({0, 3}))};
  const Member list_distances{"distances.npy", npy("<f8", "(2,)", f8({0, 3}))};
  const auto offsets = [](std::initializer_list<std::int64_t> values) {
    return Member{"offsets.npy", npy("<i8", "(" + std::to_string(values.size()) + ",)", i8(values))};
  };
  EXPECT_EQ(std::get<NeighborLists>(read_archive({offsets({0, 2}), list_indices, list_distances})).points(), 4u);
  expect_refused({offsets({0, 1}), list_indices, list_distances}, "ends with 1");
  expect_refused({offsets({0, 3}), list_indices, list_distances}, "ends with 3");
  expect_refused({offsets({1, 2}), list_indices, list_distances}, "start with 0");
  expect_refused({offsets({0, 2, 1, 2}), list_indices, list_distances}, "entry 2 is 1");
  expect_refused({offsets({0, -1, 2}), list_indices, list_distances}, "entry 1 is -1");
  expect_refused({offsets({}), list_indices, list_distances}, "not empty");
  expect_refused({offsets({0, 2}), list_indices, list_distances, points(3)}, "out of range");
  expect_refused({offsets({0, 2}), list_indices, list_distances, points(0)}, "no points");
  expect_refused({offsets({0, 2}), list_indices, {"distances.npy", npy("<f8", "(1,)", f8({0}))}}, "\"distances\" is 1");
  expect_refused({offsets({0, 2}), indices, list_distances}, "\"indices\" is 1 x 2");
  expect_refused({offsets({0, 2}), list_indices, {"distances.npy", npy("<f8", "(2,)", f8({-1, 0}))}}, "distance -1");
}

TEST(NeighborsFile, SurvivesDamage) {
  const auto read = [](const runtime::InputFile& file) { read_neighbors(file); };
  const std::string path = temporary_path("n.npz");
  write_neighbors(path, small_neighbors<float>());
  expect_survives_damage(read, content_of(path), true);
  write_neighbors(path, small_lists<double>());
  expect_survives_damage(read, content_of(path), true);
  std::remove(path.c_str());
}

}  // namespace
}  // namespace kith::io::test
