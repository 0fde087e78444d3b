// Labels, shares and means of neighbours, the kernels run on the host: what a plain loop over the lists gives. Lists
// are made up, so that new points depend on each other in every way.
#include "cuda/labels/check_labels.cuh"
#include "cuda/labels/label_rest.hpp"
#include "cuda/labels/means.cuh"
#include "cuda/labels/shares.cuh"
#include "cuda/labels/vote_by_threads.cuh"
#include "cuda/labels/vote_by_warps.cuh"

#include "cuda/emulation/grid.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace kith::test {
namespace {

using cuda::emulation::Residence;

/// Which new points are neighbours of a new point.
enum class Chains { none, before, of_warp, last_of_warp_before, any, mostly_new, count_of_kinds };

template <typename T>
struct MadeUp {
  std::uint32_t trained = 1, rows = 0, k = 1, classes = 1;
  bool is_sequential = true;
  bool by_distance = false;
  apps::Ties ties = apps::Ties::nearest;
  std::vector<std::uint32_t> labels;  ///< of the trained
  std::vector<double> values;
  std::vector<std::uint32_t> indices;
  std::vector<T> distances;

  std::uint32_t missing() const { return is_sequential ? trained + rows : trained; }
  cuda::NeighborRows<T> part(std::uint32_t first, std::uint32_t count) const {
    return {indices.data() + std::size_t{first} * k, by_distance ? distances.data() + std::size_t{first} * k : nullptr,
            count, k, missing()};
  }
};

std::uint32_t below(std::mt19937_64& random, std::uint64_t end) { return static_cast<std::uint32_t>(random() % end); }

template <typename T>
std::uint32_t neighbor_of(const MadeUp<T>& made, Chains chains, std::uint32_t row, std::mt19937_64& random) {
  const std::uint32_t trained = below(random, made.trained);
  if (!made.is_sequential || row == 0) return trained;
  switch (chains) {
    case Chains::before:
      return made.trained + row - 1;
    case Chains::of_warp:
      return row % 32 == 0 ? trained : made.trained + row - 1 - below(random, row % 32);
    case Chains::last_of_warp_before:
      return row < 32 ? trained : made.trained + row / 32 * 32 - 1;
    case Chains::any:
      return below(random, made.trained + row);
    case Chains::mostly_new:
      return random() % 4 == 0 ? trained : made.trained + below(random, row);
    default:
      return trained;
  }
}

template <typename T>
MadeUp<T> make_up(MadeUp<T> made, Chains chains, std::mt19937_64& random) {
  for (std::uint32_t i = 0; i < made.trained; ++i) {
    made.labels.push_back(below(random, made.classes));
    const double mantissa = static_cast<double>(random() % 4096) - 2048;
    made.values.push_back(std::ldexp(mantissa, below(random, 20)) / 3);
  }
  for (std::uint32_t row = 0; row < made.rows; ++row) {
    const std::uint32_t found = random() % 3 == 0 ? 1 + below(random, made.k) : made.k;
    std::vector<T> distances;
    for (std::uint32_t j = 0; j < found; ++j) {
      distances.push_back(random() % 8 == 0 ? T(0) : static_cast<T>(random() % 50) / T(7));
    }
    std::sort(distances.begin(), distances.end());
    distances.resize(made.k, std::numeric_limits<T>::infinity());
    made.distances.insert(made.distances.end(), distances.begin(), distances.end());
    for (std::uint32_t j = 0; j < made.k; ++j) {
      made.indices.push_back(j < found ? neighbor_of(made, chains, row, random) : made.missing());
    }
  }
  return made;
}

template <typename T>
double weight_of(const MadeUp<T>& made, std::uint32_t row, std::uint32_t j) {
  if (!made.by_distance) return 1;
  const double nearest = made.distances[std::size_t{row} * made.k];
  const double own = made.distances[std::size_t{row} * made.k + j];
  return own == nearest ? 1 : nearest / own;
}

struct Expected {
  std::vector<std::uint32_t> labels;
  std::vector<double> shares;
  std::vector<double> means;  ///< only if new points are no neighbours
  std::uint32_t depth = 0;
  std::uint32_t left = 0;  ///< rows whose labels the host found
};

template <typename T>
Expected plain_loop(const MadeUp<T>& made) {
  Expected expected;
  std::vector<std::uint32_t> depths;
  for (std::uint32_t row = 0; row < made.rows; ++row) {
    std::vector<double> weights(made.classes, 0);
    std::vector<std::uint32_t> met;  // labels by their first member
    std::uint32_t depth = 1;
    double total = 0, sum = 0;
    for (std::uint32_t j = 0; j < made.k; ++j) {
      const std::uint32_t index = made.indices[std::size_t{row} * made.k + j];
      if (index == made.missing()) break;
      const bool is_new = index >= made.trained;
      const std::uint32_t label = is_new ? expected.labels[index - made.trained] : made.labels[index];
      if (is_new) depth = std::max(depth, depths[index - made.trained] + 1);
      if (std::find(met.begin(), met.end(), label) == met.end()) met.push_back(label);
      const double weight = weight_of(made, row, j);
      weights[label] += weight;
      total += weight;
      if (!is_new) sum += weight * made.values[index];
    }
    std::uint32_t winner = met.front();
    for (const std::uint32_t label : met) {
      const bool wins_tie = made.ties == apps::Ties::lowest    ? label < winner
                            : made.ties == apps::Ties::highest ? label > winner
                                                               : false;
      if (weights[label] > weights[winner] || (weights[label] == weights[winner] && wins_tie)) winner = label;
    }
    expected.labels.push_back(winner);
    expected.means.push_back(sum / total);
    for (const double weight : weights) expected.shares.push_back(weight / total);
    depths.push_back(depth);
    expected.depth = std::max(expected.depth, depth);
  }
  return expected;
}

struct Launch {
  std::uint32_t blocks = 1, threads = 64;
  Residence residence = Residence::all_together;
  std::uint32_t parts = 1;
  bool by_warps = false;
  std::uint32_t most_depth = ~0u;  ///< then the host goes on
};

/// The labels that the kernels find, part by part; the shares too, if there is room for them.
template <typename T>
Expected run_kernels(const MadeUp<T>& made, const Launch& launch, bool wants_shares) {
  constexpr std::uint64_t kNone = ~std::uint64_t{0};
  Expected got;
  got.labels.assign(made.rows, 0xabababab);
  if (wants_shares) got.shares.assign(std::size_t{made.rows} * made.classes, -7);
  std::vector<std::uint64_t> found(made.rows, cuda::FoundLabel::kNotYet);
  cuda::LabelReport report{kNone, kNone, 0};
  const std::uint32_t per_part = (made.rows + launch.parts - 1) / launch.parts;
  for (std::uint32_t first = 0; first < made.rows; first += per_part) {
    const std::uint32_t count = std::min(per_part, made.rows - first);
    std::uint32_t ticket = 0;
    std::vector<std::uint32_t> scratch(std::size_t{launch.blocks} * cuda::kVoteWarps * made.k);
    const cuda::KnownLabels known{made.labels.data(), made.trained, made.is_sequential ? found.data() : nullptr};
    const cuda::VoteTask<T> task{.rows = made.part(first, count),
                                 .known = known,
                                 .first_row = first,
                                 .ties = core::TieRule(made.ties),
                                 .labels = got.labels.data(),
                                 .ticket = &ticket,
                                 .most_depth = launch.most_depth,
                                 .scratch = scratch.data(),
                                 .report = &report};
    if (launch.by_warps) {
      cuda::emulation::run_grid(launch.blocks, launch.threads, 0, launch.residence,
                                [&] { cuda::vote_by_warps<T>(task); });
    } else {
      cuda::emulation::run_grid(launch.blocks, launch.threads, cuda::vote_by_threads_bytes(made.k), launch.residence,
                                [&] { cuda::vote_by_threads<T>(task); });
    }
    if (report.depth >= launch.most_depth) {
      const auto begin = found.begin() + first;
      got.left += static_cast<std::uint32_t>(std::count(begin, begin + count, cuda::FoundLabel::kNotYet));
      report.depth = std::max(report.depth, cuda::label_rest(task.rows, known, first, task.ties));
      for (std::uint32_t row = first; row < first + count; ++row) {
        got.labels[row] = cuda::FoundLabel::label(found[row]);
      }
    }
    if (!wants_shares) continue;
    const cuda::ShareTask<T> shares{.rows = made.part(first, count),
                                    .known = known,
                                    .classes = made.classes,
                                    .shares = got.shares.data() + std::size_t{first} * made.classes};
    cuda::emulation::run_grid(2, cuda::kShareThreads, 0, Residence::one_by_one,
                              [&] { cuda::share_weights<T>(shares); });
  }
  EXPECT_EQ(report.first_empty, kNone);
  got.depth = report.depth;
  return got;
}

template <typename T>
class EmulatedLabels : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(EmulatedLabels, Types);

TYPED_TEST(EmulatedLabels, EqualThePlainLoop) {
  using T = TypeParam;
  for (std::uint64_t seed = 0; seed < 180; ++seed) {
    std::mt19937_64 random(seed);
    const auto chains = static_cast<Chains>(seed % static_cast<std::uint64_t>(Chains::count_of_kinds));
    MadeUp<T> made;
    made.k = seed % 3 == 0 ? 1 + below(random, 100) : 1 + below(random, 9);
    made.rows = 1 + below(random, made.k > 20 ? 70 : 200);
    made.trained = 1 + below(random, 40);
    made.classes = random() % 4 == 0 ? 1 + below(random, 1000) : 1 + below(random, 6);
    made.is_sequential = seed % 7 != 6;
    made.by_distance = random() % 2 == 0;
    made.ties = static_cast<apps::Ties>(random() % 3);
    made = make_up(made, chains, random);
    Launch launch{.blocks = 1 + below(random, 3),
                  .threads = random() % 2 == 0 ? 32u : 96u,
                  .residence = random() % 2 == 0 ? Residence::all_together : Residence::one_by_one,
                  .parts = 1 + below(random, 3),
                  .by_warps = made.k > cuda::kMostByThreads || random() % 3 == 0};
    if (made.is_sequential && !launch.by_warps && random() % 2 == 0) launch.most_depth = 1 + below(random, 20);
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", " << made.rows << " rows, k " << made.k << ", "
                                    << made.classes << " classes, chains " << static_cast<int>(chains));
    const Expected expected = plain_loop(made);
    const Expected got = run_kernels(made, launch, seed % 5 == 0);
    ASSERT_EQ(got.labels, expected.labels);
    ASSERT_EQ(got.depth, expected.depth);
    if (seed % 5 == 0) {
      ASSERT_EQ(got.shares, expected.shares);
    }
  }
}

