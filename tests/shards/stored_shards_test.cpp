// Shards on the disk give the answers of an index, byte for byte, however little memory there is; a build goes on
// wherever it was stopped; damage is found.
#include "shards/stored/build.hpp"

#include "shards/stored_folder.hpp"
#include "shards/widened.hpp"
#include "support/expect_same.hpp"
#include "support/random_case.hpp"
#include "support/thrown_message.hpp"

#include <kith/index.hpp>
#include <kith/memory_limit.hpp>
#include <kith/shards/sharded_index.hpp>
#include <kith/shards/stored_shards.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace kith::test {
namespace {

using shards::ShardedIndex;
using shards::ShardSearchOptions;
using shards::StoredShards;

/// A random search with queries of its own, and the folder of its points.
struct StoredCase {
  SearchCase search;
  std::vector<std::uint64_t> index_below;
  SearchOptions options;
  ShardSearchOptions same;
  StoredFolder folder;
  std::uint32_t shards;
  BuildOptions build;

  StoredCase(SearchCase random_search, std::uint64_t seed)
      : search(std::move(random_search)), options(search.options), folder("stored_case") {
    std::mt19937_64 random(seed);
    if (search.is_self) search.queries = search.points.clone();
    options.exclude_self = options.earlier_only = false;
    index_below.assign(options.index_below.begin(), options.index_below.end());
    same.squared = options.squared;
    same.allowed = options.allowed;
    same.index_below = index_below;
    same.threads = options.threads;
    constexpr std::uint32_t kShards[] = {1, 2, 3, 5, 8, 13};
    shards = kShards[random() % std::size(kShards)];
    build = search.build_options(Engine::automatic, Device::cpu());
    const std::uint64_t files = std::array{1, 2, 3}[random() % 3];
    StoredShards::build(folder.write(search.points.view(), files), folder / "shards",
                        {.shards = shards, .build = build});
  }

  Index index() const { return Index::build(search.points.view(), build); }
  StoredShards stored() const { return StoredShards::open(folder / "shards"); }
};

#define KITH_TRACE(seed, c)                                                                      \
  SCOPED_TRACE(testing::Message() << "replay with random_case(" << (seed) << "), " << (c).shards \
                                  << " shards: " << (c).search.text)

TEST(StoredShards, AnswerAsAnIndexOnRandomCases) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    StoredCase c(random_case(seed), seed);
    KITH_TRACE(seed, c);
    const PointView queries = c.search.queries.view();
    const Index index = c.index();
    const StoredShards stored = c.stored();
    expect_same(widened(index.radius(queries, c.search.radius, c.options)),
                stored.radius(queries, c.search.radius, c.same));
    EXPECT_EQ(widened(index.count(queries, c.search.radius, c.options)),
              stored.count(queries, c.search.radius, c.same));
    c.options.max_neighbors = c.same.max_neighbors = c.search.most;
    const MemoryLimit limit(std::uint64_t{1} << 30);  // then lists are counted first
    expect_same(widened(index.radius(queries, c.search.radius, c.options)),
                stored.radius(queries, c.search.radius, c.same));
    c.options.max_neighbors = c.same.max_neighbors = 0;
    c.options.max_distance = c.same.max_distance = c.search.max_distance;
    expect_same(widened(index.knn(queries, c.search.k, c.options)), stored.knn(queries, c.search.k, c.same));
    if (HasFailure()) return;
  }
}

TEST(StoredShards, FindInnerProductsAsAnIndex) {
  for (std::uint64_t seed = 5000; seed < 5010; ++seed) {
    const StoredCase c(inner_product_case(seed), seed);
    KITH_TRACE(seed, c);
    const PointView queries = c.search.queries.view();
    expect_same(widened(c.index().knn(queries, c.search.k, c.options)), c.stored().knn(queries, c.search.k, c.same));
    if (HasFailure()) return;
  }
}

