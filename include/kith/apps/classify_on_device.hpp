// Labels and values by neighbours for arrays in the memory of a GPU: none of them goes through the host, except labels
// of very long chains of new points. Nothing here includes a CUDA header.
#pragma once

#include <kith/apps/neighbor_options.hpp>
#include <kith/index.hpp>
#include <kith/metric.hpp>
#include <kith/point_view.hpp>

#include <cstdint>

namespace kith::apps::inline v0 {

/// The words mean what they mean in NeighborOptions. The work runs on the GPU that holds the points.
struct DeviceNeighborOptions {
  std::uint32_t k = 5;
  Weights weights = Weights::uniform;
  Ties ties = Ties::nearest;  ///< labels only
  Metric metric = Metric::l2();
  Engine engine = Engine::automatic;
  /// A cudaStream_t of that GPU; null is CUDA's default stream.
  void* stream = nullptr;
};

struct DeviceClassifyOptions : DeviceNeighborOptions {
  /// If not null, room on the GPU for queries x classes numbers: what Classified::shares holds.
  double* shares = nullptr;
};

/// A class per point, as a number below `classes`, in the memory of a GPU. Not owned.
struct DeviceLabelView {
  const std::uint32_t* codes = nullptr;
  std::uint32_t classes = 0;
};

/// What the host learns of labels on a GPU.
struct ClassifiedOnDevice {
  std::uint64_t depth = 0;   ///< as in Classified
  std::uint64_t rounds = 0;  ///< as in Classified
  NeighborWork work;         ///< searches and votes as the GPU measures them
};

/// classify (kith/apps/classify.hpp) where points, codes, queries and `labels`, which gets one per query, are in the
/// memory of one GPU: the same bytes. The work begins when that in the stream is done, and is done when the call
/// returns. Of GPU memory it takes an index and, per query, k + dims + 1 numbers of the points' type and k + 1 of 32
/// bits; where that is not free, queries are taken in parts.
///
/// Throws UsageError if an array is not there, if rows overlap or lie backwards, and as classify; BadData as classify;
/// DeviceError, OutOfMemory.
KITH_EXPORT ClassifiedOnDevice classify_on_device(PointView points, DeviceLabelView codes, PointView queries,
                                                  std::uint32_t* labels, const DeviceClassifyOptions& options = {});

/// classify_sequential in the same way. While the index is built, points and queries are in memory once more. If a
/// chain of new points, each a neighbour of the next, is as long as 1/32 of all, the host finds the labels of the rest:
/// then it needs 4 bytes per point and 12 per query.
KITH_EXPORT ClassifiedOnDevice classify_sequential_on_device(PointView points, DeviceLabelView codes, PointView queries,
                                                             std::uint32_t* labels,
                                                             const DeviceClassifyOptions& options = {});

/// regress (kith/apps/regress.hpp) in the same way; `means` gets one per query.
KITH_EXPORT NeighborWork regress_on_device(PointView points, const double* values, PointView queries, double* means,
                                           const DeviceNeighborOptions& options = {});

}  // namespace kith::apps::inline v0
