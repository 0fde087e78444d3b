// The split of a list with a candidate for each thread where cells refine ties: the one of its rank by the super-key.
#include "cuda/emulation/grid.hpp"
#include "cuda/kd_tree/build/ties/tied_own.cuh"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

namespace kith::test {
namespace {

using namespace kith::cuda;

/// Points that are all candidates of one node, and the values of their dimensions that tables know.
template <typename T>
struct Candidates {
  std::uint32_t dims = 3;
  std::vector<T> rows;
  std::vector<std::uint32_t> numbers;
  std::vector<std::vector<T>> known;              ///< by dimension; empty: it has no table
  std::uint64_t points = std::uint64_t{1} << 20;  ///< in all

  std::uint32_t count() const { return static_cast<std::uint32_t>(numbers.size()); }
  T at(std::uint32_t i, std::uint32_t d) const { return rows[i * dims + d]; }

  /// Whether a comes before b by the super-key of dimension `dim`.
  bool precedes(std::uint32_t a, std::uint32_t b, std::uint32_t dim) const {
    for (std::uint32_t stage = 0; dim < dims && stage < dims; ++stage) {
      const std::uint32_t d = (dim + stage) % dims;
      if (at(a, d) != at(b, d)) return at(a, d) < at(b, d);
    }
    return numbers[a] < numbers[b];
  }
  std::uint32_t of_rank(std::uint32_t rank, std::uint32_t dim) const {
    std::vector<std::uint32_t> order(count());
    std::iota(order.begin(), order.end(), 0u);
    std::nth_element(order.begin(), order.begin() + rank, order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return precedes(a, b, dim); });
    return order[rank];
  }
};

template <typename T>
struct TiedSplit {
  std::uint32_t ranked = 0;  ///< threads that were told that it is found
  std::uint32_t place = 0;
  T value = 0;
  std::vector<bool> are_right;
};

template <typename T>
TiedSplit<T> find_split(const Candidates<T>& c, std::uint32_t dim, std::uint32_t rank) {
  GroupParameters<T> p;
  p.shape.dims = c.dims;
  p.shape.geometry.points = c.points;
  p.source = {c.rows.data(), c.dims, 1, c.numbers.data()};
  std::vector<T> tables(c.dims * kTableValues);
  TiedCells<T> ties{};
  for (std::uint32_t d = 0; d < c.dims; ++d) {
    // The range of the segment leaves the first value of a table out, if there are some more.
    ties.first[d] = c.known[d].size() > 3 ? 1 : 0;
    ties.count[d] = static_cast<std::uint16_t>(c.known[d].size() - ties.first[d]);
    std::copy(c.known[d].begin(), c.known[d].end(), tables.begin() + d * kTableValues);
  }
  p.tables = tables.data();
  p.ties = &ties;
  SplitNode<T> node;
  node.median.dim = dim;
  node.candidates = c.count();
  node.needed = rank;
  const StepLayout<T> layout(c.dims, 0, false, kStepThreads);
  TiedSplit<T> found;
  found.are_right.resize(c.count());
  emulation::run_grid(1, kStepThreads, layout.bytes, emulation::Residence::one_by_one, [&] {
    StepTask task(0, 1);
    begin_step<T>(p);
    OwnCandidate<T> own;
    std::uint32_t number = 0;
    if (thread_number() < c.count()) {
      own.place = thread_number();
      own.key = component_key(p.source, c.dims, own.place, dim, dim < c.dims ? 0 : c.dims);
      for (std::uint32_t d = 0; d < c.dims; ++d) own.values[d] = c.at(own.place, d);
      number = c.numbers[own.place];
    }
    stage_ties(p, 0, layout.ties);
    store_candidate(p, own);
    if (thread_number() == 0) {
      step_node<T>() = node;
      step_shared().is_tied = 1;
    }
    wait_for_copies();
    sync_block();
    task.complete(p);
    TiedOwn<T> tied;
    if (!find_tied_split(p, task, own, number, tied)) return;
    ++found.ranked;
    if (thread_number() < c.count()) found.are_right[own.place] = !(tied.rank < step_shared().split_key);
    const Selected<T> split(c.dims, task.dim);
    found.place = split.place;
    found.value = split.value;
  });
  return found;
}

template <typename T>
class TiedOwnRanks : public testing::Test {
 protected:
  /// Values 0.5, 1, 1.5 and so on.
  static std::vector<T> table(std::uint32_t values) {
    std::vector<T> all(values);
    for (std::uint32_t i = 0; i < values; ++i) all[i] = static_cast<T>(i + 1) / 2;
    return all;
  }
  template <typename Value>
  Candidates<T> candidates(std::uint32_t count, const std::vector<std::vector<T>>& known, Value&& value) {
    Candidates<T> c;
    c.dims = static_cast<std::uint32_t>(known.size());
    c.known = known;
    for (std::uint32_t i = 0; i < count; ++i) {
      for (std::uint32_t d = 0; d < c.dims; ++d) c.rows.push_back(static_cast<T>(value(i, d)));
      c.numbers.push_back(i * 1021 + 5);
    }
    std::shuffle(c.numbers.begin(), c.numbers.end(), random_);
    return c;
  }
  double unit() { return std::uniform_real_distribution<double>(0, 1)(random_); }
  std::uint32_t below(std::uint32_t end) { return static_cast<std::uint32_t>(random_() % end); }
  /// One of them, in the range of the segment.
  T known_value(std::uint32_t values) {
    const std::uint32_t first = values > 3 ? 1 : 0;
    return static_cast<T>(first + below(values - first) + 1) / 2;
  }