TEST(StoredShards, AreThoseOfOneProcess) {
  for (std::uint64_t seed = 100; seed < 112; ++seed) {
    const StoredCase c(random_case(seed), seed);
    KITH_TRACE(seed, c);
    const ShardedIndex sharded = ShardedIndex::build(c.search.points.view(), {.shards = c.shards, .build = c.build});
    EXPECT_EQ(sharded.map().to_bytes(), c.stored().map().to_bytes());
    for (std::uint32_t s = 0; s < c.shards; ++s) {
      const std::string file =
          (c.folder / "shards") + "/shard-" + std::string(s < 10 ? "000" : "00") + std::to_string(s);
      if (sharded.shard(s).facts().points == 0) continue;
      const std::vector<std::byte> bytes = sharded.shard(s).index().to_bytes();
      EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()),
                StoredFolder::content(file + ".kith"));
    }
    if (HasFailure()) return;
  }
}

/// Blocks of a few rows, and any number of kept ones, lead to the same cuts and the same dealt points.
TEST(StoredShards, AreCutInBlocksAsAtOnce) {
  for (std::uint64_t seed = 200; seed < 240; ++seed) {
    const SearchCase c = random_case(seed);
    std::mt19937_64 random(seed);
    const StoredFolder folder("blocks");
    const shards::StoredPoints points{folder.write(c.points.view(), 1 + random() % 3)};
    const shards::CutRules rules =
        shards::CutRules::of(static_cast<std::uint32_t>(2 + random() % 20), c.build_options(Engine::automatic, {}));
    const shards::NumberedPoints all{.points = c.points.view()};
    const std::uint64_t rows = c.points.rows();
    const ProgressCallback none;
    for (const std::uint64_t kept : {std::uint64_t{0}, rows / 10, rows}) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", kept " << kept << ": " << c.text);
      shards::StoredCutter cutter(points, rules, {1 + random() % 40, kept}, 1 + static_cast<int>(random() % 2), none);
      const shards::PointFacts facts = shards::PointFacts::of(all, rules);
      EXPECT_EQ(facts.to_bytes(), cutter.facts().to_bytes());
      shards::CutPlan plan(facts, rules), same(facts, rules);
      shards::PointCutter whole(all, rules);
      while (!plan.is_done()) {
        const std::vector<std::uint64_t> counts = whole.counts(plan);
        ASSERT_EQ(counts, cutter.counts(same));
        plan.take(counts);
        same.take(counts);
      }
      if (kept == rows && rows > 0) {
        EXPECT_LE(cutter.passes(), 1 + 2 * std::ceil(std::log2(rules.shards)));
      }
      std::filesystem::remove(folder / "rows");
      std::filesystem::remove(folder / "numbers");
      shards::PlacedFile dealt_rows(folder / "rows", c.points.bytes()), numbers(folder / "numbers", rows * 8);
      cutter.deal(plan, dealt_rows, numbers);
      std::string expected_rows, expected_numbers;
      for (std::uint32_t s = 0; s < rules.shards; ++s) {
        const shards::ShardPoints own = whole.points_of(plan, s);
        expected_rows.append(static_cast<const char*>(own.points.view().data()), own.points.bytes());
        expected_numbers.append(reinterpret_cast<const char*>(own.numbers.data()), own.numbers.size() * 8);
      }
      EXPECT_EQ(expected_rows, StoredFolder::content(folder / "rows"));
      EXPECT_EQ(expected_numbers, StoredFolder::content(folder / "numbers"));
    }
    if (HasFailure()) return;
  }
}

TEST(StoredShards, KeepTheNumbersOfPointsThatWereLeftOut) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    std::mt19937_64 random(seed);
    PointSet points = nasty_points(NastyShape::grid, DType::f32, 150, 2, random);
    for (float& x : points.values<float>()) {
      if (random() % (3 + 40 * (seed % 2)) == 0) x = std::numeric_limits<float>::quiet_NaN();
    }
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const BuildOptions build{.skip_nonfinite = true};
    const StoredFolder folder("skipped");
    const StoredShards stored =
        StoredShards::build(folder.write(points.view(), 2), folder / "shards", {.shards = 6, .build = build});
    const Index index = Index::build(points.view(), build);
    EXPECT_EQ(index.skipped(), stored.skipped());
    expect_same(widened(index.knn(points.view(), 9, {.skip_nonfinite = true})),
                stored.knn(points.view(), 9, {.skip_nonfinite = true}));
    const std::string expected = thrown_message<BadData>([&] { index.knn(points.view(), 9); });
    EXPECT_EQ(expected, thrown_message<BadData>([&] { stored.knn(points.view(), 9); }));
    EXPECT_EQ(thrown_message<BadData>([&] { Index::build(points.view()); }), thrown_message<BadData>([&] {
                StoredShards::build(folder.write(points.view(), 2), folder / "bad", {.shards = 2});
              }));
    EXPECT_FALSE(std::filesystem::exists(folder / "bad"));
  }
}

