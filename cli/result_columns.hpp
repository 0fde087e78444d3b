// What a search was about: the columns of the points and of the queries, for results that show them.
#pragma once

#include <kith/io/table.hpp>

namespace kith::cli {

struct ResultColumns {
  io::Table points;
  io::Table queries;  ///< empty: the points are the queries

  const io::Table& asked() const { return queries.columns.empty() ? points : queries; }
};

}  // namespace kith::cli
