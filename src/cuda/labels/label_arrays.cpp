// See label_arrays.hpp. An index over the points (and the queries numbered on, if they are to be neighbours), then for
// one part of the queries after the other a search, whose lists stay on the GPU, and the votes. The host waits twice:
// before the index is built, because that runs in a stream of its own, and in the end; one after the other, also for
// the labels of each part, because it finds those at the end of a long chain itself.
#include "cuda/labels/label_arrays.hpp"

#include "core/dispatch.hpp"
#include "cuda/runtime/check.hpp"
#include "cuda/runtime/device_buffer.hpp"
#include "cuda/runtime/device_points.hpp"
#include "cuda/runtime/device_scope.hpp"
#include "cuda/labels/label_rest.hpp"
#include "cuda/labels/labels.hpp"
#include "cuda/labels/time_marks.hpp"
#include "engine/with_memory.hpp"
#include "runtime/time_spent.hpp"

#include <kith/device_search.hpp>
#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace kith::cuda {
namespace {

using engine::LabelRequest;

constexpr std::uint64_t kNone = ~std::uint64_t{0};
constexpr std::uint32_t kAnyDepth = ~0u;
/// Entries of lists that the host takes at a time.
constexpr std::uint64_t kCopiedAtOnce = std::uint64_t{1} << 22;

void require_here(const void* memory, std::string_view what, Device device) {
  if (is_on_device(memory, device)) return;
  throw UsageError(fmt::format("{}: the array is not in the memory of {}, where the points are", what, device.name()));
}

/// Rows side by side.
template <typename T>
void copy_rows(T* to, PointView from, const Stream& stream) {
  const std::uint64_t row_bytes = from.dims() * sizeof(T);
  if (from.row_stride() == static_cast<std::int64_t>(from.dims())) {
    check(cudaMemcpyAsync(to, from.data(), from.rows() * row_bytes, cudaMemcpyDeviceToDevice, stream.get()),
          "copying points");
    return;
  }
  const std::uint64_t pitch = static_cast<std::uint64_t>(from.row_stride()) * sizeof(T);
  check(cudaMemcpy2DAsync(to, row_bytes, from.data(), pitch, row_bytes, from.rows(), cudaMemcpyDeviceToDevice,
                          stream.get()),
        "copying points");
}

template <typename V>
void copy_to_host(V* to, const V* from, std::uint64_t count, const Stream& stream) {
  check(cudaMemcpyAsync(to, from, count * sizeof(V), cudaMemcpyDeviceToHost, stream.get()), "copying to the host");
}
template <typename V>
void copy_to_device(V* to, const V* from, std::uint64_t count, const Stream& stream) {
  check(cudaMemcpyAsync(to, from, count * sizeof(V), cudaMemcpyHostToDevice, stream.get()), "copying to the GPU");
}

/// Waits for a stream, also where an exception leaves: what the work in it needs lives longer.
class WaitedFor {
 public:
  explicit WaitedFor(const Stream& stream) : stream_(stream.get()) {}
  ~WaitedFor() { cudaStreamSynchronize(stream_); }
  WaitedFor(const WaitedFor&) = delete;
  WaitedFor& operator=(const WaitedFor&) = delete;

 private:
  cudaStream_t stream_;
};

/// One request in the type of its points.
template <typename T>
class LabelArrays {
 public:
  explicit LabelArrays(const LabelRequest& request)
      : request_(request),
        device_(request.points.device()),
        stream_(static_cast<cudaStream_t>(request.options.stream), device_.ordinal()),
        report_(1, stream_) {}

  apps::ClassifiedOnDevice run() {
    const LabelReport nothing{kNone, kNone, 0};
    copy_to_device(report_.data(), &nothing, 1, stream_);
    check_labels_of_points();
    const Index index = build();
    const DeviceSearch search(index);
    const WaitedFor waited(stream_);
    TimeMarks marks(stream_);
    answer_all(search, marks);
    if (most_depth() == kAnyDepth) answered_ = read_report();
    stream_.synchronize();
    if (answered_.first_empty != kNone) {
      throw BadData(fmt::format("queries: row {} (counted from 0) has NaN or infinity{}; remove such rows",
                                answered_.first_empty,
                                request_.options.metric.is_of_directions() ? ", or no direction" : ""));
    }
    work_.search_ms = marks.sum_ms(0);
    work_.vote_ms = marks.sum_ms(1);
    return {.depth = answered_.depth, .rounds = 1, .work = std::move(work_)};
  }

 private:
  bool is_regression() const { return request_.values != nullptr; }
  std::uint64_t trained() const { return request_.points.rows(); }

