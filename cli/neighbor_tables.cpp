// See neighbor_tables.hpp.
#include "neighbor_tables.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace kith::cli {
namespace {

/// The places of a query's neighbours in the arrays, without missing ones.
std::pair<std::uint64_t, std::uint64_t> list_of(const Neighbors& found, std::uint64_t query) {
  const std::uint64_t k = found.k();
  std::uint64_t last = (query + 1) * k;
  while (last > query * k && found.indices()[last - 1] == found.missing()) --last;
  return {query * k, last};
}
std::pair<std::uint64_t, std::uint64_t> list_of(const NeighborLists& found, std::uint64_t query) {
  return {found.offsets()[query], found.offsets()[query + 1]};
}

/// A list that is not as long as was asked for has no last neighbour.
bool lacks_last(const Neighbors& found, std::uint64_t count) { return count < found.k(); }
bool lacks_last(const NeighborLists&, std::uint64_t count) { return count == 0; }

std::string name_of_last(const Neighbors&) { return "kth_distance"; }
std::string name_of_last(const NeighborLists&) { return "farthest_distance"; }

void put_column(io::Table& table, io::Column column) {
  if (table.columns.empty() || !table.find(column.name())) {
    table.columns.push_back(std::move(column));
    return;
  }
  const auto same = [&](const io::Column& other) { return other.name() == column.name(); };
  const auto old = std::ranges::find_if(table.columns, same);
  if (old == table.columns.end()) {
    table.columns.push_back(std::move(column));
  } else {
    *old = std::move(column);  // figures of an earlier search
  }
}

template <typename T, typename Found>
void add_stats(const Found& found, io::Table& table) {
  constexpr T kNone = std::numeric_limits<T>::quiet_NaN();
  const std::span<const T> distances = found.distances().template values<T>();
  const std::uint64_t queries = found.queries();
  std::vector<T> nearest(queries, kNone);
  std::vector<T> mean(queries, kNone);
  std::vector<T> last(queries, std::numeric_limits<T>::infinity());
  std::vector<std::uint32_t> counts(queries);
  for (std::uint64_t query = 0; query < queries; ++query) {
    const auto [first, end] = list_of(found, query);
    const std::uint64_t count = end - first;
    counts[query] = static_cast<std::uint32_t>(count);
    if (!lacks_last(found, count) && count > 0) last[query] = distances[end - 1];
    if (count == 0) continue;
    nearest[query] = distances[first];
    double sum = 0;
    for (std::uint64_t i = first; i < end; ++i) sum += static_cast<double>(distances[i]);
    mean[query] = static_cast<T>(sum / static_cast<double>(count));
  }
  put_column(table, io::Column("nearest_distance", std::span<const T>(nearest)));
  put_column(table, io::Column("mean_distance", std::span<const T>(mean)));
  put_column(table, io::Column(name_of_last(found), std::span<const T>(last)));
  put_column(table, io::Column("neighbors", std::span<const std::uint32_t>(counts)));
}

template <typename Found>
io::Table stats_of(const Found& found, const io::Table& queries) {
  io::Table table = queries;
  if (table.columns.empty()) {
    io::Column numbers("query", io::ColumnType::u32, found.queries());
    const auto values = numbers.values<std::uint32_t>();
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint32_t>(i);
    table.columns.push_back(std::move(numbers));
  }
  found.dtype() == DType::f32 ? add_stats<float>(found, table) : add_stats<double>(found, table);
  return table;
}

/// Which columns --with means; empty if this table has none of them.
std::vector<std::uint32_t> meant_columns(const io::Table& table, const std::vector<std::string>& with,
                                         const std::string& label) {
  std::vector<std::uint32_t> meant;
  const auto add = [&](std::uint32_t i) {
    if (std::ranges::find(meant, i) == meant.end()) meant.push_back(i);
  };
  const auto is_other_text = [&](std::uint32_t i) { return table.columns[i].is_text() && !table.is_coordinate(i); };
  bool has_names = false;
  for (std::uint32_t i = 0; i < table.columns.size(); ++i) has_names = has_names || is_other_text(i);
  for (const std::string& word : with) {
    for (std::uint32_t i = 0; i < table.columns.size(); ++i) {
      const io::Column& column = table.columns[i];
      const bool is_label = !label.empty() && table.find(label) == i;
      const bool is_name = has_names ? is_other_text(i) : column.is_text();  // words are their own names
      if (word == "all" || (word == "points" && table.is_coordinate(i) && !is_label) ||
          (word == "labels" && is_label) || (word == "names" && is_name) || column.name() == word) {
        add(i);
      }
    }
  }
  return meant;
}

void join_columns(io::Table& to, const io::Table& from, std::span<const std::uint32_t> columns,
                  std::span<const std::uint32_t> rows, const std::string& prefix) {
  if (columns.empty()) return;
  io::Table some = from;
  some.keep(columns);
  for (io::Column& column : io::take_rows(some, rows).columns) {
    column.rename(prefix + column.name());
    to.columns.push_back(std::move(column));
  }
}

template <typename Found>
io::Table join_all(const Found& found, const ResultColumns& columns, const SearchFlags& flags) {
  const std::string query_label = flags.query.label.value_or(flags.read.label);
  const auto of_query = meant_columns(columns.asked(), flags.with, query_label);
  const auto of_point = meant_columns(columns.points, flags.with, flags.read.label);
  if (of_query.empty() && of_point.empty()) {
    throw UsageError(fmt::format("--with {}: neither the points nor the queries have such a column{}",
                                 fmt::join(flags.with, ","),
                                 flags.with.front() == "labels" ? "; say which one it is: --label" : ""));
  }
  std::vector<std::uint32_t> queries;
  std::vector<std::uint32_t> ranks;
  std::vector<std::uint32_t> indices;
  std::vector<std::uint64_t> places;
  for (std::uint64_t query = 0; query < found.queries(); ++query) {
    const auto [first, end] = list_of(found, query);
    for (std::uint64_t i = first; i < end; ++i) {
      queries.push_back(static_cast<std::uint32_t>(query));
      ranks.push_back(static_cast<std::uint32_t>(i - first));
      indices.push_back(found.indices()[i]);
      places.push_back(i);
    }
  }
  io::Table table;
  table.named = true;
  using Numbers = std::span<const std::uint32_t>;
  table.columns.emplace_back("query", Numbers(queries));
  table.columns.emplace_back("rank", Numbers(ranks));
  table.columns.emplace_back("index", Numbers(indices));
  const auto add_distances = [&]<typename T>(std::span<const T> all) {
    std::vector<T> distances;
    distances.reserve(places.size());
    for (const std::uint64_t place : places) distances.push_back(all[place]);
    table.columns.emplace_back("distance", std::span<const T>(distances));
  };
  found.dtype() == DType::f32 ? add_distances(found.distances().template values<float>())
                              : add_distances(found.distances().template values<double>());
  join_columns(table, columns.asked(), of_query, queries, "query_");
  join_columns(table, columns.points, of_point, indices, "neighbor_");
  return table;
}

}  // namespace

io::Table stats_table(const Neighbors& found, const io::Table& queries) { return stats_of(found, queries); }
io::Table stats_table(const NeighborLists& found, const io::Table& queries) { return stats_of(found, queries); }

io::Table joined_table(const Neighbors& found, const ResultColumns& columns, const SearchFlags& flags) {
  return join_all(found, columns, flags);
}
io::Table joined_table(const NeighborLists& found, const ResultColumns& columns, const SearchFlags& flags) {
  return join_all(found, columns, flags);
}

}  // namespace kith::cli