TEST(StoredShards, MayBeEmpty) {
  for (const std::uint64_t rows : {0u, 1u, 2u, 5u}) {
    std::mt19937_64 random(rows);
    const PointSet points = nasty_points(NastyShape::uniform, DType::f64, rows, 2, random);
    const PointSet queries = nasty_points(NastyShape::uniform, DType::f64, 3, 2, random);
    const StoredFolder folder("few");
    const StoredShards stored = StoredShards::build(folder.write(points.view()), folder / "shards", {.shards = 8});
    const Index index = Index::build(points.view());
    for (const std::uint32_t k : {0u, 1u, 4u}) {
      expect_same(widened(index.knn(queries.view(), k)), stored.knn(queries.view(), k));
      expect_same(widened(index.knn(queries.view().slice(0, 0), k)), stored.knn(queries.view().slice(0, 0), k));
    }
    expect_same(widened(index.radius(queries.view(), 0.5)), stored.radius(queries.view(), 0.5));
  }
}

/// As if more than 2^32 rows came before these, all of them left out.
TEST(StoredShards, NumberBeyond32Bits) {
  std::mt19937_64 random(2);
  const PointSet points = nasty_points(NastyShape::grid, DType::f32, 700, 2, random);
  const StoredFolder folder("wide");
  const std::uint64_t base = (std::uint64_t{1} << 32) + 5;
  shards::build_folder({folder.write(points.view(), 3), base}, folder / "shards", {.shards = 7});
  const StoredShards stored = StoredShards::open(folder / "shards");
  EXPECT_EQ(stored.size(), base + 700);
  const WideNeighbors found = stored.knn(points.view(), 6);
  const Neighbors expected = Index::build(points.view()).knn(points.view(), 6);
  EXPECT_EQ(found.missing(), base + 700);
  for (std::uint64_t q = 0; q < 700; ++q) {
    for (std::uint32_t j = 0; j < 6; ++j) {
      ASSERT_EQ(found.index(q, j), base + expected.index(q, j));
      ASSERT_EQ(found.distance(q, j), expected.distance(q, j));
    }
  }
}

/// A build that is stopped after each of its steps, or after one of them, leaves the same files in the end.
TEST(StoredBuild, GoesOnWhereItWasStopped) {
  struct Stopped {};
  std::mt19937_64 random(3);
  PointSet points = nasty_points(NastyShape::uniform, DType::f64, 900, 3, random);
  for (std::uint64_t i = 0; i < 600; ++i) points.values<double>()[i] = 0.25;  // rounds with equal coordinates
  const StoredFolder folder("stopped");
  const shards::StoredPoints files{folder.write(points.view(), 2)};
  for (const std::uint32_t shards : {1u, 5u}) {
    std::vector<std::string> notes;
    const shards::StoredBuildOptions options{.shards = shards,
                                             .note = [&](const std::string& text) { notes.push_back(text); }};
    std::filesystem::remove_all(folder / "whole");
    std::uint64_t steps = 0;
    shards::build_folder(files, folder / "whole", options, [&] { ++steps; });
    EXPECT_GT(steps, 4 + 2 * shards);
    EXPECT_TRUE(notes.empty());
    const auto expected = StoredFolder::contents(folder / "whole");
    for (std::uint64_t stop = 0; stop < steps; ++stop) {
      std::filesystem::remove_all(folder / "part");
      std::uint64_t step = 0;
      EXPECT_THROW(shards::build_folder(files, folder / "part", options,
                                        [&] {
                                          if (step++ == stop) throw Stopped();
                                        }),
                   Stopped);
      if (stop + 1 < steps) {
        EXPECT_THROW(StoredShards::open(folder / "part"), CorruptFile);
      }
      notes.clear();
      shards::build_folder(files, folder / "part", options);
      EXPECT_EQ(notes.size(), 1u) << "step " << stop;
      EXPECT_TRUE(expected == StoredFolder::contents(folder / "part")) << "step " << stop;
    }
    std::filesystem::remove_all(folder / "part");
    std::uint64_t tries = 0;  // each try does one more step than it repeats
    for (bool is_done = false; !is_done && tries < 3 * steps; ++tries) {
      std::uint64_t step = 0;
      try {
        shards::build_folder(files, folder / "part", options, [&] {
          if (step++ == 2) throw Stopped();
        });
        is_done = true;
      } catch (const Stopped&) {
      }
    }
    EXPECT_LE(tries, steps);
    EXPECT_TRUE(expected == StoredFolder::contents(folder / "part"));
  }
}