/// The worst case: each depends on the one before, within warps and from warp to warp.
TEST(EmulatedLabelChains, AlongALine) {
  using T = float;
  for (const bool by_warps : {false, true}) {
    std::mt19937_64 random(5);
    MadeUp<T> made;
    made.rows = 2000;
    made.trained = 3;
    made.classes = 3;
    made = make_up(made, Chains::before, random);
    const Expected got = run_kernels(made, {.blocks = 2, .by_warps = by_warps}, false);
    EXPECT_EQ(got.labels, plain_loop(made).labels);
    EXPECT_EQ(got.depth, made.rows);
  }
}

TEST(EmulatedLabelChains, TheHostTakesOverAtAGivenDepth) {
  std::mt19937_64 random(6);
  for (const std::uint32_t k : {1u, 4u, 32u}) {
    for (const std::uint32_t parts : {1u, 3u}) {
      for (const Residence residence : {Residence::all_together, Residence::one_by_one}) {
        SCOPED_TRACE(testing::Message() << "k " << k << ", parts " << parts);
        MadeUp<double> made;
        made.rows = 3000;
        made.k = k;
        made.trained = 5;
        made.classes = 4;
        made.by_distance = true;
        made = make_up(made, Chains::before, random);
        const Launch launch{.blocks = 3, .threads = 96, .residence = residence, .parts = parts, .most_depth = 500};
        const Expected expected = plain_loop(made), got = run_kernels(made, launch, true);
        EXPECT_EQ(got.labels, expected.labels);
        EXPECT_EQ(got.shares, expected.shares);
        EXPECT_EQ(got.depth, made.rows);
        EXPECT_GT(got.left, 1500u);
        EXPECT_LE(got.left, 2500u);
      }
    }
  }
}

