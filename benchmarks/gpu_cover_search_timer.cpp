// Times searches in cover trees on the GPU: gpu_cover_search_timer RESULTS.json [WORDS [quick]]
//
// WORDS is a file of lines; without it, or if it is "-", strings are made up. Per case: the median of 9 runs after 3 of
// the build with what prepares the tree, and of the search, objects and queries already on the GPU; distances measured
// per query; the same search in one leaf, with the bounds of the space and without, which is brute force; and whether
// all give the same answer. Then the same by the public calls, from the host's memory and back. `quick` takes a tenth
// of the codes.
#include "gpu_timing.hpp"

#include "cuda/runtime/check.hpp"
#include "cuda/cover_tree/spaces/any_space.hpp"
#include "cuda/cover_tree/search/prepared_cover.hpp"
#include "cuda/cover_tree/spaces/sequence_words.hpp"
#include "cuda/runtime/device_buffer.hpp"
#include "engine/cover_tree/one_leaf.hpp"

#include <kith/bit_index.hpp>
#include <kith/error.hpp>
#include <kith/io/read_sequences.hpp>
#include <kith/sequence_index.hpp>

#include <cstdint>
#include <cstdio>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace kith;

constexpr std::uint32_t kLeafSize = 32;

/// Objects, and queries or none: then the objects ask.
struct Case {
  std::string name;
  cuda::AnySpace space = {};
  std::vector<std::uint32_t> rows = {}, queries = {};
  std::uint32_t k = 0;
  bool with_unbounded = false;  ///< one leaf without bounds, too

  std::uint32_t count() const { return static_cast<std::uint32_t>(rows.size() / space.stride); }
  std::uint64_t asked() const { return queries.empty() ? count() : queries.size() / space.stride; }
};

struct Answer {
  std::vector<std::uint32_t> indices;
  std::vector<float> values;

  friend bool operator==(const Answer&, const Answer&) = default;
};

/// One way to search, measured.
struct Search {
  double ms = 0;
  double evaluations = 0;  ///< per query
  Answer answer;
};

Search searched(const Case& what, const cuda::CoverSearchTree& tree, const std::uint32_t* queries,
                const cuda::Stream& stream) {
  const std::uint64_t entries = what.asked() * what.k;
  cuda::DeviceBuffer<std::uint32_t> indices(entries, stream);
  cuda::DeviceBuffer<float> values(entries, stream);
  cuda::DeviceBuffer<std::uint64_t> evaluations(1, stream);
  const cuda::KnnRequest<float> request{.queries = {.rows = reinterpret_cast<const float*>(queries),
                                                    .row_stride = what.space.stride,
                                                    .count = what.asked()},
                                        .k = what.k,
                                        .bound = std::numeric_limits<float>::infinity(),
                                        .answer = {indices.data(), values.data()},
                                        .evaluations = evaluations.data()};
  const EventTimer timer(stream.get());
  const auto search = [&] {
    cuda::check(cudaMemsetAsync(evaluations.data(), 0, evaluations.bytes(), stream.get()), "writing zeros");
    cuda::search_cover_knn_of<float>(what.space, tree, request, {}, stream);
  };
  Search found;
  found.ms = timer.median_ms(search);
  std::uint64_t measured = 0;
  found.answer.indices.resize(entries);
  found.answer.values.resize(entries);
  const auto read = [&](void* to, const void* from, std::uint64_t bytes) {
    cuda::check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream.get()), "copying answers");
  };
  read(&measured, evaluations.data(), sizeof measured);
  read(found.answer.indices.data(), indices.data(), indices.bytes());
  read(found.answer.values.data(), values.data(), values.bytes());
  stream.synchronize();
  found.evaluations = static_cast<double>(measured) / static_cast<double>(what.asked());
  return found;
}

