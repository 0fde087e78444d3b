// Cover trees of five data sets, and of one in the shape of the largest: builds, and searches against brute force.
#include "measure.hpp"

#include <kith/io/read_points.hpp>
#include <kith/io/read_sequences.hpp>
#include <kith/sequence_index.hpp>

#include <filesystem>

namespace kith::five {

namespace {

constexpr std::uint32_t kNearest = 5;

/// Objects, the last of which are the queries.
struct DataSet {
  std::string name;
  std::string file = {};  ///< empty: it is made up
  std::uint64_t rows = 0, queries = 0;
  std::uint32_t dims = 0;
  std::string label = {};  ///< the column that is no coordinate
};

/// Normal clusters whose axes are the shorter the later: of few dimensions, whatever `dims` says.
std::vector<float> clusters(std::uint64_t rows, std::uint32_t dims) {
  constexpr std::size_t kClusters = 100;
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> centres(kClusters * dims), values(rows * dims);
  for (float& x : centres) x = 10 * normal(random);
  for (std::uint64_t i = 0; i < rows; ++i) {
    const std::size_t cluster = random() % kClusters * dims;
    for (std::uint32_t d = 0; d < dims; ++d) {
      values[i * dims + d] = centres[cluster + d] + 2 * normal(random) / static_cast<float>(1 + d);
    }
  }
  return values;
}

void measure_vectors(const Job& job, const DataSet& set) {
  const std::string path = job.data + "/" + set.file;
  const bool is_real = !set.file.empty() && std::filesystem::exists(path);
  std::vector<float> values;
  if (is_real) {
    const PointSet read = io::read_points(path, {.dtype = DType::f32, .label = set.label}).points;
    values.assign(read.values<float>().begin(), read.values<float>().end());
  } else {
    values = clusters(set.rows, set.dims);
  }
  const std::uint64_t queries = set.queries, rows = values.size() / set.dims - queries;
  const Array<float> placed(job.machine, std::span<const float>(values).first(rows * set.dims));
  const Array<float> asked(job.machine, std::span<const float>(values).last(queries * set.dims));
  WorkTimes built, searched;
  const auto build = [&](Engine engine, WorkTimes* times) {
    return Index::build(placed.rows(set.dims), {.engine = engine, .device = job.machine.device(), .times = times});
  };
  const Index tree = build(Engine::cover_tree, &built), brute = build(Engine::brute_force, nullptr);
  const Answers found(job.machine, queries * kNearest), expected(job.machine, queries * kNearest);
  const Spread build_ms = timed(job.machine, [&] { build(Engine::cover_tree, nullptr); });
  const Spread search_ms = timed(job.machine, [&] { search(tree, asked.rows(set.dims), kNearest, found); });
  const Spread brute_ms = timed(job.machine, [&] { search(brute, asked.rows(set.dims), kNearest, expected); });
  tree.knn(asked.rows(set.dims), kNearest, {.times = &searched});
  Row row;
  row.text("data", set.name).flag("is_real", is_real).number("objects", rows).number("dims", set.dims);
  row.number("queries", queries).number("k", kNearest);
  row.times("build_ms", build_ms).times("search_ms", search_ms).times("brute_ms", brute_ms);
  row.number("build_distances", static_cast<double>(built.evaluations) / static_cast<double>(rows));
  row.number("search_distances", static_cast<double>(searched.evaluations) / static_cast<double>(queries));
  row.number("bytes", tree.memory_bytes()).add_to(job.results, found == expected);
}

/// Words, and some of them with a letter replaced, by edit distance: whole calls from the host's memory and back.
void measure_words(const Job& job) {
  const std::string path = job.data + "/words/american-english";
  const bool is_real = std::filesystem::exists(path);
  std::mt19937 random(1);
  SequenceSet words, asked;
  if (is_real) {
    const SequenceSet all = io::read_sequences(path).sequences;
    for (std::uint64_t i = 0; i < all.size(); i += job.part) words.add(all.sequence(i));
  } else {
    for (std::uint64_t i = 0; i < job.sized(100'000); ++i) {
      std::string word;
      for (std::uint64_t left = 3 + random() % 9; left > 0; --left) word += static_cast<char>('a' + random() % 26);
      words.add(word);
    }
  }
  for (std::uint64_t i = 0; i < words.size(); i += 50) {
    std::vector<std::uint32_t> word(words.sequence(i).begin(), words.sequence(i).end());
    if (!word.empty()) word[random() % word.size()] = 'e';
    asked.add(word);
  }
  WorkTimes built, searched;
  const auto build = [&](Engine engine, WorkTimes* times) {
    return SequenceIndex::build(words, SequenceMetric::edit,
                                {.engine = engine, .device = job.machine.device(), .times = times});
  };
  const SequenceIndex tree = build(Engine::cover_tree, &built), brute = build(Engine::brute_force, nullptr);
  Neighbors found = tree.knn(asked, kNearest, {.times = &searched}), expected;
  const Spread build_ms = timed(job.machine, [&] { build(Engine::cover_tree, nullptr); });
  const Spread search_ms = timed(job.machine, [&] { found = tree.knn(asked, kNearest); });
  const Spread brute_ms = timed(job.machine, [&] { expected = brute.knn(asked, kNearest); });
  bool is_right = true;
  for (std::uint64_t q = 0; q < asked.size(); ++q) {
    for (std::uint32_t j = 0; j < kNearest; ++j) {
      is_right = is_right && found.index(q, j) == expected.index(q, j);
    }
  }
  Row row;
  row.text("data", "words").flag("is_real", is_real).number("objects", words.size()).number("dims", 0);
  row.number("queries", asked.size()).number("k", kNearest);
  row.times("build_ms", build_ms).times("search_ms", search_ms).times("brute_ms", brute_ms);
  row.number("build_distances", static_cast<double>(built.evaluations) / static_cast<double>(words.size()));
  row.number("search_distances", static_cast<double>(searched.evaluations) / static_cast<double>(asked.size()));
  row.number("bytes", tree.memory_bytes()).add_to(job.results, is_right);
}

}  // namespace

void measure_cover_trees(const Job& job) {
  job.results.begin_list("cover_trees");
  const DataSet sets[] = {
      {.name = "covtype, its first 20,000 rows",
       .file = "covtype/covtype.20k.data",
       .rows = 20'000,
       .queries = 4880,
       .dims = 54,
       .label = "last"},
      {.name = "in the shape of all of covtype", .rows = job.sized(581'012), .queries = job.sized(10'000), .dims = 54},
      {.name = "Fashion-MNIST",
       .file = "fashion_mnist/t10k-images-idx3-ubyte.gz",
       .rows = 10'000,
       .queries = 1000,
       .dims = 784},
      {.name = "pendigits",
       .file = "uci/pendigits.train.data",
       .rows = 7494,
       .queries = 1000,
       .dims = 16,
       .label = "last"},
      {.name = "letter-recognition",
       .file = "uci/letter-recognition.data",
       .rows = 20'000,
       .queries = 4000,
       .dims = 16,
       .label = "1"},
  };
  for (const DataSet& set : sets) measure_vectors(job, set);
  measure_words(job);
}

}  // namespace kith::five
