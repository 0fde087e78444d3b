// The read passes: kernels that count the points of each segment's nodes at one level in histograms in shared memory.
//
// Pass 0 counts every dimension, because the tight box that decides between them is found in the same pass. Pass l
// first sorts each point to the half of its node in which its bin lies; points in the bin of the median itself become
// candidates, and stay with their node until the next pass, when its split is known exactly.
#pragma once

#include "cuda/kd_tree/found_candidates.cuh"
#include "cuda/kd_tree/node_samples.cuh"
#include "cuda/kd_tree/super_key.cuh"

namespace kith::cuda {

/// Fills the tables for pass `level`; level 1 has no exact splits above, the last one no children. The block meets.
/// True if a node tells its points apart by their numbers.
template <typename T>
__device__ __forceinline__ bool load_tables(const GroupParameters<T>& p, std::uint32_t segment, std::uint32_t level) {
  constexpr std::uint32_t kMost = NodeTables<T>::kMost;
  static_assert(3 * kMost <= kPassThreads && kMost % kWarp == 0);
  NodeTables<T>& tables = node_tables<T>();
  const std::uint32_t t = thread_number() % kMost, dims = p.shape.dims, parents = 1u << (level - 1);
  const std::uint64_t base = std::uint64_t{segment} * kHeap;
  bool uses_numbers = false;
  if (thread_number() < kMost) {  // a warp for each of three levels
    if (t < parents) {
      const SplitNode<T>& node = p.nodes[base + parents + t];
      tables.set_parent(t, node);
      uses_numbers = node.median.dim == dims;
    }
  } else if (thread_number() < 2 * kMost) {
    if (t < 2 * parents && level < p.levels) {
      const CountedBins& counted = p.counted[base + 2 * parents + t];
      tables.set_child(t, counted);
      uses_numbers = counted.slots[0].dim == dims || (counted.used > 1 && counted.slots[1].dim == dims);
    }
  } else if (thread_number() < 3 * kMost) {
    if (t < parents / 2) {
      const SplitNode<T>& node = p.nodes[base + parents / 2 + t];
      tables.exact[t] = {node.split_value, node.median.dim, node.split_place};
    }
  }
  return any_thread(uses_numbers);
}

/// How coordinates lie in memory, as far as the compiler may know it.
enum class Layout : std::uint8_t {
  any,      ///< strides and dims are known at run time only
  rows,     ///< point by point, side by side, aligned to 16 bytes
  columns,  ///< dimension by dimension, side by side, each aligned to 16 bytes
};

/// Points that lie side by side and are the work of one thread: a vector of 16 bytes of each coordinate.
template <typename T>
inline constexpr std::uint32_t kTogether = 16 / sizeof(T);

/// Some values at once; the address is a multiple of their size.
template <std::uint32_t kCount, typename V>
__device__ __forceinline__ void load_vector(const V* from, V (&to)[kCount]) {
  struct alignas(kCount * sizeof(V)) Vector {
    V values[kCount];
  };
  const Vector vector = *reinterpret_cast<const Vector*>(from);
#pragma unroll
  for (std::uint32_t i = 0; i < kCount; ++i) to[i] = vector.values[i];
}

template <std::uint32_t kCount, typename V>
__device__ __forceinline__ void store_vector(V* to, const V (&from)[kCount]) {
  struct alignas(kCount * sizeof(V)) Vector {
    V values[kCount];
  };
  Vector vector;
#pragma unroll
  for (std::uint32_t i = 0; i < kCount; ++i) vector.values[i] = from[i];
  *reinterpret_cast<Vector*>(to) = vector;
}

/// Neighbouring points of one thread. Few coordinates are all loaded at once, before it is known which ones are needed;
/// of many only the ones that are.
template <typename T, std::uint32_t kDims, Layout kLayout>
class LoadedPoints {
 public:
  static constexpr std::uint32_t kEach = kTogether<T>;