TYPED_TEST(EmulatedLabels, MeansEqualThePlainLoop) {
  using T = TypeParam;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    MadeUp<T> made;
    made.k = 1 + below(random, 50);
    made.rows = 1 + below(random, 300);
    made.trained = 1 + below(random, 100);
    made.is_sequential = false;
    made.by_distance = seed % 2 == 0;
    made = make_up(made, Chains::none, random);
    std::vector<double> means(made.rows);
    cuda::LabelReport report{~std::uint64_t{0}, ~std::uint64_t{0}, 0};
    const std::uint32_t half = made.rows / 2;
    for (const auto& [first, count] : {std::pair(0u, half), std::pair(half, made.rows - half)}) {
      const cuda::MeanTask<T> task{.rows = made.part(first, count),
                                   .values = made.values.data(),
                                   .first_row = first,
                                   .means = means.data(),
                                   .report = &report};
      cuda::emulation::run_grid(2, cuda::kMeanThreads, 0, Residence::one_by_one,
                                [&] { cuda::mean_of_values<T>(task); });
    }
    EXPECT_EQ(means, plain_loop(made).means);
    EXPECT_EQ(report.first_empty, ~std::uint64_t{0});
  }
}

/// What a query without neighbours gets does not matter, but it must be told of, and nothing may wait for it.
TYPED_TEST(EmulatedLabels, TheFirstEmptyListIsNamed) {
  using T = TypeParam;
  std::mt19937_64 random(8);
  for (const bool is_sequential : {false, true}) {
    MadeUp<T> made;
    made.k = 3;
    made.rows = 100;
    made.is_sequential = is_sequential;
    made = make_up(made, Chains::before, random);
    for (const std::uint32_t row : {90u, 37u, 64u}) std::fill_n(made.indices.data() + 3 * row, 3, made.missing());
    for (const bool by_warps : {false, true}) {
      std::vector<std::uint64_t> found(made.rows, cuda::FoundLabel::kNotYet);
      std::vector<std::uint32_t> labels(made.rows), scratch(1000);
      std::vector<double> means(made.rows);
      std::uint32_t ticket = 0;
      cuda::LabelReport report{~std::uint64_t{0}, ~std::uint64_t{0}, 0}, of_means = report;
      const cuda::VoteTask<T> task{.rows = made.part(0, made.rows),
                                   .known = {made.labels.data(), made.trained, is_sequential ? found.data() : nullptr},
                                   .labels = labels.data(),
                                   .ticket = &ticket,
                                   .scratch = scratch.data(),
                                   .report = &report};
      cuda::emulation::run_grid(1, 64, cuda::vote_by_threads_bytes(3), Residence::one_by_one,
                                [&] { by_warps ? cuda::vote_by_warps<T>(task) : cuda::vote_by_threads<T>(task); });
      EXPECT_EQ(report.first_empty, 37u);
      if (is_sequential) continue;
      const cuda::MeanTask<T> mean{
          .rows = task.rows, .values = made.values.data(), .means = means.data(), .report = &of_means};
      cuda::emulation::run_grid(1, cuda::kMeanThreads, 0, Residence::one_by_one,
                                [&] { cuda::mean_of_values<T>(mean); });
      EXPECT_EQ(of_means.first_empty, 37u);
    }
  }
}

