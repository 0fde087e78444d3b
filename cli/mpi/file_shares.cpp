// See file_shares.hpp.
#include "mpi/file_shares.hpp"

#include "input_flags.hpp"
#include "readable.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

namespace kith::cli {
namespace {

double size_of_file(const std::string& path) {
  if (path == "-") throw UsageError("kith-mpi reads files, not standard input: name a file that all ranks can read");
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  if (error) throw IoError(fmt::format("{}: cannot be read: {}", path, error.message()));
  return static_cast<double>(bytes);
}

/// The first row of a file at or behind a place among the bytes of all files. Both neighbours of a rank compute the
/// same, so no row is read twice.
std::uint64_t row_at(double place, double begin, double bytes, std::uint64_t rows) {
  if (place <= begin) return 0;
  if (place >= begin + bytes) return rows;
  return std::min(rows, static_cast<std::uint64_t>(std::ceil((place - begin) / bytes * static_cast<double>(rows))));
}

PointSet read_share(const FileShare& share, const io::ReadOptions& options, const OutputFlags& output,
                    const ProgressCallback& progress) {
  if (!share.rows) return read_input(share.path, options, output, progress).points;
  output.explanation(fmt::format("read {}: rows {} to {}", share.path, share.first, share.first + share.count));
  return share.rows->read(share.first, share.count);
}

}  // namespace

std::vector<FileShare> shares_of(const std::vector<std::string>& paths, const io::ReadOptions& options, int rank,
                                 int ranks) {
  std::vector<double> sizes;
  double all = 0;
  for (const std::string& path : paths) all += sizes.emplace_back(size_of_file(path));
  const double low = all * rank / ranks, high = all * (rank + 1) / ranks;
  const bool is_last = rank + 1 == ranks;
  std::vector<FileShare> shares;
  double begin = 0;
  for (std::size_t i = 0; i < paths.size(); begin += sizes[i++]) {
    std::optional<io::PointRows> rows = io::PointRows::open_if_possible(paths[i], options);
    if (!rows) {
      if (begin >= low && (begin < high || is_last)) shares.push_back({.path = paths[i]});
      continue;
    }
    const std::uint64_t first = row_at(low, begin, sizes[i], rows->rows());
    const std::uint64_t end = is_last ? rows->rows() : row_at(high, begin, sizes[i], rows->rows());
    if (end > first) shares.push_back({paths[i], std::move(rows), first, end - first});
  }
  return shares;
}

PointSet read_shares(const std::vector<FileShare>& shares, const io::ReadOptions& options, const OutputFlags& output,
                     const ProgressCallback& progress) {
  std::vector<std::pair<std::string, PointSet>> parts;
  std::uint64_t rows = 0;
  for (const FileShare& share : shares) {
    PointSet points = read_share(share, options, output, progress);
    rows += points.rows();
    if (points.rows() > 0) parts.emplace_back(share.path, std::move(points));
  }
  if (parts.empty()) return {};
  if (parts.size() == 1) return std::move(parts.front().second);
  const auto& [first_path, first] = parts.front();
  PointSet all(first.dtype(), rows, first.dims());
  std::uint64_t place = 0;
  for (const auto& [path, points] : parts) {
    if (points.dtype() != first.dtype() || points.dims() != first.dims()) {
      throw UsageError(
          fmt::format("{} has {} of {}, but {} has {} of {}; choose columns with --columns, a type with "
                      "--dtype",
                      path, counted(points.dims(), "dimension"), name_of(points.dtype()), first_path,
                      counted(first.dims(), "dimension"), name_of(first.dtype())));
    }
    const auto copy = [&](auto zero) {
      using T = decltype(zero);
      std::ranges::copy(points.template values<T>(), all.values<T>().begin() + static_cast<std::ptrdiff_t>(place));
      place += points.template values<T>().size();
    };
    first.dtype() == DType::f32 ? copy(float{}) : copy(double{});
  }
  return all;
}

}  // namespace kith::cli
