// Equal points meet on the rank that their hash names, which keeps the lowest number. See kith/mpi/dedupe.hpp.
#include <kith/mpi/dedupe.hpp>

#include "apps/row_content.hpp"
#include "mpi/communicator.hpp"

#include <kith/apps/dedupe.hpp>
#include <kith/error.hpp>
#include <kith/shards/numbered_points.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

namespace kith::mpi::inline v0 {
namespace {

using shards::PointFacts;
using shards::ShardPoints;

template <typename T>
class Removal {
 public:
  Removal(const Communicator& ranks, PointView local, std::uint64_t first_number, const DedupeOptions& options,
          int threads)
      : ranks_(ranks), local_(local), first_number_(first_number), options_(options), threads_(threads) {}

  Deduped run(std::uint64_t missing) {
    Incoming met = ranks_.exchange([&] { return send_kept(); });
    const Incoming told = ranks_.exchange([&] { return compare(met); });
    return ranks_.agree([&] { return result(told, missing); });
  }

 private:
  apps::DedupeOptions plain_options() const {
    apps::DedupeOptions options;
    options.skip_nonfinite = options_.skip_nonfinite;
    options.threads = threads_;
    options.progress = options_.progress;
    return options;
  }

  /// What this rank alone would keep goes to the ranks that hashes name.
  Outgoing send_kept() {
    if (!local_.empty()) here_ = apps::dedupe(local_, plain_options());
    const auto ranks = static_cast<std::uint64_t>(ranks_.size());
    sent_.resize(ranks);
    for (const std::uint32_t row : here_.kept) {
      sent_[apps::hash_of_row(local_.row<T>(row), local_.dims()) % ranks].push_back(row);
    }
    Outgoing outgoing = ranks_.outgoing();
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      if (sent_[rank].empty()) continue;
      ShardPoints some{PointSet(local_.dtype(), sent_[rank].size(), local_.dims()), {}};
      T* to = some.points.values<T>().data();
      for (const std::uint32_t row : sent_[rank]) {
        to = std::copy_n(local_.row<T>(row), local_.dims(), to);
        some.numbers.push_back(first_number_ + row);
      }
      outgoing.to[rank] = some.to_bytes();
    }
    return outgoing;
  }

  /// Rows of all ranks, which come in the order of their numbers; tells each rank which numbers stand for its rows.
  Outgoing compare(Incoming& met) const {
    std::vector<ShardPoints> parts;
    std::uint64_t rows = 0;
    for (Bytes& bytes : met.from) {
      parts.push_back(bytes.empty() ? ShardPoints() : ShardPoints::from_bytes(std::exchange(bytes, {})));
      rows += parts.back().numbers.size();
    }
    Outgoing outgoing = ranks_.outgoing();
    if (rows == 0) return outgoing;
    PointSet all(dtype_of<T>, rows, local_.dims());
    std::vector<std::uint64_t> numbers;
    T* to = all.values<T>().data();
    for (const ShardPoints& part : parts) {
      if (part.numbers.empty()) continue;
      to = std::copy_n(part.points.values<T>().data(), part.points.rows() * local_.dims(), to);
      numbers.insert(numbers.end(), part.numbers.begin(), part.numbers.end());
    }
    const apps::Deduped kept = apps::dedupe(all.view(), plain_options());
    std::uint64_t row = 0;
    for (std::size_t rank = 0; rank < parts.size(); ++rank) {
      std::vector<std::uint64_t> stands_for;
      for (std::size_t i = 0; i < parts[rank].numbers.size(); ++i, ++row) {
        stands_for.push_back(numbers[kept.kept[kept.map[row]]]);
      }
      const auto bytes = std::as_bytes(std::span(stands_for));
      outgoing.to[rank].assign(bytes.begin(), bytes.end());
    }
    return outgoing;
  }

  Deduped result(const Incoming& told, std::uint64_t missing) const {
    std::vector<std::uint64_t> of_row(local_.rows(), missing);  // of those that were sent
    for (std::size_t rank = 0; rank < sent_.size(); ++rank) {
      for (std::size_t i = 0; i < sent_[rank].size(); ++i) {
        std::memcpy(&of_row[sent_[rank][i]], told.from[rank].data() + i * sizeof(std::uint64_t), sizeof(std::uint64_t));
      }
    }
    Deduped deduped;
    deduped.stands_for.assign(local_.rows(), missing);
    for (std::uint64_t row = 0; row < local_.rows(); ++row) {
      if (here_.map[row] == apps::kLeftOut) continue;
      deduped.stands_for[row] = of_row[here_.kept[here_.map[row]]];
      if (deduped.stands_for[row] == first_number_ + row) deduped.kept.push_back(row);
    }
    return deduped;
  }

  const Communicator& ranks_;
  PointView local_;
  std::uint64_t first_number_;
  const DedupeOptions& options_;
  int threads_;
  apps::Deduped here_;                            ///< of this rank's points alone
  std::vector<std::vector<std::uint32_t>> sent_;  ///< rows that each rank compares
};

}  // namespace

Deduped dedupe(MPI_Comm communicator, PointView local, const DedupeOptions& options) {
  const Communicator ranks(communicator);
  const int threads = ranks.share_of_cores(options.threads);
  const auto skip = static_cast<std::byte>(options.skip_nonfinite ? 1 : 0);
  ranks.require_same({skip}, "options");
  const std::vector<std::uint64_t> rows = ranks.gather_number(local.rows());
  const std::uint64_t first_number = std::accumulate(rows.begin(), rows.begin() + ranks.rank(), std::uint64_t{0});
  const std::uint64_t missing = std::accumulate(rows.begin(), rows.end(), std::uint64_t{0});
  const shards::CutRules rules{.skip_nonfinite = options.skip_nonfinite};
  const std::vector<Bytes> told = ranks.gather([&] {
    if (options.threads < 0) throw UsageError(fmt::format("threads must be at least 0, not {}", options.threads));
    return PointFacts::of({.points = local, .first_number = first_number}, rules, threads).to_bytes();
  });
  const PointFacts facts = ranks.agree([&] {
    std::vector<PointFacts> parts;
    for (const Bytes& bytes : told) parts.push_back(PointFacts::from_bytes(bytes));
    PointFacts all = PointFacts::joined(parts);
    all.require_good();
    return all;
  });
  // A rank without points may have no type or dims of its own.
  if (local.empty()) local = PointView(nullptr, facts.dtype, 0, facts.dims, facts.dims);
  Deduped result = facts.dtype == DType::f32
                       ? Removal<float>(ranks, local, first_number, options, threads).run(missing)
                       : Removal<double>(ranks, local, first_number, options, threads).run(missing);
  result.skipped = facts.rows - facts.searched;
  return result;
}

}  // namespace kith::mpi::inline v0