TEST(StoredBuild, BeginsAnewForOtherFilesOrOptions) {
  struct Stopped {};
  std::mt19937_64 random(4);
  const PointSet points = nasty_points(NastyShape::uniform, DType::f32, 400, 2, random);
  const PointSet others = nasty_points(NastyShape::clusters, DType::f32, 300, 2, random);
  const StoredFolder folder("anew");
  std::vector<std::string> notes;
  shards::StoredBuildOptions options{.shards = 4, .note = [&](const std::string& text) { notes.push_back(text); }};
  const auto expect_note = [&](const std::string& part) {
    ASSERT_EQ(notes.size(), 1u);
    EXPECT_NE(notes[0].find(part), std::string::npos) << notes[0];
    notes.clear();
  };
  std::uint64_t step = 0;
  EXPECT_THROW(shards::build_folder({folder.write(points.view())}, folder / "shards", options,
                                    [&] {
                                      if (++step == 9) throw Stopped();
                                    }),
               Stopped);
  StoredShards::build(folder.write(others.view()), folder / "shards", options);  // the same name
  expect_note("begins anew");
  const auto expect_answers = [&] {
    const StoredShards stored = StoredShards::open(folder / "shards");
    expect_same(widened(Index::build(others.view(), options.build).knn(points.view(), 5)),
                stored.knn(points.view(), 5));
  };
  expect_answers();
  const std::vector<io::PointRows> same{io::PointRows(folder / "points0.npy")};
  const auto before = StoredFolder::contents(folder / "shards");
  StoredShards::build(same, folder / "shards", options);
  expect_note("nothing is left to do");
  EXPECT_TRUE(before == StoredFolder::contents(folder / "shards"));
  options.shards = 5;
  StoredShards::build(same, folder / "shards", options);
  expect_note("replaced");
  EXPECT_EQ(StoredShards::open(folder / "shards").map().size(), 5u);
  options.build.metric = Metric::l1();
  StoredShards::build(same, folder / "shards", options);
  expect_note("replaced");
  expect_answers();
  std::filesystem::resize_file((folder / "shards") + "/shard-0002.kith", 5000);
  StoredShards::build(same, folder / "shards", options);
  expect_note("damaged");
  expect_answers();
}

TEST(StoredBuild, LeavesFoldersOfOthersAlone) {
  const StoredFolder folder("others");
  std::mt19937_64 random(5);
  const auto files = folder.write(nasty_points(NastyShape::uniform, DType::f32, 40, 2, random).view());
  std::filesystem::create_directory(folder / "papers");
  for (const std::string name : {"manifest", "letter"}) {
    std::ofstream((folder / "papers") + "/" + name) << "mine";
    EXPECT_THROW(StoredShards::build(files, folder / "papers", {.shards = 2}), UsageError);
    EXPECT_EQ(StoredFolder::content((folder / "papers") + "/" + name), "mine");
    std::filesystem::remove((folder / "papers") + "/" + name);
  }
  StoredShards::build(files, folder / "papers", {.shards = 2});  // it is empty now
  std::ofstream(folder / "file") << "mine";
  EXPECT_THROW(StoredShards::build(files, folder / "file", {.shards = 2}), IoError);
}