  LabelReport read_report() const {
    LabelReport report;
    copy_to_host(&report, report_.data(), 1, stream_);
    stream_.synchronize();
    return report;
  }

  void check_labels_of_points() {
    if (is_regression()) {
      check_labels(request_.values, trained(), 0, report_.data(), stream_);
    } else {
      check_labels(request_.codes.codes, trained(), request_.codes.classes, report_.data(), stream_);
    }
  }
  /// Waits until the stream is done.
  void require_good_labels() const {
    const std::uint64_t bad = read_report().first_bad;
    if (bad == kNone) return;
    if (is_regression()) {
      throw BadData(
          fmt::format("values: that of point {} (counted from 0) is NaN or infinity; remove such points", bad));
    }
    throw UsageError(fmt::format("labels: that of point {} (counted from 0) must be below the number of classes, {}",
                                 bad, request_.codes.classes));
  }

  /// Over the points; one after the other, over the queries, too.
  Index build() {
    const runtime::TimeSpent time(&work_.build_ms);
    PointView points = request_.points;
    DeviceBuffer<T> joined;
    if (request_.is_sequential) {
      joined = DeviceBuffer<T>((trained() + request_.queries.rows()) * points.dims(), stream_);
      copy_rows(joined.data(), points, stream_);
      copy_rows(joined.data() + trained() * points.dims(), request_.queries, stream_);
      points = PointView(joined.data(), trained() + request_.queries.rows(), points.dims(), device_);
    }
    require_good_labels();
    BuildOptions options;
    options.engine = request_.options.engine;
    options.device = device_;
    options.metric = request_.options.metric;
    options.expected_queries = request_.queries.rows();
    Index index = request_.is_sequential ? build_joint(points, options) : Index::build(points, options);
    work_.engine = index.engine();
    work_.device = index.device();
    work_.explanation = index.explain();
    return index;
  }
  /// Bad rows are named as the caller numbers them.
  Index build_joint(PointView joined, const BuildOptions& options) const {
    try {
      return Index::build(joined, options);
    } catch (const BadData&) {
      Index::build(request_.points, options);
      try {
        Index::build(request_.queries, options);
      } catch (const BadData& error) {
        throw BadData(std::string("new ") + error.what());
      }
      throw;
    }
  }

  /// How many queries are answered at a time.
  std::uint64_t rows_at_once() const {
    constexpr std::uint64_t kLittle = std::uint64_t{256} << 20, kMost = std::uint64_t{1} << 30;
    const std::uint64_t k = request_.options.k;
    const std::uint64_t per_row =
        k * (sizeof(std::uint32_t) + sizeof(T)) + (request_.queries.dims() + 1) * sizeof(T) + 2 * sizeof(std::uint32_t);
    std::uint64_t rows = std::min(request_.queries.rows(), kMost);
    if (request_.most_rows > 0) rows = std::min(rows, request_.most_rows);
    if (rows * per_row <= kLittle) return rows;  // without asking, which takes a while
    const std::uint64_t free = memory_of_device(device_.ordinal()).free;
    return std::clamp<std::uint64_t>(std::max(free / 2, kLittle) / per_row, 1, rows);
  }

  void answer_all(const DeviceSearch& search, TimeMarks& marks) {
    const std::uint64_t queries = request_.queries.rows(), at_once = rows_at_once();
    const std::uint32_t k = request_.options.k;
    DeviceBuffer<std::uint32_t> indices(at_once * k, stream_), below;
    DeviceBuffer<T> distances(at_once * k, stream_);
    DeviceBuffer<std::uint64_t> found;
    if (request_.is_sequential) {
      below = DeviceBuffer<std::uint32_t>(at_once, stream_);
      found = DeviceBuffer<std::uint64_t>(queries, stream_);
      check(cudaMemsetAsync(found.data(), 0xff, found.bytes(), stream_.get()), "writing ones");
    }
    for (std::uint64_t first = 0; first < queries; first += at_once) {
      const std::uint64_t count = std::min(at_once, queries - first);
      marks.begin();
      if (request_.is_sequential) {
        number_rows(below.data(), count, static_cast<std::uint32_t>(trained() + first), stream_);
      }
      search.knn(request_.queries.slice(first, count), k, indices.data(), distances.data(),
                 {.stream = stream_.get(), .index_below = below.data()});
      marks.begin();
      const bool by_distance = request_.options.weights == apps::Weights::distance;
      answer_part({.indices = indices.data(),
                   .distances = by_distance ? distances.data() : nullptr,
                   .count = count,
                   .k = k,
                   .missing = static_cast<std::uint32_t>(search.index().size())},
                  first, found.data());
    }
    marks.begin();
  }

