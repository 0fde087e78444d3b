// See matrix_market.hpp.
#include <kith/io/matrix_market.hpp>

#include "io/text/rows_as_text.hpp"
#include "runtime/output_file.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <iterator>
#include <utility>

namespace kith::io::inline v0 {
namespace {

/// `range(q)` gives the part [first, last) of the arrays that belongs to query q, without missing neighbours.
template <typename Range>
void write_entries(const std::string& path, std::uint64_t queries, std::uint64_t points,
                   std::span<const std::uint32_t> indices, const Distances& distances, const ProgressCallback& progress,
                   Range&& range) {
  std::uint64_t entries = 0;
  for (std::uint64_t query = 0; query < queries; ++query) entries += range(query).second - range(query).first;
  runtime::OutputFile file(path, runtime::Compression::by_name);
  file.write(fmt::format("%%MatrixMarket matrix coordinate real general\n{} {} {}\n", queries, points, entries));
  const std::uint64_t row_bytes = queries == 0 ? 1 : 24 * (entries / queries + 1);
  const auto write_all = [&]<typename T>(std::span<const T> values) {
    write_rows_as_text(file, queries, row_bytes, progress,
                       [&](std::uint64_t begin, std::uint64_t end, std::string& to) {
                         for (std::uint64_t query = begin; query < end; ++query) {
                           const auto [first, last] = range(query);
                           for (std::uint64_t i = first; i < last; ++i) {
                             fmt::format_to(std::back_inserter(to), FMT_COMPILE("{} {} {}\n"), query + 1,
                                            std::uint64_t{indices[i]} + 1, values[i]);
                           }
                         }
                       });
  };
  distances.dtype() == DType::f32 ? write_all(distances.values<float>()) : write_all(distances.values<double>());
  file.commit();
}

}  // namespace

void write_matrix_market(const std::string& path, const Neighbors& neighbors, const ProgressCallback& progress) {
  const std::span<const std::uint32_t> indices = neighbors.indices();
  const std::uint64_t k = neighbors.k();
  write_entries(path, neighbors.queries(), neighbors.missing(), indices, neighbors.distances(), progress,
                [&](std::uint64_t query) {
                  std::uint64_t last = (query + 1) * k;
                  while (last > query * k && indices[last - 1] == neighbors.missing()) --last;
                  return std::pair{query * k, last};
                });
}

void write_matrix_market(const std::string& path, const NeighborLists& lists, const ProgressCallback& progress) {
  write_entries(path, lists.queries(), lists.points(), lists.indices(), lists.distances(), progress,
                [&](std::uint64_t query) {
                  return std::pair{lists.offsets()[query], lists.offsets()[query + 1]};
                });
}

}  // namespace kith::io::inline v0