/// Each file cut short, longer, or with one byte changed: an error, no crash and no answer.
TEST(StoredShards, NoticeDamage) {
  std::mt19937_64 random(6);
  const PointSet points = nasty_points(NastyShape::uniform, DType::f32, 3000, 3, random);
  const StoredFolder folder("damaged");
  const std::string shards = folder / "shards";
  StoredShards::build(folder.write(points.view()), shards, {.shards = 3});
  const auto search = [&] { StoredShards::open(shards).knn(points.view(), 3); };
  search();
  for (const auto& file : StoredFolder::contents(shards)) {
    const std::string &name = file.first, &content = file.second;
    const std::string path = shards + "/" + name;
    const auto expect_corrupt = [&](const std::string& damaged, const std::string& how) {
      std::ofstream(path, std::ios::binary) << damaged;
      EXPECT_THROW(search(), CorruptFile) << name << " " << how;
    };
    for (const std::size_t size : {std::size_t{0}, std::size_t{3}, content.size() / 2, content.size() - 1}) {
      expect_corrupt(content.substr(0, size), "cut to " + std::to_string(size));
    }
    expect_corrupt(content + "x", "longer");
    for (int i = 0; i < 40; ++i) {
      std::string damaged = content;
      const std::size_t place =
          i < 20 ? random() % std::min<std::size_t>(200, content.size()) : random() % content.size();
      damaged[place] = static_cast<char>(damaged[place] ^ (1 << (random() % 8)));
      expect_corrupt(damaged, "byte " + std::to_string(place));
    }
    std::filesystem::remove(path);
    EXPECT_THROW(search(), Error) << name << " is missing";
    std::ofstream(path, std::ios::binary) << content;
    search();
  }
  std::filesystem::copy_file(shards + "/shard-0000.kith", shards + "/shard-0001.kith",
                             std::filesystem::copy_options::overwrite_existing);
  EXPECT_THROW(search(), CorruptFile) << "another shard's file";
}

/// The bytes that a message names as needed.
std::uint64_t needed_bytes(const std::string& message) {
  const std::size_t end = message.find(" bytes"), begin = message.rfind(' ', end - 1) + 1;
  return std::stoull(message.substr(begin, end - begin));
}

