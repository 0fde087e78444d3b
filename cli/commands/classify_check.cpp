// Labels and values found again by the plain loop, one point after the other.
#include "commands/classify_report.hpp"

#include <kith/error.hpp>
#include <kith/index.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace kith::cli {
namespace {

constexpr std::uint64_t kRowsPerReport = 64;

/// A neighbour, and how much it counts.
struct Voter {
  std::uint32_t point = 0;
  double weight = 1;
};

template <typename T>
PointSet one_after_the_other(PointView first, PointView second) {
  PointSet all(dtype_of<T>, first.rows() + second.rows(), first.dims());
  T* out = all.values<T>().data();
  for (const PointView part : {first, second}) {
    for (std::uint64_t row = 0; row < part.rows(); ++row) out = std::copy_n(part.row<T>(row), part.dims(), out);
  }
  return all;
}

/// What the metric computes from points it computes from those that are known.
Index scan_of(const ClassifyFlags& flags, PointView known, PointView points) {
  BuildOptions build;
  build.engine = Engine::brute_force;
  build.device = Device::cpu();
  build.metric = flags.neighbors.metric;
  build.metric_params = flags.neighbors.metric_params;
  build.threads = 1;
  build.metric_params = Index::build(known, build).metric_params();
  return Index::build(points, build);
}

/// Finds the neighbours of one query at a time.
template <typename T>
class Asker {
 public:
  Asker(const ClassifyFlags& flags, PointView known, PointView points, PointView queries, std::uint32_t k)
      : index_(scan_of(flags, known, points)),
        queries_(queries),
        by_distance_(flags.neighbors.weights == apps::Weights::distance),
        indices_(k),
        distances_(k) {}

  /// Of the points numbered below `below`.
  std::vector<Voter> voters(std::uint64_t query, std::uint32_t below) {
    SearchOptions search;
    search.index_below = {&below, 1};
    const std::span<const T> row(queries_.row<T>(query), queries_.dims());
    const std::uint32_t found = index_.knn_one(row, indices_, distances_, search);
    std::vector<Voter> voters(found);
    for (std::uint32_t j = 0; j < found; ++j) {
      voters[j].point = indices_[j];
      if (by_distance_ && distances_[j] != distances_[0]) {
        voters[j].weight = static_cast<double>(distances_[0]) / static_cast<double>(distances_[j]);
      }
    }
    return voters;
  }

 private:
  Index index_;
  PointView queries_;
  bool by_distance_;
  std::vector<std::uint32_t> indices_;
  std::vector<T> distances_;
};

std::uint32_t vote(const std::vector<Voter>& voters, const std::vector<std::uint32_t>& labels, apps::Ties ties) {
  struct Party {
    std::uint32_t label;
    double weight;
  };
  std::vector<Party> parties;  // in the order of their nearest members
  for (const Voter& voter : voters) {
    const std::uint32_t label = labels[voter.point];
    const auto own = std::ranges::find(parties, label, &Party::label);
    if (own == parties.end()) {
      parties.push_back({label, voter.weight});
    } else {
      own->weight += voter.weight;
    }
  }
  if (ties == apps::Ties::lowest) std::ranges::sort(parties, std::less(), &Party::label);
  if (ties == apps::Ties::highest) std::ranges::sort(parties, std::greater(), &Party::label);
  return std::ranges::max_element(parties, {}, &Party::weight)->label;  // the first of several
}

double mean(const std::vector<Voter>& voters, const std::vector<double>& values) {
  double sum = 0;
  double weight = 0;
  for (const Voter& voter : voters) {
    sum += voter.weight * values[voter.point];
    weight += voter.weight;
  }
  return sum / weight;
}

void report(const ProgressCallback& progress, std::uint64_t done, std::uint64_t total) {
  if (done % kRowsPerReport == 0 && progress && !progress({"checking", done, total})) throw Interrupted();
}

template <typename T>
void check_labels_as(const ClassifyFlags& flags, const ClassifyInput& input, std::span<const std::uint32_t> found,
                     std::uint32_t k, const ProgressCallback& progress) {
  const bool grows = flags.is_sequential();
  const PointSet all = grows ? one_after_the_other<T>(input.points, input.queries) : PointSet();
  Asker<T> asker(flags, input.points, grows ? all.view() : input.points, input.queries, k);
  std::vector<std::uint32_t> labels = input.codes;
  for (std::uint64_t row = 0; row < found.size(); ++row) {
    report(progress, row, found.size());
    const std::uint32_t label =
        vote(asker.voters(row, static_cast<std::uint32_t>(labels.size())), labels, flags.neighbors.ties);
    if (label != found[row]) {
      throw BadData(fmt::format("the check failed: point {} to be labelled got {}, but the plain loop gives {}", row,
                                class_name(input, found[row]), class_name(input, label)));
    }
    if (grows) labels.push_back(label);
  }
}

template <typename T>
void check_values_as(const ClassifyFlags& flags, const ClassifyInput& input, std::span<const double> found,
                     std::uint32_t k, const ProgressCallback& progress) {
  Asker<T> asker(flags, input.points, input.points, input.queries, k);
  for (std::uint64_t row = 0; row < found.size(); ++row) {
    report(progress, row, found.size());
    const double value = mean(asker.voters(row, static_cast<std::uint32_t>(input.points.rows())), input.values);
    if (value != found[row]) {
      throw BadData(
          fmt::format("the check failed: row {} got {}, but the plain loop gives {}", row, found[row], value));
    }
  }
}

}  // namespace

void check_labels(const ClassifyFlags& flags, const ClassifyInput& input, std::span<const std::uint32_t> found,
                  std::uint32_t k, const ProgressCallback& progress) {
  const bool is_f32 = input.points.dtype() == DType::f32;
  (is_f32 ? check_labels_as<float> : check_labels_as<double>)(flags, input, found, k, progress);
}

void check_values(const ClassifyFlags& flags, const ClassifyInput& input, std::span<const double> found,
                  std::uint32_t k, const ProgressCallback& progress) {
  const bool is_f32 = input.points.dtype() == DType::f32;
  (is_f32 ? check_values_as<float> : check_values_as<double>)(flags, input, found, k, progress);
}

}  // namespace kith::cli