  /// `first` is a multiple of kEach. Only the points in [low, end) are there; `kWhole`: all are.
  template <bool kWhole>
  __device__ __forceinline__ void load(const PointSource<T>& source, std::uint32_t first, std::uint32_t low,
                                       std::uint32_t end) {
    if constexpr (kLayout == Layout::any) {
      stride_ = static_cast<std::uint32_t>(source.row_stride);
      dim_stride_ = source.dim_stride;
      row_ = source.values + std::uint64_t{first} * stride_;
    } else if constexpr (kWhole && kLayout == Layout::rows) {
      T flat[kDims][kEach];
#pragma unroll
      for (std::uint32_t v = 0; v < kDims; ++v) {
        load_vector(source.values + std::uint64_t{first} * kDims + v * kEach, flat[v]);
      }
#pragma unroll
      for (std::uint32_t d = 0; d < kDims; ++d) {
#pragma unroll
        for (std::uint32_t k = 0; k < kEach; ++k) {
          values_[d][k] = flat[(k * kDims + d) / kEach][(k * kDims + d) % kEach];
        }
      }
    } else if constexpr (kWhole) {
#pragma unroll
      for (std::uint32_t d = 0; d < kDims; ++d) load_vector(source.values + d * source.dim_stride + first, values_[d]);
    } else {
#pragma unroll
      for (std::uint32_t d = 0; d < kDims; ++d) {
#pragma unroll
        for (std::uint32_t k = 0; k < kEach; ++k) {
          if (first + k >= low && first + k < end) values_[d][k] = source.at(first + k, d);
        }
      }
    }
  }

  __device__ __forceinline__ T at(std::uint32_t k, std::uint32_t d) const {
    if constexpr (kLayout == Layout::any) {
      return row_[std::uint64_t{k} * stride_ + d * dim_stride_];
    } else {
      T value = values_[0][k];
#pragma unroll
      for (std::uint32_t e = 1; e < kDims; ++e) value = d == e ? values_[e][k] : value;
      return value;
    }
  }

 private:
  const T* row_;
  std::uint32_t stride_;
  std::uint64_t dim_stride_;
  T values_[kDims > 0 ? kDims : 1][kEach];
};

/// The cells of neighbouring points of one thread, and their nodes: on their way while others are counted. Few
/// dimensions are all loaded at once; of many only the ones that are needed, when they are.
template <typename T, std::uint32_t kDims>
class LoadedCells {
 public:
  static constexpr std::uint32_t kEach = 4;

  /// `first` is a multiple of kEach. Only the points in [low, end) are there.
  __device__ __forceinline__ void load(const GroupParameters<T>& p, std::uint32_t first, std::uint32_t low,
                                       std::uint32_t end, bool has_heaps) {
    const bool is_whole = first >= low && first < end && end - first >= kEach;
    if (is_whole) {
      if constexpr (kDims > 0) {
#pragma unroll
        for (std::uint32_t d = 0; d < kDims; ++d) load_vector(words_of(p, d, first), words_[d]);
      }
      if (has_heaps) heaps_ = *reinterpret_cast<const std::uint32_t*>(p.heap + first);
      return;
    }
#pragma unroll
    for (std::uint32_t k = 0; k < kEach; ++k) {
      if (first + k < low || first + k >= end) continue;
      if constexpr (kDims > 0) {
#pragma unroll
        for (std::uint32_t d = 0; d < kDims; ++d) {
          const std::uint32_t cell = p.cells(d)[first + k];
          words_[d][k / 2] = permute_bytes(words_[d][k / 2], cell, k % 2 == 0 ? 0x3254 : 0x5410);
        }
      }
      if (has_heaps) heaps_ = (heaps_ & ~(0xffu << (8 * k))) | std::uint32_t{p.heap[first + k]} << (8 * k);
    }
  }

  /// The nodes, a byte each.
  __device__ __forceinline__ std::uint32_t heaps() const { return heaps_; }

