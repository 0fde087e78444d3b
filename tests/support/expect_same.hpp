// Compares results byte for byte and shows the first difference.
#pragma once

#include <kith/neighbors.hpp>

#include <gtest/gtest.h>

namespace kith::test {

template <typename Number>
void expect_same(const NeighborsOf<Number>& expected, const NeighborsOf<Number>& found) {
  ASSERT_EQ(expected.queries(), found.queries());
  ASSERT_EQ(expected.k(), found.k());
  ASSERT_EQ(expected.missing(), found.missing());
  ASSERT_EQ(expected.dtype(), found.dtype());
  if (expected == found) return;
  for (std::uint64_t q = 0; q < expected.queries(); ++q) {
    for (std::uint32_t j = 0; j < expected.k(); ++j) {
      ASSERT_EQ(expected.index(q, j), found.index(q, j)) << "query " << q << ", rank " << j;
      ASSERT_EQ(expected.distance(q, j), found.distance(q, j)) << "query " << q << ", rank " << j;
    }
  }
  FAIL() << "the results differ";
}

template <typename Number>
void expect_same(const NeighborListsOf<Number>& expected, const NeighborListsOf<Number>& found) {
  ASSERT_EQ(expected.queries(), found.queries());
  ASSERT_EQ(expected.points(), found.points());
  ASSERT_EQ(expected.dtype(), found.dtype());
  if (expected == found) return;
  for (std::uint64_t q = 0; q < expected.queries(); ++q) {
    ASSERT_EQ(expected.count(q), found.count(q)) << "query " << q;
    for (std::uint64_t j = 0; j < expected.count(q); ++j) {
      ASSERT_EQ(expected.index(q, j), found.index(q, j)) << "query " << q << ", rank " << j;
      ASSERT_EQ(expected.distance(q, j), found.distance(q, j)) << "query " << q << ", rank " << j;
    }
  }
  FAIL() << "the results differ";
}

template <typename Number>
void expect_same(const PointListsOf<Number>& expected, const PointListsOf<Number>& found) {
  ASSERT_EQ(expected.size(), found.size());
  ASSERT_EQ(expected.points(), found.points());
  if (expected == found) return;
  for (std::uint64_t q = 0; q < expected.size(); ++q) {
    ASSERT_EQ(expected.count(q), found.count(q)) << "list " << q;
    for (std::uint64_t j = 0; j < expected.count(q); ++j) {
      ASSERT_EQ(expected.index(q, j), found.index(q, j)) << "list " << q << ", place " << j;
    }
  }
  FAIL() << "the results differ";
}

}  // namespace kith::test
