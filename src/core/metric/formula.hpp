// The step of a metric as a formula: written once, evaluated on numbers here, on the GPU by the same code, and on
// vectors by cpu/simd_reduced-inl.hpp, whose functions a compiler must know the instruction set of.
#pragma once

#include "core/arithmetic.hpp"
#include "core/host_device.hpp"

#include <type_traits>

namespace kith::core::formula {

struct Node {};
struct Sum : Node {};  ///< the reduced distance so far
struct X : Node {};    ///< a coordinate of the query
struct Y : Node {};    ///< the same coordinate of the point
struct Zero : Node {};
template <typename A, typename B>
struct Plus : Node {};
template <typename A, typename B>
struct Minus : Node {};
template <typename A, typename B>
struct Larger : Node {};
template <typename A>
struct Absolute : Node {};
/// a * b + c, rounded once.
template <typename A, typename B, typename C>
struct Fused : Node {};
/// core::relative_difference.
template <typename A, typename B>
struct RelativeDifference : Node {};
/// The power that the metric defines, by its member `power`.
template <typename A>
struct Power : Node {};

template <typename A>
concept IsFormula = std::is_base_of_v<Node, A>;

inline constexpr Sum sum;
inline constexpr X x;
inline constexpr Y y;
inline constexpr Zero zero;

template <IsFormula A, IsFormula B>
constexpr Plus<A, B> operator+(A, B) {
  return {};
}
template <IsFormula A, IsFormula B>
constexpr Minus<A, B> operator-(A, B) {
  return {};
}
template <IsFormula A, IsFormula B>
constexpr Larger<A, B> larger(A, B) {
  return {};
}
template <IsFormula A>
constexpr Absolute<A> absolute(A) {
  return {};
}
template <IsFormula A, IsFormula B, IsFormula C>
constexpr Fused<A, B, C> fused(A, B, C) {
  return {};
}
template <IsFormula A, IsFormula B>
constexpr RelativeDifference<A, B> relative_difference(A, B) {
  return {};
}
template <IsFormula A>
constexpr Power<A> power(A) {
  return {};
}

/// The values of formulas for numbers.
template <typename M, typename T>
struct OnNumbers {
  const M& metric;
  T sum, x, y;

  KITH_HOST_DEVICE T operator()(Sum) const { return sum; }
  KITH_HOST_DEVICE T operator()(X) const { return x; }
  KITH_HOST_DEVICE T operator()(Y) const { return y; }
  KITH_HOST_DEVICE T operator()(Zero) const { return T(0); }
  template <typename A, typename B>
  KITH_HOST_DEVICE T operator()(Plus<A, B>) const {
    return (*this)(A{}) + (*this)(B{});
  }
  template <typename A, typename B>
  KITH_HOST_DEVICE T operator()(Minus<A, B>) const {
    return (*this)(A{}) - (*this)(B{});
  }
  template <typename A, typename B>
  KITH_HOST_DEVICE T operator()(Larger<A, B>) const {
    return core::larger((*this)(A{}), (*this)(B{}));
  }
  template <typename A>
  KITH_HOST_DEVICE T operator()(Absolute<A>) const {
    return core::absolute((*this)(A{}));
  }
  template <typename A, typename B, typename C>
  KITH_HOST_DEVICE T operator()(Fused<A, B, C>) const {
    return fused_multiply_add((*this)(A{}), (*this)(B{}), (*this)(C{}));
  }
  template <typename A, typename B>
  KITH_HOST_DEVICE T operator()(RelativeDifference<A, B>) const {
    return core::relative_difference((*this)(A{}), (*this)(B{}));
  }
  template <typename A>
  KITH_HOST_DEVICE T operator()(Power<A>) const {
    return metric.power((*this)(A{}));
  }
};

}  // namespace kith::core::formula