  /// The cell of point k, which lies at `place`, in the dimension of a pick.
  __device__ __forceinline__ std::uint32_t at(const GroupParameters<T>& p, std::uint32_t place, std::uint32_t k,
                                              std::uint32_t pick) const {
    if constexpr (kDims == 0) {
      return p.cells(NodeTables<T>::dim_of(pick))[place];
    } else {
      const auto both = [&](std::uint32_t d) {
        return permute_bytes(words_[d][k / 2], words_[d + 1][k / 2], k % 2 == 0 ? 0x5410 : 0x7632);
      };
      if constexpr (kDims == 2) return permute_bytes(both(0), 0, pick);
      if constexpr (kDims == 3) {
        return permute_bytes(both(0), k % 2 == 0 ? words_[2][k / 2] & 0xffff : words_[2][k / 2] >> 16, pick);
      }
      if constexpr (kDims == 4) return permute_bytes(both(0), both(2), pick) & 0xffff;
    }
  }

 private:
  __device__ __forceinline__ static const std::uint32_t* words_of(const GroupParameters<T>& p, std::uint32_t d,
                                                                  std::uint32_t first) {
    return reinterpret_cast<const std::uint32_t*>(p.cells(d) + first);
  }

  std::uint32_t words_[kDims > 0 ? kDims : 1][kEach / 2] = {};
  std::uint32_t heaps_ = 0;
};

/// The parent of a point in pass `level`: known, or decided by the exact split of the node above it.
template <typename T>
__device__ __forceinline__ std::uint32_t decided_heap(const GroupParameters<T>& p, std::uint32_t parents,
                                                      std::uint32_t place, std::uint32_t heap) {
  if (heap >= parents) return heap;
  const auto& exact = node_tables<T>().exact[heap - parents / 2];
  return 2 * heap + (is_right_of(p.source, p.shape.dims, place, exact.dim, exact.value, exact.place) ? 1 : 0);
}
/// The same for four points from `place` on, of which those of `inside` are there, a bit each.
template <typename T>
__device__ __forceinline__ std::uint32_t decided_heaps(const GroupParameters<T>& p, std::uint32_t parents,
                                                       std::uint32_t place, std::uint32_t heaps, std::uint32_t inside) {
  const std::uint32_t dims = p.shape.dims;
  T x[4];
#pragma unroll
  for (std::uint32_t k = 0; k < 4; ++k) {  // all are on their way before the first is compared
    const std::uint32_t heap = heaps >> (8 * k) & 0xff;
    if ((inside >> k & 1) == 0 || heap >= parents) inside &= ~(1u << k);
    x[k] = 0;
    if ((inside >> k & 1) == 0) continue;
    const std::uint32_t dim = node_tables<T>().exact[heap - parents / 2].dim;
    if (dim < dims) x[k] = p.source.at(place + k, dim);
  }
#pragma unroll
  for (std::uint32_t k = 0; k < 4; ++k) {
    if ((inside >> k & 1) == 0) continue;
    const std::uint32_t heap = heaps >> (8 * k) & 0xff;
    const auto& exact = node_tables<T>().exact[heap - parents / 2];
    const bool is_right = exact.dim < dims && x[k] != exact.value
                              ? x[k] > exact.value
                              : is_not_before(p.source, dims, place + k, exact.place, exact.dim, 1);
    heaps = (heaps & ~(0xffu << (8 * k))) | (2 * heap + (is_right ? 1 : 0)) << (8 * k);
  }
  return heaps;
}

/// Adds what this block counted to what all blocks of its segment count. A segment's only block need not add.
template <typename T>
__device__ void flush_counters(const GroupParameters<T>& p, std::uint32_t segment, const std::uint32_t* counters,
                               std::uint32_t used) {
  std::uint32_t* all = p.histogram + std::uint64_t{segment} * p.segment_counters;
  if (p.parts == 1) {
    for (std::uint32_t i = thread_number(); i < used; i += threads_per_block()) all[i] = counters[i];
    return;
  }
  // Two counters at a time: none reaches 2^32.
  auto* pairs = reinterpret_cast<std::uint64_t*>(all);
  const auto* own = reinterpret_cast<const std::uint64_t*>(counters);
  for (std::uint32_t i = thread_number(); i < (used + 1) / 2; i += threads_per_block()) {
    if (own[i] != 0) atomic_add(&pairs[i], own[i]);
  }
}

/// About how far all points reach: one row for each thread of the grid.
template <typename T>
__global__ void __launch_bounds__(kPassThreads) sample_range(const __grid_constant__ GroupParameters<T> p) {
  using Key = OrderedKey<T>;
  start_next();
  wait_for_previous();
  const std::uint64_t points = p.shape.geometry.points;
  const std::uint64_t number = std::uint64_t{block_number()} * threads_per_block() + thread_number();
  const std::uint64_t samples = std::uint64_t{blocks_in_grid()} * threads_per_block();
  const std::uint64_t place = points <= samples ? number : number * points / samples;
  for (std::uint32_t d = 0; d < p.shape.dims; ++d) {
    const Key key = place < points ? ordered_key(p.source.at(place, d)) : 0;
    const Key least = min_of_warp(place < points ? key : static_cast<Key>(~Key{0})), greatest = max_of_warp(key);
    if (lane_number() == 0 && greatest != 0) {
      if (static_cast<Key>(~least) > load_fresh(&p.sampled[d])) atomic_max(&p.sampled[d], static_cast<Key>(~least));
      Key* upper = &p.sampled[p.shape.dims + 1 + d];
      if (greatest > load_fresh(upper)) atomic_max(upper, greatest);
    }
  }
}

/// Whether the ranges say that all points of a segment may be equal: then their numbers are counted too.
template <typename T>
__device__ bool counts_numbers(const GroupParameters<T>& p, std::uint32_t segment) {
  bool is_wide = false;
  for (std::uint32_t d = 0; d < p.shape.dims; ++d) {
    is_wide = is_wide || range_side(p, segment, d, true) > range_side(p, segment, d, false);
  }
  return !is_wide;
}

/// The shared memory of pass 0: counters, the tight box, how every dimension is cut into cells.
template <typename T>
KITH_HOST_DEVICE std::size_t root_shared_bytes(std::uint32_t dims) {
  return 4 * kCounters +
         (2 * sizeof(OrderedKey<T>) + sizeof(CellScale<T>) + sizeof(CellBins)) * (std::size_t{dims} + 1);
}

/// Pass 0: the cells of all points, histograms [dimension][bin] and the tight box.
template <typename T, std::uint32_t kDims, Layout kLayout>
__global__ void __launch_bounds__(kPassThreads, 2) count_root(const __grid_constant__ GroupParameters<T> p) {
  using Key = OrderedKey<T>;
  constexpr std::uint32_t kEach = kTogether<T>, kTile = kEach * kPassThreads;
  const std::uint32_t dims = kDims > 0 ? kDims : p.shape.dims, bins = bins_at(0, dims, p.most_bins);
  auto* counters = reinterpret_cast<std::uint32_t*>(shared_memory());
  auto* tight = reinterpret_cast<Key*>(counters + kCounters);
  auto* scales = reinterpret_cast<CellScale<T>*>(tight + 2 * (dims + 1));
  auto* bins_of = reinterpret_cast<CellBins*>(scales + dims + 1);
  for (std::uint32_t i = thread_number(); i < (dims + 1) * bins; i += kPassThreads) counters[i] = 0;
  for (std::uint32_t i = thread_number(); i < 2 * (dims + 1); i += kPassThreads) tight[i] = 0;
  start_next();
  wait_for_previous();
  const SegmentSlice slice = slice_of(p, block_number() / p.parts, block_number() % p.parts, p.parts);
  const auto first = static_cast<std::uint32_t>(slice.first), end = static_cast<std::uint32_t>(slice.end);
  const auto segment_first = static_cast<std::uint32_t>(p.shape.geometry.first(p.first_level, slice.segment));
  const bool are_numbers_counted = counts_numbers(p, slice.segment);
  for (std::uint32_t d = thread_number(); d <= dims; d += kPassThreads) {
    scales[d] = cell_scale(p, slice.segment, d);
    bins_of[d] = root_bins(p, slice.segment, d, scales[d], bins);
  }
  sync_block();
  const auto join_tight = [&](std::uint32_t d, T low, T high, T spoilt) {
    // What is not finite makes the sum of zeros NaN, and NaN is above all.
    Key least = ordered_key(low), greatest = ordered_key(high);
    if (!(spoilt == T(0))) greatest = static_cast<Key>(~Key{0});
    least = min_of_warp(least);
    greatest = max_of_warp(greatest);
    if (lane_number() == 0) {
      atomic_max(&tight[d], static_cast<Key>(~least));
      atomic_max(&tight[dims + 1 + d], greatest);
    }
  };
  // Whole tiles need no conditions.
  const auto count_tile = [&](std::uint32_t own, auto is_whole) {
    constexpr bool kWhole = decltype(is_whole)::value;
    LoadedPoints<T, kDims, kLayout> points;
    points.template load<kWhole>(p.source, own, first, end);
    if (kWhole && p.sample_shift > 0) {
      const std::uint32_t sample = sample_at(p, segment_first, own);
      if (sample != kNoSample) {
        note_sample(p, slice.segment, sample, 1);
        T* values = p.sample_values + std::uint64_t{slice.segment} * dims * kSamples + sample;
        for (std::uint32_t d = 0; d < dims; ++d) values[d * kSamples] = points.at(0, d);
      }
    }
    const auto count_column = [&](std::uint32_t d) {
      const CellScale<T> scale = scales[d];
      const CellBins own_bins = bins_of[d];
      std::uint32_t* counts = counters + d * bins;
      std::uint16_t cells[kEach];
      T x[kEach];
      bool is_there[kEach];
      T known = 0;
      bool is_any_there = false;
#pragma unroll
      for (std::uint32_t k = 0; k < kEach; ++k) {
        is_there[k] = kWhole || (own + k >= first && own + k < end);
        if (is_there[k]) x[k] = d < dims ? points.at(k, d) : static_cast<T>(p.source.index(own + k));
        if (is_there[k]) known = x[k];
        is_any_there = is_any_there || is_there[k];
      }
      T low = known, high = known, spoilt = 0;
#pragma unroll
      for (std::uint32_t k = 0; k < kEach; ++k) {
        if (is_there[k]) {
          low = x[k] < low ? x[k] : low;
          high = x[k] > high ? x[k] : high;
          spoilt += x[k] * T(0);
          const std::uint32_t cell = cell_of(scale, x[k]);
          cells[k] = static_cast<std::uint16_t>(cell);
          atomic_add(counts + bin_of(own_bins, cell), 1u);
          if (!kWhole && d < dims) p.cells(d)[own + k] = cells[k];
        }
      }
      if (kWhole && d < dims) store_vector(p.cells(d) + own, cells);
      sync_warp();
      if (!kWhole) {  // lanes without a point take another's
        const std::uint32_t lanes = ballot(is_any_there);
        if (lanes == 0) return;
        const T other_low = shuffle(low, lowest_bit(lanes)), other_high = shuffle(high, lowest_bit(lanes));
        if (!is_any_there) {
          low = other_low;
          high = other_high;
        }
      }
      join_tight(d, low, high, spoilt);
    };
    if constexpr (kDims > 0) {
#pragma unroll
      for (std::uint32_t d = 0; d < kDims; ++d) count_column(d);
    } else {
      for (std::uint32_t d = 0; d < dims; ++d) count_column(d);
    }
    if (are_numbers_counted) count_column(dims);
  };
  for (std::uint32_t tile = first / kEach * kEach; tile < end; tile += kTile) {
    const std::uint32_t own = tile + thread_number() * kEach;
    if (tile >= first && end - tile >= kTile) {
      count_tile(own, std::true_type{});
    } else {
      count_tile(own, std::false_type{});
      if (end - tile <= kTile) break;
    }
  }
  sync_block();
  flush_counters(p, slice.segment, counters, (dims + 1) * bins);
  Key* box = p.tight + std::uint64_t{slice.segment} * 2 * (dims + 1);
  for (std::uint32_t i = thread_number(); i < 2 * (dims + 1); i += kPassThreads) {
    if (tight[i] != 0) atomic_max(&box[i], tight[i]);
  }
}

/// So many candidates may a warp find before it puts them into lists.
template <typename T>
inline constexpr std::uint32_t kRoomInPass = 128;

template <typename T>
KITH_HOST_DEVICE std::size_t level_shared_bytes() {
  return behind_found<T, kRoomInPass<T>>(kPassThreads) + 4 * (kCounters + kWarp);
}

/// Pass l >= 1: histograms [child][slot][bin].
template <typename T, std::uint32_t kDims>
__global__ void __launch_bounds__(kPassThreads, 2)
    count_level(const __grid_constant__ GroupParameters<T> p, std::uint32_t level) {
  using Loaded = LoadedCells<T, kDims>;
  constexpr std::uint32_t kEach = Loaded::kEach, kTile = kEach * kPassThreads, kRoom = kRoomInPass<T>;
  const NodeTables<T>& tables = node_tables<T>();
  auto* counters = reinterpret_cast<std::uint32_t*>(shared_memory() + behind_found<T, kRoom>(kPassThreads));
  const std::uint32_t parents = 1u << (level - 1), all_parents = parents * 0x01010101u, dims = p.shape.dims;
  const std::uint32_t bins = bins_at(level, dims, p.most_bins);
  for (std::uint32_t i = thread_number(); i < 4 * parents * bins; i += kPassThreads) counters[i] = 0;
  start_next();
  wait_for_previous();
  if (*p.refused != 0) return;
  const SegmentSlice slice = slice_of(p, block_number() / p.parts, block_number() % p.parts, p.parts);
  const auto first = static_cast<std::uint32_t>(slice.first), end = static_cast<std::uint32_t>(slice.end);
  const std::uint32_t first_tile = first / kEach * kEach;
  Loaded next;
  next.load(p, first_tile + thread_number() * kEach, first, end, level > 1);
  const auto segment_first = static_cast<std::uint32_t>(p.shape.geometry.first(p.first_level, slice.segment));
  const bool notes_samples = is_uneven(p, slice.segment), uses_numbers = load_tables(p, slice.segment, level);
  CellScale<T> number_scale;
  if (uses_numbers) number_scale = cell_scale(p, slice.segment, dims);
  std::uint32_t found = 0;
  // Whole tiles of segments without numbers need no conditions.
  const auto count_tile = [&](const Loaded& points, std::uint32_t own, auto is_whole) {
    constexpr bool kWhole = decltype(is_whole)::value;
    const auto is_inside = [&](std::uint32_t k) { return kWhole || (own + k >= first && own + k < end); };
    const auto cell_at = [&](std::uint32_t k, std::uint32_t pick) -> std::uint32_t {
      if (!is_inside(k)) return 0;
      if (!kWhole && NodeTables<T>::dim_of(pick) == dims) {
        return cell_of(number_scale, static_cast<T>(p.source.index(own + k)));
      }
      return points.at(p, own + k, k, pick);
    };
    std::uint32_t inside = 0;
#pragma unroll
    for (std::uint32_t k = 0; k < kEach; ++k) inside |= is_inside(k) ? 1u << k : 0;
    std::uint32_t heaps = level > 1 ? points.heaps() : all_parents;
    if ((~heaps & all_parents) != 0) heaps = decided_heaps(p, parents, own, heaps, inside);
    sync_warp();
    // A byte for each point. Decided nodes have the bit `parents`; the others count from the first of their level.
    const std::uint32_t nodes = heaps & ~all_parents;
    std::uint32_t cells[kEach], rights = 0, candidates = 0;
    typename NodeTables<T>::Parent parent[kEach];
#pragma unroll
    for (std::uint32_t k = 0; k < kEach; ++k) {
      parent[k] = tables.parents[nodes >> (8 * k) & 0xff];
      cells[k] = cell_at(k, parent[k].pick);
    }
#pragma unroll
    for (std::uint32_t k = 0; k < kEach; ++k) {
      const SideOfCells side(parent[k], cells[k]);
      rights |= side.is_right ? 1u << (8 * k) : 0;
      candidates |= side.is_among ? 0xffu << (8 * k) : 0;
    }
    const std::uint32_t halves = 2 * nodes | rights;
    std::uint32_t picks = 0;
    typename NodeTables<T>::Counted child[kEach];
#pragma unroll
    for (std::uint32_t k = 0; k < kEach; ++k) {
      child[k] = tables.children[halves >> (8 * k) & 0xff];
      cells[k] = cell_at(k, child[k].pick);
      picks |= child[k].pick;
    }
#pragma unroll
    for (std::uint32_t k = 0; k < kEach; ++k) {
      // What is not counted here is counted where nobody looks: that is faster than to part.
      const std::uint32_t half = halves >> (8 * k) & 0xff;
      const bool is_counted = is_inside(k) && (candidates >> (8 * k) & 1) == 0;
      atomic_add(counters + (is_counted ? 2 * half * bins + child[k].bin_of(cells[k]) : kCounters + lane_number()), 1u);
    }
    if ((picks & NodeTables<T>::kHasSecond) != 0) {
#pragma unroll
      for (std::uint32_t k = 0; k < kEach; ++k) {
        if ((child[k].pick & NodeTables<T>::kHasSecond) == 0 || (candidates >> (8 * k) & 1) != 0 || !is_inside(k))
          continue;
        const std::uint32_t half = halves >> (8 * k) & 0xff;
        const auto second = tables.seconds[half];
        atomic_add(counters + (2 * half + 1) * bins + second.bin_of(cell_at(k, second.pick)), 1u);
      }
    }
    heaps = (heaps & candidates) | ((2 * heaps | rights) & ~candidates);
    if constexpr (!kWhole) {
#pragma unroll
      for (std::uint32_t k = 0; k < kEach; ++k) {
        if (is_inside(k)) p.heap[own + k] = static_cast<std::uint8_t>(heaps >> (8 * k));
      }
    }
    if constexpr (kWhole) {
      *reinterpret_cast<std::uint32_t*>(p.heap + own) = heaps;
      if (notes_samples) {
        const std::uint32_t sample = sample_at(p, segment_first, own);
        if (sample != kNoSample) note_sample(p, slice.segment, sample, heaps & 0xff);
      }
    }
    sync_warp();
    if (!any_lane(candidates != 0)) return;
    std::uint32_t node[kEach], listed = 0;
#pragma unroll
    for (std::uint32_t k = 0; k < kEach; ++k) {
      node[k] = nodes >> (8 * k) & 0xff;
      if (is_inside(k)) listed |= (candidates >> (8 * k) & 1) << k;
    }
    const auto value = [&](std::uint32_t k, std::uint32_t d) { return p.source.at(own + k, d); };
    note_candidates<kRoom, true>(p, slice.segment, level - 1, listed, node, value, own, found);
  };
  for (std::uint32_t tile = first_tile; tile < end; tile += kTile) {
    const std::uint32_t own = tile + thread_number() * kEach;
    const Loaded points = next;
    const bool is_last = end - tile <= kTile;
    if (!is_last) next.load(p, own + kTile, first, end, level > 1);
    if (tile >= first && end - tile >= kTile && !uses_numbers) {
      count_tile(points, own, std::true_type{});
    } else {
      count_tile(points, own, std::false_type{});
    }
    if (is_last) break;
  }
  list_candidates<kRoom, true>(p, slice.segment, level - 1, found);
  sync_block();
  flush_counters(p, slice.segment, counters, 4 * parents * bins);
}

}  // namespace kith::cuda
