// Files of points to be classified: a line "N,M,C,D", then N rows of D coordinates and a class, then M with class -1.
#pragma once

#include <kith/io/read_points.hpp>
#include <kith/point_set.hpp>
#include <kith/point_view.hpp>
#include <kith/progress.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kith::io::inline v0 {

/// What such a file held.
struct ClassFile {
  std::uint32_t classes = 0;
  PointSet train;                     ///< the first rows
  std::vector<std::uint32_t> labels;  ///< of `train`, below `classes`
  PointSet fresh;                     ///< those whose class is -1
  std::vector<char> text;             ///< the file's own bytes, for `write_classified`
  std::vector<std::uint64_t> ends;    ///< per row, train and fresh, where its coordinates end in `text`
  std::vector<std::uint64_t> starts;  ///< and where they start
};

/// Reads all of it. `dtype` as in ReadOptions: f64 if unset. Throws IoError, BadData with line and column on counts
/// that do not match, a class that is none, ragged rows, text or nothing where a number should be, NaN and infinity.
KITH_EXPORT ClassFile read_class_file(const std::string& path, std::optional<DType> dtype = {}, int threads = 0,
                                      const ProgressCallback& progress = {});

/// Whether the file starts as one of these do: four whole numbers, and the next row has as many fields as they say.
/// False also if it cannot be read.
KITH_EXPORT bool looks_like_class_file(const std::string& path);

/// Writes the same header line and every row with its coordinates exactly as they stood and its class, for the fresh
/// rows that of `labels`. With `shares` (rows of `classes`, of the fresh rows) each fresh row gets the shares behind
/// its class. Whole or not at all; "-" is standard output. Throws IoError, Interrupted.
KITH_EXPORT void write_classified(const std::string& path, const ClassFile& file, std::span<const std::uint32_t> labels,
                                  std::span<const double> shares = {}, const ProgressCallback& progress = {});

/// Writes such a file: coordinates with `decimals` digits after the point; rows from `train` on get class -1.
KITH_EXPORT void write_class_file(const std::string& path, PointView points, std::span<const std::uint32_t> labels,
                                  std::uint64_t train, std::uint32_t classes, int decimals = 6,
                                  const ProgressCallback& progress = {});

}  // namespace kith::io::inline v0