  void answer_part(const NeighborRows<T>& rows, std::uint64_t first, std::uint64_t* found) {
    if (is_regression()) {
      find_means<T>({.rows = rows,
                     .values = request_.values,
                     .first_row = first,
                     .means = request_.means,
                     .report = report_.data()},
                    stream_);
      return;
    }
    const KnownLabels known{request_.codes.codes, static_cast<std::uint32_t>(trained()), found};
    find_labels<T>({.rows = rows,
                    .known = known,
                    .first_row = first,
                    .ties = core::TieRule(request_.options.ties),
                    .labels = request_.labels,
                    .most_depth = most_depth(),
                    .report = report_.data()},
                   stream_);
    if (most_depth() != kAnyDepth) {
      answered_ = read_report();
      if (answered_.depth >= most_depth()) {
        const std::uint64_t bytes = (first + rows.count) * 12 + trained() * 4;
        engine::with_memory(bytes, "labels on the host", [&] { finish_on_host(rows, first, found); });
      }
    }
    if (request_.shares == nullptr) return;
    find_shares<T>({.rows = rows,
                    .known = known,
                    .classes = request_.codes.classes,
                    .shares = request_.shares + first * request_.codes.classes},
                   stream_);
  }

  /// By here the labels took the GPU longer than the host will take for copies and, in order, for the rest: a link of
  /// a chain takes the GPU as long as some 30 short lists take the host.
  std::uint32_t most_depth() const {
    if (!request_.is_sequential || request_.options.k > kMostByThreads) return kAnyDepth;
    constexpr std::uint64_t kLeast = 1024, kPointsPerLink = 32;
    return static_cast<std::uint32_t>(std::max(kLeast, (trained() + request_.queries.rows()) / kPointsPerLink));
  }

  /// Finds the labels of a part that the kernel has left.
  void finish_on_host(const NeighborRows<T>& rows, std::uint64_t first, std::uint64_t* found) {
    std::vector<std::uint64_t> words(first + rows.count);
    std::vector<std::uint32_t> codes(trained()), indices, labels;
    std::vector<T> distances;
    copy_to_host(words.data(), found, words.size(), stream_);
    copy_to_host(codes.data(), request_.codes.codes, codes.size(), stream_);
    stream_.synchronize();
    const auto left = std::find(words.begin() + static_cast<std::ptrdiff_t>(first), words.end(), FoundLabel::kNotYet);
    const auto begin = static_cast<std::uint64_t>(left - words.begin());
    const std::uint64_t at_once = kCopiedAtOnce / rows.k;
    for (std::uint64_t row = begin - first; row < rows.count; row += at_once) {
      NeighborRows<T> part = rows;
      part.count = std::min(at_once, rows.count - row);
      indices.resize(part.count * rows.k);
      copy_to_host(indices.data(), rows.indices + row * rows.k, indices.size(), stream_);
      part.indices = indices.data();
      if (rows.distances != nullptr) {
        distances.resize(indices.size());
        copy_to_host(distances.data(), rows.distances + row * rows.k, distances.size(), stream_);
        part.distances = distances.data();
      }
      stream_.synchronize();
      const KnownLabels known{codes.data(), static_cast<std::uint32_t>(trained()), words.data()};
      const std::uint32_t depth = label_rest(part, known, first + row, core::TieRule(request_.options.ties));
      answered_.depth = std::max(answered_.depth, depth);
    }
    std::transform(left, words.end(), std::back_inserter(labels), FoundLabel::label);
    copy_to_device(found + begin, words.data() + begin, labels.size(), stream_);
    copy_to_device(request_.labels + begin, labels.data(), labels.size(), stream_);
    copy_to_device(report_.data(), &answered_, 1, stream_);
    stream_.synchronize();
  }

  const LabelRequest& request_;
  Device device_;
  Stream stream_;
  DeviceBuffer<LabelReport> report_;
  LabelReport answered_;
  apps::NeighborWork work_;
};

}  // namespace

apps::ClassifiedOnDevice label_arrays(const LabelRequest& request) {
  const Device device = request.points.device();
  const auto require = [&](const void* memory, std::string_view what) {
    if (memory != nullptr) require_here(memory, what, device);
  };
  require(request.points.data(), "points");
  require(request.queries.data(), "queries");
  require(request.codes.codes, "codes");
  require(request.labels, "labels");
  require(request.shares, "shares");
  require(request.values, "values");
  require(request.means, "means");
  const DeviceScope scope(device.ordinal());
  return core::visit_dtype(request.points.dtype(),
                           [&](auto zero) { return LabelArrays<decltype(zero)>(request).run(); });
}

}  // namespace kith::cuda
