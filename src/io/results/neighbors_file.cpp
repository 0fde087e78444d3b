// Writes the results of a search, as .npz or as lines of text. Reading back: neighbors_read.cpp.
#include <kith/io/neighbors_file.hpp>

#include "io/numpy/array_archive.hpp"
#include "runtime/output_file.hpp"
#include "runtime/progress_meter.hpp"

#include <kith/error.hpp>

#include <fmt/compile.h>
#include <fmt/format.h>
#include <strings.h>

#include <iterator>
#include <span>
#include <string_view>
#include <utility>

namespace kith::io::inline v0 {
namespace {

enum class ResultForm : std::uint8_t { npz, comma_separated, tab_separated };

/// Looks through ".gz".
ResultForm form_of(const std::string& path) {
  const std::string_view name = runtime::without_gz(path);
  const auto ends_with = [&](std::string_view extension) {
    return name.size() >= extension.size() &&
           strncasecmp(name.data() + name.size() - extension.size(), extension.data(), extension.size()) == 0;
  };
  if (path == "-" || ends_with(".csv")) return ResultForm::comma_separated;
  if (ends_with(".tsv")) return ResultForm::tab_separated;
  if (ends_with(".npz")) return ResultForm::npz;
  throw UsageError(
      fmt::format("{}: results are written as .npz, .csv or .tsv, or as CSV to \"-\"; change the extension", path));
}

/// Indices and distances into an archive, under the names that `read_neighbors` looks for.
void add_distances(ArrayArchive& archive, std::span<const std::uint64_t> shape, const Distances& distances) {
  if (distances.dtype() == DType::f32) {
    archive.add("distances", shape, distances.values<float>());
  } else {
    archive.add("distances", shape, distances.values<double>());
  }
}

void add_points(ArrayArchive& archive, std::uint64_t points) {
  archive.add("points", {}, std::span<const std::uint64_t>(&points, 1));
}

template <typename Number>
std::uint64_t bytes_of(std::span<const Number> indices, const Distances& distances) {
  return indices.size_bytes() + distances.size() * size_of(distances.dtype()) + sizeof(std::uint64_t);
}

/// query, rank, index, distance for `queries` lists; `range(q)` gives the part [first, last) of the arrays. With flags,
/// one per query, also exact.
template <typename Number, typename Range>
void write_lists_as_text(runtime::OutputFile& file, char separator, std::uint64_t queries,
                         std::span<const Number> indices, const Distances& distances,
                         std::span<const std::uint8_t> exact, const ProgressCallback& progress, Range&& range) {
  runtime::ProgressMeter meter(&progress, "writing", queries);
  file.write(fmt::format("query{0}rank{0}index{0}distance{1}\n", separator,
                         exact.empty() ? "" : fmt::format("{}exact", separator)));
  const auto write_all = [&]<typename T>(std::span<const T> values) {
    fmt::memory_buffer text;
    for (std::uint64_t query = 0; query < queries; ++query) {
      const auto [first, last] = range(query);
      const std::string end = exact.empty() ? "\n" : fmt::format("{}{}\n", separator, exact[query] != 0 ? 1 : 0);
      text.clear();
      for (std::uint64_t i = first; i < last; ++i) {
        fmt::format_to(std::back_inserter(text), FMT_COMPILE("{}{}{}{}{}{}{}{}"), query, separator, i - first,
                       separator, indices[i], separator, values[i], end);
      }
      file.write(text.data(), text.size());
      if ((query & 0xff) == 0) meter.report(query);
    }
  };
  distances.dtype() == DType::f32 ? write_all(distances.values<float>()) : write_all(distances.values<double>());
  meter.finish();
}

char separator_of(ResultForm form) { return form == ResultForm::tab_separated ? '\t' : ','; }

template <typename Number>
void write_any(const std::string& path, const NeighborsOf<Number>& neighbors, const ProgressCallback& progress) {
  const ResultForm form = form_of(path);
  runtime::OutputFile file(path, runtime::Compression::by_name);
  if (form == ResultForm::npz) {
    const std::uint64_t shape[] = {neighbors.queries(), neighbors.k()};
    ArrayArchive archive(file, progress,
                         bytes_of(neighbors.indices(), neighbors.distances()) + neighbors.exact().size_bytes());
    archive.add("indices", shape, neighbors.indices());
    add_distances(archive, shape, neighbors.distances());
    add_points(archive, neighbors.missing());
    if (!neighbors.exact().empty()) archive.add("exact", neighbors.exact());
    archive.finish();
  } else {
    const std::uint64_t k = neighbors.k();
    write_lists_as_text(file, separator_of(form), neighbors.queries(), neighbors.indices(), neighbors.distances(),
                        neighbors.exact(), progress, [k](std::uint64_t query) {
                          return std::pair{query * k, (query + 1) * k};
                        });
  }
  file.commit();
}

template <typename Number>
void write_any(const std::string& path, const NeighborListsOf<Number>& lists, const ProgressCallback& progress) {
  const ResultForm form = form_of(path);
  runtime::OutputFile file(path, runtime::Compression::by_name);
  if (form == ResultForm::npz) {
    const std::uint64_t offsets[] = {lists.offsets().size()};
    const std::uint64_t entries[] = {lists.indices().size()};
    ArrayArchive archive(file, progress, lists.offsets().size_bytes() + bytes_of(lists.indices(), lists.distances()));
    archive.add("offsets", offsets, lists.offsets());
    archive.add("indices", entries, lists.indices());
    add_distances(archive, entries, lists.distances());
    add_points(archive, lists.points());
    archive.finish();
  } else {
    const auto offsets = lists.offsets();
    write_lists_as_text(file, separator_of(form), lists.queries(), lists.indices(), lists.distances(), {}, progress,
                        [offsets](std::uint64_t query) {
                          return std::pair{offsets[query], offsets[query + 1]};
                        });
  }
  file.commit();
}

}  // namespace

void write_neighbors(const std::string& path, const Neighbors& neighbors, const ProgressCallback& progress) {
  write_any(path, neighbors, progress);
}
void write_neighbors(const std::string& path, const NeighborLists& lists, const ProgressCallback& progress) {
  write_any(path, lists, progress);
}
void write_neighbors(const std::string& path, const WideNeighbors& neighbors, const ProgressCallback& progress) {
  write_any(path, neighbors, progress);
}
void write_neighbors(const std::string& path, const WideNeighborLists& lists, const ProgressCallback& progress) {
  write_any(path, lists, progress);
}

void write_point_lists(const std::string& path, const PointLists& lists, const ProgressCallback& progress) {
  const ResultForm form = form_of(path);
  runtime::OutputFile file(path, runtime::Compression::by_name);
  if (form == ResultForm::npz) {
    const std::uint64_t offsets[] = {lists.offsets().size()};
    const std::uint64_t entries[] = {lists.indices().size()};
    ArrayArchive archive(file, progress,
                         lists.offsets().size_bytes() + lists.indices().size_bytes() + sizeof(std::uint64_t));
    archive.add("offsets", offsets, lists.offsets());
    archive.add("indices", entries, lists.indices());
    add_points(archive, lists.points());
    archive.finish();
  } else {
    const char separator = separator_of(form);
    runtime::ProgressMeter meter(&progress, "writing", lists.size());
    file.write(fmt::format("query{}index\n", separator));
    fmt::memory_buffer text;
    for (std::uint64_t query = 0; query < lists.size(); ++query) {
      text.clear();
      for (std::uint64_t j = 0; j < lists.count(query); ++j) {
        fmt::format_to(std::back_inserter(text), FMT_COMPILE("{}{}{}\n"), query, separator, lists.index(query, j));
      }
      file.write(text.data(), text.size());
      if ((query & 0xff) == 0) meter.report(query);
    }
    meter.finish();
  }
  file.commit();
}

void write_counts(const std::string& path, const std::vector<std::uint32_t>& counts, const ProgressCallback& progress) {
  const ResultForm form = form_of(path);
  runtime::OutputFile file(path, runtime::Compression::by_name);
  if (form == ResultForm::npz) {
    const std::uint64_t shape[] = {counts.size()};
    ArrayArchive archive(file, progress, counts.size() * sizeof(std::uint32_t));
    archive.add("counts", shape, std::span<const std::uint32_t>(counts));
    archive.finish();
  } else {
    const char separator = separator_of(form);
    runtime::ProgressMeter meter(&progress, "writing", counts.size());
    file.write(fmt::format("query{}count\n", separator));
    fmt::memory_buffer line;
    for (std::size_t query = 0; query < counts.size(); ++query) {
      line.clear();
      fmt::format_to(std::back_inserter(line), FMT_COMPILE("{}{}{}\n"), query, separator, counts[query]);
      file.write(line.data(), line.size());
      if ((query & 0xfff) == 0) meter.report(query);
    }
    meter.finish();
  }
  file.commit();
}

}  // namespace kith::io::inline v0