void measure(const Case& what, Results& results) {
  const cuda::Stream stream;
  const EventTimer timer(stream.get());
  const auto rows = on_device<std::uint32_t>(what.rows, stream),
             queries = on_device<std::uint32_t>(what.queries, stream);
  const std::uint32_t* asked = what.queries.empty() ? nullptr : queries.data();
  const auto prepare = [&](cuda::DeviceCoverTree tree) {
    return cuda::PreparedCover(std::move(tree), rows.data(), what.space.has_heads(), stream);
  };
  const auto build = [&] {
    return prepare(cuda::build_cover_tree_of(what.space, rows.data(), what.count(), {kLeafSize}, stream));
  };
  const double build_ms = timer.median_ms([&] { build(); });
  const cuda::PreparedCover tree = build();
  const Search by_tree = searched(what, tree.view(), asked, stream);
  const cuda::PreparedCover leaf =
      prepare(cuda::copy_to_device(engine::one_leaf_tree(what.count()), rows.data(), what.space.stride, stream));
  const Search by_leaf = searched(what, leaf.view(), asked, stream);
  Search by_pairs;
  if (what.with_unbounded) {
    cuda::CoverSearchTree plain = leaf.view();
    plain.uses_bounds = false;
    by_pairs = searched(what, plain, asked, stream);
  }
  const bool is_right = by_tree.answer == by_leaf.answer && (!what.with_unbounded || by_tree.answer == by_pairs.answer);
  std::printf(
      "%-28s %8u objects: build %.2f ms (%llu nodes, height %u), %llu x %u nearest %.2f ms, %.0f distances per "
      "query; one leaf %.2f ms, %.0f; every pair %.2f ms%s\n",
      what.name.c_str(), what.count(), build_ms, static_cast<unsigned long long>(tree.node_count()), tree.view().height,
      static_cast<unsigned long long>(what.asked()), what.k, by_tree.ms, by_tree.evaluations, by_leaf.ms,
      by_leaf.evaluations, by_pairs.ms, is_right ? "" : ", ANSWERS DIFFER");
  std::ostringstream out;
  out << "{\"case\": \"" << what.name << "\", \"objects\": " << what.count() << ", \"queries\": " << what.asked()
      << ", \"k\": " << what.k << ", \"build_ms\": " << build_ms << ", \"nodes\": " << tree.node_count()
      << ", \"search_ms\": " << by_tree.ms << ", \"evaluations_per_query\": " << by_tree.evaluations
      << ", \"one_leaf_ms\": " << by_leaf.ms << ", \"one_leaf_evaluations_per_query\": " << by_leaf.evaluations
      << ", \"every_pair_ms\": " << by_pairs.ms << ", \"bytes\": " << tree.memory_bytes()
      << ", \"is_right\": " << (is_right ? "true" : "false") << "}";
  results.add(out.str(), is_right);
}

/// Lines of a file, or variants of made-up words.
SequenceSet words_of(const std::string& path) {
  if (!path.empty() && path != "-") return io::read_sequences(path).sequences;
  std::mt19937 random(1);
  SequenceSet words(SequenceKind::bytes);
  std::vector<std::string> roots(20'000);
  for (std::string& root : roots) {
    for (std::uint32_t i = 3 + static_cast<std::uint32_t>(random() % 9); i > 0; --i)
      root += static_cast<char>('a' + random() % 26);
  }
  for (int i = 0; i < 100'000; ++i) {
    std::string word = roots[random() % roots.size()];
    for (std::uint32_t edits = random() % 4; edits > 0; --edits) word[random() % word.size()] = 'e';
    words.add(word);
  }
  return words;
}

Case words_case(const SequenceSet& set) {
  const SequenceView view = set.view();
  const engine::SequenceRows rows{view.items(), view.offsets(), view.size()};
  const cuda::SequenceWords words(rows, SequenceMetric::edit);
  Case what{.name = "words by edit distance", .k = 5, .with_unbounded = true};
  what.space = {.kind = words.longest() <= 32 ? cuda::SpaceKind::edit_32 : cuda::SpaceKind::edit_64,
                .stride = words.words_for(words.longest()),
                .symbols = words.symbols()};
  if (words.longest() > 64) {
    what.space.kind = cuda::SpaceKind::edit_long;
    what.space.most_prepared = words.longest();
  }
  what.rows.resize(rows.count * what.space.stride);
  words.pack(rows, 0, rows.count, what.space.stride, what.rows.data(), 0);
  return what;
}

/// Codes near one of some centres: each bit is another with a probability of 1 / 16.
std::vector<std::uint32_t> codes(std::uint32_t count, std::uint32_t words, std::uint32_t clusters, std::uint32_t seed) {
  std::mt19937 shared(7), random(seed);
  std::vector<std::uint32_t> centres(std::size_t{clusters} * words), rows;
  for (std::uint32_t& word : centres) word = static_cast<std::uint32_t>(shared());
  rows.reserve(std::size_t{count} * words);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::size_t centre = random() % clusters * std::size_t{words};
    for (std::uint32_t w = 0; w < words; ++w) {
      rows.push_back(centres[centre + w] ^ static_cast<std::uint32_t>(random() & random() & random() & random()));
    }
  }
  return rows;
}

