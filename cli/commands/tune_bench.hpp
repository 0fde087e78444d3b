// What kith tune measures: for each number some values, and pieces of work whose time depends on it.
#pragma once

#include <kith/index.hpp>
#include <kith/point_set.hpp>
#include <kith/profile.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace kith::cli {

/// Does something and returns the milliseconds that count.
using Work = std::function<double()>;

/// A number, the values to try, and the work whose time depends on it: of cut-offs, work just above the values, where
/// the other path gains least.
struct Trial {
  std::string_view name;
  std::vector<std::uint64_t> values;
  std::vector<Work> work;
};

/// The points and the pieces of work.
class Bench {
 public:
  /// Makes points and indexes, which takes a moment.
  using Maker = Trial (Bench::*)() const;

  Bench(const PointSet& data, Device device) : data_(data), device_(device) {}

  std::vector<Maker> trials() const;
  /// What `kith plan` estimates by, the most usual jobs first.
  std::vector<TimedRun> runs_to_time() const;
  void time(TimedRun& run) const;

 private:
  using Points = std::shared_ptr<const PointSet>;

  Trial presort_points() const;
  Trial tree_points() const;
  Trial scanned_coordinates() const;
  Trial groups_per_task() const;
  Trial scan_block_bytes() const;
  Trial thread_nanoseconds() const;
  Trial split_records() const;
  Trial gpu_points() const;
  Trial gpu_scan_queries() const;
  Trial gpu_packet_queries() const;
  Trial gpu_ordered_queries() const;
  Trial gpu_half_sum_pairs() const;

  /// Of the user's rows, spread evenly, if there are twice as many of these dims; else uniform. Points (seed 1) are
  /// even rows, queries (seed 2) odd ones.
  Points points(std::uint64_t count, std::uint32_t dims, std::uint64_t seed = 1, DType dtype = DType::f32) const;
  Points queries(std::uint64_t count, std::uint32_t dims, DType dtype = DType::f32) const {
    return points(count, dims, 2, dtype);
  }
  /// Dims that a tree takes, and those of a scan: the user's, if they are such.
  std::uint32_t tree_dims() const { return data_.dims() >= 1 && data_.dims() <= 5 ? data_.dims() : 3; }
  std::uint32_t scan_dims() const { return data_.dims() > 5 ? data_.dims() : 16; }

  BuildOptions options(Engine engine, std::uint64_t queries = 0) const;
  Work search(Engine engine, const Points& set, const Points& queries, int times = 1) const;
  Work self_search(const Points& set) const;
  Work build(const Points& set, int times = 1) const;
  /// Builds whatever `auto` takes for so many queries, and searches it.
  Work build_and_search(const Points& set, const Points& queries) const;

  const PointSet& data_;
  Device device_;
};

}  // namespace kith::cli