TEST(StoredShards, SayHowMuchMemoryTheyNeed) {
  std::mt19937_64 random(7);
  const PointSet points = nasty_points(NastyShape::uniform, DType::f64, 300'000, 8, random);
  const StoredFolder folder("memory");
  const auto files = folder.write(points.view());
  const std::uint64_t needed = needed_bytes(thrown_message<OutOfMemory>(
      [&] { StoredShards::build(files, folder / "shards", {.shards = 2, .memory = 20'000'000}); }));
  EXPECT_GT(needed, 20'000'000u);
  EXPECT_THROW(StoredShards::build(files, folder / "shards", {.shards = 2, .memory = needed - 1000}), OutOfMemory);
  StoredShards::build(files, folder / "shards", {.shards = 2, .memory = needed});
  // As few shards as fit.
  const StoredShards few = StoredShards::build(files, folder / "few", {.memory = 44'000'000});
  EXPECT_GT(few.map().size(), 2u);
  EXPECT_THROW(StoredShards::build(files, folder / "fewer", {.shards = few.map().size() - 1, .memory = 44'000'000}),
               OutOfMemory);
  {
    const MemoryLimit limit(44'000'000);
    EXPECT_EQ(StoredShards::build(files, folder / "limited").map().size(), few.map().size());
  }

  const PointView queries = points.view().slice(0, 3000);
  const auto with = [&](std::uint64_t memory) { return StoredShards::open(folder / "few", {.memory = memory}); };
  const std::uint64_t least = needed_bytes(thrown_message<OutOfMemory>([&] { with(26'000'000).knn(queries, 8); }));
  EXPECT_THROW(with(least - 1000).knn(queries, 8), OutOfMemory);
  const Index index = Index::build(points.view());
  const WideNeighbors expected = widened(index.knn(queries, 8));
  const PointView few_queries = queries.slice(0, 1000);
  const WideNeighborLists lists = widened(index.radius(few_queries, 0.3));
  std::uint64_t last_loads = std::numeric_limits<std::uint64_t>::max();
  for (const std::uint64_t memory : {least, least + 4'000'000, least + 16'000'000, std::uint64_t{0}}) {
    const StoredShards stored = with(memory);
    expect_same(expected, stored.knn(queries, 8));
    EXPECT_LE(stored.loads(), last_loads);
    last_loads = stored.loads();
    if (memory >= least + 4'000'000) expect_same(lists, stored.radius(few_queries, 0.3));
  }
  EXPECT_EQ(last_loads, few.map().size());
}

TEST(StoredShards, CanBeMapped) {
  std::mt19937_64 random(8);
  const PointSet points = nasty_points(NastyShape::clusters, DType::f64, 2000, 4, random);
  const StoredFolder folder("mapped");
  StoredShards::build(folder.write(points.view()), folder / "shards", {.shards = 3});
  expect_same(widened(Index::build(points.view()).knn(points.view(), 4)),
              StoredShards::open(folder / "shards", {.map = true}).knn(points.view(), 4));
}

TEST(StoredShards, RefuseWhatMakesNoSense) {
  std::mt19937_64 random(9);
  const PointSet points = nasty_points(NastyShape::uniform, DType::f32, 60, 2, random);
  const PointSet flat = nasty_points(NastyShape::uniform, DType::f32, 60, 1, random);
  const StoredFolder folder("refused");
  const auto files = folder.write(points.view());
  const auto build = [&](const shards::StoredBuildOptions& options) {
    return StoredShards::build(files, folder / "shards", options);
  };
  EXPECT_THROW(StoredShards::build({}, folder / "shards", {.shards = 2}), UsageError);
  EXPECT_THROW(build({.shards = 5000}), UsageError);
  EXPECT_THROW(build({.shards = 2, .build = {.metric = Metric::parse("seuclidean")}}), UsageError);
  EXPECT_THROW(build({.shards = 2, .build = {.threads = -1}}), UsageError);
  io::write_points(folder / "flat.npy", flat.view());
  const std::vector<io::PointRows> mixed{files[0], io::PointRows(folder / "flat.npy")};
  EXPECT_THROW(StoredShards::build(mixed, folder / "shards", {.shards = 2}), UsageError);
  io::write_points(folder / "points.csv", points.view());
  EXPECT_THROW(io::PointRows(folder / "points.csv"), UsageError);
  const StoredShards stored = build({.shards = 2});
  const Index index = Index::build(points.view());
  const PointView queries = points.view();
  const auto expect = [&](const auto& of_index, const auto& of_shards) {
    EXPECT_EQ(thrown_message<UsageError>(of_index), thrown_message<UsageError>(of_shards));
  };
  expect([&] { index.knn(flat.view(), 3); }, [&] { stored.knn(flat.view(), 3); });
  expect([&] { index.knn(queries, 3, {.exclude_self = true}); },
         [&] { stored.knn(queries, 3, {.exclude_self = true}); });
  expect([&] { index.radius(queries, -1); }, [&] { stored.radius(queries, -1); });
  expect([&] { index.count(queries, 1, {.max_distance = 2}); }, [&] { stored.count(queries, 1, {.max_distance = 2}); });
}

TEST(StoredShards, CanBeStopped) {
  std::mt19937_64 random(10);
  const PointSet points = nasty_points(NastyShape::uniform, DType::f32, 30000, 3, random);
  const StoredFolder folder("interrupted");
  const auto files = folder.write(points.view());
  const auto stop = [](const Progress&) { return false; };
  EXPECT_THROW(StoredShards::build(files, folder / "shards", {.shards = 3, .build = {.progress = stop}}), Interrupted);
  const StoredShards stored = StoredShards::build(files, folder / "shards", {.shards = 3});
  EXPECT_THROW(stored.knn(points.view(), 8, {.progress = stop}), Interrupted);
  expect_same(widened(Index::build(points.view()).knn(points.view(), 2)), stored.knn(points.view(), 2));
}

}  // namespace
}  // namespace kith::test