std::string times_json(const WorkTimes& times) {
  std::ostringstream out;
  out << "{\"total_ms\": " << times.total_ms << ", \"device_ms\": " << times.device_ms
      << ", \"copy_in_ms\": " << times.copy_in_ms << ", \"copy_out_ms\": " << times.copy_out_ms
      << ", \"evaluations\": " << times.evaluations << "}";
  return out.str();
}

/// The last of some runs of a build and a search by the public calls; build, search: (times) -> nothing.
template <typename Build, typename Find>
void measure_calls(const char* name, Results& results, Build&& build, Find&& find) {
  WorkTimes built, found;
  for (int run = 0; run < 4; ++run) {
    built = found = {};
    auto index = build(&built);
    find(index, &found);
  }
  std::printf("%-40s build %.2f ms (GPU %.2f), search %.2f ms (GPU %.2f)\n", name, built.total_ms, built.device_ms,
              found.total_ms, found.device_ms);
  results.add(std::string("{\"case\": \"") + name + "\", \"build\": " + times_json(built) +
              ", \"search\": " + times_json(found) + "}");
}

void measure_words(const SequenceSet& words, Results& results) {
  for (const Engine engine : {Engine::cover_tree, Engine::brute_force}) {
    measure_calls(
        engine == Engine::cover_tree ? "words, cover tree, public calls" : "words, brute force, public calls", results,
        [&](WorkTimes* times) {
          return SequenceIndex::build(words, SequenceMetric::edit,
                                      {.engine = engine, .device = Device::cuda(), .times = times});
        },
        [&](const SequenceIndex& index, WorkTimes* times) { index.knn_self(5, {.times = times}); });
  }
}

void measure_codes(const Case& what, Results& results) {
  const std::uint32_t bits = 32 * what.space.stride;
  const BitView rows(reinterpret_cast<const std::uint8_t*>(what.rows.data()), what.count(), bits);
  const BitView queries(reinterpret_cast<const std::uint8_t*>(what.queries.data()), what.asked(), bits);
  for (const Engine engine : {Engine::cover_tree, Engine::brute_force}) {
    measure_calls(
        engine == Engine::cover_tree ? "codes, cover tree, public calls" : "codes, brute force, public calls", results,
        [&](WorkTimes* times) {
          return BitIndex::build(rows, {.engine = engine, .device = Device::cuda(), .times = times});
        },
        [&](const BitIndex& index, WorkTimes* times) { index.knn(queries, what.k, {.times = times}); });
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool is_quick = argc > 3 && std::string(argv[3]) == "quick";
  return run_timer(argc, argv, "gpu_cover_search_timer RESULTS.json [WORDS [quick]]",
                   [&](Results& results, const std::string& path) {
                     const SequenceSet words = words_of(path);
                     const std::uint32_t part = is_quick ? 10 : 1;
                     Case bits{.name = "256-bit codes, 1000 clusters", .k = 10};
                     bits.space = {.kind = cuda::SpaceKind::bits, .stride = 8};
                     bits.rows = codes(1'000'000 / part, 8, 1000, 1);
                     bits.queries = codes(100'000 / part, 8, 1000, 2);
                     results.begin_list("searches");
                     measure(words_case(words), results);
                     measure(bits, results);
                     results.begin_list("calls");
                     measure_words(words, results);
                     measure_codes(bits, results);
                   });
}