  static void expect_ranks(const Candidates<T>& c) {
    for (std::uint32_t dim = 0; dim <= c.dims; ++dim) {
      for (const std::uint32_t rank : {0u, c.count() / 7, c.count() / 3, c.count() / 2, c.count() - 1}) {
        SCOPED_TRACE(testing::Message() << c.count() << " candidates, dimension " << dim << ", rank " << rank);
        const TiedSplit<T> found = find_split(c, dim, rank);
        ASSERT_EQ(found.ranked, kStepThreads);
        const std::uint32_t expected = c.of_rank(rank, dim);
        ASSERT_EQ(found.place, expected);
        ASSERT_EQ(found.value, dim < c.dims ? c.at(expected, dim) : static_cast<T>(c.numbers[expected]));
        for (std::uint32_t i = 0; i < c.count(); ++i) {
          ASSERT_EQ(found.are_right[i], !c.precedes(i, expected, dim)) << "candidate " << i;
        }
      }
    }
  }

  std::mt19937_64 random_{11};
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(TiedOwnRanks, Types);

TYPED_TEST(TiedOwnRanks, FindsTheOneOfAnyRankInGrids) {
  for (const std::uint32_t count : {1u, 2u, 40u, kFewCandidates, kFewCandidates + 1, 500u, kStepThreads}) {
    this->expect_ranks(
        this->candidates(count, {3, this->table(32)}, [&](auto, auto) { return this->known_value(32); }));
  }
}

TYPED_TEST(TiedOwnRanks, AnyNumberOfDimensions) {
  for (std::uint32_t dims = 1; dims <= kOwnDims; ++dims) {
    for (const std::uint32_t values : {2u, kTableValues}) {
      SCOPED_TRACE(testing::Message() << dims << " dims, " << values << " values");
      this->expect_ranks(this->candidates(300, {dims, this->table(values)}, [&](auto, auto d) {
        return d == 0 ? TypeParam(1) : this->known_value(values);
      }));
    }
  }
}

TYPED_TEST(TiedOwnRanks, SortedCandidates) {
  this->expect_ranks(this->candidates(1000, {3, this->table(11)}, [](auto i, auto d) {
    return 0.5 * ((d == 0 ? i / 100 : d == 1 ? i / 10 : i) % 10 + 2);
  }));
}

/// Between the values of a table, on both sides of all of them, and both zeros.
TYPED_TEST(TiedOwnRanks, ValuesThatNoTableHas) {
  for (const std::uint32_t count : {100u, 700u}) {
    this->expect_ranks(this->candidates(count, {3, this->table(9)}, [&](auto i, auto d) {
      if (i < 2 && d == 0) return i == 0 ? 0.0 : -0.0;
      return this->below(d == 0 ? 10 : 2) > 0 ? static_cast<double>(this->known_value(9)) : 8 * this->unit() - 2;
    }));
  }
}

TYPED_TEST(TiedOwnRanks, SomeDimensionsWithoutTables) {
  for (std::uint32_t tabled = 1; tabled < 7; ++tabled) {
    SCOPED_TRACE(testing::Message() << "tables " << tabled);
    std::vector<std::vector<TypeParam>> known(3);
    for (std::uint32_t d = 0; d < 3; ++d) {
      if ((tabled >> d & 1) != 0) known[d] = this->table(4);
    }
    this->expect_ranks(this->candidates(400, known, [&](auto, auto d) {
      return (tabled >> d & 1) != 0 ? static_cast<double>(this->known_value(4)) : this->unit() - 0.5;
    }));
  }
}

/// Equal as far as ranks tell, and more of them than can be told apart otherwise: then nothing is found.
TYPED_TEST(TiedOwnRanks, FindsNoSplitThatOthersMayBeEqualTo) {
  for (const std::uint32_t count : {100u, 400u}) {
    // Coordinates without tables, all equal: there is no room for the numbers.
    const auto c = this->candidates(count, {{}, {}, {}, this->table(3)}, [](auto, auto) { return 0.25; });
    EXPECT_EQ(find_split(c, 0, count / 2).ranked, 0u) << count;
    EXPECT_EQ(find_split(c, c.dims, count / 2).ranked, kStepThreads) << count;
  }
}

}  // namespace
}  // namespace kith::test