TEST(EmulatedLabelChecks, TheFirstBadOneIsNamed) {
  std::vector<std::uint32_t> codes(1500, 6);
  std::vector<double> values(1500, 1e308);
  const auto first_bad = [&] {
    cuda::LabelReport of_codes{~std::uint64_t{0}, 0, 0}, of_values = of_codes;
    cuda::emulation::run_grid(2, cuda::kLookThreads, 0, Residence::one_by_one, [&] {
      cuda::look_for_bad(codes.data(), codes.size(), 7, &of_codes);
      cuda::look_for_bad(values.data(), values.size(), 0, &of_values);
    });
    return std::pair(of_codes.first_bad, of_values.first_bad);
  };
  constexpr std::uint64_t kNone = ~std::uint64_t{0};
  EXPECT_EQ(first_bad(), std::pair(kNone, kNone));
  codes[1400] = 7;
  values[1499] = std::numeric_limits<double>::infinity();
  EXPECT_EQ(first_bad(), std::pair(std::uint64_t{1400}, std::uint64_t{1499}));
  codes[888] = 0xffffffff;
  values[300] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(first_bad(), std::pair(std::uint64_t{888}, std::uint64_t{300}));
}

TEST(EmulatedLabelChecks, RowsAreNumbered) {
  std::vector<std::uint32_t> numbers(700);
  cuda::emulation::run_grid(2, cuda::kLookThreads, 0, Residence::one_by_one,
                            [&] { cuda::count_up(numbers.data(), numbers.size(), 40u); });
  for (std::uint32_t i = 0; i < 700; ++i) ASSERT_EQ(numbers[i], 40 + i);
}

}  // namespace
}  // namespace kith::test
