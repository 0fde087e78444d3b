// What the cover tree on the CPU needs to know of objects: how to measure many of them from one.
#pragma once

#include "core/cover_geometry.hpp"
#include "cpu/cover_tree/tuning.hpp"

#include <concepts>
#include <cstdint>
#include <span>

namespace kith::cpu {

/// Objects numbered from 0, and a metric. A `Value` orders objects by their distance from a query (squared for L2);
/// `metric` makes the true distance of it, rising with it. A `Query` is an object prepared to be measured from; it owns
/// memory and is used again. `Rows` are objects, possibly copied, in an order that is good for measuring many:
/// positions instead of numbers. All of it is thread-safe; the space outlives its Rows and Queries.
template <typename S>
concept Space = requires(const S& space, typename S::Query& query, const typename S::Rows& rows,
                         typename S::Value value, typename S::Value* values, std::uint32_t number,
                         std::span<const std::uint32_t> numbers, const typename S::Outside& outside) {
  requires std::same_as<typename S::Value, float> || std::same_as<typename S::Value, double>;
  { space.size() } -> std::same_as<std::uint32_t>;
  /// Prepares an object, or one from outside, as a query.
  space.ask(query, number);
  space.ask_outside(query, outside);
  /// The objects `numbers` as rows.
  { space.arrange(numbers, /*threads=*/1) } -> std::same_as<typename S::Rows>;
  /// The values of the rows at positions first .. first + count. In place of a value above `limit` any other above it
  /// may come.
  rows.measure(query, /*first=*/number, /*count=*/number, /*limit=*/value, values);
  { rows.memory_bytes() } -> std::same_as<std::uint64_t>;
  { space.metric(value) } -> std::same_as<double>;
  { space.rounding() } -> std::same_as<core::CoverRounding>;
  /// Whether two objects are the same, so that every query is equally far from both.
  { space.same(number, number) } -> std::same_as<bool>;
};

/// A space that can measure a few objects with many wherever they lie, so that no Rows of the many are needed.
template <typename S>
concept MeasuresFew = Space<S> && requires(const S& space, typename S::Few& few, std::span<const std::uint32_t> numbers,
                                           std::uint32_t count, typename S::Value* values, std::uint32_t* found) {
  /// Whether that pays: short objects are measured faster side by side.
  { space.prefers_few() } -> std::same_as<bool>;
  /// How many objects fit into a fast memory.
  { space.objects_at_hand() } -> std::same_as<std::uint32_t>;
  /// The few, at least one and at most kFew.
  few.set(space, numbers);
  /// Finds those of `count` objects, each with a limit, that one of the few is not beyond. Writes which they are,
  /// ascending, and for each of them kFew values; in place of one above the limit any other above it may come. Returns
  /// how many there are.
  { few.measure(numbers.data(), /*limits=*/values, count, found, values) } -> std::same_as<std::uint32_t>;
};

/// S::Few, where there is one.
template <Space S>
struct FewOf {
  struct Few {};
};
template <MeasuresFew S>
struct FewOf<S> {
  using Few = typename S::Few;
};

template <Space S>
bool prefers_few(const S& space) {
  if constexpr (MeasuresFew<S>) {
    return space.prefers_few();
  } else {
    return false;
  }
}

}  // namespace kith::cpu
